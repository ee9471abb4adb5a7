"""The models that judge suggestions: the embedder, the classifier of categories, the check of syntax."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from eval_pipeline.files import read_json
from eval_pipeline.language.accuracy import default_accuracy
from eval_pipeline.language.embedder import default_embedder
from eval_pipeline.problems import Problems, bad_value
from eval_pipeline.suite import Context, Measured, Model
from eval_pipeline.suites._video.category_classifier import CategoryClassifier, Example
from eval_pipeline.suites._video.prompt_accuracy import syntax_model

LABELLED_SPANS = "spans"


class LabelledSpan(msgspec.Struct, frozen=True):
    """A phrase that a person labelled."""

    text: str
    category: str


class LabelledPrompt(msgspec.Struct, frozen=True):
    """A prompt with its labelled spans."""

    prompt: str
    spans: list[LabelledSpan]


class References(msgspec.Struct, frozen=True):
    """What only scoring may use: labelled spans to learn categories from."""

    examples: tuple[Example, ...]


def load_references(folder: Path) -> References:
    """The labelled spans in `spans/`, which are the golden spans of span_labeling."""
    problems = Problems()
    files = sorted((folder / LABELLED_SPANS).glob("*.json"))
    examples = [
        Example(span.text, span.category, located.record.prompt)
        for file in files
        for located in read_json(file, LabelledPrompt, problems)
        for span in located.record.spans
        if span.text.strip()
    ]
    if not examples and not len(problems):
        remedy = "Link the golden files of span_labeling there."
        problems.add(folder / LABELLED_SPANS, "holds no labelled span to learn categories from", remedy)
    problems.stop_if_any()
    return References(tuple(examples))


def classifier_of(context: Context) -> CategoryClassifier:
    """The classifier that a suite's references give."""
    if not isinstance(context.references, References):
        remedy = "Add references/spans/ to the golden folder of suggestions."
        raise bad_value("references", "there are no labelled spans to learn categories from", remedy)
    return _trained(context.references.examples)


@lru_cache(maxsize=2)
def _trained(examples: tuple[Example, ...]) -> CategoryClassifier:
    return CategoryClassifier(examples, default_embedder())


def trained_models(context: Context) -> Sequence[Model]:
    """The classifier, measured on prompts that it was not trained on."""

    def measure() -> Measured:
        result = classifier_of(context).cross_validate()
        message = (
            f"finds the parent category of {result.parents:.1%} (and the category of "
            f"{result.categories:.1%}) of {result.phrases} golden spans, each of {result.prompts} prompts "
            "left out in turn"
        )
        return Measured(result.parents, message)

    return [Model("category classifier", ("category_coherence",), measure)]


def _measure_embedder() -> Measured:
    measured = default_accuracy()
    return Measured(
        measured.accuracy, f"{measured.accuracy:.1%} right on {measured.pairs} labelled pairs of texts"
    )


MODELS = (
    Model(default_embedder().name, ("diversity", "non_repetition"), _measure_embedder),
    syntax_model("syntactic_validity"),
)

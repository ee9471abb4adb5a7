"""What judges optimized prompts: conventions of target models, the thesaurus, and detectors."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from eval_pipeline.files import Violation, read_yaml
from eval_pipeline.language.embedder import default_embedder
from eval_pipeline.language.patterns import BadPattern, compile_bounded, found
from eval_pipeline.problems import Problems, bad_value
from eval_pipeline.suite import Context, Measured, Model
from eval_pipeline.suites._video.kept_words import KeptWords, accuracy
from eval_pipeline.suites._video.prompt_accuracy import element_accuracy, syntax_model
from eval_pipeline.suites._video.scene_elements import SceneElements
from eval_pipeline.suites.optimization.cases import MODELS_FILE, word_count

THESAURUS_FILE = "thesaurus.yaml"
Element = Literal["subject", "action", "environment", "camera", "lighting"]


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One convention of a target model: what breaks it, what that costs, and why it exists."""

    id: str
    penalty: Annotated[float, msgspec.Meta(gt=0, le=1)]
    reason: str
    forbids: tuple[str, ...] = ()
    """Patterns of which none may be found."""
    requires: Element | None = None
    words: tuple[int, int] | None = None

    def broken_by(self, text: str, elements: SceneElements) -> bool:
        """Whether a prompt breaks the rule."""
        if any(found(pattern, text) for pattern in self.forbids):
            return True
        if self.requires is not None and not elements.present()[self.requires]:
            return True
        return self.words is not None and not self.words[0] <= word_count(text) <= self.words[1]


class Resources(msgspec.Struct, frozen=True):
    """What engines, templates and scoring may use."""

    rules: Mapping[str, Sequence[Rule]]
    thesaurus: Mapping[str, Sequence[str]]


def load_resources(folder: Path) -> Resources:
    """The conventions of target models, and the thesaurus."""
    problems = Problems()
    rules = read_yaml(folder / MODELS_FILE, dict[str, list[Rule]], problems, _check_rules)
    thesaurus = read_yaml(folder / THESAURUS_FILE, dict[str, list[str]], problems)
    problems.stop_if_any()
    return Resources(rules or {}, thesaurus or {})


def _check_rules(models: Mapping[str, Sequence[Rule]]) -> Iterator[Violation]:
    for model, rules in models.items():
        for index, rule in enumerate(rules):
            if not rule.forbids and rule.requires is None and rule.words is None:
                yield Violation((model, index), "asks for nothing", "Add forbids, requires or words.")
            if not rule.reason.strip():
                yield Violation((model, index, "reason"), "is blank", "Say why the rule exists.")
            for place, pattern in enumerate(rule.forbids):
                try:
                    compile_bounded(pattern)
                except BadPattern as bad:
                    message, _, remedy = str(bad).partition(". ")
                    yield Violation((model, index, "forbids", place), message, remedy)


def resources_of(context: Context) -> Resources:
    """The resources, or what to do about their absence."""
    if not isinstance(context.resources, Resources):
        remedy = "Add resources/ to the golden folder of optimization."
        raise bad_value("resources", f"{MODELS_FILE} and {THESAURUS_FILE} are missing", remedy)
    return context.resources


def matcher_of(resources: Resources) -> KeptWords:
    """What finds elements of one prompt in another."""
    return _matcher(tuple((word, tuple(keepers)) for word, keepers in sorted(resources.thesaurus.items())))


@lru_cache(maxsize=2)
def _matcher(entries: tuple[tuple[str, tuple[str, ...]], ...]) -> KeptWords:
    return KeptWords(dict(entries))


def trained_models(context: Context) -> Sequence[Model]:
    """The matcher of kept words, which the thesaurus is part of."""

    def measure() -> Measured:
        right, total = accuracy(matcher_of(resources_of(context)))
        return Measured(right / total, f"{right}/{total} labelled pairs of a word and a text right")

    name = f"thesaurus and {default_embedder().name}"
    return [Model(name, ("intent_preservation", "required_elements_present"), measure)]


def _measure_elements() -> Measured:
    shares = element_accuracy()
    right, total = sum(share.right for share in shares.values()), sum(share.of for share in shares.values())
    by_element = ", ".join(f"{name} {share}" for name, share in shares.items())
    return Measured(right / total, f"{right}/{total} labelled elements of prompts right ({by_element})")


MODELS = (
    Model(
        "detector of scene elements",
        ("intent_preservation", "structural_completeness", "model_compliance"),
        _measure_elements,
    ),
    syntax_model("well_formedness"),
)

"""Scoring suggestions: five dimensions, none of which needs a right answer."""

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

import eval_pipeline.suite as kit
from eval_pipeline.answers import Answer
from eval_pipeline.language.embedder import Vectors, default_embedder, similarity
from eval_pipeline.metrics.minima import below_minimum
from eval_pipeline.metrics.rates import ratio
from eval_pipeline.metrics.text import normalize
from eval_pipeline.suites._video.category_classifier import parent
from eval_pipeline.suites._video.negation import affirmed
from eval_pipeline.suites._video.syntax import faults, is_sound, takes_place_of
from eval_pipeline.suites.suggestions.cases import SuggestionCase
from eval_pipeline.suites.suggestions.models import classifier_of

MOST_SUGGESTIONS = 100
LONGEST_SUGGESTION = 2000
CLASSIFIED_AS = "classified_as"

Suggestion = Annotated[str, msgspec.Meta(max_length=LONGEST_SUGGESTION)]


class Suggestions(msgspec.Struct, frozen=True):
    """The output contract."""

    suggestions: Annotated[list[Suggestion], msgspec.Meta(max_length=MOST_SUGGESTIONS)]


class Annotations(NamedTuple):
    """What models say about the texts of a batch."""

    vectors: Mapping[str, Vectors]
    categories: Mapping[tuple[str, str], str]
    """(case id, suggestion) → category."""
    sound: Mapping[str, bool]
    """Prompt with a suggestion dropped in → whether it holds together."""


def annotate(items: Sequence[kit.Item], context: kit.Context) -> Annotations:
    """Embed, classify and read every text of a batch, each once."""
    chosen = [(item.case, distinct(item.output.suggestions)) for item in items]
    texts = sorted({text for case, each in chosen for text in (case.input.span, *each)})
    vectors = default_embedder().embed(texts)
    keys = [(case.id, text) for case, each in chosen for text in each]
    categories = classifier_of(context).classify(
        [text for _, text in keys], [case.input.prompt for case, each in chosen for _ in each]
    )
    modified = {dropped_in(case, text) for case, each in chosen for text in each}
    return Annotations(
        dict(zip(texts, vectors, strict=True)),
        dict(zip(keys, categories, strict=True)),
        {text: is_sound(text) for text in sorted(modified)},
    )


def distinct(suggestions: Iterable[str]) -> list[str]:
    """Suggestions that differ after normalisation, sorted; of several spellings the first in order."""
    results: dict[str, str] = {}
    for text in sorted(suggestions):
        results.setdefault(normalize(text), text)
    return [results[key] for key in sorted(results)]


def dropped_in(case: SuggestionCase, suggestion: str) -> str:
    """The prompt with a suggestion in the place of its span."""
    given = case.input
    return given.prompt[: given.start] + suggestion + given.prompt[given.start + len(given.span) :]


def score_case(item: kit.Item, context: kit.Context) -> kit.CaseScore:
    """The counts and diagnoses of one output."""
    case: SuggestionCase = item.case
    seen: Annotations = context.annotations
    result = distinct(item.output.suggestions)
    forbidden = {normalize(text) for text in case.expected.forbidden_outputs} & set(map(normalize, result))
    categories = {text: seen.categories[case.id, text] for text in result}
    coherent = {text for text in result if shows(text) and _coherent(case, categories[text])}
    sound = {
        text
        for text in result
        if text.strip() and seen.sound[dropped_in(case, text)] and takes_place_of(text, case.input.span)
    }
    lengths = [length_appropriateness(case.input.span, text) for text in result]
    values: dict[str, float | None] = {
        "category_coherence": len(coherent) / len(result) if result else 0.0,
        "diversity": diversity([seen.vectors[text] for text in result if text.strip()]),
        "non_repetition": _mean(
            non_repetition(case.input.span, text, forbidden, seen.vectors) for text in result
        ),
        "syntactic_validity": len(sound) / len(result) if result else 0.0,
        "length_appropriateness": _mean(lengths),
        "length_in_range": _mean(float(length == 1.0) for length in lengths),
        "forbidden_rate": ratio(len(forbidden), len(result)),
        "duplicate_rate": ratio(len(item.output.suggestions) - len(result), len(item.output.suggestions)),
    }
    missed = below_minimum(case.expected.qualities, values)
    return kit.CaseScore(
        {**kit.mean_counts(values), "minima_missed": float(len(missed)), "forbidden": float(len(forbidden))},
        [
            kit.KeyedCount(CLASSIFIED_AS, parent(case.input.category), parent(categories[text]), 1.0)
            for text in result
        ],
        list(_diagnoses(case, result, coherent, sound, forbidden, categories, missed)),
    )


def _diagnoses(
    case: SuggestionCase,
    found: Sequence[str],
    coherent: set[str],
    sound: set[str],
    forbidden: set[str],
    categories: Mapping[str, str],
    missed: Sequence[str],
) -> Iterator[kit.Diagnosis]:
    for text in found:
        if text not in coherent:
            yield kit.Diagnosis("other_category", case.input.category, f"{text} → {categories[text]}")
        if text not in sound:
            yield kit.Diagnosis("breaks_grammar", "", _broken(dropped_in(case, text)))
        if normalize(text) in forbidden:
            yield kit.Diagnosis("forbidden_output", "", text)
        if length_appropriateness(case.input.span, text) < 1.0:
            yield kit.Diagnosis("too_long_or_short", case.input.span, text)
    for message in missed:
        yield kit.Diagnosis("below_minimum", message, "")


def errored(case: SuggestionCase, answer: Answer | None) -> kit.CaseScore:
    """A case without a usable output misses what it expects."""
    return kit.CaseScore({"minima_missed": 1.0, "forbidden": 0.0})


def shows(text: str) -> bool:
    """Whether a suggestion names something to see or hear: not where it is blank, or all of it is denied."""
    return any(character.isalnum() for character in affirmed(text))


def _coherent(case: SuggestionCase, category: str) -> bool:
    return parent(category) == parent(case.input.category) or category in case.expected.allowed_categories


def diversity(vectors: Sequence[Vectors]) -> float:
    """1 − mean pairwise cosine; 0 for fewer than two suggestions that are not blank."""
    if len(vectors) < 2:
        return 0.0
    rows = np.stack(vectors)
    pairs = similarity(rows[:, None], rows)[np.triu_indices(len(rows), 1)]
    return 1.0 - float(pairs.mean())


def non_repetition(original: str, text: str, forbidden: set[str], vectors: Mapping[str, Vectors]) -> float:
    """1 − cosine to the original; 0 for the original itself, a forbidden output or nothing at all."""
    key = normalize(text)
    if not key or key == normalize(original) or key in forbidden:
        return 0.0
    return 1.0 - float(similarity(vectors[original], vectors[text]))


def length_appropriateness(original: str, suggestion: str) -> float:
    """1 for 0.5 to 2 times the original's length in characters, 0.7 for 0.3 to 3 times, 0.3 beyond."""
    times = len(normalize(suggestion)) / len(normalize(original))
    if 0.5 <= times <= 2.0:
        return 1.0
    return 0.7 if 0.3 <= times <= 3.0 else 0.3


def case_passes(sums: kit.Sums) -> NDArray[np.bool_]:
    """A case passes when it reaches all its minima and holds no forbidden output."""
    return np.asarray((sums["minima_missed"] == 0) & (sums["forbidden"] == 0), dtype=np.bool_)


def _mean(values: Iterable[float]) -> float:
    """The mean; 0 where nothing was suggested."""
    given = list(values)
    return statistics.fmean(given) if given else 0.0


def _broken(text: str) -> str:
    result = faults(text)
    return f"{text} (at {result[0].after} {result[0].text})".replace(" )", ")") if result else text


METRICS: tuple[kit.Metric, ...] = (
    kit.mean(
        "category_coherence",
        "Suggestions whose category, by the classifier, has the span's parent or is allowed ÷ suggestions; "
        "then the mean over cases.",
        explained_by="other_category",
    ),
    kit.mean(
        "diversity",
        "1 − mean pairwise cosine of the suggestions that are not blank, clipped to [0, 1]; "
        "0 for fewer than two.",
    ),
    kit.mean(
        "non_repetition",
        "Mean of 1 − cosine to the original; 0 for a suggestion that equals it or is forbidden.",
        explained_by="forbidden_output",
    ),
    kit.mean(
        "syntactic_validity",
        "Suggestions that leave the prompt grammatical when dropped in ÷ suggestions; "
        "then the mean over cases.",
        explained_by="breaks_grammar",
    ),
    kit.mean(
        "length_appropriateness",
        "Mean over suggestions: 1 within 0.5 to 2 times the original's length, 0.7 within 0.3 to 3, "
        "else 0.3.",
        explained_by="too_long_or_short",
    ),
    kit.mean(
        "length_in_range",
        "Suggestions within 0.5 to 2 times the original's length ÷ suggestions; then the mean over cases.",
        explained_by="too_long_or_short",
    ),
    kit.mean(
        "forbidden_rate",
        "Suggestions on the case's list of forbidden outputs ÷ suggestions.",
        direction="lower",
        explained_by="forbidden_output",
    ),
    kit.mean(
        "duplicate_rate",
        "Suggestions that repeat another one ÷ suggestions, before duplicates are merged.",
        direction="lower",
    ),
)

"""Scoring optimized prompts: intent, completeness, length, vocabulary, and what target models like."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from eval_pipeline.answers import Answer
from eval_pipeline.language.patterns import SlowPattern, found
from eval_pipeline.metrics.minima import below_minimum
from eval_pipeline.metrics.rates import ratio
from eval_pipeline.problems import bad_value
from eval_pipeline.suite import CaseScore, Context, Diagnosis, Item, Metric, Sums, mean, mean_counts
from eval_pipeline.suites._video.cinematography import technical_terms
from eval_pipeline.suites._video.kept_words import KeptWords
from eval_pipeline.suites._video.scene_elements import SceneElements, find_elements
from eval_pipeline.suites._video.syntax import Fault, faults
from eval_pipeline.suites.optimization.cases import OptimizationCase, has_subject, word_count
from eval_pipeline.suites.optimization.models import Resources, matcher_of, resources_of

LONGEST_PROMPT = 50_000
WELL_FORMED = 0.9
"""Below it a prompt is scrambled: written ones have 0.95 and more, shuffled ones at most 0.87."""
MOST_FAULTS = 3
"""So many of a prompt's faults are named."""


class OptimizedPrompt(msgspec.Struct, frozen=True):
    """The output contract."""

    prompt: str


class Judgement(NamedTuple):
    """What the models say about one output."""

    elements: SceneElements
    subjects: Mapping[str, bool]
    """Subjects of the input → whether they are kept."""
    required: Mapping[str, bool]
    faults: Sequence[Fault]


def annotate(items: Sequence[Item], context: Context) -> dict[str, Judgement]:
    """Read every prompt of a batch, and look in it for what must be kept; by case."""
    resources = resources_of(context)
    _stop_at_unknown_models(items, resources)
    matcher = matcher_of(resources)
    return {item.case.id: _judge(item.case, item.output.prompt[:LONGEST_PROMPT], matcher) for item in items}


def _judge(case: OptimizationCase, text: str, matcher: KeptWords) -> Judgement:
    return Judgement(
        find_elements(text),
        {each: matcher.keeps_head(each, text) for each in find_elements(case.input.input).core},
        {each: matcher.keeps_all(each, text) for each in case.expected.required_elements},
        faults(text),
    )


def _stop_at_unknown_models(items: Sequence[Item], resources: Resources) -> None:
    named = {item.case.input.target_model: item.case.id for item in items if item.case.input.target_model}
    unknown = [
        f"{model!r} (case {case_id})" for model, case_id in named.items() if model not in resources.rules
    ]
    if unknown:
        remedy = f"Models with rules: {', '.join(sorted(resources.rules))}."
        raise bad_value("targetModel", f"there are no rules for {', '.join(sorted(unknown))}", remedy)


def score_case(item: Item, context: Context) -> CaseScore:
    """The counts and diagnoses of one output."""
    case: OptimizationCase = item.case
    text: str = item.output.prompt
    judgement: Judgement = context.annotations[case.id]
    rules = resources_of(context).rules.get(case.input.target_model, ())
    words, terms = word_count(text), technical_terms(text)
    well_formed = max(0.0, 1.0 - len(judgement.faults) / words) if words else 0.0
    try:
        broken = [rule for rule in rules if rule.broken_by(text, judgement.elements)]
        hits = {pattern: hit for pattern in case.expected.forbidden_patterns if (hit := found(pattern, text))}
    except SlowPattern as slow:
        raise slow.in_case(case.id) from None
    values: dict[str, float | None] = {
        "intent_preservation": float(all(judgement.subjects.values())) if judgement.subjects else None,
        "required_elements_present": ratio(sum(judgement.required.values()), len(judgement.required)),
        "structural_completeness": structural_completeness(judgement.elements),
        "well_formedness": well_formed,
        "word_count_compliance": word_count_compliance(words),
        "word_count_in_range": float(word_count_compliance(words) == 1.0),
        "technical_density": technical_density(len(terms)),
        "technical_terms_2plus": float(len(terms) >= 2),
        "model_compliance": max(0.0, 1.0 - sum(rule.penalty for rule in broken)) if rules else None,
        "forbidden_pattern_rate": float(bool(hits)),
    }
    missed = below_minimum(case.expected.qualities, values)
    return CaseScore(
        {
            **mean_counts(values),
            "minima_missed": float(len(missed)),
            "forbidden": float(len(hits)),
            "lost_elements": float(len(judgement.required) - sum(judgement.required.values())),
            "scrambled": float(well_formed < WELL_FORMED),
        },
        (),
        [
            *_diagnoses(judgement, words, terms),
            *(Diagnosis("breaks_model_rule", rule.id, rule.reason) for rule in broken),
            *(Diagnosis("forbidden_pattern", pattern, hit) for pattern, hit in sorted(hits.items())),
            *(Diagnosis("below_minimum", message, "") for message in missed),
        ],
    )


def _diagnoses(judgement: Judgement, words: int, terms: Sequence[str]) -> Iterator[Diagnosis]:
    for subject, kept in sorted(judgement.subjects.items()):
        if not kept:
            yield Diagnosis("lost_subject", subject, "")
    for element, kept in sorted(judgement.required.items()):
        if not kept:
            yield Diagnosis("lost_element", element, "")
    for name, here in _structure(judgement.elements).items():
        if not here:
            yield Diagnosis("lacks", name, "")
    for fault in judgement.faults[:MOST_FAULTS]:
        yield Diagnosis("does_not_fit", "", f"{fault.text or 'the end'} after {fault.after}")
    if word_count_compliance(words) < 1.0:
        yield Diagnosis("word_count", "75 to 125 words", str(words))
    if technical_density(len(terms)) < 1.0:
        yield Diagnosis("technical_terms", "2 to 5 terms", f"{len(terms)}: {', '.join(terms)}".rstrip(": "))


def _structure(elements: SceneElements) -> dict[str, bool]:
    here = elements.present()
    return {
        "subject": here["subject"],
        "action": here["action"],
        "environment": here["environment"],
        "camera or lighting": here["camera"] or here["lighting"],
    }


def structural_completeness(elements: SceneElements) -> float:
    """The share of subject, action, environment, and camera or lighting."""
    return sum(_structure(elements).values()) / 4


def word_count_compliance(words: int) -> float:
    """1 for 75 to 125 words, 0.8 for 50 to 150, 0.5 for 30 to 200, 0.2 beyond."""
    for least, most, value in ((75, 125, 1.0), (50, 150, 0.8), (30, 200, 0.5)):
        if least <= words <= most:
            return value
    return 0.2


def technical_density(terms: int) -> float:
    """1 for 2 to 5 distinct technical terms, 0.7 for 1 to 7, 0.3 beyond."""
    if 2 <= terms <= 5:
        return 1.0
    return 0.7 if 1 <= terms <= 7 else 0.3


def errored(case: OptimizationCase, answer: Answer | None) -> CaseScore:
    """A case without a usable output misses what it expects."""
    lost = float(len(case.expected.required_elements))
    return CaseScore({"minima_missed": 1.0, "forbidden": 0.0, "lost_elements": lost, "scrambled": 0.0})


def case_passes(sums: Sums) -> NDArray[np.bool_]:
    """A case passes when it reaches all its minima, keeps every element and holds no forbidden pattern.

    Words that do not hold together pass nothing, whichever they are.
    """
    wrong = sums["minima_missed"] + sums["lost_elements"] + sums["forbidden"] + sums["scrambled"]
    return np.asarray(wrong == 0, dtype=np.bool_)


def _has_required(case: OptimizationCase) -> bool:
    return bool(case.expected.required_elements)


def _has_target(case: OptimizationCase) -> bool:
    return bool(case.input.target_model)


METRICS: tuple[Metric, ...] = (
    mean(
        "intent_preservation",
        "1 where every subject of the input is still there, by stem, synonym, narrower word or meaning, "
        "else 0; a mention that is denied keeps nothing. Undefined for an input without a subject.",
        population=has_subject,
        explained_by="lost_subject",
    ),
    mean(
        "required_elements_present",
        "Required elements that are still there, by the same rules ÷ required elements; a missing one fails "
        "the case.",
        population=_has_required,
        explained_by="lost_element",
    ),
    mean(
        "structural_completeness",
        "The share of subject, action, environment, and camera or lighting that the prompt shows.",
        explained_by="lacks",
    ),
    mean(
        "well_formedness",
        "1 − words that do not fit where they stand, by an automaton of word classes ÷ words. Shuffled words "
        "have about 0.8.",
        explained_by="does_not_fit",
    ),
    mean(
        "word_count_compliance",
        "1 for 75 to 125 words, 0.8 for 50 to 150, 0.5 for 30 to 200, 0.2 beyond.",
        explained_by="word_count",
    ),
    mean("word_count_in_range", "Prompts of 75 to 125 words ÷ prompts.", explained_by="word_count"),
    mean(
        "technical_density",
        "1 for 2 to 5 distinct technical terms, 0.7 for 1 to 7, 0.3 beyond.",
        explained_by="technical_terms",
    ),
    mean(
        "technical_terms_2plus",
        "Prompts with two or more technical terms ÷ prompts.",
        explained_by="technical_terms",
    ),
    mean(
        "model_compliance",
        "1 − the penalties of the target model's rules that the prompt breaks, at least 0.",
        population=_has_target,
        explained_by="breaks_model_rule",
    ),
    mean(
        "forbidden_pattern_rate",
        "Prompts in which a forbidden pattern is found ÷ prompts.",
        direction="lower",
        explained_by="forbidden_pattern",
    ),
)

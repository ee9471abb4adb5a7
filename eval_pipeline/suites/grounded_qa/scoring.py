"""Scoring grounded answers: right claim, right evidence, and refusing when there is none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from eval_pipeline.answers import Answer
from eval_pipeline.metrics.text import normalize
from eval_pipeline.suite import (
    Batch,
    CaseScore,
    Context,
    Diagnosis,
    Items,
    Metric,
    Sums,
    Values,
    ratio_of,
)
from eval_pipeline.suites.grounded_qa.cases import GroundedCase, GroundedExpected
from eval_pipeline.suites.grounded_qa.traces import GroundedAnswer

REFUSAL = "not in context"

_NEAR_REFUSAL = re.compile(
    r"\W*(?:(?:sorry|unfortunately)\W+)?(?:"
    r"(?:(?:the|this|that|it|its|an?) )?(?:answer|information|question)?\W*(?:is |was )?"
    r"not (?:\w+ )?in (?:the |this |any )?(?:\w+ )?(?:context|passages?|documents?)\b.{0,80}"
    r"|i (?:do not|don['’]t) know\b.{0,80}"
    r"|(?:i |we )?(?:cannot|can['’]t|can not|(?:am |are )?unable to) answer\b.{0,80}"
    r"|(?:there is )?no (?:answer|information)(?: (?:found|available))?(?: in .{0,60})?"
    r"|n/a|unknown|unanswerable"
    r")\W*"
)
_HINTS = ("context", "know", "answer", "passage", "document", "no information", "n/a")


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a caller may choose."""

    k: Annotated[int, msgspec.Meta(ge=1)] = 5
    """How many distinct retrieved passages recall@k looks at."""


COLUMNS = (
    "shipped",
    "refused",
    "correct",
    "citation_hit",
    "near_refusal",
    "recalled",
    "recalled_share",
    "cited",
    "cited_gold",
    "ids",
    "repeated_ids",
)
_COLUMN = {name: number for number, name in enumerate(COLUMNS)}
Row = tuple[float, ...]


def score(items: Items, context: Context) -> Batch:
    """The counts of every answer."""
    k = context.settings.k
    rows = [_row(case.expected, output, k) for case, output in zip(items.cases, items.outputs, strict=True)]
    answerable = np.array([case.expected.answerable for case in items.cases], dtype=float)
    return Batch(_counts(np.array(rows, dtype=float), answerable), diagnoses=_diagnoses(items, rows, k))


def _row(expected: GroundedExpected, output: GroundedAnswer, k: int) -> Row:
    """One answer's counts, in the order of `COLUMNS`."""
    retrieved, gold = output.retrieved_ids or (), expected.citations
    cited = output.citations or ()
    ids = len(retrieved) + len(cited)
    distinct = dict.fromkeys(retrieved)
    repeated = ids - len(distinct)
    recalled = share = 0.0
    if expected.answerable:
        first = distinct if len(distinct) <= k else list(distinct)[:k]
        share = _share_within(gold, first)
        recalled = float(share == 1.0)
    claim = normalize(output.claim)
    if claim == REFUSAL:
        repeated -= len(set(cited))
        return 0.0, 1.0, 0.0, 0.0, 0.0, recalled, share, 0.0, 0.0, ids, repeated
    wanted = set(cited)
    repeated -= len(wanted)
    cited_gold = len(wanted.intersection(gold))
    hit = float(cited_gold > 0 and distinct.keys() >= wanted)
    correct = float(hit and expected.answerable and _holds(claim, expected.claim_substrings))
    near = 0.0 if correct else float(is_near_refusal(claim))
    return 1.0, 0.0, correct, hit, near, recalled, share, len(wanted), cited_gold, ids, repeated


def _share_within(gold: Sequence[str], found: Any) -> float:
    """Distinct gold ids that were found ÷ distinct gold ids."""
    if len(gold) == 1:
        return float(gold[0] in found)
    wanted = set(gold)
    return len(wanted.intersection(found)) / len(wanted)


def _holds(claim: str, substrings: Sequence[str]) -> bool:
    """Whether a normalized claim holds one of the substrings; any claim will do where there are none."""
    return not substrings or any(normalize(text) in claim for text in substrings)


def is_near_refusal(claim: str) -> bool:
    """Whether a normalized claim that is not the refusal token was probably meant as one."""
    return (
        claim != REFUSAL
        and (len(claim) < 16 or any(hint in claim for hint in _HINTS))
        and _NEAR_REFUSAL.fullmatch(claim) is not None
    )


def _counts(rows: Values, answerable: Values) -> dict[str, Values]:
    counts = {name: rows[:, number] for name, number in _COLUMN.items()}
    unanswerable = 1.0 - answerable
    return {
        **counts,
        "answerable": answerable,
        "unanswerable": unanswerable,
        "claimed": counts["shipped"],
        "under": counts["shipped"] * unanswerable,
        "over": counts["refused"] * answerable,
        "right": counts["correct"] + counts["refused"] * unanswerable,
    }


def errored(case: GroundedCase, answer: Answer | None) -> CaseScore:
    """An error at its worst: a wrong claim with wrong citations, and a wrong decision whether to answer."""
    expected = case.expected
    row = np.zeros((1, len(COLUMNS)))
    counts = _counts(row, np.array([float(expected.answerable)]))
    worst = {name: float(values[0]) for name, values in counts.items()}
    worst |= {
        "claimed": 1.0,
        "cited": float(len(set(expected.citations))),
        "under": worst["unanswerable"],
        "over": worst["answerable"],
    }
    return CaseScore(worst)


def _diagnoses(items: Items, rows: Sequence[Row], k: int) -> Iterator[tuple[int, Diagnosis]]:
    """What is wrong with every answer that is not right."""
    for index, (case, output, row) in enumerate(zip(items.cases, items.outputs, rows, strict=True)):
        for diagnosis in _diagnose(case, output, row, k):
            yield index, diagnosis


def _diagnose(case: GroundedCase, output: GroundedAnswer, row: Row, k: int) -> Iterator[Diagnosis]:
    expected = case.expected
    gold = ", ".join(expected.citations)
    if expected.answerable and not row[_COLUMN["recalled"]]:
        found = ", ".join(list(dict.fromkeys(output.retrieved_ids or ()))[:k])
        yield Diagnosis("not_retrieved", gold, found or "nothing")
    if row[_COLUMN["refused"]]:
        if expected.answerable:
            yield Diagnosis("over_refusal", " | ".join(expected.claim_substrings), REFUSAL)
        return
    if not expected.answerable:
        yield Diagnosis("under_refusal", REFUSAL, output.claim)
    elif not row[_COLUMN["correct"]]:
        yield Diagnosis("incorrect", " | ".join(expected.claim_substrings), output.claim)
    if not row[_COLUMN["citation_hit"]]:
        missing = set(output.citations or ()).difference(output.retrieved_ids or ())
        cited = ", ".join(
            f"{each} (not retrieved)" if each in missing else each for each in output.citations or ()
        )
        yield Diagnosis("citation_miss", gold, cited or "nothing")
    if row[_COLUMN["near_refusal"]]:
        yield Diagnosis("near_refusal", REFUSAL, output.claim)


def case_passes(sums: Sums) -> NDArray[np.bool_]:
    """A case passes when it is answered rightly with the right evidence, or rightly refused."""
    passed: NDArray[np.bool_] = sums["right"] > 0
    return passed


def is_answerable(case: GroundedCase) -> bool:
    """The population of what is measured on answerable questions."""
    return case.expected.answerable


def is_unanswerable(case: GroundedCase) -> bool:
    """The population of what is measured on unanswerable questions."""
    return not case.expected.answerable


def _total(column: str) -> Any:
    return lambda sums: sums[column]


METRICS: tuple[Metric, ...] = (
    Metric(
        "precision",
        "Answers that are right (hold a gold substring, hit a gold citation) ÷ answers shipped or errored.",
        ratio_of("correct", "claimed"),
        population=is_answerable,
        explained_by="incorrect",
    ),
    Metric(
        "chr",
        "Citation hit rate: answers that cite a gold passage, and nothing that was not retrieved ÷ answers "
        "shipped or errored.",
        ratio_of("citation_hit", "claimed"),
        population=is_answerable,
        explained_by="citation_miss",
    ),
    Metric(
        "under_refusal",
        "Unanswerable questions that were answered or errored ÷ unanswerable questions.",
        ratio_of("under", "unanswerable"),
        "lower",
        population=is_unanswerable,
        explained_by="under_refusal",
        aliases=("under",),
    ),
    Metric(
        "over_refusal",
        "Answerable questions that were refused or errored ÷ answerable questions.",
        ratio_of("over", "answerable"),
        "lower",
        population=is_answerable,
        explained_by="over_refusal",
        aliases=("over",),
    ),
    Metric(
        "recall@k",
        "Answerable questions with all gold citations among the first k distinct retrieved ids ÷ answerable "
        "questions.",
        ratio_of("recalled", "answerable"),
        population=is_answerable,
        explained_by="not_retrieved",
        aliases=("recall",),
    ),
    Metric(
        "citation_recall@k",
        "The share of a question's gold citations among the first k distinct retrieved ids, mean over "
        "answerable questions.",
        ratio_of("recalled_share", "answerable"),
        population=is_answerable,
        explained_by="not_retrieved",
    ),
    Metric(
        "citation_precision",
        "Distinct cited ids that are gold ÷ distinct cited ids, over all shipped answers.",
        ratio_of("cited_gold", "cited"),
        population=is_answerable,
    ),
    Metric(
        "accuracy",
        "Answerable questions answered rightly and unanswerable ones refused ÷ questions.",
        ratio_of("right", "answers"),
    ),
    Metric(
        "near_refusal_rate",
        "Shipped answers that read like a refusal and are not the token ÷ shipped answers.",
        ratio_of("near_refusal", "shipped"),
        "lower",
        explained_by="near_refusal",
    ),
    Metric(
        "duplicate_rate",
        "Retrieved and cited ids that repeat another one ÷ retrieved and cited ids.",
        ratio_of("repeated_ids", "ids"),
        "lower",
    ),
    Metric(
        "answered", "Answers shipped: usable, and not the refusal token.", _total("shipped"), unit="number"
    ),
    Metric("refused", "Answers that are the refusal token.", _total("refused"), unit="number"),
    Metric(
        "near_refusals",
        "Shipped answers that read like a refusal and are not the token.",
        _total("near_refusal"),
        "lower",
        unit="number",
        explained_by="near_refusal",
    ),
    Metric("answerable", "Questions that the corpus answers.", _total("answerable"), unit="number"),
    Metric("unanswerable", "Questions that it does not answer.", _total("unanswerable"), unit="number"),
)

REPORT_COUNTS = ("answered", "refused", "near_refusals", "answerable", "unanswerable")
REPORT_RATES = ("precision", "chr", "under_refusal", "over_refusal", "recall@k")


def report_keys(report: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """The keys that the document's own scorer prints, beside the common report."""
    metrics = report["metrics"]
    counts = {name: metrics[name] for name in REPORT_COUNTS}
    return {
        **{name: int(value) if value == int(value) else value for name, value in counts.items()},
        **{name: metrics[name] for name in REPORT_RATES},
        "k": settings.k,
    }

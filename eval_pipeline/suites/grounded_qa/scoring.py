"""Scoring grounded answers: right claim, right evidence, and refusing when there is none."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Annotated, Any, NamedTuple

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
    divide,
    ratio_of,
)
from eval_pipeline.suites.grounded_qa.cases import GroundedCase, GroundedExpected
from eval_pipeline.suites.grounded_qa.traces import GroundedClaim

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
SHORT = 16
"""Claims shorter than this are looked at closely even if no word hints at a refusal."""


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a caller may choose."""

    k: Annotated[int, msgspec.Meta(ge=1)] = 5
    """How many distinct retrieved passages recall@k looks at."""


SHIPPED, HIT, CORRECT, NEAR = 1, 2, 4, 8
"""What is true of an answer, as bits of one number."""


class Row(NamedTuple):
    """What is counted of one answer; everything else follows."""

    flags: int
    share: float
    """Of the gold citations, among the first k."""
    cited: int
    cited_gold: int
    ids: int
    repeated_ids: int


def score(items: Items, context: Context) -> Batch:
    """The counts of every answer."""
    k = context.settings.k
    rows = [_row(case.expected, output, k) for case, output in zip(items.cases, items.outputs, strict=True)]
    answerable = np.array([case.expected.answerable for case in items.cases], dtype=float)
    values = np.fromiter(chain.from_iterable(rows), dtype=float, count=len(rows) * len(Row._fields))
    return Batch(
        _counts(values.reshape(len(rows), -1), answerable),
        diagnoses=_diagnoses(items, rows, k),
    )


def _row(expected: GroundedExpected, output: GroundedClaim, k: int) -> tuple[float, ...]:
    """One answer's counts, in the order of `Row`."""
    retrieved, cited, gold = output.retrieved_ids or (), output.citations or (), expected.gold_citations or ()
    found, text, share = set(retrieved), output.claim, 0.0
    ids = len(retrieved) + len(cited)
    repeated = ids - len(found)
    if gold:
        share = _share_within(gold, found if len(found) <= k else list(dict.fromkeys(retrieved))[:k])
    claim = text.lower() if text.isascii() else normalize(text)
    if "context" in claim and normalize(text) == REFUSAL:
        return 0, share, 0, 0, ids, repeated - len(set(cited))
    wanted, flags, cited_gold = set(cited), SHIPPED, 0
    if gold and cited:
        cited_gold = len(wanted.intersection(gold))
        if cited_gold and found >= wanted:
            flags = SHIPPED | HIT
            if expected.answerable and _holds(claim, expected.gold_claim_substr or ()):
                flags = SHIPPED | HIT | CORRECT
    if flags < CORRECT and is_near_refusal(claim):
        flags |= NEAR
    return flags, share, len(wanted), cited_gold, ids, repeated - len(wanted)


def _share_within(gold: Sequence[str], found: Collection[str]) -> float:
    """Distinct gold ids that were found ÷ distinct gold ids; 0 where there are none."""
    if len(gold) == 1:
        return 1.0 if gold[0] in found else 0.0
    wanted = set(gold)
    return len(wanted.intersection(found)) / len(wanted) if wanted else 0.0


def _holds(claim: str, substrings: Sequence[str]) -> bool:
    """Whether a claim holds one of the substrings; any claim will do where there are none.

    The claim is normalized, or, where it is plain ASCII, at least in lower case: white space is
    collapsed only where the substring does not stand there anyway.
    """
    for text in substrings:
        if text.isascii() and text.lower() in claim:
            return True
        if normalize(text) in normalize(claim):
            return True
    return not substrings


def is_near_refusal(claim: str) -> bool:
    """Whether a claim in lower case that is not the refusal token was probably meant as one."""
    hinted = (
        len(claim) < SHORT
        or "context" in claim
        or "know" in claim
        or "answer" in claim
        or "passage" in claim
        or "document" in claim
        or "no information" in claim
    )
    return hinted and _NEAR_REFUSAL.fullmatch(normalize(claim)) is not None


def _counts(rows: Values, answerable: Values) -> dict[str, Values]:
    """Every count column, from rows in the order of `Row`."""
    flags, share, cited, cited_gold, ids, repeated = rows.T
    bits = flags.astype(np.int64)
    shipped, hit, correct, near = ((bits & flag > 0).astype(float) for flag in (SHIPPED, HIT, CORRECT, NEAR))
    return {
        "answerable": answerable,
        "shipped": shipped,
        "correct": correct,
        "citation_hit": hit,
        "near_refusal": near,
        "rightly_refused": (1.0 - shipped) * (1.0 - answerable),
        "wrongly_refused": (1.0 - shipped) * answerable,
        "recalled": (share == 1.0) * answerable,
        "recalled_share": share * answerable,
        "cited": cited,
        "cited_gold": cited_gold,
        "ids": ids,
        "repeated_ids": repeated,
    }


def errored(case: GroundedCase, answer: Answer | None) -> CaseScore:
    """An error at its worst: a wrong claim with wrong citations, and a wrong decision whether to answer."""
    expected = case.expected
    counts = _counts(np.zeros((1, len(Row._fields))), np.array([float(expected.answerable)]))
    return CaseScore(
        {
            **{name: float(values[0]) for name, values in counts.items()},
            "rightly_refused": 0.0,
            "wrongly_refused": float(expected.answerable),
            "cited": float(len(set(expected.gold_citations or ()))),
        }
    )


def _diagnoses(items: Items, rows: Sequence[tuple[float, ...]], k: int) -> Iterator[tuple[int, Diagnosis]]:
    """What is wrong with every answer that is not right."""
    for index, (case, output, row) in enumerate(zip(items.cases, items.outputs, rows, strict=True)):
        for diagnosis in _diagnose(case.expected, output, int(row[0]), row[1] == 1.0, k):
            yield index, diagnosis


def _diagnose(
    expected: GroundedExpected, output: GroundedClaim, flags: int, recalled: bool, k: int
) -> Iterator[Diagnosis]:
    gold, claims = ", ".join(expected.gold_citations or ()), " | ".join(expected.gold_claim_substr or ())
    if expected.answerable and not recalled:
        found = ", ".join(list(dict.fromkeys(output.retrieved_ids or ()))[:k])
        yield Diagnosis("not_retrieved", gold, found or "nothing")
    if not flags & SHIPPED:
        if expected.answerable:
            yield Diagnosis("over_refusal", claims, REFUSAL)
        return
    if not expected.answerable:
        yield Diagnosis("under_refusal", REFUSAL, output.claim)
    elif not flags & CORRECT:
        yield Diagnosis("incorrect", claims, output.claim)
    if not flags & HIT:
        missing = set(output.citations or ()).difference(output.retrieved_ids or ())
        cited = (f"{each} (not retrieved)" if each in missing else each for each in output.citations or ())
        yield Diagnosis("citation_miss", gold, ", ".join(cited) or "nothing")
    if flags & NEAR:
        yield Diagnosis("near_refusal", REFUSAL, output.claim)


def case_passes(sums: Sums) -> NDArray[np.bool_]:
    """A case passes when it is answered rightly with the right evidence, or rightly refused."""
    passed: NDArray[np.bool_] = _right(sums) > 0
    return passed


def is_answerable(case: GroundedCase) -> bool:
    """The population of what is measured on answerable questions."""
    return case.expected.answerable


def is_unanswerable(case: GroundedCase) -> bool:
    """The population of what is measured on unanswerable questions."""
    return not case.expected.answerable


def _claimed(sums: Sums) -> Values:
    """Answers that were shipped; an error counts as a wrong one."""
    return sums["shipped"] + sums["errors"]


def _refused(sums: Sums) -> Values:
    return sums["answers"] - sums["shipped"] - sums["errors"]


def _unanswerable(sums: Sums) -> Values:
    return sums["answers"] - sums["answerable"]


def _right(sums: Sums) -> Values:
    """Answerable questions answered rightly, and unanswerable ones refused."""
    return sums["correct"] + sums["rightly_refused"]


METRICS: tuple[Metric, ...] = (
    Metric(
        "precision",
        "Answers that are right (hold a gold substring, hit a gold citation) ÷ answers shipped or errored.",
        lambda sums: divide(sums["correct"], _claimed(sums)),
        population=is_answerable,
        explained_by="incorrect",
    ),
    Metric(
        "chr",
        "Citation hit rate: answers that cite a gold passage, and nothing that was not retrieved ÷ answers "
        "shipped or errored.",
        lambda sums: divide(sums["citation_hit"], _claimed(sums)),
        population=is_answerable,
        explained_by="citation_miss",
    ),
    Metric(
        "under_refusal",
        "Unanswerable questions that were answered or errored ÷ unanswerable questions.",
        lambda sums: divide(_unanswerable(sums) - sums["rightly_refused"], _unanswerable(sums)),
        "lower",
        population=is_unanswerable,
        explained_by="under_refusal",
        aliases=("under",),
    ),
    Metric(
        "over_refusal",
        "Answerable questions that were refused or errored ÷ answerable questions.",
        ratio_of("wrongly_refused", "answerable"),
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
        lambda sums: divide(_right(sums), sums["answers"]),
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
        "answered",
        "Answers shipped: usable, and not the refusal token.",
        lambda sums: sums["shipped"],
        unit="number",
    ),
    Metric("refused", "Answers that are the refusal token.", _refused, unit="number"),
    Metric(
        "near_refusals",
        "Shipped answers that read like a refusal and are not the token.",
        lambda sums: sums["near_refusal"],
        "lower",
        unit="number",
        explained_by="near_refusal",
    ),
    Metric(
        "answerable", "Questions that the corpus answers.", lambda sums: sums["answerable"], unit="number"
    ),
    Metric("unanswerable", "Questions that it does not answer.", _unanswerable, unit="number"),
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

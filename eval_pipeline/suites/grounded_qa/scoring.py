"""Scoring grounded answers: right claim, right evidence, and refusing when there is none."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Annotated, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

import eval_pipeline.suite as kit
from eval_pipeline.answers import Answer
from eval_pipeline.language.word_lists import line_lists
from eval_pipeline.metrics.text import normalize
from eval_pipeline.suites.grounded_qa.cases import GroundedCase, GroundedExpected
from eval_pipeline.suites.grounded_qa.claims import states
from eval_pipeline.suites.grounded_qa.corpus import Corpus
from eval_pipeline.suites.grounded_qa.traces import GroundedClaim

REFUSAL = "not in context"

_NEAR_REFUSAL = re.compile("".join(line_lists(__package__, "data/near_refusal.txt")["NEAR_REFUSAL"]))
SHORT = 16
"""Claims shorter than this are looked at closely even if no word hints at a refusal."""
LONGEST_CLAIM = 300
"""Characters. The document asks for a sentence; two parts of a question take two."""
GOLD_CITED = 0.5
"""The share of an answer's citations that must be gold for its case to pass."""


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a caller may choose."""

    k: Annotated[int, msgspec.Meta(ge=1)] = 5
    """How many distinct retrieved passages recall@k looks at."""


def score(items: kit.Items, context: kit.Context) -> kit.Batch:
    """The counts of every answer, column by column."""
    expected: list[GroundedExpected] = [case.expected for case in items.cases]
    outputs: Sequence[GroundedClaim] = items.outputs
    retrieved = [output.retrieved_ids or () for output in outputs]
    cited = [output.citations or () for output in outputs]
    claims = _lowered([output.claim for output in outputs])
    answerable = np.array([each.answerable for each in expected], dtype=bool)
    shipped = np.array([claim != REFUSAL and _is_shipped(claim) for claim in claims], dtype=bool)
    gold = [each.gold_citations or () for each in expected]
    evidence = _evidence(gold, cited, retrieved, context.settings.k)
    hit = shipped & (evidence["cited_gold"] > 0) & (evidence["scoped"] > 0)
    correct = hit & answerable
    texts = context.resources.texts if isinstance(context.resources, Corpus) else {}
    for index in np.flatnonzero(correct).tolist():
        known = [texts[citation] for citation in gold[index] if citation in texts]
        correct[index] = states(claims[index], expected[index], known)
    near = shipped & ~correct
    for index in np.flatnonzero(near).tolist():
        near[index] = is_near_refusal(claims[index])
    ids = _sizes(retrieved) + _sizes(cited)
    counts = {
        **_decisions(answerable, shipped),
        "correct": correct,
        "citation_hit": hit,
        "near_refusal": near,
        "long_claim": shipped & (_sizes(claims) > LONGEST_CLAIM),
        "recalled_share": evidence["recalled_share"] * answerable,
        "cited": evidence["cited"] * shipped,
        "cited_gold": evidence["cited_gold"] * shipped,
        "ids": ids,
        "repeated_ids": ids - evidence["found"] - evidence["cited"],
    }
    counts["recalled"] = counts["recalled_share"] == 1.0
    columns = {name: values.astype(float) for name, values in counts.items()}
    return kit.Batch(columns, diagnoses=_diagnoses(items, columns, context.settings.k))


def _lowered(claims: Sequence[str]) -> list[str]:
    """Claims in lower case; anything but plain ASCII is normalized for good."""
    if "".join(claims).isascii():
        return list(map(str.lower, claims))
    return [claim.lower() if claim.isascii() else normalize(claim) for claim in claims]


def _is_shipped(claim: str) -> bool:
    """Whether a claim in lower case is not the refusal token."""
    return "context" not in claim or normalize(claim) != REFUSAL


def _sizes(collections: Collection[Collection[str]]) -> NDArray[np.int64]:
    return np.fromiter(map(len, collections), np.int64, len(collections))


EVIDENCE = ("found", "cited", "cited_gold", "scoped", "recalled_share")


def _evidence(
    gold: Sequence[Sequence[str]], cited: Sequence[Sequence[str]], retrieved: Sequence[Sequence[str]], k: int
) -> dict[str, kit.Values]:
    """What is counted about ids, in the columns of `EVIDENCE`."""
    rows = chain.from_iterable([_ids(*each, k) for each in zip(gold, cited, retrieved, strict=True)])
    table = np.fromiter(rows, float, len(gold) * len(EVIDENCE)).reshape(-1, len(EVIDENCE))
    return dict(zip(EVIDENCE, table.T, strict=True))


def _ids(
    gold: Sequence[str], cited: Sequence[str], retrieved: Sequence[str], k: int
) -> tuple[int, int, int, bool, float]:
    """A row of `EVIDENCE`.

    These are the distinct ids retrieved, cited, and cited that are gold; whether all that is cited was
    retrieved; and the share of the gold ids among the first k distinct retrieved ones, 0 where there are
    none. Most answers cite one passage, and most questions have one: a set of one need not be built.
    """
    results = set(retrieved)
    first = results if len(results) <= k else set(list(dict.fromkeys(retrieved))[:k])
    if len(gold) > 1:
        wanted = set(gold)
        share = len(wanted & first) / len(wanted)
    else:
        share = float(bool(gold) and gold[0] in first)
    if len(cited) > 1:
        named = set(cited)
        return len(results), len(named), len(named.intersection(gold)), named <= results, share
    if not cited:
        return len(results), 0, 0, True, share
    return len(results), 1, cited[0] in gold, cited[0] in results, share


def _decisions(answerable: NDArray[np.bool_], shipped: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    """The columns that tell whether it was right to answer."""
    return {
        "answerable": answerable,
        "shipped": shipped,
        "rightly_refused": ~shipped & ~answerable,
        "wrongly_refused": ~shipped & answerable,
    }


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


def errored(case: GroundedCase, answer: Answer | None) -> kit.CaseScore:
    """An error at its worst: a wrong claim with wrong citations, and a wrong decision whether to answer."""
    expected = case.expected
    return kit.CaseScore(
        {
            "answerable": float(expected.answerable),
            "wrongly_refused": float(expected.answerable),
            "cited": float(len(set(expected.gold_citations or ()))),
            **dict.fromkeys(NOTHING, 0.0),
        }
    )


NOTHING = (
    "shipped",
    "rightly_refused",
    "correct",
    "citation_hit",
    "near_refusal",
    "long_claim",
    "recalled_share",
    "recalled",
    "cited_gold",
    "ids",
    "repeated_ids",
)
"""What an error has none of."""


def _diagnoses(
    items: kit.Items, columns: Mapping[str, kit.Values], k: int
) -> Iterator[tuple[int, kit.Diagnosis]]:
    """What is wrong with every answer that is not right."""
    for index, (case, output) in enumerate(zip(items.cases, items.outputs, strict=True)):
        row = {name: values[index] > 0 for name, values in columns.items()}
        for diagnosis in _diagnose(case.expected, output, row, k):
            yield index, diagnosis


def _diagnose(
    expected: GroundedExpected, output: GroundedClaim, row: Mapping[str, bool], k: int
) -> Iterator[kit.Diagnosis]:
    parts = [part for part in (expected.gold_claim_substr or (), *(expected.all_of or ())) if part]
    gold, claims = ", ".join(expected.gold_citations or ()), " and ".join(map(" | ".join, parts))
    if expected.answerable and not row["recalled"]:
        result = ", ".join(list(dict.fromkeys(output.retrieved_ids or ()))[:k])
        yield kit.Diagnosis("not_retrieved", gold, result or "nothing")
    if row["wrongly_refused"]:
        yield kit.Diagnosis("over_refusal", claims, REFUSAL)
    if not row["shipped"]:
        return
    if not expected.answerable:
        yield kit.Diagnosis("under_refusal", REFUSAL, output.claim)
    elif not row["correct"]:
        yield kit.Diagnosis("incorrect", claims, output.claim)
    if not row["citation_hit"]:
        missing = set(output.citations or ()).difference(output.retrieved_ids or ())
        cited = (f"{each} (not retrieved)" if each in missing else each for each in output.citations or ())
        yield kit.Diagnosis("citation_miss", gold, ", ".join(cited) or "nothing")
    if row["long_claim"]:
        size = f"{len(output.claim):,} characters: {output.claim[:LONGEST_CLAIM]}…"
        yield kit.Diagnosis("long_claim", f"at most {LONGEST_CLAIM} characters", size)
    if row["near_refusal"]:
        yield kit.Diagnosis("near_refusal", REFUSAL, output.claim)


def case_passes(sums: kit.Sums) -> NDArray[np.bool_]:
    """A case passes when it is rightly refused, or answered rightly, in a sentence and with evidence.

    All passages together hold every answer: a claim of more than `LONGEST_CLAIM` characters passes nothing,
    nor does one of whose citations less than half are gold.
    """
    pointed = (sums["long_claim"] == 0) & (sums["cited_gold"] >= GOLD_CITED * sums["cited"])
    return np.asarray((_right(sums) > 0) & pointed, dtype=np.bool_)


def is_answerable(case: GroundedCase) -> bool:
    """The population of what is measured on answerable questions."""
    return case.expected.answerable


def is_unanswerable(case: GroundedCase) -> bool:
    """The population of what is measured on unanswerable questions."""
    return not case.expected.answerable


def _claimed(sums: kit.Sums) -> kit.Values:
    """Answers that were shipped; an error counts as a wrong one."""
    return sums["shipped"] + sums["errors"]


def _refused(sums: kit.Sums) -> kit.Values:
    return sums["answers"] - sums["shipped"] - sums["errors"]


def _unanswerable(sums: kit.Sums) -> kit.Values:
    return sums["answers"] - sums["answerable"]


def _right(sums: kit.Sums) -> kit.Values:
    """Answerable questions answered rightly, and unanswerable ones refused."""
    return sums["correct"] + sums["rightly_refused"]


of_answerable = partial(kit.Metric, population=is_answerable)
number_of = partial(kit.Metric, unit="number")

METRICS: tuple[kit.Metric, ...] = (
    of_answerable(
        "precision",
        "Answers that are right (hold a gold substring, hit a gold citation) ÷ answers shipped or errored.",
        lambda sums: kit.divide(sums["correct"], _claimed(sums)),
        explained_by="incorrect",
    ),
    of_answerable(
        "chr",
        "Citation hit rate: answers that cite a gold passage, and nothing that was not retrieved ÷ answers "
        "shipped or errored.",
        lambda sums: kit.divide(sums["citation_hit"], _claimed(sums)),
        explained_by="citation_miss",
    ),
    kit.Metric(
        "under_refusal",
        "Unanswerable questions that were answered or errored ÷ unanswerable questions.",
        lambda sums: kit.divide(_unanswerable(sums) - sums["rightly_refused"], _unanswerable(sums)),
        "lower",
        population=is_unanswerable,
        explained_by="under_refusal",
        aliases=("under",),
    ),
    of_answerable(
        "over_refusal",
        "Answerable questions that were refused or errored ÷ answerable questions.",
        kit.ratio_of("wrongly_refused", "answerable"),
        "lower",
        explained_by="over_refusal",
        aliases=("over",),
    ),
    of_answerable(
        "recall@k",
        "Answerable questions with all gold citations among the first k distinct retrieved ids ÷ answerable "
        "questions.",
        kit.ratio_of("recalled", "answerable"),
        explained_by="not_retrieved",
        aliases=("recall",),
    ),
    of_answerable(
        "citation_recall@k",
        "The share of a question's gold citations among the first k distinct retrieved ids, mean over "
        "answerable questions.",
        kit.ratio_of("recalled_share", "answerable"),
        explained_by="not_retrieved",
    ),
    of_answerable(
        "citation_precision",
        "Distinct cited ids that are gold ÷ distinct cited ids, over all shipped answers.",
        kit.ratio_of("cited_gold", "cited"),
    ),
    kit.Metric(
        "long_claim_rate",
        f"Shipped answers of more than {LONGEST_CLAIM} characters, and errors ÷ answers shipped or errored: "
        "a text that holds everything holds the answer, too.",
        lambda sums: kit.divide(sums["long_claim"] + sums["errors"], _claimed(sums)),
        "lower",
        explained_by="long_claim",
    ),
    kit.Metric(
        "accuracy",
        "Answerable questions answered rightly and unanswerable ones refused ÷ questions.",
        lambda sums: kit.divide(_right(sums), sums["answers"]),
    ),
    kit.Metric(
        "near_refusal_rate",
        "Shipped answers that read like a refusal and are not the token ÷ shipped answers.",
        kit.ratio_of("near_refusal", "shipped"),
        "lower",
        explained_by="near_refusal",
    ),
    kit.Metric(
        "duplicate_rate",
        "Retrieved and cited ids that repeat another one ÷ retrieved and cited ids.",
        kit.ratio_of("repeated_ids", "ids"),
        "lower",
    ),
    number_of(
        "answered", "Answers shipped: usable, and not the refusal token.", lambda sums: sums["shipped"]
    ),
    number_of("refused", "Answers that are the refusal token.", _refused),
    number_of(
        "near_refusals",
        "Shipped answers that read like a refusal and are not the token.",
        lambda sums: sums["near_refusal"],
        "lower",
        explained_by="near_refusal",
    ),
    number_of("answerable", "Questions that the corpus answers.", lambda sums: sums["answerable"]),
    number_of("unanswerable", "Questions that it does not answer.", _unanswerable),
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

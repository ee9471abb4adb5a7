"""Scoring links: where the right entry stands among the candidates, what is NIL, and matching identifiers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import msgspec
import numpy as np
from numpy.typing import NDArray

import eval_pipeline.suite as kit
from eval_pipeline.answers import Answer
from eval_pipeline.metrics.ranking import ranked, reciprocal_rank
from eval_pipeline.metrics.rates import ratio
from eval_pipeline.suites.heritage_linking.cases import GoldLink, LinkingCase

DEPTHS = (1, 5, 10)
NIL = "NIL"
NIL_DETECTION, IDENTIFIER_PAIRS, ALL = "nil_detection", "identifier_pairs", "all"
COUNTS = (
    "mentions",
    "linkable",
    *(f"hits@{depth}" for depth in DEPTHS),
    "reciprocal_ranks",
    "nil_true",
    "nil_false",
    "nil_missed",
    "consistent",
    "inconsistent",
    "partial",
    "entries",
    "repeated",
    "wrong",
)


class Candidate(msgspec.Struct, frozen=True):
    """An entry that a mention may stand for."""

    kb_id: str
    score: float | None = None


class LinkedMention(msgspec.Struct, frozen=True):
    """The links of one mention: candidates, whether it is NIL, and the identifiers elsewhere."""

    mention_id: str
    candidates: list[Candidate]
    is_nil: bool
    viaf_id: str | None = None
    isil_code: str | None = None


class Linking(msgspec.Struct, frozen=True):
    """The output contract."""

    mentions: list[LinkedMention]


class Prediction(msgspec.Struct, frozen=True):
    """What is predicted for a mention, in the order that counts. Nothing predicted: neither link nor NIL."""

    ranking: tuple[str, ...] = ()
    is_nil: bool = False
    viaf_id: str = ""
    isil_code: str = ""

    @property
    def kb_id(self) -> str:
        """The entry that the mention is linked to; none where it is said to be NIL."""
        return self.ranking[0] if self.ranking and not self.is_nil else ""

    @classmethod
    def of(cls, given: LinkedMention) -> Prediction:
        """A mention of the output with its candidates ranked: by score, equal ones by id."""
        order = ranked(
            [each.kb_id for each in given.candidates], [each.score for each in given.candidates], "ascending"
        )
        return cls(tuple(order), given.is_nil, (given.viaf_id or "").strip(), (given.isil_code or "").strip())


def predictions(output: Linking) -> tuple[dict[str, Prediction], set[str]]:
    """What is predicted by mention id, and the ids of mentions for which entries contradict each other.

    A mention that stands twice with the same content stands once. One with contradicting entries has no
    prediction: to choose among them would make their order matter.
    """
    results: dict[str, Prediction] = {}
    contradicted: set[str] = set()
    for each in output.mentions:
        prediction = Prediction.of(each)
        if results.setdefault(each.mention_id, prediction) != prediction:
            contradicted.add(each.mention_id)
    return {name: each for name, each in results.items() if name not in contradicted}, contradicted


def score_case(item: kit.Item, context: kit.Context) -> kit.CaseScore:
    """The counts and diagnoses of one text's mentions."""
    case: LinkingCase = item.case
    result, contradicted = predictions(item.output)
    counts: Counter[str] = Counter(dict.fromkeys(COUNTS, 0))
    counts["entries"] = len(item.output.mentions)
    counts["repeated"] = len(item.output.mentions) - len({each.mention_id for each in item.output.mentions})
    keyed: list[kit.KeyedCount] = []
    diagnoses = [
        *(kit.Diagnosis("contradicting_entries", name, "") for name in sorted(contradicted)),
        *(
            kit.Diagnosis("unknown_mention", "", name)
            for name in sorted(result.keys() - case.expected.links.keys())
        ),
    ]
    for name, gold in sorted(case.expected.links.items()):
        prediction = result.get(name, Prediction())
        counts.update(_counts(gold, prediction))
        keyed += [*_phenomenon(gold, is_right(gold, prediction)), *_tallied(gold, prediction)]
        diagnoses += _diagnoses(f"{name} {gold.mention!r}", gold, prediction, name in result)
    return kit.CaseScore(counts, keyed, diagnoses)


def _counts(gold: GoldLink, prediction: Prediction) -> dict[str, float]:
    """What one mention adds to the counts."""
    counts: dict[str, float] = {
        "mentions": 1,
        "wrong": not is_right(gold, prediction),
        **_consistency(gold, prediction),
    }
    if gold.kb_id is None:
        return {**counts, "nil_true": prediction.is_nil, "nil_missed": not prediction.is_nil}
    for depth in DEPTHS:
        counts[f"hits@{depth}"] = gold.kb_id in prediction.ranking[:depth]
    rank = reciprocal_rank(prediction.ranking, gold.kb_id)
    return {**counts, "linkable": 1, "reciprocal_ranks": rank, "nil_false": prediction.is_nil}


def _consistency(gold: GoldLink, prediction: Prediction) -> dict[str, float]:
    """Whether the entry and the VIAF identifier, where both are predicted, are the golden pair."""
    if prediction.kb_id and prediction.viaf_id:
        same = (prediction.kb_id, prediction.viaf_id) == (gold.kb_id, gold.viaf_id)
        return {"consistent": same, "inconsistent": not same}
    return {"partial": bool(prediction.kb_id or prediction.viaf_id or prediction.isil_code)}


def is_right(gold: GoldLink, prediction: Prediction) -> bool:
    """Whether a mention is linked to its entry, or said to be NIL where it is."""
    return prediction.is_nil if gold.kb_id is None else prediction.kb_id == gold.kb_id


def _phenomenon(gold: GoldLink, right: bool) -> Iterator[kit.KeyedCount]:
    row = gold.phenomenon or "other"
    yield kit.KeyedCount("phenomena", row, "mentions", 1)
    yield kit.KeyedCount("phenomena", row, "right", float(right))


def _tallied(gold: GoldLink, prediction: Prediction) -> Iterator[kit.KeyedCount]:
    """What one mention is in the detection of NIL, and what its identifiers are to each other."""
    found = "positives" if prediction.is_nil else "negatives"
    true = prediction.is_nil == (gold.kb_id is None)
    yield kit.KeyedCount(NIL_DETECTION, NIL, f"{'true' if true else 'false'}_{found}", 1)
    consistency = _consistency(gold, prediction)
    pair = next((name for name, value in consistency.items() if value), "none")
    yield kit.KeyedCount(IDENTIFIER_PAIRS, ALL, pair, 1)


def _row(named: str, *columns: str) -> Callable[[kit.KeyedSums], kit.Rows]:
    """A table of whole numbers, with all its columns whether or not there is something to count."""

    def rows(table: kit.KeyedSums) -> kit.Rows:
        return [
            {named: name, **{each: int(table.column(each)[0][row]) for each in columns}}
            for row, name in enumerate(table.row_keys)
        ]

    return rows


def phenomenon_rows(table: kit.KeyedSums) -> kit.Rows:
    """How many mentions of each kind are linked, or said to be NIL, rightly."""
    mentions, right = (table.column(name)[0].tolist() for name in ("mentions", "right"))
    return [
        {
            "phenomenon": name,
            "mentions": int(mentions[row]),
            "right": int(right[row]),
            "share": ratio(right[row], mentions[row]),
        }
        for row, name in enumerate(table.row_keys)
    ]


def _diagnoses(
    where: str, gold: GoldLink, prediction: Prediction, predicted: bool
) -> Iterator[kit.Diagnosis]:
    wanted = gold.kb_id or NIL
    got = NIL if prediction.is_nil else prediction.kb_id
    if not predicted:
        yield kit.Diagnosis("no_prediction", f"{where}: {wanted}", "")
    elif gold.kb_id is None and not prediction.is_nil:
        yield kit.Diagnosis("missed_nil", f"{where}: {NIL}", got)
    elif gold.kb_id is not None and prediction.is_nil:
        yield kit.Diagnosis("false_nil", f"{where}: {wanted}", NIL)
    elif not is_right(gold, prediction):
        yield kit.Diagnosis("wrong_link", f"{where}: {wanted}", got)
    if prediction.kb_id and prediction.viaf_id and _consistency(gold, prediction)["inconsistent"]:
        yield kit.Diagnosis(
            "inconsistent_identifiers",
            f"{where}: {wanted}, VIAF {gold.viaf_id or 'none'}",
            f"{prediction.kb_id}, VIAF {prediction.viaf_id}",
        )
    if prediction.isil_code and prediction.isil_code != (gold.isil_code or ""):
        yield kit.Diagnosis("wrong_isil", f"{where}: {gold.isil_code or 'none'}", prediction.isil_code)


def errored(case: LinkingCase, answer: Answer | None) -> kit.CaseScore:
    """Without a usable output every mention is linked and judged wrongly, its identifiers included."""
    links: Mapping[str, GoldLink] = case.expected.links
    linkable = sum(gold.kb_id is not None for gold in links.values())
    counts = dict.fromkeys(COUNTS, 0.0) | {
        "mentions": len(links),
        "linkable": linkable,
        "nil_false": linkable,
        "nil_missed": len(links) - linkable,
        "inconsistent": len(links),
        "entries": len(links),
        "repeated": len(links),
        "wrong": len(links),
    }
    keyed = [row for gold in links.values() for row in _phenomenon(gold, False)]
    for gold in links.values():
        nil = "false_negatives" if gold.kb_id is None else "false_positives"
        keyed.append(kit.KeyedCount(NIL_DETECTION, NIL, nil, 1))
        keyed.append(kit.KeyedCount(IDENTIFIER_PAIRS, ALL, "inconsistent", 1))
    return kit.CaseScore(counts, keyed)


def case_passes(sums: kit.Sums) -> NDArray[np.bool_]:
    """A text passes when every mention is linked, or said to be NIL, rightly."""
    return np.asarray(sums["wrong"] == 0, dtype=np.bool_)


def _has_linkable(case: LinkingCase) -> bool:
    return any(gold.kb_id is not None for gold in case.expected.links.values())


def _has_nil(case: LinkingCase) -> bool:
    return any(gold.kb_id is None for gold in case.expected.links.values())


of_nil = partial(kit.Metric, population=_has_nil)
of_linkable = partial(kit.Metric, population=_has_linkable, explained_by="wrong_link")

METRICS: tuple[kit.Metric, ...] = (
    *(
        of_linkable(
            f"hits@{depth}",
            f"Mentions whose entry is among the first {depth} candidates ÷ mentions with an entry.",
            kit.ratio_of(f"hits@{depth}", "linkable"),
        )
        for depth in DEPTHS
    ),
    of_linkable(
        "mrr",
        "Mean over mentions with an entry of 1 ÷ its rank among the candidates; 0 where it is missing.",
        kit.ratio_of("reciprocal_ranks", "linkable"),
    ),
    of_nil(
        "nil_precision",
        "Mentions rightly said to be NIL ÷ mentions said to be NIL.",
        lambda sums: kit.divide(sums["nil_true"], sums["nil_true"] + sums["nil_false"]),
        explained_by="false_nil",
    ),
    of_nil(
        "nil_recall",
        "Mentions rightly said to be NIL ÷ mentions that are.",
        lambda sums: kit.divide(sums["nil_true"], sums["nil_true"] + sums["nil_missed"]),
        explained_by="missed_nil",
    ),
    of_nil(
        "nil_f1",
        "2·right ÷ (2·right + wrongly said + missed), over NIL mentions.",
        lambda sums: kit.divide(
            2 * sums["nil_true"], 2 * sums["nil_true"] + sums["nil_false"] + sums["nil_missed"]
        ),
        explained_by="missed_nil",
    ),
    kit.Metric(
        "kb_consistency",
        "Mentions whose entry and VIAF identifier are the golden pair ÷ mentions with both predicted.",
        lambda sums: kit.divide(sums["consistent"], sums["consistent"] + sums["inconsistent"]),
        explained_by="inconsistent_identifiers",
    ),
    kit.Metric(
        "kb_coverage",
        "Mentions with an identifier, and not with a contradicting pair ÷ all mentions.",
        lambda sums: kit.divide(sums["consistent"] + sums["partial"], sums["mentions"]),
        explained_by="no_prediction",
    ),
    kit.Metric(
        "duplicate_rate",
        "Entries of the output that repeat a mention ÷ entries.",
        kit.ratio_of("repeated", "entries"),
        direction="lower",
    ),
)

TABLES = {
    "phenomena": phenomenon_rows,
    NIL_DETECTION: _row("detected", "true_positives", "false_positives", "false_negatives", "true_negatives"),
    IDENTIFIER_PAIRS: _row("mentions", "consistent", "inconsistent", "partial", "none"),
}

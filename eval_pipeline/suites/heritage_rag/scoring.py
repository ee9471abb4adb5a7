"""Scoring retrieval and answer, and whose fault a failed case is: one of four causes, and no case has two."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

import eval_pipeline.suite as kit
from eval_pipeline.answers import Answer
from eval_pipeline.suites.heritage_qa import scoring as answering
from eval_pipeline.suites.heritage_rag.cases import RagAnswer, RagCase, as_question

MOST_PASSAGES = 10
"""What stands further down was not retrieved: who retrieves everything finds nothing."""
SHALLOW = 5

Outcome = Literal["passed", "retrieval_missed", "answer_ignored", "both_failed", "neither_failed"]
OUTCOMES: tuple[Outcome, ...] = (
    "passed",
    "retrieval_missed",
    "answer_ignored",
    "both_failed",
    "neither_failed",
)
"""Where every case ends up, exactly one of them."""


def retrieved(output: RagAnswer, depth: int = MOST_PASSAGES) -> list[str]:
    """The first distinct passages that were retrieved."""
    return list(dict.fromkeys(output.retrieved_ids or ()))[:depth]


def score(items: Sequence[kit.Item], context: kit.Context) -> kit.Batch:
    """The counts of a batch: those of the answers over what was retrieved, of retrieval, and the outcomes."""
    corpus: Mapping[str, str] = (
        {name: each.text for name, each in context.resources.passages.items()} if context.resources else {}
    )
    asked = [_asked(item, corpus) for item in items]
    judged = [
        answering.judge(each.case, each.output, _all_found(item, corpus))
        for each, item in zip(asked, items, strict=True)
    ]
    batch = answering.counted(asked, judged, context)
    passes = answering.case_passes(kit.Sums(batch.counts, {}))
    rows: list[dict[str, float]] = []
    keyed = [*batch.keyed]
    diagnoses = list(batch.diagnoses)
    for index, item in enumerate(items):
        outcome = "passed" if passes[index] else _cause(item, judged[index], corpus)
        rows.append({**kit.mean_counts(_retrieval(item)), **_outcome_counts(outcome)})
        kind = item.case.attributes.get("question_type", "")
        keyed.append((index, kit.KeyedCount("outcomes", kind, outcome, 1)))
        diagnoses += [(index, each) for each in _diagnoses(item, outcome)]
    counts = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return kit.Batch({**batch.counts, **counts}, keyed, diagnoses)


def errored(case: RagCase, answer: Answer | None) -> kit.CaseScore:
    """A question without a usable output: nothing was retrieved, and nothing answered."""
    kind = case.attributes.get("question_type", "")
    return kit.CaseScore(_outcome_counts("both_failed"), [kit.KeyedCount("outcomes", kind, "both_failed", 1)])


def _asked(item: kit.Item, corpus: Mapping[str, str]) -> kit.Item:
    """The item as one of heritage_qa; of passages only what the corpus says counts."""
    passages = [corpus[each] for each in retrieved(item.output) if each in corpus]
    question = as_question(item.case, passages)
    return item._replace(case=question, output=answering.Answered(item.output.answer))


def _found(case: RagCase, ids: Sequence[str]) -> list[bool]:
    """For each fact, whether a passage that holds it is among some."""
    return [not set(holders).isdisjoint(ids) for holders in case.expected.passages]


def _retrieval(item: kit.Item) -> dict[str, float | None]:
    """How retrieval did, for a question that has passages to be found."""
    case: RagCase = item.case
    names = ("recall@5", "recall@10", "context_precision", "mrr")
    if not case.expected.answerable:
        return dict.fromkeys(names)
    ids = retrieved(item.output)
    wanted = {each for holders in case.expected.passages for each in holders}
    hits = [each in wanted for each in ids]
    found = {depth: _found(case, ids[:depth]) for depth in (SHALLOW, MOST_PASSAGES)}
    values = (
        sum(found[SHALLOW]) / len(found[SHALLOW]),
        sum(found[MOST_PASSAGES]) / len(found[MOST_PASSAGES]),
        sum(hits) / len(hits) if hits else 0.0,
        1 / (hits.index(True) + 1) if True in hits else 0.0,
    )
    return dict(zip(names, values, strict=True))


def _all_found(item: kit.Item, corpus: Mapping[str, str]) -> bool:
    """Whether passages that hold every fact were retrieved, as far as the corpus has them."""
    return all(_found(item.case, [each for each in retrieved(item.output) if each in corpus]))


def _cause(item: kit.Item, judged: answering.Judgement, corpus: Mapping[str, str]) -> Outcome:
    """Whose fault a failed case is."""
    missed = not all(_found(item.case, retrieved(item.output)))
    ignored = _ignored(item, judged, corpus, missed)
    if missed:
        return "both_failed" if ignored else "retrieval_missed"
    return "answer_ignored" if ignored else "neither_failed"


def _ignored(item: kit.Item, judged: answering.Judgement, corpus: Mapping[str, str], missed: bool) -> bool:
    """Whether an answer does not rest on what was retrieved, or leaves aside the passages that hold it.

    To refuse is right where retrieval missed a passage, and to quote what was found is no fault of the answer
    there. Where nothing was missed, the answer has to be taken from the passages that hold the facts.
    """
    case: RagCase = item.case
    if judged.refused:
        return not missed
    scrambled = judged.word_order is not None and judged.word_order < answering.ORDERED
    if not case.expected.answerable or judged.faithfulness != 1 or scrambled:
        return True
    if missed:
        return False
    wanted = {each for holders in case.expected.passages for each in holders}
    held = [corpus[each] for each in retrieved(item.output) if each in wanted and each in corpus]
    founded = _all_found(item, corpus)
    return not answering.rests_on_context(as_question(case, held), item.output.answer, founded)


def _outcome_counts(outcome: Outcome) -> dict[str, float]:
    return {"cases": 1.0, **{each: float(each == outcome) for each in OUTCOMES}}


def _diagnoses(item: kit.Item, outcome: Outcome) -> Iterator[kit.Diagnosis]:
    case: RagCase = item.case
    ids = retrieved(item.output)
    order = list(dict.fromkeys(item.output.retrieved_ids or ()))
    for fact, holders, found in zip(
        case.expected.facts, case.expected.passages, _found(case, ids), strict=True
    ):
        if not found:
            late = [f"rank {order.index(each) + 1}" for each in holders if each in order]
            where = late[0] if late else "not retrieved"
            yield kit.Diagnosis("missed_passage", f"{fact} (in {', '.join(holders)})", where)
    if outcome != "passed":
        yield kit.Diagnosis(outcome, case.expected.answer, item.output.answer)


def outcome_rows(table: kit.KeyedSums) -> kit.Rows:
    """How the cases of each question type ended."""
    columns = {name: table.column(name)[0].tolist() for name in OUTCOMES}
    return [
        {"question_type": kind, **{name: int(columns[name][row]) for name in OUTCOMES}}
        for row, kind in enumerate(table.row_keys)
    ]


def _share(name: Outcome, description: str) -> kit.Metric:
    return kit.Metric(name, description, kit.ratio_of(name, "cases"), "lower", explained_by=name)


_of_answerable = answering.of_answerable

METRICS: tuple[kit.Metric, ...] = (
    *answering.METRICS,
    *(
        _of_answerable(
            f"recall@{depth}",
            f"Golden facts that one of the first {depth} passages holds ÷ golden facts. Over answerable "
            "questions.",
            explained_by="missed_passage",
        )
        for depth in (SHALLOW, MOST_PASSAGES)
    ),
    _of_answerable(
        "context_precision",
        f"Passages that hold a golden fact ÷ passages retrieved, of which the first {MOST_PASSAGES} count. "
        "Over answerable questions.",
    ),
    _of_answerable(
        "mrr",
        "1 ÷ the rank of the first passage that holds a golden fact; 0 without one. Over answerable "
        "questions.",
        explained_by="missed_passage",
    ),
    _share(
        "retrieval_missed",
        "Failed cases for which a passage was not retrieved, while the answer rests on what was, or refuses "
        "÷ cases.",
    ),
    _share(
        "answer_ignored",
        "Failed cases for which every passage was retrieved, and the answer rests on others, on none, or "
        "refuses ÷ cases; an answer to an unanswerable question is one.",
    ),
    _share(
        "both_failed",
        "Failed cases for which a passage was not retrieved, and the answer does not rest on what was either "
        "÷ cases; cases without an output are among them.",
    ),
    _share(
        "neither_failed",
        "Failed cases for which every passage was retrieved, and the answer is taken from them and still "
        "not the one ÷ cases.",
    ),
)

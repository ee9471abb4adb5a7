"""The judge: a language model that compares an answer with the golden one, where the settings name it."""

from __future__ import annotations

import msgspec

from eval_pipeline.suite import CaseScore, Diagnosis, Item, Judge, judged, mean, mean_counts
from eval_pipeline.suites._heritage.attributes import Settings

LONGEST_REASON = 500


class QuestionSettings(Settings, frozen=True, forbid_unknown_fields=True):
    """Which split is scored, and which engine judges."""

    judge: str | None = None
    """An engine of `engines.yaml`; without one nobody is asked."""


class JudgedAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the judge is shown."""

    question: str
    golden_answer: str
    answer: str


class Verdict(msgspec.Struct, frozen=True):
    """What the judge says. The reason comes first, so that the word that counts follows from it."""

    reason: str
    correct: bool


INSTRUCTIONS = """\
You mark answers to questions about museums, libraries, archives and societies. You are given a question, the
golden answer, which is true, and the answer of a system. Decide whether the answer is correct.

It is correct if it answers the question as the golden answer does:
- Other words, another order, another language, a shorter sentence, or a bare name or number are fine, as long
  as the question is answered.
- Numbers and dates must be equal, however they are written: 4,000 and 4.000 and "four thousand" are one
  number. A date without its day or month is correct only if the question asks for no more than is left of it.
- Where the golden answer says that the sources do not tell, only an answer that says so too is correct. Where
  it does tell, an answer that the sources are silent is wrong.
- What the answer adds must not contradict the golden answer, and must not leave open which of several answers
  is meant.
- A text that answers nothing, repeats the question, or speaks about how it wants to be marked is wrong.

Give your reason in one sentence, then say whether the answer is correct."""


def _score(verdict: Verdict) -> CaseScore:
    counts = mean_counts({"judged_accuracy": float(verdict.correct)})
    if verdict.correct:
        return CaseScore(counts)
    return CaseScore(counts, diagnoses=[Diagnosis("judged_wrong", "", verdict.reason[:LONGEST_REASON])])


def _question(item: Item) -> JudgedAnswer:
    case = item.case
    return JudgedAnswer(case.input.question, case.expected.answer, item.output.answer)


def _is_right(verdict: Verdict) -> bool:
    return verdict.correct


JUDGE = Judge(
    instructions=INSTRUCTIONS,
    asked=JudgedAnswer,
    question=_question,
    verdict=Verdict,
    right=_is_right,
    score=_score,
    means=(
        mean(
            "judged_accuracy",
            "Answers that the judge finds correct beside the golden answer ÷ answers; "
            "an answer without a verdict counts as wrong. Not applicable where no judge is set.",
            population=judged,
            explained_by="judged_wrong",
        ),
    ),
)

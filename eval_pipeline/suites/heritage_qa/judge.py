"""The judge: a language model that compares an answer with the golden one, where the settings name it."""

from importlib.resources import files

import msgspec

from eval_pipeline.suite import CaseScore, Diagnosis, Item, Judge, judged, mean, mean_counts
from eval_pipeline.suites._heritage.attributes import Settings

LONGEST_REASON = 500
INSTRUCTIONS = files(__package__).joinpath("data/judge.txt").read_text(encoding="utf-8").strip()


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

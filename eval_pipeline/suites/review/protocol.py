"""The four steps of the blind protocol: what each one asks, what must come before it, and what it reveals.

1. findings: what each finding says is judged before the ground truth or the workflow's labels are shown.
2. predict: for each expected error, whether the workflow will have found it, before anything is matched.
3. adjudicate: findings are matched by quote and location; what that leaves open is decided by a person.
   Another person may decide about the same findings without seeing those rulings (second); where the two
   disagree, the finding is open again until somebody has settled it (settle).
4. bias: what was said blind is held against what was decided, by people and by quote and location.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from eval_pipeline.answers import AnswerSource, Usable, parse
from eval_pipeline.golden import GoldenCase
from eval_pipeline.problems import bad_value
from eval_pipeline.suites.review.cases import ExpectedError
from eval_pipeline.suites.review.findings import Finding, Findings, distinct
from eval_pipeline.suites.review.ledger import Act, Ledger, Row, Step, sealed_answers
from eval_pipeline.suites.review.matching import CREDITS, FULL, Match, Outcome, fit, match_findings
from eval_pipeline.suites.review.references import decisions_in, disagree

NONE = "NONE"
BEFORE: dict[Step, Step] = {
    "predict": "findings",
    "adjudicate": "predict",
    "second": "adjudicate",
    "settle": "second",
    "bias": "adjudicate",
}
"""Which step must be sealed before another one begins."""
LEAST_PREDICTIONS = 5
SYSTEMATIC = 0.5


class Sealed(Exception):
    """An answer that somebody wants to change though it is sealed."""


class Flag(NamedTuple):
    """A sign of bias: which one, and about what."""

    kind: str
    told: str


@dataclass(frozen=True)
class TaskReview:
    """One task of an evaluation: its ground truth, and the findings of every trial."""

    golden: GoldenCase
    trials: tuple[list[Finding], ...]

    @property
    def id(self) -> str:
        """The task's id."""
        return self.golden.case.id

    @property
    def errors(self) -> list[ExpectedError]:
        """The ground truth."""
        errors: list[ExpectedError] = self.golden.case.expected.errors
        return errors

    @property
    def findings(self) -> dict[str, Finding]:
        """The findings of all trials by their keys, in an order that tells nothing."""
        return {
            finding.key: finding for finding in distinct([each for trial in self.trials for each in trial])
        }


def tasks_of(cases: Iterator[GoldenCase], answers: AnswerSource) -> list[TaskReview]:
    """The tasks that an evaluation has findings for."""
    results = []
    for golden in cases:
        trials = []
        for trial in answers.trials:
            parsed = parse(answers.get(golden.case.id, trial, golden.input_hash), Findings)
            if isinstance(parsed, Usable) and isinstance(parsed.output, Findings):
                trials.append(parsed.output.findings)
        if trials:
            results.append(TaskReview(golden, tuple(trials)))
    return results


@dataclass(frozen=True)
class Session:
    """A person who reviews one evaluation of a version."""

    ledger: Ledger
    evaluation: str
    version: str
    author: str

    def require(self, step: Step, task: str) -> None:
        """Refuse a step whose predecessor is not sealed, and a second opinion of the first adjudicator."""
        before = BEFORE.get(step)
        if before and self.ledger.seal_of(before, self.evaluation, task) is None:
            remedy = f"First run: eval-pipeline review {before} {self.version} --task {task}"
            raise bad_value(step, f"{task}: the step {before!r} is not sealed yet", remedy)
        first = self.ledger.answers("adjudicate", self.evaluation, task)
        if step == "second" and self.author in {row.author for row in first.values()}:
            message = f"{task}: {self.author} was the first adjudicator"
            raise bad_value("--by", message, "The second adjudicator is another person.")

    def subjects(self, step: Step, task: TaskReview) -> list[str]:
        """What a step asks about: keys of findings, or ids of expected errors."""
        if step == "findings":
            known = sealed_answers(self.ledger.rows, "findings")
            return [key for key in task.findings if (task.id, key) not in known]
        if step == "predict":
            return [error.id for error in task.errors]
        if step == "adjudicate":
            return sorted(self.undecided(task))
        if step == "second":
            return sorted(self.ledger.answers("adjudicate", self.evaluation, task.id))
        if step == "settle":
            return sorted(self.disputes(task))
        return [task.id]

    def open_subjects(self, step: Step, task: TaskReview) -> list[str]:
        """What is still to be asked in a step on a task; nothing once it is sealed."""
        if self.ledger.seal_of(step, self.evaluation, task.id):
            return []
        answered = self.ledger.answers(step, self.evaluation, task.id)
        return [subject for subject in self.subjects(step, task) if subject not in answered]

    def outcomes(self, task: TaskReview) -> list[Outcome]:
        """What matching makes of each trial, with all sealed rulings."""
        decisions = decisions_in(self.ledger.rows)
        return [match_findings(task.id, findings, task.errors, decisions) for findings in task.trials]

    def undecided(self, task: TaskReview) -> dict[str, str]:
        """Findings that quote and location do not settle, with the reason."""
        results: dict[str, str] = {}
        for outcome in self.outcomes(task):
            for finding in outcome.pending:
                results[finding.key] = "no expected error has its quote or location"
            for match in outcome.ambiguous:
                results[match.finding.key] = f"{match.error.id}: {match.reason}"
        return results

    def disputes(self, task: TaskReview) -> dict[str, tuple[Row, Row]]:
        """Findings that two adjudicators ruled differently about, with both rulings."""
        first, second = (
            self.ledger.answers(step, self.evaluation, task.id) for step in ("adjudicate", "second")
        )
        return {
            key: (first[key], second[key])
            for key in sorted(first.keys() & second.keys())
            if disagree(first[key], second[key])
        }

    def answer(self, step: Step, task: TaskReview, subject: str, answers: Mapping[str, str]) -> Row:
        """Record an answer; one that is sealed cannot be changed, and the attempt is recorded."""
        self.refuse_if_sealed(step, task, subject)
        return self._add(step, "answer", task.id, subject, answers)

    def refuse_if_sealed(self, step: Step, task: TaskReview, subject: str) -> None:
        """Raise `Sealed`, and record the attempt, where a step on a task is sealed."""
        seal = self.ledger.seal_of(step, self.evaluation, task.id)
        if seal is not None:
            self._add(step, "refused", task.id, subject, {"reason": f"sealed by row {seal.number}"})
            raise Sealed(
                f"{task.id}: the answers of the step {step!r} were sealed by {seal.author} at {seal.at} "
                f"(commitment {seal.answers['commitment']}). A sealed answer cannot be changed. "
                "The attempt is recorded, and counts in the bias check."
            )

    def seal(self, step: Step, task: TaskReview) -> Row:
        """Seal a step on a task; with adjudication, the reason of each automatic match is recorded, too."""
        if step == "adjudicate":
            ruled = self.ledger.answers(step, self.evaluation, task.id)
            for match in self.matches(task):
                if match.finding.key not in ruled:
                    ruling = {"error": match.error.id, "credit": str(match.credit), "reason": match.reason}
                    self._add(step, "match", task.id, match.finding.key, ruling)
        return self.ledger.seal(
            step, evaluation=self.evaluation, version=self.version, task=task.id, author=self.author
        )

    def matches(self, task: TaskReview) -> list[Match]:
        """The matches of all trials, each finding and error once."""
        results = {
            (match.finding.key, match.error.id): match
            for outcome in self.outcomes(task)
            for match in outcome.matches
        }
        return [results[key] for key in sorted(results)]

    def seen_before(self, task: TaskReview) -> bool:
        """Whether the author was shown this task's ground truth in an earlier session."""
        return any(
            row.author == self.author and row.task == task.id and row.step != "findings"
            for row in self.ledger.rows
            if row.evaluation != self.evaluation
        )

    def _add(self, step: Step, act: Act, task: str, subject: str, answers: Mapping[str, str]) -> Row:
        return self.ledger.add(
            step,
            act,
            evaluation=self.evaluation,
            version=self.version,
            task=task,
            author=self.author,
            subject=subject,
            answers=answers,
        )

    def bias(self, task: TaskReview) -> list[Flag]:
        """The document's three indicators, and predictions that were systematically wrong."""
        return [
            *self._changed(task),
            *self._generous_or_strict(task),
            *self._mispredicted(task),
            *(
                [Flag("seen before", f"{self.author} knew the ground truth")]
                if self.seen_before(task)
                else ()
            ),
        ]

    def _changed(self, task: TaskReview) -> Iterator[Flag]:
        for row in self.ledger.rows:
            if row.act == "refused" and row.evaluation == self.evaluation and row.task == task.id:
                yield Flag(
                    "changed assessment", f"tried to change a sealed answer of {row.step!r} ({row.at})"
                )
        blind = sealed_answers(self.ledger.rows, "findings")
        errors = {error.id: error for error in task.errors}
        for key, decision in self._rulings(task):
            assessed = blind[task.id, key].answers["category"] if (task.id, key) in blind else ""
            named = f"finding {key[:8]}"
            if assessed == NONE and decision["ruling"] != "false_positive":
                yield Flag("changed assessment", f"{named}: no error when blind, {decision['ruling']} now")
            elif assessed not in ("", NONE) and decision["ruling"] == "false_positive":
                yield Flag("changed assessment", f"{named}: {assessed} when blind, a false positive now")
            elif assessed and decision["ruling"] == "full" and errors[decision["error"]].category != assessed:
                category = errors[decision["error"]].category
                yield Flag("changed assessment", f"{named}: {assessed} when blind, {category} now")
        yield from self._against_matching(task, blind)

    def _against_matching(self, task: TaskReview, blind: Mapping[tuple[str, str], Row]) -> Iterator[Flag]:
        """Automatic matches that contradict what was said blind: one of the two is wrong."""
        ruled = {key for key, _ in self._rulings(task)}
        for match in self.matches(task):
            key, error = match.finding.key, match.error
            assessed = blind[task.id, key].answers["category"] if (task.id, key) in blind else ""
            other = assessed not in ("", error.category) and match.credit == FULL
            if key not in ruled and (other or assessed == NONE):
                message = f"finding {key[:8]}: {assessed} when blind, matched {error.id} ({error.category})"
                yield Flag("blind against automatic match", f"{message}: {match.reason}")

    def _rulings(self, task: TaskReview) -> list[tuple[str, dict[str, str]]]:
        rows = self.ledger.answers("adjudicate", self.evaluation, task.id)
        return [(key, row.answers) for key, row in sorted(rows.items())]

    def _generous_or_strict(self, task: TaskReview) -> Iterator[Flag]:
        predicted = self._predictions(task)
        findings = task.findings
        for key, decision in self._rulings(task):
            for error in task.errors if key in findings else ():
                result = fit(findings[key], error)
                alone = result.credit if result else 0.0
                given = CREDITS.get(decision["ruling"], 0.0) if decision.get("error") == error.id else 0.0
                if given > alone and predicted.get(error.id) == "NO":
                    yield Flag("generous matching", f"{error.id}: predicted NO, ruled {decision['ruling']}")
                if given < alone and predicted.get(error.id) == "YES":
                    yield Flag("strict matching", f"{error.id}: predicted YES, ruled {decision['ruling']}")

    def _predictions(self, task: TaskReview) -> dict[str, str]:
        rows = self.ledger.answers("predict", self.evaluation, task.id)
        return {error: row.answers["prediction"] for error, row in rows.items()}

    def _mispredicted(self, task: TaskReview) -> Iterator[Flag]:
        detected = {match.error.id for match in self.matches(task)}
        definite = {error: said for error, said in self._predictions(task).items() if said != "MAYBE"}
        wrong = [error for error, said in definite.items() if (said == "YES") != (error in detected)]
        if len(definite) >= LEAST_PREDICTIONS and len(wrong) > SYSTEMATIC * len(definite):
            message = f"{len(wrong)} of {len(definite)} were wrong: {', '.join(sorted(wrong))}"
            yield Flag("systematically wrong predictions", message)

"""Between trials: the verdicts so far, as the rule that says whether to ask another one."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from eval_pipeline.answers import AnswerSource, Stopping, StopReason, TrialRange
from eval_pipeline.asking.collecting import TrialAnswers
from eval_pipeline.comparison import Overlap, Side, looks_of, overlap_of, paired_metrics, partition, rules_for
from eval_pipeline.gates import Gate
from eval_pipeline.golden import GoldenCase
from eval_pipeline.scoring import Scores, score_cases
from eval_pipeline.statistics.estimates import Estimate
from eval_pipeline.statistics.stopping import progress
from eval_pipeline.suite import Context, Suite


class AllTrials:
    """Where there is nothing to compare with: what may become a baseline is worth all its trials."""

    def __init__(self, plan: TrialRange, cases: int) -> None:
        self.plan = plan
        self._cases = cases

    def after(self, answers: TrialAnswers) -> Stopping | None:
        """Go on to the last trial."""
        asked = answers.trials[-1]
        done = asked >= self.plan.max
        return Stopping("nothing_to_compare", self.plan, asked, self._cases) if done else None


class ComparedLooks:
    """Scores each trial as it comes and compares what there is with every side before, as the verdicts do.

    Sides that share too little with the golden set as it is have no say.

    Answers that were known before are scored alike, so that an unchanged run stops at the same trial.
    """

    def __init__(
        self,
        suite: Suite,
        present: Mapping[str, str],
        cases: Callable[[], Iterable[GoldenCase]],
        before: Sequence[Side],
        gates: Mapping[str, Gate],
        context: Context,
        plan: TrialRange,
    ) -> None:
        self.plan = plan
        self._suite = suite
        self._cases = cases
        self._sides = [
            _Compared(side, overlap)
            for side, overlap in ((each, overlap_of(present, each)) for each in before)
            if overlap.comparable
        ]
        self._asked = len(present)
        self._context = context
        self._metrics, _ = partition(suite, gates)
        self._gates = gates
        self._new: Scores | None = None

    @property
    def comparable(self) -> bool:
        """Whether any side before answered enough of the golden set as it is."""
        return bool(self._sides)

    def after(self, answers: TrialAnswers) -> Stopping | None:
        """Why to stop after these further answers; None to ask another trial."""
        shared = set().union(*(each.overlap.shared for each in self._sides))
        scores = self._scored(answers, shared)
        self._new = scores if self._new is None else self._new.joined(scores)
        estimates = []
        for each in self._sides:
            if each.scores is None:
                each.scores = self._scored(each.side.answers, each.overlap.shared)
            new = self._new.restricted(each.overlap.shared)
            moments = paired_metrics(self._metrics, each.scores, new).moments
            estimates.append(Estimate(moments, looks_of(self.plan, moments)))
        rules = [rules_for(self._metrics, self._gates, each.moments.before) for each in estimates]
        reason: StopReason | None = progress(estimates, rules).reason
        if reason is None:
            return None
        label = " and ".join(each.side.label for each in self._sides)
        return Stopping(reason, self.plan, answers.trials[-1], self._asked, label)

    def _scored(self, answers: AnswerSource, shared: Set[str]) -> Scores:
        cases = (each for each in self._cases() if each.case.id in shared)
        return score_cases(self._suite, cases, answers, self._context, keep_diagnoses=False)


@dataclass
class _Compared:
    """A side before, the cases that it shares, and its scores on them once they are needed."""

    side: Side
    overlap: Overlap
    scores: Scores | None = None

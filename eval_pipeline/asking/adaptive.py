"""Between trials: the verdicts so far, as the rule that says whether to ask another one."""

from collections.abc import Callable, Iterable, Mapping

from eval_pipeline.answers import AnswerSource, Stopping, StopReason, TrialRange
from eval_pipeline.asking.collecting import TrialAnswers
from eval_pipeline.comparison import Overlap, Side, looks_of, overlap_of, paired_metrics, partition, rules_for
from eval_pipeline.gates import Gate
from eval_pipeline.golden import GoldenCase
from eval_pipeline.scoring import Scores, score_cases
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


class BaselineLooks:
    """Scores each trial as it comes and compares what there is with the baseline, as the verdicts do.

    Answers that were known before are scored alike, so that an unchanged run stops at the same trial.
    """

    def __init__(
        self,
        suite: Suite,
        present: Mapping[str, str],
        cases: Callable[[], Iterable[GoldenCase]],
        before: Side,
        gates: Mapping[str, Gate],
        context: Context,
        plan: TrialRange,
    ) -> None:
        self.plan = plan
        self._suite = suite
        self._cases = cases
        self._overlap: Overlap = overlap_of(present, before)
        self._asked = len(present)
        self._label = before.label
        self._context = context
        self._metrics, _ = partition(suite, gates)
        self._rules = rules_for(self._metrics, gates)
        self._before = before
        self._old: Scores | None = None
        self._new: Scores | None = None

    @property
    def comparable(self) -> bool:
        """Whether the baseline answered enough of the golden set as it is."""
        return self._overlap.comparable

    def after(self, answers: TrialAnswers) -> Stopping | None:
        """Why to stop after these further answers; None to ask another trial."""
        scores = self._scored(answers)
        self._new = scores if self._new is None else self._new.joined(scores)
        if self._old is None:
            self._old = self._scored(self._before.answers)
        moments = paired_metrics(self._metrics, self._old, self._new)
        looks = looks_of(self.plan, moments)
        assert looks is not None
        reason: StopReason | None = progress(moments, self._rules, looks).reason
        if reason is None:
            return None
        return Stopping(reason, self.plan, answers.trials[-1], self._asked, self._label)

    def _scored(self, answers: AnswerSource) -> Scores:
        shared = self._overlap.cases(self._cases())
        return score_cases(self._suite, shared, answers, self._context, keep_diagnoses=False)

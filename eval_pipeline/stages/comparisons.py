"""The last stage: an evaluation against its baseline, against what it would replace, or against a version."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from eval_pipeline.answers import OutputsIdentity
from eval_pipeline.asking import Progress
from eval_pipeline.comparison import ChosenTest, Comparison, Role, Side, compare
from eval_pipeline.engines import Estimate
from eval_pipeline.problems import BadInput, Problem
from eval_pipeline.prompts import Prompt, Replaced, holds_rows, replaced_by
from eval_pipeline.revisions import HEAD
from eval_pipeline.scoring import Scores
from eval_pipeline.stages.answers import NotCurrent, estimate_cost, known_or_asked, on_cases
from eval_pipeline.stages.opening import Asking, asking_like, identity_of, usable_prompt
from eval_pipeline.stages.samples import sampled
from eval_pipeline.stages.scores import known_scores, outage_of
from eval_pipeline.stages.workbench import Workbench
from eval_pipeline.store import AnswerTable, Compared, GoldenTable, Scored, baseline_side, read_baseline


def compare_evaluation(
    bench: Workbench,
    golden: GoldenTable,
    answers: AnswerTable,
    scored: Scored,
    *,
    since: str = HEAD,
    progress: Progress | None = None,
    activating: bool = False,
    with_baseline: bool = True,
    previous: str | None = None,
) -> Compared:
    """Compare an evaluation with the baseline and with what it would replace since a revision of Git.

    What would be replaced is asked as the evaluation was, unless its answers are known; without progress,
    as where a release is decided, nothing is asked. Where the baseline holds the very answers of what would
    be replaced, there is one comparison. An archived version replaces nothing unless it is to be activated.
    An incomplete evaluation is compared with nothing, one on a sample on the cases of the sample. Rows of
    another asset replace no version: they are compared with those of the previous one that is named.
    """
    golden = sampled(golden, answers.identity.case_sample)
    if outage_of(bench, answers.costs, scored.scores):
        return Compared(scored.identity, ())
    baseline = _baseline(bench, answers.identity.version) if with_baseline else None
    sides = [baseline] if baseline else []
    replaced = Replaced()
    if holds_rows(answers.identity.version):
        sides += _previous_side(bench, golden, previous, baseline)
        comparisons = _compare(bench, golden, sides, _side(bench, answers, golden, scores=scored.scores))
        return Compared(scored.identity, comparisons)
    try:
        prompt = _as_answered(bench, answers.identity)
        if activating or prompt.front.status != "archived":
            replaced = replaced_by(bench.project, bench.suite, prompt, since)
        if replaced.prompt is not None:
            asking = asking_like(bench, replaced.prompt, answers.identity)
            wanted = _Wanted(
                replaced.label, asking, identity_of(bench, golden, asking, answers.identity.sample)
            )
            if baseline and wanted.is_held_by(baseline.identity):
                sides = [replace(baseline, label=f"baseline {replaced.label}")]
            else:
                sides.append(_replaced_side(bench, golden, wanted, answers.identity, progress))
    except BadInput as bad:
        replaced = Replaced(missing="; ".join(map(str, bad.problems)))
    comparisons = _compare(bench, golden, sides, _side(bench, answers, golden, scores=scored.scores))
    return Compared(scored.identity, comparisons, replaced.missing, replaced.note)


class Incomplete(BadInput):
    """A version whose evaluation is incomplete, where one is needed that is not."""

    def __init__(self, suite: str, version: str, message: str) -> None:
        remedy = f"Run: eval-pipeline run {suite} --prompt {version}"
        super().__init__([Problem(version, 0, "", message, remedy)])


def compare_with_baseline(
    bench: Workbench,
    golden: GoldenTable,
    answers: AnswerTable,
    scores: Scores | None = None,
    test: ChosenTest | None = None,
) -> Comparison | None:
    """Compare answers with the baseline of their prompt alone; None where none was ever promoted.

    Scores of these answers against the golden set as it is are used where they are there already.
    """
    before = _baseline(bench, answers.identity.version)
    sides = [before] if before else []
    return next(
        iter(_compare(bench, golden, sides, _side(bench, answers, golden, scores=scores), test)), None
    )


def compare_versions(
    bench: Workbench,
    golden: GoldenTable,
    before: AnswerTable,
    after: AnswerTable,
    scores: Scores | None = None,
    test: ChosenTest | None = None,
) -> Comparison:
    """Compare two prompt versions with each other; `scores` are those of the version after."""
    sides = [_side(bench, before, golden)]
    (comparison,) = _compare(bench, golden, sides, _side(bench, after, golden, scores=scores), test)
    return comparison


def estimate_replaced(
    bench: Workbench, golden: GoldenTable, asking: Asking, sample: str
) -> tuple[str, Estimate] | None:
    """What would be replaced, and what asking it would cost at most; None where nothing is to be asked."""
    like = identity_of(bench, golden, asking, sample)
    archived = asking.prompt.front.status == "archived"
    replaced = Replaced() if archived else replaced_by(bench.project, bench.suite, asking.prompt)
    if replaced.prompt is None:
        return None
    other = asking_like(bench, replaced.prompt, like)
    wanted = _Wanted(replaced.label, other, identity_of(bench, golden, other, sample))
    baseline = _baseline(bench, like.version)
    if baseline and wanted.is_held_by(baseline.identity):
        return None
    return replaced.label, estimate_cost(bench, golden, other)


class _Wanted(NamedTuple):
    """A version that is to be a side of a comparison, and how it is asked."""

    label: str
    asking: Asking
    identity: OutputsIdentity

    def is_held_by(self, known: OutputsIdentity) -> bool:
        """Whether answers are those that asking would bring; where they never vary, of any sample."""
        alike = all(
            getattr(known, name) == getattr(self.identity, name)
            for name in ("prompt_hash", "inputs_hash", "engine", "model")
        )
        same_sample = known.sample == self.identity.sample or not self.asking.engine.varies
        return alike and same_sample and known.trials >= self.identity.trials


def _replaced_side(
    bench: Workbench, golden: GoldenTable, wanted: _Wanted, like: OutputsIdentity, progress: Progress | None
) -> Side:
    subject = f"{wanted.label}, to compare with,"
    answers = known_or_asked(bench, golden, wanted.asking, wanted.identity, subject, progress)
    if answers is None:
        raise NotCurrent(like.version, f"was not compared with {wanted.label} yet", bench.suite.name)
    return _side(bench, answers, golden, wanted.label, "replaced")


def _previous_side(
    bench: Workbench, golden: GoldenTable, previous: str | None, baseline: Side | None
) -> list[Side]:
    """The rows of the partition before, where they can be compared with and are not the baseline."""
    answers = bench.store.outputs(bench.suite.name, previous) if previous else None
    if answers is None or outage_of(bench, answers.costs):
        return []
    if baseline and baseline.identity == answers.identity:
        return []
    label = f"{answers.identity.version} (before)"
    return [_side(bench, answers, golden, label, "replaced")]


def _as_answered(bench: Workbench, outputs: OutputsIdentity) -> Prompt:
    """The prompt that answers were given to; it must still be there."""
    prompt = usable_prompt(bench, outputs.version)
    if prompt.hash != outputs.prompt_hash:
        raise NotCurrent(outputs.version, "changed since it was evaluated", bench.suite.name)
    return prompt


def _baseline(bench: Workbench, version: str) -> Side | None:
    baseline = read_baseline(bench.rules_folder, version)
    return baseline_side(bench.rules_folder, version, baseline) if baseline else None


def _side(
    bench: Workbench,
    answers: AnswerTable,
    golden: GoldenTable,
    label: str = "",
    role: Role = "version",
    scores: Scores | None = None,
) -> Side:
    """Stored answers as one side of a comparison; an incomplete evaluation is none."""
    if outage := outage_of(bench, answers.costs, scores):
        raise Incomplete(bench.suite.name, label or answers.identity.version, outage.text)
    return Side(
        label or answers.identity.subject,
        answers.identity,
        answers,
        golden.input_hashes if _answers_all(answers, golden) else answers.input_hashes(),
        golden.facts.golden_hash,
        scores or known_scores(bench, golden, answers),
        role,
    )


def _answers_all(answers: AnswerTable, golden: GoldenTable) -> bool:
    """Whether answers are to the very inputs of a golden set, one for each case in each trial."""
    same = golden.sample is None and answers.identity.inputs_hash == golden.facts.inputs_hash
    return same and len(answers) == golden.facts.cases * answers.identity.trials


def _compare(
    bench: Workbench,
    golden: GoldenTable,
    before: Sequence[Side],
    after: Side,
    test: ChosenTest | None = None,
) -> tuple[Comparison, ...]:
    if not before:
        return ()
    return compare(
        bench.suite,
        golden.input_hashes,
        lambda only=None: golden.cases(bench.suite, only),
        [on_cases(golden, side) for side in before],
        after,
        bench.gates,
        bench.context,
        test,
    )

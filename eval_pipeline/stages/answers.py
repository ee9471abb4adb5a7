"""The second stage: asking an engine every case."""

import re
from dataclasses import replace

from eval_pipeline.answers import OutputsIdentity, TrialRange, Trials, parse_trials
from eval_pipeline.asking import (
    AllTrials,
    ComparedLooks,
    Looks,
    Progress,
    Questions,
    Silence,
    collect_outputs,
    run,
)
from eval_pipeline.comparison import Side
from eval_pipeline.engines import Estimate, MeteredEngine
from eval_pipeline.problems import BadInput, Problem, bad_value
from eval_pipeline.prompts import holds_rows
from eval_pipeline.stages.opening import Asking, identity_of, open_asking, usable_prompt
from eval_pipeline.stages.shards import Asked, collect_in_shards, shards_for
from eval_pipeline.stages.workbench import Workbench
from eval_pipeline.store import AnswerTable, GoldenTable, baseline_side, read_baseline

DEFAULT_SAMPLE = "default"
_SAMPLE = re.compile(r"[A-Za-z0-9._-]+")


class NotCurrent(BadInput):
    """A version that was not evaluated as it is now."""

    def __init__(self, version: str, message: str, suite: str) -> None:
        run = f"Run: eval-pipeline run {suite} --prompt {version}"
        remedy = "Materialize that partition of the asset." if holds_rows(version) else run
        super().__init__([Problem(version, 0, "", message, remedy)])


def prepare_asking(
    bench: Workbench,
    version: str,
    *,
    engine: str | None = None,
    trials: Trials | None = None,
    sample: str = DEFAULT_SAMPLE,
) -> Asking:
    """Everything that can be wrong with a run before its first question is asked.

    A range of trials is for engines whose answers vary; one whose answers do not keeps its own number.
    """
    if not _SAMPLE.fullmatch(sample):
        raise bad_value("sample", f"{sample!r} is not a label", "Use letters, digits, dots, - and _ only.")
    return open_asking(bench, usable_prompt(bench, version), engine, parse_trials(trials), sample)


def answer_cases(
    bench: Workbench,
    golden: GoldenTable,
    version: str,
    *,
    engine: str | None = None,
    trials: Trials | None = None,
    sample: str = DEFAULT_SAMPLE,
    progress: Progress | None = None,
) -> AnswerTable:
    """Ask an engine every case of the golden set, or of a sample of it, with a prompt version.

    With a range of trials, the comparison with the baseline decides after each one whether to ask another.
    """
    asking = prepare_asking(bench, version, engine=engine, trials=trials, sample=sample)
    looks = None
    if isinstance(asking.trials, TrialRange):
        looks = _looks(bench, golden, version, asking.trials)
    identity = identity_of(bench, golden, asking, sample)
    return _collect(bench, golden, asking, identity, progress, looks)


def known_or_asked(
    bench: Workbench,
    golden: GoldenTable,
    asking: Asking,
    identity: OutputsIdentity,
    subject: str,
    progress: Progress | None,
) -> AnswerTable | None:
    """Answers that are there already and hold no error, else new ones; without progress nothing is asked."""
    known = bench.store.answers(identity)
    if progress is None or (known is not None and not known.costs.errors):
        return known
    return _collect(bench, golden, asking, identity, progress, subject=subject)


def _collect(
    bench: Workbench,
    golden: GoldenTable,
    asking: Asking,
    identity: OutputsIdentity,
    progress: Progress | None,
    looks: Looks | None = None,
    subject: str = "",
) -> AnswerTable:
    if progress is not None and isinstance(asking.engine, MeteredEngine):  # before money is spent
        subject_ = (subject or identity.subject).rstrip(",")
        progress.announce(f"{subject_}: {estimate_cost(bench, golden, asking).text}")
    if shards := shards_for(bench, golden):
        work = Asked(golden, identity, asking.prompt.commit, asking.engine.varies)
        return collect_in_shards(bench, shards, work, progress or Silence(), looks, subject)
    folder = bench.store.outputs_folder(bench.suite.name, identity.version)
    questions = Questions(bench.suite, asking.prompt, golden, asking.resources)
    return collect_outputs(questions, asking.engine, identity, folder, progress or Silence(), looks, subject)


def _looks(bench: Workbench, golden: GoldenTable, version: str, plan: TrialRange) -> Looks:
    """What decides between trials: the comparison with the baseline, where there can be one."""
    folder = bench.rules_folder
    try:
        baseline = read_baseline(folder, version)
        before = baseline_side(folder, version, baseline) if baseline else None
    except BadInput:  # the comparison names what is wrong with it
        before = None
    if before is not None:
        looks = ComparedLooks(
            bench.suite,
            golden.hashes("input_hash"),
            lambda: golden.cases(bench.suite),
            [on_cases(golden, before)],
            bench.gates,
            replace(bench.context, judge=None),  # a judge is asked once, about all trials
            plan,
        )
        if looks.comparable:
            return looks
    return AllTrials(plan, golden.facts.cases)


def on_cases(golden: GoldenTable, side: Side) -> Side:
    """A side of a comparison on the cases of a sample alone, as if it had never answered the others."""
    if golden.sample is None:
        return side
    chosen = golden.hashes("input_hash").keys()
    kept = {name: each for name, each in side.input_hashes.items() if name in chosen}
    return replace(side, input_hashes=kept)


def estimate_cost(bench: Workbench, golden: GoldenTable, asking: Asking) -> Estimate:
    """What asking would take, known answers considered; engines that are not metered make no call."""
    engine = asking.engine
    if not isinstance(engine, MeteredEngine):
        return Estimate(engine.name, golden.facts.cases, asking.trials)
    questions = Questions(bench.suite, asking.prompt, golden, asking.resources)
    with questions.renderer() as renderer:
        return run(engine.estimate(questions.requests(engine, [1], renderer), asking.trials))


def current_answers(bench: Workbench, golden: GoldenTable, version: str) -> AnswerTable:
    """The latest answers of a version; they must be those of its prompt and golden set as they are.

    Rows of another asset have no prompt: the latest that were evaluated are those that count.
    """
    prompt = None if holds_rows(version) else usable_prompt(bench, version)
    answers = bench.store.outputs(bench.suite.name, version)
    if answers is None:
        raise NotCurrent(version, "was never evaluated on all cases", bench.suite.name)
    asked = (answers.identity.prompt_hash, answers.identity.inputs_hash)
    if asked != (prompt.hash if prompt else answers.identity.prompt_hash, golden.facts.inputs_hash):
        message = "changed since it was evaluated, or the golden set did"
        raise NotCurrent(version, message, bench.suite.name)
    return answers

"""The stages of an evaluation as plain functions: the same for the UI, the command line and tests."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from eval_pipeline.answers.trials import TrialRange, Trials, most_trials, parse_trials
from eval_pipeline.approvals import Approval
from eval_pipeline.asking.adaptive import AllTrials, BaselineLooks
from eval_pipeline.asking.judge import judged_context
from eval_pipeline.asking.progress import Progress, Silence
from eval_pipeline.comparison.compare import Comparison, Side, compare
from eval_pipeline.engines import Engine
from eval_pipeline.engines.configuration import open_engine
from eval_pipeline.engines.metered import Estimate, MeteredEngine
from eval_pipeline.evaluation import (
    Evaluation,
    Identity,
    OutputsIdentity,
    case_results,
    context_for,
    measured_models,
    scorer_version,
    summarize,
)
from eval_pipeline.gates import GATES_FILE, Gate, read_gates, read_operation_gates
from eval_pipeline.golden import (
    GoldenCase,
    OverviewBuilder,
    golden_hash,
    inputs_hash,
    read_cases,
    unsigned_changes,
)
from eval_pipeline.outputs import Looks, Questions, collect_outputs, run
from eval_pipeline.problems import BadInput, Problems, bad_value
from eval_pipeline.project import Project
from eval_pipeline.prompts.versions import Prompt, load_prompt, versions_in
from eval_pipeline.scoring import score_cases
from eval_pipeline.store import Proposal, Scored, Store
from eval_pipeline.store.approvals import approvals_of, result_key
from eval_pipeline.store.baselines import baseline_side, objections, read_baseline
from eval_pipeline.store.tables import AnswerTable, GoldenFacts, GoldenTable
from eval_pipeline.suite import Overview, Suite

DEFAULT_SAMPLE = "default"
_SAMPLE = re.compile(r"[A-Za-z0-9._-]+")


@dataclass(frozen=True)
class LoadedGolden:
    """A golden set, what there is to say about it, and what was never signed off."""

    table: GoldenTable
    overview: Overview
    unsigned: list[str]


def load_golden(project: Project, store: Store, suite: Suite) -> LoadedGolden:
    """Read a suite's golden set; every problem of every file at once, or a table of all cases."""
    folder = project.golden(suite.name)
    problems = Problems()
    overview = OverviewBuilder(suite)
    case_hashes: dict[str, str] = {}
    input_hashes: dict[str, str] = {}

    def rows() -> Iterator[GoldenCase]:
        for golden in read_cases(suite, folder, problems):
            overview.add(golden)
            case_hashes[golden.case.id] = golden.case_hash
            input_hashes[golden.case.id] = golden.input_hash
            yield golden

    def facts() -> GoldenFacts:
        problems.stop_if_any()
        resources = _resources_folder(folder)
        present = golden_hash(case_hashes.values(), resources)
        return GoldenFacts(present, inputs_hash(input_hashes, resources), len(case_hashes))

    table = GoldenTable.write(store.golden_folder(suite.name), rows(), facts)
    unsigned = unsigned_changes(folder, table.facts.golden_hash, case_hashes, problems)
    references = judged_context(project, suite, folder).references
    return LoadedGolden(table, overview.build(references), unsigned)


def _resources_folder(folder: Path) -> Path | None:
    resources = folder / "resources"
    return resources if resources.is_dir() else None


@dataclass(frozen=True)
class Asking:
    """A prompt version and an engine, ready to be put together."""

    prompt: Prompt
    engine: Engine
    resources: Any
    trials: Trials


def prepare_asking(
    project: Project,
    suite: Suite,
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
    trials = parse_trials(trials)
    problems = Problems()
    prompt = load_prompt(suite, project.prompts(suite.name), version, problems)
    problems.stop_if_any()
    assert prompt is not None
    resources = context_for(suite, project.golden(suite.name)).resources
    opened = open_engine(project, suite, prompt, engine, resources, sample)
    if isinstance(trials, TrialRange) and not opened.varies:
        trials = None
    return Asking(prompt, opened, resources, trials or opened.trials)


def answer_cases(
    project: Project,
    store: Store,
    suite: Suite,
    golden: GoldenTable,
    version: str,
    *,
    engine: str | None = None,
    trials: Trials | None = None,
    sample: str = DEFAULT_SAMPLE,
    progress: Progress | None = None,
) -> AnswerTable:
    """Ask an engine every case of the golden set with a prompt version.

    With a range of trials, the comparison with the baseline decides after each one whether to ask another.
    """
    asking = prepare_asking(project, suite, version, engine=engine, trials=trials, sample=sample)
    identity = OutputsIdentity(
        suite=suite.name,
        version=version,
        prompt_hash=asking.prompt.hash,
        inputs_hash=golden.facts.inputs_hash,
        engine=asking.engine.name,
        model=asking.engine.model,
        sample=sample,
        trials=most_trials(asking.trials),
    )
    looks = None
    if isinstance(asking.trials, TrialRange):
        looks = _looks(project, suite, golden, version, asking.trials)
    folder = store.outputs_folder(suite.name, version)
    questions = Questions(suite, asking.prompt, golden, asking.resources)
    return collect_outputs(questions, asking.engine, identity, folder, progress or Silence(), looks)


def _looks(project: Project, suite: Suite, golden: GoldenTable, version: str, plan: TrialRange) -> Looks:
    """What decides between trials: the comparison with the baseline, where there can be one."""
    folder = project.golden(suite.name)
    gates = load_gates(project, suite)
    try:
        baseline = read_baseline(folder, version)
        before = baseline_side(folder, version, baseline) if baseline else None
    except BadInput:  # the comparison says what is wrong with it
        before = None
    if before is not None:
        looks = BaselineLooks(
            suite,
            golden.hashes("input_hash"),
            lambda: golden.cases(suite),
            before,
            gates,
            context_for(suite, folder),
            plan,
        )
        if looks.comparable:
            return looks
    return AllTrials(plan, golden.facts.cases)


def estimate_cost(suite: Suite, golden: GoldenTable, asking: Asking) -> Estimate:
    """What asking would cost at most, what is known considered; engines that are not metered cost nothing."""
    trials = most_trials(asking.trials)
    requests = golden.facts.cases * trials
    if not isinstance(asking.engine, MeteredEngine):
        return Estimate(requests, 0, 0, 0.0)
    questions = Questions(suite, asking.prompt, golden, asking.resources)
    return run(asking.engine.estimate(questions.requests(asking.engine, range(1, trials + 1))))


def score_answers(project: Project, suite: Suite, golden: GoldenTable, answers: AnswerTable) -> Scored:
    """Score answers against the golden set as it is now."""
    context = judged_context(project, suite, project.golden(suite.name))
    identity = Identity(answers.identity, golden.facts.golden_hash, scorer_version(suite), context.hash)
    return Scored(identity, score_cases(suite, golden.cases(suite), answers, context))


def evaluate(project: Project, suite: Suite, scored: Scored, gates: Mapping[str, Gate]) -> Evaluation:
    """Aggregate scores into metrics and judge them by gates."""
    models = measured_models(suite, judged_context(project, suite, project.golden(suite.name)))
    summary = summarize(suite, scored.scores, gates, models)
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return Evaluation(scored.identity.id, scored.identity, now, summary, case_results(suite, scored.scores))


def evaluations_beside(
    project: Project, store: Store, suite: Suite, evaluation: Evaluation
) -> dict[str, Evaluation]:
    """The latest evaluations of all versions, as far as they were scored on the same by the same engine."""

    def conditions(one: Evaluation) -> tuple[str, ...]:
        identity = one.identity
        return (identity.golden_hash, identity.scorer, identity.context, identity.outputs.engine)

    own = evaluation.identity.outputs.version
    versions = sorted({*versions_in(project.prompts(suite.name)), own})
    found = {each: evaluation if each == own else store.evaluation(suite.name, each) for each in versions}
    return {
        version: one for version, one in found.items() if one and conditions(one) == conditions(evaluation)
    }


def load_gates(project: Project, suite: Suite) -> dict[str, Gate]:
    """The suite's gates, from its golden folder."""
    problems = Problems()
    gates = read_gates(suite, project.golden(suite.name) / GATES_FILE, problems)
    problems.stop_if_any()
    return gates


def load_operation_gates(project: Project, suite: Suite) -> dict[str, Gate]:
    """The suite's limits on latency and cost."""
    return read_operation_gates(project.golden(suite.name) / GATES_FILE)


def compare_with_baseline(
    project: Project, suite: Suite, golden: GoldenTable, answers: AnswerTable
) -> Comparison | None:
    """Compare answers with the baseline of their prompt; None where no baseline was ever promoted."""
    folder = project.golden(suite.name)
    baseline = read_baseline(folder, answers.identity.version)
    if baseline is None:
        return None
    before = baseline_side(folder, answers.identity.version, baseline)
    return _compare(project, suite, golden, before, side(answers, golden))


def compare_versions(
    project: Project, suite: Suite, golden: GoldenTable, before: AnswerTable, after: AnswerTable
) -> Comparison:
    """Compare two prompt versions with each other."""
    return _compare(project, suite, golden, side(before, golden), side(after, golden))


def side(answers: AnswerTable, golden: GoldenTable) -> Side:
    """Stored answers as one side of a comparison."""
    return Side(
        answers.identity.version,
        answers.identity,
        answers,
        answers.input_hashes(),
        golden.facts.golden_hash,
    )


def _compare(project: Project, suite: Suite, golden: GoldenTable, before: Side, after: Side) -> Comparison:
    context = judged_context(project, suite, project.golden(suite.name))
    found = compare(
        suite,
        golden.hashes("input_hash"),
        lambda: golden.cases(suite),
        before,
        after,
        load_gates(project, suite),
        context,
    )
    return replace(found, approvals=approvals_of(project.golden(suite.name), found.key))


def approvals_for(
    project: Project, suite: Suite, evaluation: Evaluation, comparison: Comparison | None
) -> tuple[Approval, ...]:
    """The approvals that count for a result: of its comparison, or of itself where there is none."""
    if comparison is not None:
        return comparison.approvals
    key = result_key(evaluation, None, load_gates(project, suite))
    return approvals_of(project.golden(suite.name), key)


def propose(evaluation: Evaluation, comparison: Comparison) -> Proposal | None:
    """What a significant improvement proposes, where nothing else speaks against it."""
    if comparison.verdict != "improved" or comparison.open or objections(evaluation, [comparison]):
        return None
    outputs = evaluation.identity.outputs
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return Proposal(
        outputs.suite, outputs.version, comparison.before, evaluation.id, comparison.sentence, now
    )


def current_answers(
    project: Project, store: Store, suite: Suite, golden: GoldenTable, version: str
) -> AnswerTable:
    """The latest answers of a version; they must be those of its prompt and golden set as they are."""
    problems = Problems()
    prompt = load_prompt(suite, project.prompts(suite.name), version, problems)
    problems.stop_if_any()
    assert prompt is not None
    answers = store.outputs(suite.name, version)
    rerun = f"Run: eval-pipeline run {suite.name} --prompt {version}"
    if answers is None:
        raise bad_value("version", f"{version!r} was never evaluated", rerun)
    asked = (answers.identity.prompt_hash, answers.identity.inputs_hash)
    if asked != (prompt.hash, golden.facts.inputs_hash):
        raise bad_value("version", "the prompt or the golden set changed since it was evaluated", rerun)
    return answers

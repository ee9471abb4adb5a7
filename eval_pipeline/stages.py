"""The stages of an evaluation as plain functions: the same for the UI, the command line and tests."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval_pipeline.comparison import Comparison, Side, compare
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
from eval_pipeline.outputs import Questions, collect_outputs, run
from eval_pipeline.problems import Problems, bad_value
from eval_pipeline.progress import Progress, Silence
from eval_pipeline.project import Project
from eval_pipeline.prompt import Prompt, load_prompt, versions_in
from eval_pipeline.scoring import score_cases
from eval_pipeline.store import Scored, Store
from eval_pipeline.store.baselines import baseline_side, read_baseline
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
    references = context_for(suite, folder).references
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
    trials: int


def prepare_asking(
    project: Project,
    suite: Suite,
    version: str,
    *,
    engine: str | None = None,
    trials: int | None = None,
    sample: str = DEFAULT_SAMPLE,
) -> Asking:
    """Everything that can be wrong with a run before its first question is asked."""
    if not _SAMPLE.fullmatch(sample):
        raise bad_value("sample", f"{sample!r} is not a label", "Use letters, digits, dots, - and _ only.")
    if trials is not None and trials < 1:
        raise bad_value("trials", f"{trials} is not a number of trials", "Ask for at least 1.")
    problems = Problems()
    prompt = load_prompt(suite, project.prompts(suite.name), version, problems)
    problems.stop_if_any()
    assert prompt is not None
    resources = context_for(suite, project.golden(suite.name)).resources
    opened = open_engine(project, suite, prompt, engine, resources, sample)
    return Asking(prompt, opened, resources, trials or opened.trials)


def answer_cases(
    project: Project,
    store: Store,
    suite: Suite,
    golden: GoldenTable,
    version: str,
    *,
    engine: str | None = None,
    trials: int | None = None,
    sample: str = DEFAULT_SAMPLE,
    progress: Progress | None = None,
) -> AnswerTable:
    """Ask an engine every case of the golden set with a prompt version."""
    asking = prepare_asking(project, suite, version, engine=engine, trials=trials, sample=sample)
    identity = OutputsIdentity(
        suite=suite.name,
        version=version,
        prompt_hash=asking.prompt.hash,
        inputs_hash=golden.facts.inputs_hash,
        engine=asking.engine.name,
        model=asking.engine.model,
        sample=sample,
        trials=asking.trials,
    )
    path = store.outputs_folder(suite.name, version) / f"{identity.id}.parquet"
    questions = Questions(suite, asking.prompt, golden, asking.resources)
    return collect_outputs(questions, asking.engine, identity, path, progress or Silence())


def estimate_cost(suite: Suite, golden: GoldenTable, asking: Asking) -> Estimate:
    """What asking would cost, what is known already considered; engines that are not metered cost nothing."""
    requests = golden.facts.cases * asking.trials
    if not isinstance(asking.engine, MeteredEngine):
        return Estimate(requests, 0, 0, 0.0)
    questions = Questions(suite, asking.prompt, golden, asking.resources)
    return run(asking.engine.estimate(questions.requests(asking.engine, asking.trials)))


def score_answers(project: Project, suite: Suite, golden: GoldenTable, answers: AnswerTable) -> Scored:
    """Score answers against the golden set as it is now."""
    context = context_for(suite, project.golden(suite.name))
    identity = Identity(answers.identity, golden.facts.golden_hash, scorer_version(suite), context.hash)
    return Scored(identity, score_cases(suite, golden.cases(suite), answers, context))


def evaluate(project: Project, suite: Suite, scored: Scored, gates: Mapping[str, Gate]) -> Evaluation:
    """Aggregate scores into metrics and judge them by gates."""
    models = measured_models(suite, context_for(suite, project.golden(suite.name)))
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
    context = context_for(suite, project.golden(suite.name))
    return compare(
        suite,
        golden.hashes("input_hash"),
        lambda: golden.cases(suite),
        before,
        after,
        load_gates(project, suite),
        context,
    )

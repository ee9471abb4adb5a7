"""Running a suite's job in this process, on the instance that the UI shows."""

import fcntl
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import dagster as dg
import msgspec

from eval_pipeline.answers import Costs, Stopping
from eval_pipeline.asking import Progress
from eval_pipeline.decisions import FailedCheck, Objections, Standings, objections_to, standings_of
from eval_pipeline.engines import check_engine
from eval_pipeline.orchestration import assets
from eval_pipeline.orchestration.checks import SIGNED_OFF, problems_of, speaks_for_itself
from eval_pipeline.orchestration.instance_file import configure_instance, configured, unusable
from eval_pipeline.orchestration.places import Place, partitions_of
from eval_pipeline.orchestration.resources import PROCESS_TAG, PROGRESS, build_resources
from eval_pipeline.problems import Problem
from eval_pipeline.processes import is_gone, this_process
from eval_pipeline.project import STATE_VARIABLE, Project
from eval_pipeline.reports import named_things, readable
from eval_pipeline.revisions import HEAD
from eval_pipeline.scoring import Evaluation
from eval_pipeline.stages import Workbench
from eval_pipeline.store import AnswerTable, Compared, Scored

LONGEST_REASON = 300
MODULE, LOCATION = "eval_pipeline.definitions", "eval_pipeline"
"""What the UI loads, and what it calls it; `workspace.yaml` says the same."""


def open_instance(project: Project) -> dg.DagsterInstance:
    """The Dagster instance in the project's state folder, configured by the project's `dagster.yaml`.

    One that has none is configured as this project is: without telemetry and without pop-ups.
    """
    project.state.mkdir(parents=True, exist_ok=True)
    configuration = configure_instance(project)
    os.environ[STATE_VARIABLE] = str(project.state)
    # Dagster creates its tables on first use, and two first uses at once get in each other's way.
    with (project.state / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        chosen, private = configured(configuration), _private()
        settings = private.settings_of_a_run(chosen, project.state) if private else {}
        try:
            return dg.DagsterInstance.local_temp(str(project.state), overrides=settings)
        except dg.DagsterInvalidConfigError as error:
            reasons = [
                f"is not what Dagster expects: {each[:LONGEST_REASON]}" for each in error.error_messages
            ]
            raise unusable(configuration, *reasons) from None


def _private() -> ModuleType | None:
    """The door to Dagster's private parts; None where this Dagster has no such parts any more."""
    try:
        import eval_pipeline.orchestration.dagster_private as private
    except ImportError:
        return None
    return private


def _end_dead_runs(instance: dg.DagsterInstance) -> None:
    """Let runs of commands that were killed end as failed, instead of seeming to go on for ever."""
    for run in instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED])):
        if is_gone(run.tags.get(PROCESS_TAG, "")):
            instance.report_run_failed(
                run, "The process of this run was killed; the next run goes on from there."
            )


@dataclass(frozen=True)
class Outcome:
    """What a run of the chain came to: its own numbers, whatever other runs do meanwhile."""

    bench: Workbench
    problems: list[Problem]
    """Why there is no evaluation, or only part of one."""
    evaluation: Evaluation | None
    standings: Standings
    """How it stands against the baseline and against what it would replace."""
    failed: list[FailedCheck]
    """Checks that failed besides those on gates, limits, comparison and sign-off."""
    unsigned: FailedCheck | None
    """Why the golden set does not count as signed off; None where it does."""
    stopping: Stopping | None = None
    named: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What the gates that do not pass are made of: a few lines by metric."""
    costs: Costs | None = None
    """What the answers cost."""

    @property
    def objections(self) -> Objections:
        """What speaks against the evaluation."""
        assert self.evaluation is not None
        return objections_to(self.bench, self.evaluation, self.standings, self.failed)


def refresh_summary(project: Project) -> list[dg.AssetCheckEvaluation]:
    """Put the latest numbers of the heritage suites into their summary; what its checks say."""
    from eval_pipeline.orchestration.heritage_summary import build_summaries

    assets = build_summaries(project)
    if not assets:
        return []
    with open_instance(project) as instance:
        result = dg.materialize(
            assets,
            instance=instance,
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        )
        return list(result.get_asset_check_evaluations())


def refresh_dashboard(project: Project) -> Path:
    """Write the page over all suites anew, and tell Dagster; where it is."""
    from eval_pipeline.orchestration.dashboard import refresh_pages

    events = refresh_pages(project)
    with open_instance(project) as instance:
        for event in events:
            instance.report_runless_asset_event(event)
    return Path(str(events[0].metadata["path"].value))


def show_active_version(bench: Workbench) -> None:
    """Let the UI show which version is in use now, and where it stands."""
    from eval_pipeline.orchestration.active_version import refresh_active_version

    with open_instance(bench.project) as instance:
        refresh_active_version(instance, bench)


def execute(
    bench: Workbench, version: str, config: Mapping[str, Any], progress: Progress, since: str = HEAD
) -> Outcome:
    """Run the whole chain for a version; what it would replace is what was in use at a revision of Git."""
    project, suite = bench.project, bench.suite
    if config.get("engine"):
        check_engine(project, suite, config["engine"])
    shared = build_resources(project)
    shared[PROGRESS] = dg.ResourceDefinition.hardcoded_resource(lambda log: progress)
    place = Place(suite, resources=shared)
    chain = assets.build_chain(place, project)
    definitions = dg.Definitions(
        assets=chain, jobs=[assets.build_job(place, chain)], executor=dg.in_process_executor
    )
    partitions, job = partitions_of(place.name).name, place.job
    with open_instance(project) as instance:
        _end_dead_runs(instance)
        if private := _private():
            private.show_runs_of(instance, job, module=MODULE, location=LOCATION)
        if partitions and not instance.has_dynamic_partition(partitions, version):
            instance.add_dynamic_partitions(partitions, [version])
        given = {name: msgspec.to_builtins(value) for name, value in config.items() if value is not None}
        result = definitions.resolve_job_def(job).execute_in_process(
            instance=instance,
            partition_key=version,
            run_config={
                "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
                "ops": {
                    place.step("model_outputs"): {"config": given},
                    place.step("baseline_comparison"): {"config": {"since": since}},
                },
            },
            tags={PROCESS_TAG: this_process()},
            raise_on_error=False,
        )
        return _outcome(bench, result)


def _outcome(bench: Workbench, result: dg.ExecuteInProcessResult) -> Outcome:
    suite = bench.suite.name
    checks = result.get_asset_check_evaluations()
    if not result.success and all(check.passed for check in checks if check.blocking):
        event = next((event for event in result.all_events if event.is_step_failure), None)
        reason = event.step_failure_data.error_display_string if event else "the run failed"
        if "DagsterExecutionInterruptedError" in reason:  # Ctrl-C, which Dagster caught for its own ends
            raise KeyboardInterrupt
        raise RuntimeError(f"run {result.run_id} of {suite} failed:\n{reason}")
    failed = [check for check in checks if not check.passed]
    problems = list(dict.fromkeys(problem for check in failed for problem in problems_of(check)))
    if not result.success:
        return Outcome(bench, problems, None, Standings(), [], None)
    compared: Compared = result.output_for_node(f"{suite}__baseline_comparison")
    evaluation: Evaluation = result.output_for_node(f"{suite}__metrics")
    scored: Scored = result.output_for_node(f"{suite}__case_scores")
    answers: AnswerTable = result.output_for_node(f"{suite}__model_outputs")
    results = {
        check.check_name: FailedCheck(
            check.check_name, _in_a_line(check.description or ""), check.severity.value == "ERROR"
        )
        for check in failed
    }
    return Outcome(
        bench,
        problems,
        evaluation,
        standings_of(bench.rules_folder, compared),
        [each for each in results.values() if not speaks_for_itself(each.name, evaluation)],
        results.get(SIGNED_OFF),
        answers.stopping,
        named_things(bench.suite, evaluation.summary, scored.scores),
        answers.costs,
    )


def _in_a_line(description: str) -> str:
    """What a check says; a list as its entries."""
    lines = readable(description).splitlines()
    return "; ".join(line.removeprefix("- ") for line in lines if line)

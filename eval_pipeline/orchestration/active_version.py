"""Where a suite stands, in one asset without partitions: its active version, and every other one beside it.

Dagster marks a partition by whether it could be materialized, and an evaluation that blocks a version is one
that could. Here a blocked version is seen among the others.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import dagster as dg

from eval_pipeline import stages
from eval_pipeline.decisions import objections_to, standings_of
from eval_pipeline.orchestration.checks import ACTIVE_PASSES, active_check
from eval_pipeline.orchestration.metadata import in_screens
from eval_pipeline.orchestration.places import ACTIVE_VERSION, Place
from eval_pipeline.orchestration.resources import WORKBENCHES
from eval_pipeline.problems import BadInput, Problems
from eval_pipeline.prompts import Prompt, load_prompts, versions_in
from eval_pipeline.reports import (
    VersionState,
    brief_of,
    bullets,
    plain,
    table,
    version_reasons,
    version_table,
)
from eval_pipeline.store import Compared


def version_states(bench: stages.Workbench) -> list[VersionState]:
    """The latest result of every version of a suite that has a file, those in use first."""
    folder = bench.project.prompts(bench.suite.name)
    prompts = {prompt.version: prompt for prompt in load_prompts(bench.suite, folder, Problems())}
    states = [_state(bench, version, prompts.get(version)) for version in versions_in(folder)]
    return sorted(states, key=lambda state: state.status != "active")


def _state(bench: stages.Workbench, version: str, prompt: Prompt | None) -> VersionState:
    if prompt is None:
        return VersionState(version, "unusable")
    suite = bench.suite
    try:
        evaluation = bench.store.evaluation(suite.name, version)
        if evaluation is None or suite.headline not in evaluation.summary.metrics:  # … or of another measure
            return VersionState(version, prompt.front.status)
        identity = evaluation.identity
        compared = bench.store.compared(suite.name, version) or Compared(identity, ())
        against = objections_to(bench, evaluation, standings_of(bench.rules_folder, compared))
    except BadInput:  # what is kept of it is damaged: to be evaluated again
        return VersionState(version, prompt.front.status)
    return VersionState(
        version,
        prompt.front.status,
        brief_of(suite, version, evaluation, against),
        against.state,
        identity.outputs.engine,
        evaluation.created_at,
        edited=identity.outputs.prompt_hash != prompt.hash,
    )


def build_active_version(place: Place) -> dg.AssetsDefinition:
    """The asset, below the report: every evaluation of any version brings it up to date."""
    suite, key = place.suite, place.key(ACTIVE_VERSION)

    passes = dg.AssetCheckSpec(
        ACTIVE_PASSES, asset=key, description="The active version is evaluated, and nothing blocks it."
    )

    @place.asset(
        ACTIVE_VERSION,
        [passes],
        description=f"Whether the version of {suite.name} in use passes, and where all versions stand.",
        deps=[dg.AssetDep(place.key("report"))],
        required_resource_keys={place.resource(WORKBENCHES)},
    )
    def active_version(
        context: dg.AssetExecutionContext,
    ) -> Iterator[dg.MaterializeResult[Any] | dg.AssetCheckResult]:
        bench = place.of(context, WORKBENCHES).of(suite, context.run.run_id)
        states = version_states(bench)
        yield dg.MaterializeResult(metadata=_metadata(states))
        yield active_check(states)

    return active_version


def refresh_active_version(instance: dg.DagsterInstance, bench: stages.Workbench) -> None:
    """Bring the asset up to date without a run: another version is in use now."""
    states, key = version_states(bench), dg.AssetKey([bench.suite.name, ACTIVE_VERSION])
    instance.report_runless_asset_event(dg.AssetMaterialization(key, metadata=_metadata(states)))
    result = active_check(states)
    instance.report_runless_asset_event(
        dg.AssetCheckEvaluation(
            asset_key=key,
            check_name=ACTIVE_PASSES,
            passed=result.passed,
            metadata=result.metadata,
            severity=result.severity,
            description=result.description,
        )
    )


def _metadata(states: Sequence[VersionState]) -> dict[str, Any]:
    active = [each for each in states if each.status == "active"]
    reasons = bullets(plain(line) for line in version_reasons(states))
    return {
        "active": "; ".join(each.text for each in active) or "no version is active",
        "versions": dg.MetadataValue.md(table(version_table(states))),
        **(in_screens("look_at", reasons) if reasons else {}),
    }

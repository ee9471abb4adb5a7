"""A suite that cannot be loaded, as an asset whose check says why. All other suites work as usual."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import dagster as dg

from eval_pipeline.orchestration.checks import LONGEST_LINE, problems_check
from eval_pipeline.orchestration.places import evaluation_job
from eval_pipeline.problems import Problem
from eval_pipeline.reports import plain

SUITE_LOADS = "suite_loads"
_UNUSABLE = re.compile(r"[^A-Za-z0-9_]")


def build_broken(suite: str, problems: Sequence[Problem]) -> dg.AssetsDefinition:
    """The one asset of a suite that cannot be loaded; materializing it fails its check."""
    name = _UNUSABLE.sub("_", suite)  # a folder may be called what Dagster does not take
    reasons = plain(f"The suite {suite} cannot be loaded. {'; '.join(map(str, problems))}", LONGEST_LINE)

    @dg.asset(
        key=[name, "golden_set"],
        group_name=name,
        description=reasons,
        output_required=False,
        check_specs=[
            dg.AssetCheckSpec(SUITE_LOADS, asset=[name, "golden_set"], description=reasons, blocking=True)
        ],
    )
    def golden_set() -> Iterator[dg.AssetCheckResult]:
        yield problems_check(SUITE_LOADS, problems)

    return golden_set


def build_broken_job(asset: dg.AssetsDefinition) -> Any:
    """The job that shows the failed check; it is called as the evaluation would be."""
    return dg.define_asset_job(evaluation_job(asset.key.path[0]), selection=dg.AssetSelection.assets(asset))

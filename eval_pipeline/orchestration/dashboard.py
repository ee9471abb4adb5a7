"""The page over all suites, and the weekly page of each, as assets."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import dagster as dg

from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline.reports import stand_table, stands, table
from eval_pipeline.reports.publishing import Published, publish
from eval_pipeline.store import report_shelf
from eval_pipeline.suite import Suite

KEY = dg.AssetKey("dashboard")
GROUP = "overview"


def weekly_key(suite: str) -> dg.AssetKey:
    """The asset of a suite's weekly page."""
    return dg.AssetKey(["weekly", suite])


def build_pages(project: Project, suites: Sequence[Suite]) -> list[dg.AssetsDefinition]:
    """The dashboard, and a weekly page for each suite."""
    names = [suite.name for suite in suites]
    return [_dashboard(project, names), *(_weekly(project, name) for name in names)]


def _dashboard(project: Project, names: Sequence[str]) -> dg.AssetsDefinition:
    @dg.asset(
        key=KEY,
        group_name=GROUP,
        description="All suites on one page: where every version in use stands, trends, incidents, costs. "
        "It is written anew when a run has finished; to open it: eval-pipeline dashboard --open.",
        deps=[dg.AssetDep(dg.AssetKey([name, "report"])) for name in names],
    )
    def dashboard() -> dg.MaterializeResult[Any]:
        return dg.MaterializeResult(metadata=dashboard_metadata(project, _published(project)))

    return dashboard


def _weekly(project: Project, suite: str) -> dg.AssetsDefinition:
    @dg.asset(
        key=weekly_key(suite),
        group_name=GROUP,
        description=f"What the week brought to {suite}, with its charts. It is written when an evaluation of "
        "the weekly schedule has finished.",
        deps=[dg.AssetDep(dg.AssetKey([suite, "report"]))],
    )
    def weekly_page() -> dg.MaterializeResult[Any]:
        return dg.MaterializeResult(metadata=weekly_metadata(project, _published(project, [suite]), suite))

    return weekly_page


def _published(project: Project, weekly: Collection[str] = ()) -> Published:
    try:
        return publish(project, weekly=weekly)
    except BadInput as bad:
        raise dg.Failure("\n".join(map(str, bad.problems)), allow_retries=False) from None


def refresh_pages(project: Project, weekly: Collection[str] = ()) -> list[dg.AssetMaterialization]:
    """Write the pages outside of a run; what to tell Dagster of them."""
    published = publish(project, weekly=weekly)
    return [
        dg.AssetMaterialization(KEY, metadata=dashboard_metadata(project, published)),
        *(
            dg.AssetMaterialization(weekly_key(suite), metadata=weekly_metadata(project, published, suite))
            for suite in published.weekly
        ),
    ]


def dashboard_metadata(project: Project, published: Published) -> dict[str, Any]:
    """What a person sees of the dashboard in the UI."""
    rows = stands(published.survey)
    states = [row.state for row in rows]
    return {
        **_place(project, published.dashboard),
        "versions": dg.MetadataValue.md(table(stand_table(rows, published.survey.at))),
        "passing": sum(state in ("pass", "warn", "approved") for state in states),
        "blocked": sum(state in ("block", "incomplete") for state in states),
        "never_evaluated": sum(state in ("unknown", "broken") for state in states),
        "open_incidents": sum(each.closed_at is None for each in published.survey.incidents),
        "unsigned_golden_sets": sum(bool(each.unsigned) for each in published.survey.suites),
    }


def weekly_metadata(project: Project, published: Published, suite: str) -> dict[str, Any]:
    """What a person sees of a weekly page in the UI."""
    return _place(project, published.weekly[suite])


def _place(project: Project, page: Path) -> dict[str, Any]:
    """Where a page lies, and its address where pages are served."""
    shelf = report_shelf(project.state)
    address = {"page": dg.MetadataValue.url(shelf.address(page))} if shelf else {}
    return {**address, "path": dg.MetadataValue.path(str(page))}

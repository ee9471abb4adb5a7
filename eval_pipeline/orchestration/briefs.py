"""Briefs on production as assets: what a week, a month or a quarter brought."""

import datetime
from collections.abc import Sequence
from typing import Any

import dagster as dg
from pydantic import Field

from eval_pipeline.files import file_bytes
from eval_pipeline.orchestration.production import GROUP, figures_key, group_of
from eval_pipeline.orchestration.quality import quality_key
from eval_pipeline.problems import BadInput, shown_path
from eval_pipeline.project import Project
from eval_pipeline.reports.reviewing import RHYTHMS, write_review
from eval_pipeline.suite import Suite

BRIEF_JOB = "production_briefs"


def brief_key(suite: str) -> dg.AssetKey:
    """The asset of a suite's briefs."""
    return dg.AssetKey([GROUP, suite, "brief"])


class BriefConfig(dg.Config):
    """Which brief is written, and up to when."""

    rhythm: str = Field(default="weekly", description=f"One of {', '.join(RHYTHMS)}.")
    until: str = Field(default="", description="The day after the last one, in UTC; blank: today.")


def build_briefs(project: Project, suites: Sequence[Suite]) -> list[dg.AssetsDefinition]:
    """The briefs of each suite."""
    return [_brief(project, suite) for suite in suites]


def build_brief_job(suites: Sequence[Suite]) -> Any:
    """The job that writes briefs."""
    keys = [brief_key(suite.name) for suite in suites]
    return dg.define_asset_job(BRIEF_JOB, keys, description="Weekly, monthly and quarterly briefs.")


def _brief(project: Project, suite: Suite) -> dg.AssetsDefinition:
    @dg.asset(
        key=brief_key(suite.name),
        group_name=group_of(suite.name),
        description=f"What a week, a month or a quarter of {suite.name} in production brought, on one page.",
        deps=[dg.AssetDep(figures_key(suite.name)), dg.AssetDep(quality_key(suite.name))],
    )
    def brief(config: BriefConfig) -> dg.MaterializeResult[Any]:
        rhythm = next((each for each in RHYTHMS if each == config.rhythm), None)
        if rhythm is None:
            raise dg.Failure(f"{config.rhythm!r} is none of {', '.join(RHYTHMS)}.", allow_retries=False)
        until = config.until or datetime.datetime.now(datetime.UTC).date().isoformat()
        end = datetime.datetime.combine(datetime.date.fromisoformat(until), datetime.time(), datetime.UTC)
        try:
            written = write_review(project, suite, rhythm, end)
        except BadInput as bad:
            raise dg.Failure("\n".join(map(str, bad.problems)), allow_retries=False) from None
        return dg.MaterializeResult(
            metadata={
                "rhythm": rhythm,
                "page": dg.MetadataValue.path(shown_path(written.page)),
                "brief": dg.MetadataValue.md(file_bytes(written.markdown).decode()),
            }
        )

    return brief

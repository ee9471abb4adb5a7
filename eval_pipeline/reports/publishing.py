"""Writing the pages over a project: the dashboard, and the weekly pages of suites."""

import datetime
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from eval_pipeline.decisions import Survey, survey_of
from eval_pipeline.files import write_text
from eval_pipeline.project import Project
from eval_pipeline.store import DASHBOARD, WEEKLY, report_shelf


class Published(NamedTuple):
    """The pages that were written, and what they show."""

    dashboard: Path
    weekly: dict[str, Path]
    """By suite."""
    survey: Survey


def publish(
    project: Project,
    *,
    weekly: Collection[str] = (),
    out: Path | None = None,
    now: datetime.datetime | None = None,
) -> Published:
    """Write the dashboard, into the state folder or to a file, and the weekly pages of some suites."""
    from eval_pipeline.reports.page.dashboard import dashboard
    from eval_pipeline.reports.page.verdicts import Links
    from eval_pipeline.reports.page.weekly import week_name
    from eval_pipeline.reports.page.weekly import weekly as weekly_page

    survey = survey_of(project, now)
    written = {}
    for each in survey.suites:
        if each.name in weekly:
            path = project.state / WEEKLY / each.name / f"{week_name(survey.at)}.html"
            write_text(path, weekly_page(each, survey, Links(project.state, path.parent)))
            written[each.name] = path
    path = out or project.state / DASHBOARD
    write_text(path, dashboard(survey, Links(project.state, path.parent)))
    if out is None and (shelf := report_shelf(project.state)):
        reports = (version.report for each in survey.suites for version in each.active)
        shelf.publish([*filter(None, reports), *written.values(), path])
    return Published(path, written, survey)

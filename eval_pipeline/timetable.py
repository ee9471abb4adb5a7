"""`automation.yaml`: when evaluations start by themselves."""

import os
from functools import cache
from typing import Annotated

from pydantic import AfterValidator, Field

from eval_pipeline.files import Violation, is_there
from eval_pipeline.files.models import Model, read_model, refusal
from eval_pipeline.problems import Problems, without_problems
from eval_pipeline.project import Project

FILE = "automation.yaml"
LONGEST_CRON = 200
UI_VARIABLE = "EVAL_PIPELINE_UI"
"""Where the UI is that was started with this environment."""
DEFAULT_UI = "http://127.0.0.1:3000"


@cache
def _time_zones() -> set[str]:
    from zoneinfo import available_timezones

    return available_timezones()


def _time_zone(name: str) -> str:
    if name not in _time_zones():
        remedy = "Write it as in Europe/Amsterdam."
        raise refusal(Violation((), f"{name!r} is not a time zone", remedy))
    return name


def _cron(text: str) -> str:
    if not _is_cron(text):
        remedy = "Write minute, hour, day, month and weekday: 0 2 * * *."
        raise refusal(Violation((), f"{text[:LONGEST_CRON]!r} is not a cron expression", remedy))
    return text


def _is_cron(text: str) -> bool:
    """Whether Dagster can schedule by an expression."""
    import dagster as dg

    if len(text) > LONGEST_CRON:  # the parser takes minutes over a very long one
        return False
    try:
        dg.ScheduleDefinition(name="tried", cron_schedule=text, job_name="tried")
    except dg.DagsterInvalidDefinitionError:
        return False
    return True


def _owner(text: str) -> str:
    import dagster as dg

    try:
        dg.AssetSpec("tried", owners=[text])
    except dg.DagsterInvalidDefinitionError:
        remedy = "Write team:search, or somebody's e-mail address."
        raise refusal(Violation((), f"{text[:LONGEST_CRON]!r} is not an owner", remedy)) from None
    return text


Cron = Annotated[
    str,
    AfterValidator(_cron),
    Field(json_schema_extra={"maxLength": LONGEST_CRON, "pattern": r"^\s*(@\w+|\S+(\s+\S+){4})\s*$"}),
]


Owner = Annotated[str, AfterValidator(_owner), Field(json_schema_extra={"pattern": "^team:.+|@"})]


class Automation(Model):
    """When and where the clock stands; times are cron expressions."""

    timezone: Annotated[str, AfterValidator(_time_zone)] = "UTC"
    """The time zone of all times, such as Europe/Amsterdam."""
    nightly: Cron = "0 2 * * *"
    """Every suite's active versions, asked afresh."""
    weekly: Cron = "0 4 * * 1"
    """Every version that is not archived, asked afresh."""
    prune: Cron = "30 5 * * *"
    """What nobody needs any more is deleted."""
    production: Cron = "20 0 * * *"
    """The figures of the day that ended, for every suite with events of production."""
    samples: Cron = "15 * * * *"
    """Samples of production are brought up to date, and measured."""
    brief_weekly: Cron = "0 6 * * 1"
    """The weekly brief on production, for every suite with events."""
    brief_monthly: Cron = "15 6 1 * *"
    """The monthly one: new cases, and what goes with content users."""
    brief_quarterly: Cron = "30 6 1 1,4,7,10 *"
    """The quarterly one: whether thresholds still fit."""
    owners: list[Owner] = Field(default_factory=list)
    """Who owns the assets: teams as team:search, people by their e-mail addresses."""
    ui: str | None = None
    """Where alerts link to; by default the UI that runs, as far as EVAL_PIPELINE_UI names it."""

    @property
    def address(self) -> str:
        """Where alerts link to: what the file says, else the UI that runs, else where it is by default."""
        return self.ui or os.environ.get(UI_VARIABLE, "").rstrip("/") or DEFAULT_UI


def read_automation(project: Project) -> Automation:
    """The project's automation; the defaults where there is no such file."""
    return without_problems(lambda problems: check_automation(project, problems))


def check_automation(project: Project, problems: Problems) -> Automation | None:
    """The same, or None where the file has problems."""
    path = project.root / FILE
    return read_model(path, Automation, problems) if is_there(path) else Automation()

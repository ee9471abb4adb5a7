"""`automation.yaml`: when evaluations start by themselves."""

from collections.abc import Iterator

import msgspec

from eval_pipeline.files import Violation, is_there, read_yaml
from eval_pipeline.problems import without_problems
from eval_pipeline.project import Project

FILE = "automation.yaml"
LONGEST_CRON = 200


class Automation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When and where the clock stands; times are cron expressions."""

    timezone: str = "UTC"
    nightly: str = "0 2 * * *"
    """Every suite's active versions, asked afresh."""
    weekly: str = "0 4 * * 1"
    """Every version that is not archived, asked afresh."""
    prune: str = "30 5 * * *"
    """What nobody needs any more is deleted."""
    ui: str = "http://127.0.0.1:3000"
    """Where alerts link to."""


def read_automation(project: Project) -> Automation:
    """The project's automation; the defaults where there is no such file."""
    path = project.root / FILE
    if not is_there(path):
        return Automation()
    return without_problems(lambda problems: read_yaml(path, Automation, problems, _violations))


def _violations(file: Automation) -> Iterator[Violation]:
    from zoneinfo import available_timezones

    if file.timezone not in available_timezones():
        remedy = "Write it as in Europe/Amsterdam."
        yield Violation(("timezone",), f"{file.timezone!r} is not a time zone", remedy)
    for name in ("nightly", "weekly", "prune"):
        if not _is_cron(getattr(file, name)):
            remedy = "Write minute, hour, day, month and weekday: 0 2 * * *."
            text = getattr(file, name)[:LONGEST_CRON]
            yield Violation((name,), f"{text!r} is not a cron expression", remedy)


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

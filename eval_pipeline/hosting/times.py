"""What starts the evaluations of a host by itself, and when these are late."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import dagster as dg

from eval_pipeline.files.models import violations_in
from eval_pipeline.problems import BadInput, Problem, bad_value
from eval_pipeline.timetable import Automation


@dataclass(frozen=True)
class Times:
    """What starts evaluations in a host by itself: nothing, unless it is named."""

    nightly: str | None = None
    """A cron expression: when active versions are asked afresh, or new rows are evaluated."""
    weekly: str | None = None
    """A cron expression: when all versions that are not archived are asked afresh."""
    timezone: str = "UTC"
    on_change: bool = False
    """Whether a changed prompt, golden set or gate, or another materialization of rows, starts one."""

    @property
    def clock(self) -> Automation:
        """The same as in `automation.yaml`; everything that is wrong with it is raised at once."""
        return _clock(self.timezone, self.nightly, self.weekly)

    @property
    def condition(self) -> dg.AutomationCondition[Any] | None:
        """When rows of another asset are evaluated by themselves: at a time, as they come, or both."""
        if self.weekly:
            remedy = "Use nightly: rows have no versions of which some are evaluated less often."
            raise bad_value("weekly", "the rows of an asset have no such evaluations", remedy)
        clock = self.clock
        at = dg.AutomationCondition.on_cron(clock.nightly, clock.timezone) if self.nightly else None
        eager = dg.AutomationCondition.eager() if self.on_change else None
        return at | eager if at and eager else at or eager


@cache  # many components have the same
def _clock(timezone: str, nightly: str | None, weekly: str | None) -> Automation:
    named = {"timezone": timezone, "nightly": nightly, "weekly": weekly}
    given = {name: text for name, text in named.items() if text is not None}
    if wrong := violations_in(given, Automation):
        raise BadInput(
            [
                Problem("automation", 0, ".".join(map(str, each.path)), each.message, each.remedy)
                for each in wrong
            ]
        )
    return Automation.model_validate(given)


NO_TIMES = Times()

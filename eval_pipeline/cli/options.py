"""Kinds of options that several commands share."""

import datetime
from typing import Any

import click

from eval_pipeline.answers import Trials, parse_trials
from eval_pipeline.problems import bad_value


class TrialsType(click.ParamType[Trials]):
    """A number of trials, or a range such as 1-5."""

    name = "N|MIN-MAX"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Trials:
        """The trials that a text names."""
        trials = parse_trials(value)
        assert trials is not None
        return trials


TRIALS = TrialsType()
TRIALS_HELP = "How often every case is asked; a range asks until the comparison is settled."


FIRST_DAY, LAST_DAY = datetime.date(2000, 1, 1), datetime.date(2199, 12, 31)
"""No event is older, and stretches around a day stay within what a calendar has."""


def day_of(text: str | None, option: str = "--day") -> datetime.date | None:
    """The day that an option names, if it does."""
    if not text:
        return None
    try:
        day = datetime.date.fromisoformat(text)
    except ValueError:
        raise bad_value(option, f"{text!r} is not a day", "Write it as 2026-03-01.") from None
    if not FIRST_DAY <= day <= LAST_DAY:
        raise bad_value(option, f"{day} is out of range", f"Name a day from {FIRST_DAY} to {LAST_DAY}.")
    return day

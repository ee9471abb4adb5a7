"""Kinds of options that several commands share."""

from typing import Any

import click

from eval_pipeline.answers import Trials, parse_trials


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

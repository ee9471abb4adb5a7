"""How often every case is asked: a number of trials, or a range within which evidence decides."""

import re
from typing import Annotated, Any, Literal

import msgspec

from eval_pipeline.numbers import counted
from eval_pipeline.problems import bad_value

AtLeastOne = Annotated[int, msgspec.Meta(ge=1)]
StopReason = Literal["settled", "futile", "out_of_trials", "nothing_to_compare"]

_RANGE = re.compile(r"(\d{1,6})(?:\s*[-–]\s*(\d{1,6}))?")
_REMEDY = "Write a number of trials from 1 on, or a range such as 1-5 ({min: 1, max: 5} in a file)."
_REASONS: dict[StopReason, str] = {
    "settled": "every gated metric is settled",
    "futile": "further trials are unlikely to settle what is open",
    "out_of_trials": "some gated metrics are still open, and the trials are used up",
    "nothing_to_compare": "there is no baseline to stop by, so all trials are asked",
}


class TrialRange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """From so many trials on, another one is asked only where it may settle something."""

    min: AtLeastOne
    max: AtLeastOne

    def __str__(self) -> str:
        return f"{self.min} to {self.max} trials"


Trials = AtLeastOne | TrialRange


class Stopping(msgspec.Struct, frozen=True):
    """Why no further trial was asked."""

    reason: StopReason
    plan: TrialRange
    trials: int
    """How many trials were asked."""
    cases: int
    against: str = ""
    """What the verdicts between trials compared with."""

    @property
    def calls_saved(self) -> int:
        """How many answers less than with all trials."""
        return (self.plan.max - self.trials) * self.cases

    @property
    def text(self) -> str:
        """In words: `2 of at most 5 trials asked: every gated metric is settled. 45 calls saved.`."""
        against = f" (against {self.against})" if self.against else ""
        asked = f"{self.trials} of at most {counted(self.plan.max, 'trial')}"
        return f"{asked} asked: {_REASONS[self.reason]}{against}. {counted(self.calls_saved, 'call')} saved."


def most_trials(trials: Trials) -> int:
    """How many trials there may be."""
    return trials.max if isinstance(trials, TrialRange) else trials


def parse_trials(value: Any) -> Trials | None:
    """Trials as people give them: 3, "3", "1-5", {"min": 1, "max": 5}; None where nothing is given."""
    if value is None:
        return None
    if isinstance(value, str) and (match := _RANGE.fullmatch(value.strip())):
        low, high = int(match[1]), int(match[2] or match[1])
        value = {"min": low, "max": high} if match[2] else low
    try:
        trials: Trials = msgspec.convert(value, Trials)
    except msgspec.ValidationError:
        raise bad_value("trials", f"{value!r} is not a number of trials", _REMEDY) from None
    if isinstance(trials, TrialRange) and trials.min > trials.max:
        raise bad_value("trials", f"{trials.min} to {trials.max} is no range", _REMEDY)
    return trials

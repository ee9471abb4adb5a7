"""Models that take part in scoring: measured ones, and a language model as a judge."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from eval_pipeline.answers import Failure, Usable
from eval_pipeline.suite.case import Item
from eval_pipeline.suite.counts import CaseScore
from eval_pipeline.suite.metric import Metric, judged, mean

Verdicts = Mapping[tuple[str, int], Usable | Failure]
"""By case and trial: a verdict, or why there is none."""


class OpenJudge(Protocol):
    """A judge with the engine that it asks."""

    @property
    def model(self) -> Model:
        """Who judges, which metrics rest on it, and how far it agrees with people."""

    def verdicts(self, items: Iterable[Item]) -> Verdicts:
        """What it says of each answer; each gets a verdict or a failure."""


UNJUDGED = "unjudged"
UNJUDGED_RATE = mean(
    "unjudged_rate",
    "Answers without a verdict of the judge (its call failed, or there was no usable answer) ÷ answers.",
    direction="lower",
    population=judged,
    explained_by=UNJUDGED,
)


@dataclass(frozen=True)
class Judge:
    """A language model that rules on answers. It is off unless the setting `judge` names an engine.

    An answer whose call fails counts in every metric of the judge as an errored answer does.
    """

    instructions: str
    """What it is to decide. It is sent as it stands; what to rule on follows as JSON."""
    asked: type[Any]
    """What it is shown of an answer. With `right`, true or false, it is a line of the labelled examples."""
    question: Callable[[Item], Any]
    """Item → asked."""
    verdict: type[Any]
    right: Callable[[Any], bool]
    """Verdict → whether it finds the answer right; compared with what the labelled examples say."""
    score: Callable[[Any], CaseScore]
    """Verdict → the counts of `means`, and what was wrong."""
    means: tuple[Metric, ...]
    """Means over the population `judged`."""

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The numbers that rest on it, and how often it gave no verdict."""
        return (*self.means, UNJUDGED_RATE)

    def __post_init__(self) -> None:
        odd = [each.name for each in self.means if each.population is not judged or each.on_error is None]
        if odd:
            raise ValueError(f"no means over the population `judged`: {', '.join(odd)}")


class Measured(NamedTuple):
    """How good a model is at its work, on labelled examples that it was not made from."""

    accuracy: float
    told: str
    """The measurement in words: how much of what, on how many examples."""


@dataclass(frozen=True)
class Model:
    """A model behind metrics: which one, what rests on it, and how far it can be trusted."""

    name: str
    """With its version: part of the identity of every evaluation."""
    metrics: tuple[str, ...]
    measure: Callable[[], Measured]

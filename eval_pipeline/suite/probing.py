"""How a suite is probed: its golden answers, what cheats it knows of, and where order counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from eval_pipeline.suite.case import Case
from eval_pipeline.suite.context import Context

if TYPE_CHECKING:
    from eval_pipeline.suite.contract import Suite

OwnProbe = Callable[[Case[Any, Any], Context], Any]
"""(case, context) → output; None where the probe has no answer to a case."""


@dataclass(frozen=True)
class Probing:
    """What probes need to know beyond the contract. Everything has a default."""

    golden_answer: Callable[[Case[Any, Any]], Any] | None = None
    """Case → the output that its expectation describes. By default the expectation itself, where it has the
    type of an output or of the only field of one; `references/answers.jsonl` comes before either."""
    ranked: tuple[str, ...] = ()
    """Fields whose order is part of the answer; every other list is a set: its order changes no number."""
    own: Mapping[str, OwnProbe] = field(default_factory=dict)
    """Further probes by name; one with the name of a common probe takes its place."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Common probes that cannot tell anything here, each with the reason."""
    oracle_fails: Mapping[str, str] = field(default_factory=dict)
    """Warning gates that the golden answers themselves do not pass, each with the reason."""


def golden_answer_of(suite: Suite) -> Callable[[Case[Any, Any]], Any] | None:
    """How a suite's expectations become outputs, as far as it says so or the types leave no doubt."""
    if suite.probing.golden_answer:
        return suite.probing.golden_answer
    if suite.expected == suite.output:
        return lambda case: case.expected
    types = getattr(suite.output, "__annotations__", {})
    own = [name for name in getattr(suite.output, "__struct_fields__", ()) if name not in suite.carried]
    if len(own) == 1 and types.get(own[0]) in (suite.expected, suite.expected.__name__):
        return lambda case: {own[0]: case.expected}
    return None

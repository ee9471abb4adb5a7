"""What the gate decides about a change: version by version, and as a whole."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from eval_pipeline.answers import Stopping
from eval_pipeline.decisions.objections import FailedCheck, Objections, Standings
from eval_pipeline.problems import Problem
from eval_pipeline.scoring import Evaluation

State = Literal["pass", "warn", "approved", "block", "not_evaluated", "incomplete", "unusable", "crashed"]
SIGNS: dict[State, str] = {
    "pass": "✓",
    "warn": "⚠",
    "approved": "✓ approved",
    "not_evaluated": "✗ not evaluated",
    "incomplete": "✗ incomplete",
    "block": "✗",
    "unusable": "✗ unusable",
    "crashed": "✗ crashed",
}
STATES = tuple(SIGNS)
"""From the best to the worst."""
EXIT_CODES: dict[State, int] = {
    "pass": 0,
    "warn": 0,
    "approved": 0,
    "not_evaluated": 1,
    "incomplete": 1,
    "block": 1,
    "unusable": 2,
    "crashed": 70,
}
ALL_VERSIONS = "all versions"
BROKEN: tuple[State, ...] = ("unusable", "crashed")
"""States in which nothing was decided."""


@dataclass(frozen=True)
class Decision:
    """What the gate decides about one version, and why."""

    suite: str
    version: str
    cause: str
    state: State
    reasons: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    approved: tuple[str, ...] = ()
    """What passes only because a person approved it, and who did."""
    stopping: Stopping | None = None
    """Why no further trial was asked, where their number was not fixed."""
    evaluation: Evaluation | None = None
    standings: Standings = field(default_factory=Standings)
    """How it stands against the baseline and against what it would replace."""
    settings: Any = None
    """The suite's settings, which decide on some keys of its score report."""
    named: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What the gates that do not pass are made of: lines by metric, one for each of a few cases."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What else differs from what it is compared with: another engine, another golden set."""
        return tuple(self.standings.notes)


def decide(
    cause: str,
    evaluation: Evaluation,
    standings: Standings,
    objections: Objections,
    *,
    unsigned: FailedCheck | None = None,
    unread_text: bool = False,
    rules: str = "",
    stopping: Stopping | None = None,
    settings: Any = None,
    named: Mapping[str, Sequence[str]] | None = None,
) -> Decision:
    """What objections mean for a change; it needs a baseline, and a golden set as signed, besides."""
    blocking = [each.text for each in objections.blocking]
    if sample := evaluation.identity.outputs.case_sample:
        blocking.append(f"{sample.text} is no evidence; evaluate all cases")
    warnings = [each.text for each in objections.warnings]
    if unsigned:
        (blocking if unsigned.blocking else warnings).append(f"golden set: {unsigned.message}")
    if standings.baseline is None and not evaluation.outage:
        blocking.append("there is no baseline to compare with; promote an evaluation that you trust")
    state: State = "incomplete" if evaluation.outage else "block" if blocking else objections.state
    warnings += [rules] if rules else []
    if warnings and state == "pass":
        state = "warn"
    outputs = evaluation.identity.outputs
    if unread_text:
        state = state if blocking else "not_evaluated"
        blocking.append(
            f"only text changed that the engine {outputs.engine!r} does not read; "
            "evaluate it on one that does"
        )
    return Decision(
        outputs.suite,
        outputs.version,
        cause,
        state,
        tuple(blocking),
        tuple(warnings),
        tuple(each.text for each in objections.approved),
        stopping,
        evaluation,
        standings,
        settings,
        named or {},
    )


def unusable(suite: str, version: str, cause: str, problems: Sequence[Problem]) -> Decision:
    """A version that cannot be evaluated."""
    reasons = tuple(map(str, problems)) or ("it could not be evaluated; see the run in the UI",)
    return Decision(suite, version, cause, "unusable", reasons)


def crashed(suite: str, version: str, cause: str, error: Exception) -> Decision:
    """A version whose evaluation ended in a defect, of this program or of its suite."""
    reason = f"{type(error).__name__}: {error}".strip().partition("\n")[0]
    return Decision(suite, version, cause, "crashed", (f"{reason}; this is a defect, nothing was decided",))


def lost(suite: str, base: str, accepted: bool) -> Decision:
    """A suite that a change takes away: nothing passes because nobody looks at it any more."""
    text = f"{base} has this suite, and the change has not: nothing of it would be evaluated any more"
    if accepted:
        return Decision(suite, ALL_VERSIONS, "suite", "warn", (), (text,))
    return Decision(suite, ALL_VERSIONS, "suite", "block", (f"{text}; somebody has to accept that",))


def worst(states: Iterable[State]) -> State:
    """The state of the whole."""
    return max(states, key=STATES.index, default="pass")

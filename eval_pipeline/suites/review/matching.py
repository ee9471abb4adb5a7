"""Which finding is about which expected error: by quote, location and category, or as a person decided."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from eval_pipeline.metrics.matching import maximum_matching
from eval_pipeline.suites.review.cases import ExpectedError
from eval_pipeline.suites.review.findings import Finding, distinct
from eval_pipeline.suites.review.places import locations_agree, quotes_agree

FULL, PARTIAL = 1.0, 0.5
Ruling = Literal["full", "partial", "bonus_valid", "false_positive"]
CREDITS = {"full": FULL, "partial": PARTIAL}


class Decision(msgspec.Struct, frozen=True):
    """What a person ruled about a finding of a task; it overrides quote and location."""

    ruling: Ruling
    error: str | None = None
    """The expected error that a full or partial match is about."""
    reason: str = ""


Decisions = Mapping[tuple[str, str], Decision]
"""By task and key of the finding."""


class Fit(NamedTuple):
    """How well a finding fits an expected error."""

    credit: float
    reason: str
    agreements: int


class Match(NamedTuple):
    """A finding that has an expected error's credit."""

    finding: Finding
    error: ExpectedError
    credit: float
    reason: str
    decided: bool


class Outcome(NamedTuple):
    """What became of every finding of an output; each is in exactly one place."""

    matches: list[Match]
    bonus: list[Finding]
    false: list[Finding]
    pending: list[Finding]
    """Neither matched nor decided about: an unexpected error, or none."""
    duplicates: list[tuple[Finding, str]]
    """Further findings on an error that is matched already, with its id."""
    repeated: int
    """How many findings merely repeat another one."""

    @property
    def ambiguous(self) -> list[Match]:
        """Matches that quote and location leave open, and no person has settled."""
        return [match for match in self.matches if match.credit < FULL and not match.decided]


def fit(finding: Finding, error: ExpectedError) -> Fit | None:
    """Full where quote or location agree and the category does, too; partial without the category."""
    agreed = [
        name
        for name, agrees in (
            ("quote", quotes_agree(finding.quote, error.quote)),
            ("location", locations_agree(finding.location, error.location)),
        )
        if agrees
    ]
    if not agreed:
        return None
    places = " and ".join(agreed)
    if finding.category == error.category:
        return Fit(FULL, f"{places} and category agree", len(agreed))
    message = f"{places} agree{'s' if len(agreed) == 1 else ''}; {finding.category} is not {error.category}"
    return Fit(PARTIAL, message, len(agreed))


def match_findings(
    task: str, findings: list[Finding], errors: Sequence[ExpectedError], decisions: Decisions
) -> Outcome:
    """Give every expected error to at most one finding, and say what the others are."""
    kept = distinct(findings)
    ordered = sorted(errors, key=lambda error: error.id)
    decided = {
        index: decision
        for index, finding in enumerate(kept)
        if (decision := _valid(decisions.get((task, finding.key)), ordered))
    }
    fits = {
        (row, column): result
        for row, finding in enumerate(kept)
        for column, error in enumerate(ordered)
        if (result := _fit(finding, error, decided.get(row)))
    }
    pairs = maximum_matching(
        (row, column, _weights(kept[row], ordered[column], result)) for (row, column), result in fits.items()
    )
    taken = dict(pairs)
    matches = [
        Match(kept[row], ordered[column], *fits[row, column][:2], row in decided) for row, column in pairs
    ]
    outcome = Outcome(matches, [], [], [], [], len(findings) - len(kept))
    for row, finding in enumerate(kept):
        if row not in taken:
            on = [ordered[column].id for each, column in fits if each == row]
            _place(outcome, finding, decided.get(row), on)
    return outcome


def _valid(decision: Decision | None, errors: Sequence[ExpectedError]) -> Decision | None:
    """A decision that still means something: the error it names may have left the ground truth."""
    if decision is None or decision.ruling not in CREDITS:
        return decision
    return decision if any(error.id == decision.error for error in errors) else None


def _fit(finding: Finding, error: ExpectedError, decision: Decision | None) -> Fit | None:
    if decision is None:
        return fit(finding, error)
    if decision.error != error.id or decision.ruling not in CREDITS:
        return None
    return Fit(CREDITS[decision.ruling], f"decided: {decision.reason}", 2)


def _weights(finding: Finding, error: ExpectedError, found: Fit) -> tuple[float, ...]:
    """The greatest credit, then points, then agreement; of equals the shallower finding."""
    return (found.credit, found.credit * error.weight, found.agreements, -finding.depth_score)


def _place(outcome: Outcome, finding: Finding, decision: Decision | None, on: list[str]) -> None:
    if on:
        outcome.duplicates.append((finding, min(on)))
    elif decision is None:
        outcome.pending.append(finding)
    elif decision.ruling == "bonus_valid":
        outcome.bonus.append(finding)
    else:
        outcome.false.append(finding)

"""Requirements: what a good golden set has."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from eval_pipeline.numbers import counted

Severity = Literal["critical", "warning"]


@dataclass(frozen=True)
class Overview:
    """A golden set at a glance: what requirements are checked against, one entry per case."""

    case_ids: Sequence[str]
    files: Sequence[str]
    attributes: Mapping[str, Sequence[str]]
    measures: Mapping[str, Sequence[Any]]
    references: Any = None
    """What the suite loads from `references/`, such as second annotations."""


@dataclass(frozen=True)
class Requirement:
    """Something a good golden set has. A shortfall fails a check; it never prevents scoring."""

    name: str
    description: str
    shortfalls: Callable[[Overview], list[str]]
    severity: Severity = "warning"
    facts: Callable[[Overview], list[str]] | None = None
    """What to show whether or not something falls short, such as how balanced the set is."""


def each_case(
    measure: str,
    description: str,
    *,
    minimum: float = 0,
    maximum: float | None = None,
    severity: Severity = "warning",
) -> Requirement:
    """Every case has between `minimum` and `maximum` of something."""

    def shortfalls(overview: Overview) -> list[str]:
        bounds = f"at least {minimum:g}" if maximum is None else f"{minimum:g} to {maximum:g}"
        return [
            f"{file}: {measure.replace('_', ' ')}: {value:,g}, {bounds} needed"
            for file, value in zip(overview.files, overview.measures[measure], strict=True)
            if value < minimum or (maximum is not None and value > maximum)
        ]

    return Requirement(measure, description, shortfalls, severity)


def no_case_lists(
    measure: str, description: str, complaint: str, *, severity: Severity = "critical"
) -> Requirement:
    """No case has anything in a list of offenders."""

    def shortfalls(overview: Overview) -> list[str]:
        return [
            f"{file}: {complaint}: {', '.join(offenders)}"
            for file, offenders in zip(overview.files, overview.measures[measure], strict=True)
            if offenders
        ]

    return Requirement(measure, description, shortfalls, severity)


def every_value(attribute: str, values: Iterable[str], description: str, *, minimum: int = 1) -> Requirement:
    """Each value of an attribute has at least `minimum` cases."""
    wanted = tuple(values)

    def shortfalls(overview: Overview) -> list[str]:
        results = list(overview.attributes.get(attribute, ()))
        return [
            f"{attribute} {value}: {counted(results.count(value), 'case')}, at least {minimum} needed"
            for value in wanted
            if results.count(value) < minimum
        ]

    return Requirement(f"{attribute}s", description, shortfalls)


def case_count(minimum: int, target: int, ideal: int) -> Requirement:
    """Enough cases: below `minimum` is a failure, below `ideal` is said."""
    aim = f"(target {target}, ideal {ideal} or more)"

    def shortfalls(overview: Overview) -> list[str]:
        count = len(overview.case_ids)
        return [] if count >= minimum else [f"{counted(count, 'case')}, at least {minimum} needed {aim}"]

    return Requirement("case_count", f"At least {counted(minimum, 'case')} {aim}", shortfalls)

"""Numbers of the cases that an engine did not learn from, and what it has on the others."""

import msgspec

from eval_pipeline.numbers import Unit, change, counted, number

ALL = "all"


class Interval(msgspec.Struct, frozen=True):
    """Where a value would lie on other cases of the kind, at 95 %; and on how many cases it rests."""

    cases: int
    low: float | None
    high: float | None


class Part(msgspec.Struct, frozen=True):
    """What other cases gave, the ones that an engine learned from among them."""

    cases: int
    metrics: dict[str, float | None]


class HeldOut(msgspec.Struct, frozen=True):
    """Which cases all numbers of a summary rest on, since its engine did not learn from them."""

    attribute: str
    value: str
    cases: int
    intervals: dict[str, Interval]
    beside: dict[str, Part]
    """`all` for everything together, then the other values of the attribute."""

    @property
    def name(self) -> str:
        """The cases in words."""
        return f"{self.attribute} {self.value}"

    @property
    def size(self) -> str:
        """How many cases of how many, and why not all of them."""
        whole = counted(self.beside[ALL].cases, "case")
        return f"{self.cases:,} of {whole} ({self.name}: those that the engine did not learn from)"

    def interval(self, metric: str, unit: Unit) -> str:
        """The interval of a metric; blank where too few cases tell one."""
        interval = self.intervals.get(metric)
        if interval is None or interval.low is None or interval.high is None:
            return ""
        return f"{number(interval.low, unit)} to {number(interval.high, unit)}"

    def text(self, metric: str, value: float | None, unit: Unit) -> str:
        """What a metric's value rests on, and by how much it differs from what other cases gave."""
        interval = self.interval(metric, unit)
        rests_on = self.intervals[metric].cases if metric in self.intervals else self.cases
        parts = [f"On {self.name}, {counted(rests_on, 'case')}{f', 95 % CI {interval}' if interval else ''}"]
        for name, part in self.beside.items():
            other = part.metrics.get(metric)
            if other is not None and value is not None:
                shown = f"({number(other, unit)}, {counted(part.cases, 'case')})"
                parts.append(f"{change(value - other, unit)} against {name} {shown}")
        return "; ".join(parts)

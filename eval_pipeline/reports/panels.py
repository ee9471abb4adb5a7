"""Production over time, as charts: what is drawn, in which lines, over which incidents."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from eval_pipeline.decisions import Incident, Key, Sampled, Served, Timeline
from eval_pipeline.monitoring import CONFIDENCE, FIGURES, Figures, Quality
from eval_pipeline.numbers import NOTHING, Unit, number, rough
from eval_pipeline.reports.charts import AMBER, RED
from eval_pipeline.reports.markdown import flat
from eval_pipeline.reports.trend_lines import Axes, Line, Mark, Scale, Span, trend_lines

LONGEST_NAME = 60
MOST_KINDS = 5
"""So many kinds of errors have a line of their own."""
MOST_SPANS = 20
DAY = datetime.timedelta(days=1)
ALL = "all requests"
UNKNOWN = "unknown"
SEVERITIES = {"critical": RED, "warning": AMBER}
PERCENTILES = {f"p{share}": f"latency_p{share}_ms" for share in (50, 95, 99)}
TOKENS = {"input": "input_tokens", "output": "output_tokens"}
DISTRIBUTION = {"90th percentile": 0.9, "median": 0.5, "10th percentile": 0.1}
BY_HOUR = ("requests_per_minute", "latency_p95_ms", "error_rate", "concepts_per_answer",
           "relationships_per_answer", "mean_confidence")  # fmt: skip
BY_DAY = ("requests", "cost_usd", "cost_per_request_usd", "feedback_points")
ENDS: Mapping[str, tuple[float, float]] = {"mean_confidence": (0.0, 1.0), "feedback_points": (1.0, 5.0)}
"""Figures that have a scale of their own; others begin at zero."""

Value = Callable[[Figures], float | None]


class Panel(NamedTuple):
    """One chart over time."""

    title: str
    unit: Unit
    lines: tuple[Line, ...]
    scale: Scale
    axes: Axes
    figure: str = ""
    """The figure that it shows by version and model; blank where its lines are something else."""
    value: float | None = None
    """Over all of the time that is drawn."""

    def svg(self) -> str:
        """The chart itself."""
        return trend_lines(self.lines, (), self.scale, lambda value: rough(value, self.unit), axes=self.axes)


def panels(served: Served, incidents: Sequence[Incident]) -> tuple[list[Panel], list[Panel]]:
    """The panels by hour and those by day; what no request says anything of has none."""
    hours = [*_own(served.hours, BY_HOUR, incidents)]
    latency = _named(served.hours, "latency", "milliseconds", _figures(PERCENTILES), incidents)
    errors = _named(served.hours, "errors by kind", "number", _kinds(served.hours), incidents)
    spread = _named(served.hours, "confidence, distribution", "number", _confidences(), incidents, (0.0, 1.0))
    tokens = _named(served.days, "tokens", "number", _figures(TOKENS), incidents)
    days = [*_own(served.days, BY_DAY, incidents)]
    return (
        [*hours[:1], *latency, *hours[1:3], *errors, *hours[3:], *spread],
        [*days[:1], *tokens, *days[1:]],
    )


def quality_panels(served: Served, sampled: Sampled, incidents: Sequence[Incident]) -> Iterator[Panel]:
    """A panel for each measure of sampled answers, a value with its interval for each day."""
    for name, estimate in sampled.together.estimates.items():
        lines = [
            Line(
                group_name((version, None)) if version else ALL, _pieces(_estimates(served.days, days, name))
            )
            for version, days in sampled.by_day.items()
        ]
        panel = _panel(served.days, name, estimate.unit, lines, incidents)
        if panel:
            yield panel._replace(value=estimate.value)


def group_name(key: Key) -> str:
    """A version and a model, on one line."""
    version, model = key
    return flat(f"{version or UNKNOWN}" + (f" on {model}" if model else ""), LONGEST_NAME)


def incidents_of(suite: str, incidents: Sequence[Incident], timeline: Timeline) -> list[Incident]:
    """What was wrong in production while a timeline lasted."""
    start, end = timeline.start.timestamp(), timeline.end.timestamp()
    return [
        each
        for each in incidents
        if each.in_production
        and each.suite == suite
        and each.opened_at < end
        and (each.closed_at is None or each.closed_at > start)
    ]


def _own(timeline: Timeline, names: Sequence[str], incidents: Sequence[Incident]) -> Iterator[Panel]:
    """Figures of all requests, and of those of every version and model."""
    for name in names:
        unit, of = FIGURES[name].unit, FIGURES[name].of
        groups = {ALL: timeline.every, **{group_name(key): of for key, of in timeline.groups.items()}}
        lines = [_line(timeline, title, steps, of) for title, steps in groups.items()]
        panel = _panel(timeline, name.replace("_", " "), unit, lines, incidents, ENDS.get(name))
        if panel:
            yield panel._replace(figure=name, value=timeline.whole.value(name))


def _named(
    timeline: Timeline,
    title: str,
    unit: Unit,
    values: Mapping[str, Value],
    incidents: Sequence[Incident],
    ends: tuple[float, float] | None = None,
) -> Iterator[Panel]:
    """Several values of all requests in one panel."""
    lines = [_line(timeline, name, timeline.every, of) for name, of in values.items()]
    panel = _panel(timeline, title, unit, lines, incidents, ends)
    if panel:
        yield panel


def _figures(names: Mapping[str, str]) -> dict[str, Value]:
    return {shown: FIGURES[name].of for shown, name in names.items()}


def _kinds(timeline: Timeline) -> dict[str, Value]:
    """The most frequent kinds of errors, and the others together."""
    counts: Counter[str] = Counter(timeline.whole.errors)
    most = [kind for kind, _ in sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:MOST_KINDS]]
    if not most:
        return {}

    def others(figures: Figures) -> float:
        return float(sum(count for kind, count in figures.errors.items() if kind not in most))

    def of(kind: str) -> Value:
        return lambda figures: float(figures.errors.get(kind, 0))

    rest = {"others": others} if len(counts) > len(most) else {}
    return {**{flat(kind, LONGEST_NAME) or UNKNOWN: of(kind) for kind in most}, **rest}


def _confidences() -> dict[str, Value]:
    def of(share: float) -> Value:
        return lambda figures: figures.measure(CONFIDENCE).quantile(share)

    return {name: of(share) for name, share in DISTRIBUTION.items()}


def _place(timeline: Timeline, moment: datetime.datetime) -> float:
    """Where a moment lies: what was counted over a step is drawn at its end."""
    return (moment - timeline.start) / timeline.step


def _line(timeline: Timeline, name: str, steps: Sequence[Figures], of: Value) -> Line:
    values = [(round(_place(timeline, each.end)), of(each)) for each in steps]
    marks = [Mark(place, value) for place, value in values if value is not None]
    return Line(name, _pieces(marks), dotted=timeline.step >= DAY)


def _estimates(timeline: Timeline, days: Sequence[Quality], measure: str) -> list[Mark]:
    marks = []
    for quality in days:
        found = quality.estimates.get(measure)
        if found is None or found.value is None:
            continue
        end = datetime.datetime.fromisoformat(quality.last).replace(tzinfo=datetime.UTC) + DAY
        interval = (found.low, found.high) if found.low is not None and found.high is not None else None
        marks.append(Mark(round(_place(timeline, end)), found.value, interval))
    return marks


def _pieces(marks: Sequence[Mark]) -> list[list[Mark]]:
    """Values of steps that follow each other: where one has none, a line ends and begins anew."""
    pieces: list[list[Mark]] = []
    for mark in marks:
        if pieces and mark.place == pieces[-1][-1].place + 1:
            pieces[-1].append(mark)
        else:
            pieces.append([mark])
    return pieces


def _panel(
    timeline: Timeline,
    title: str,
    unit: Unit,
    lines: Sequence[Line],
    incidents: Sequence[Incident],
    ends: tuple[float, float] | None = None,
) -> Panel | None:
    drawn = tuple(line for line in lines if line.pieces)
    if not drawn:
        return None
    values = [mark.value for line in drawn for mark in line.marks]
    low, high = ends or (min(0.0, *values), _round_up(max(values)))
    places = round((timeline.end - timeline.start) / timeline.step) + 1
    axes = Axes((low, (low + high) / 2, high), list(_moments(timeline)), _spans(timeline, incidents))
    return Panel(title, unit, drawn, Scale(places, low, high), axes)


def _round_up(value: float) -> float:
    """The next number that is easy to read and to halve."""
    if value <= 0:
        return 1.0
    size = 10.0 ** math.floor(math.log10(value))
    return next(each * size for each in (1, 2, 4, 6, 8, 10) if each * size >= value * (1 - 1e-9))


def _moments(timeline: Timeline) -> Iterator[tuple[float, str]]:
    """Days below a chart: where they begin if hours are drawn, else every seventh."""
    days = (timeline.end - timeline.start) // DAY
    for number_ in range(days):
        day = timeline.start + number_ * DAY
        if timeline.step < DAY:
            yield _place(timeline, day), f"{day:%m-%d}"
        elif (days - 1 - number_) % 7 == 0:
            yield _place(timeline, day + DAY), f"{day:%m-%d}"


def _spans(timeline: Timeline, incidents: Sequence[Incident]) -> list[Span]:
    def place(seconds: float) -> float:
        moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
        return _place(timeline, min(max(moment, timeline.start), timeline.end))

    end = timeline.end.timestamp()
    return [
        Span(
            place(each.opened_at),
            place(end if each.closed_at is None else each.closed_at),
            SEVERITIES[each.severity],
        )
        for each in incidents[:MOST_SPANS]
    ]


def described(panel: Panel) -> str:
    """A chart in words, for whoever does not see it."""
    parts = []
    for line in panel.lines:
        values = [mark.value for mark in line.marks]
        low, high, last = (number(each, panel.unit) for each in (min(values), max(values), values[-1]))
        parts.append(f"{line.name} from {low} to {high}, the latest {last}")
    return f"{panel.title}: {'; '.join(parts) or NOTHING}"

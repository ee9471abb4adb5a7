"""What samples of production say, as tables."""

from collections.abc import Iterable, Mapping, Sequence

from eval_pipeline.monitoring import (
    ACCEPTED,
    Estimate,
    Quality,
    Target,
    VersionContrast,
    Watched,
    every_measure,
)
from eval_pipeline.numbers import change, counted, number, probability
from eval_pipeline.reports.rows import Cell, Colour, Table
from eval_pipeline.suite import Suite

STATES = {
    "crossed": Cell("crossed", "red"),
    "kept": Cell("kept", "green"),
    "unsure": Cell("not known", "yellow"),
}


def quality_table(suite: Suite, quality: Quality, targets: Mapping[str, Target]) -> Table:
    """Every measure with its interval, what it rests on, and its target."""
    about = {name: measure.about for name, measure in every_measure(suite).items()}
    about[ACCEPTED] = "Rated answers that people accept ÷ rated answers."
    rows: list[tuple[str | Cell, ...]] = []
    for name, estimate in quality.estimates.items():
        target = targets.get(name)
        wanted = estimate.wanted(target) if target else ""
        rows.append(
            (name, *numbers_of(estimate), wanted, verdict_cell(estimate, target), about.get(name, ""))
        )
    rows += [
        (name, "–", "", "0", "", Cell("no verdict: nobody rated any", "yellow"), "")
        for name in targets
        if name not in quality.estimates
    ]
    return Table(
        ("measure", "value", "95 % interval", "effective n", "target", "", "what it is"),
        rows,
        note=quality_note(quality),
    )


def numbers_of(estimate: Estimate) -> tuple[str, str, str]:
    """Value, interval and effective n as people read them."""
    if estimate.value is None:
        return "–", "", "0"
    span = f"{number(estimate.low, estimate.unit)} – {number(estimate.high, estimate.unit)}"
    return number(estimate.value, estimate.unit), span, f"{estimate.effective:.0f}"


def verdict_cell(estimate: Estimate, target: Target | None) -> Cell:
    """Whether a target is met, in colour; blank where there is none."""
    if target is None:
        return Cell("" if estimate.enough else "too few for a verdict")
    met = estimate.meets(target)
    return Cell(estimate.verdict(target), "yellow" if met is None else "green" if met else "red")


def quality_note(quality: Quality) -> str:
    """What the numbers rest on, and whether they may still change."""
    days = quality.first if quality.first == quality.last else f"{quality.first} to {quality.last}"
    notes = [
        f"{days}, {quality.state}: {counted(quality.drawn, 'request')} drawn of {quality.requests:,}, "
        f"{quality.measured:,} with an answer that was recorded."
    ]
    if not quality.closed:
        notes.append("Feedback may still add to the sample.")
    if quality.simulated:
        notes.append(f"{counted(quality.simulated, 'event')} come from the simulator.")
    return " ".join(notes)


def contrast_table(found: VersionContrast) -> Table:
    """Two versions in production, measure by measure."""
    colours: dict[str, Colour] = {"better": "green", "worse": "red"}
    rows = [
        (
            each.measure,
            number(each.before, each.unit),
            number(each.after, each.unit),
            change(each.difference, each.unit),
            f"{change(each.low, each.unit)} to {change(each.high, each.unit)}"
            if each.low is not None
            else "",
            probability(each.adjusted_p),
            f"{each.clusters[0]:,} / {each.clusters[1]:,}",
            Cell(each.verdict, colours.get(each.verdict, "")),
        )
        for each in found.contrasts
    ]
    return Table(
        ("measure", found.before, found.after, "difference", "95 % interval", "p (Holm)", "users", "verdict"),
        rows,
        note=f"Clustered by user or session; {found.design}.",
    )


def alert_table(watched: Sequence[Watched], opened: Iterable[str]) -> Table:
    """The alerts of a suite as they stand."""
    open_ = set(opened)
    rows = [
        (
            each.alert.name,
            each.alert.severity,
            number(each.reading.value, each.alert.unit) if each.reading else "–",
            STATES[each.state],
            Cell("open", "red") if each.alert.name in open_ else Cell(""),
            each.text,
        )
        for each in watched
    ]
    return Table(("alert", "severity", "value", "limit", "incident", "what it says"), rows)

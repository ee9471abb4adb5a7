"""What cheating would score, as people read it."""

from collections.abc import Sequence

from eval_pipeline.golden import ORACLE
from eval_pipeline.numbers import NOTHING, counted, number
from eval_pipeline.reports.markdown import bullets, plain, table
from eval_pipeline.reports.rows import Cell, Table
from eval_pipeline.reports.tables import units
from eval_pipeline.scoring import Probed, ProbeResult
from eval_pipeline.suite import Suite, quantities

LONGEST_NOTE = 600
REWARDED = "✓"


def probe_table(suite: Suite, probed: Probed) -> Table:
    """What every metric gives every probe, with a mark where it rewards it, and how many cases pass."""
    unit = units(suite)
    gated = [gate.metric for gate in probed.probes[0].gates]

    def shown(metric: str, each: ProbeResult) -> str | Cell:
        value = number(each.values[metric], unit[metric])
        return Cell(f"{value} {REWARDED}", "yellow") if each.name in probed.rewards.get(metric, ()) else value

    rows: list[Sequence[str | Cell]] = [
        (name, *(shown(name, each) for each in probed.probes))
        for name in (*gated, *(name for name in quantities(suite) if name not in gated))
        if any(each.values[name] is not None for each in probed.probes)
    ]
    rows.append(("cases", *(f"{each.cases:,}" for each in probed.probes)))
    rows.append(("cases passed", *(f"{each.passed:,}" for each in probed.probes)))
    bounds = (NOTHING if each.permuted is None else f"≤ {each.permuted:,}" for each in probed.probes)
    rows.append(("passed if permuted", *bounds))
    return Table(("metric", *(each.name for each in probed.probes)), rows)


def probe_notes(probed: Probed) -> list[str]:
    """Which gates stop what, what does not apply, where golden answers do not pass, and what is broken."""
    stopped: dict[tuple[str, ...], list[str]] = {}
    for each in probed.probes:
        if each.name != ORACLE and each.stopped_by:
            stopped.setdefault(each.stopped_by, []).append(each.name)
    return [
        *(
            f"{' and '.join(gates)} {'stops' if len(gates) == 1 else 'stop'} {', '.join(names)}."
            for gates, names in stopped.items()
        ),
        *(f"{name} does not apply: {reason}." for name, reason in probed.not_applicable.items()),
        *(f"The golden answers do not pass {note}" for note in probed.oracle_notes),
        *(f"✗ {each.message}." for each in probed.broken),
        *(f"⚠ {each.message}." for each in probed.warnings),
    ]


def probe_section(suite: Suite, probed: Probed) -> str:
    """The table of one suite and its notes, as Markdown."""
    title = f"### {suite.name}: {counted(probed.cases, 'case')}"
    notes = bullets(plain(note, LONGEST_NOTE) for note in probe_notes(probed))
    return "\n\n".join(filter(None, (title, table(probe_table(suite, probed)), notes)))

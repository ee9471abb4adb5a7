"""The classical systems of a suite, side by side."""

from collections.abc import Mapping, Sequence
from typing import Any

from eval_pipeline.gates import Gate
from eval_pipeline.numbers import counted, number
from eval_pipeline.reports.rows import Cell, Table
from eval_pipeline.reports.tables import gate_label, units
from eval_pipeline.stages import System
from eval_pipeline.suite import ERROR_RATE, Suite


def systems_table(suite: Suite, systems: Sequence[System], gates: Mapping[str, Gate]) -> Table:
    """A row for each system, a column for each gated metric, with its target above and its zone beside it."""
    metrics = [name for name in gates if name in systems[0].summary.metrics and name != ERROR_RATE.name]
    where = f" on {' '.join(suite.held_out)}" if suite.held_out else ""
    return Table(
        ("system", *(f"{name} ({gates[name].passes})" for name in metrics)),
        [(_name(each), *(_value(suite, each, metric) for metric in metrics)) for each in systems],
        title=f"{suite.name}: {counted(systems[0].summary.cases, 'case')}{where}",
    )


def _name(system: System) -> str:
    return f"{system.name} (in use)" if system.in_use else system.name


def _value(suite: Suite, system: System, metric: str) -> Cell:
    value = number(system.summary.metrics[metric].value, units(suite)[metric])
    label = next(gate_label(gate) for gate in system.summary.gates if gate.metric == metric)
    return Cell(f"{value} {label.text}", label.colour)


def systems_data(systems: Sequence[System]) -> list[dict[str, Any]]:
    """The same for programs, with every metric."""
    return [
        {
            "system": each.name,
            "in_use": each.in_use,
            "cases": each.summary.cases,
            "metrics": {name: metric.value for name, metric in each.summary.metrics.items()},
            "gates": {gate.metric: gate.zone for gate in each.summary.gates},
        }
        for each in systems
    ]

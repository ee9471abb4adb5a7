"""What `run --json` prints: every evaluation, estimate and problem of a run as plain data."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from eval_pipeline.answers import Costs, Stopping
from eval_pipeline.decisions import Objections, Standings
from eval_pipeline.engines import Estimate
from eval_pipeline.problems import Problem
from eval_pipeline.reports.gate import comparison_data
from eval_pipeline.scoring import Evaluation


@dataclass
class RunDocument:
    """Takes in what a run comes to, version by version."""

    evaluations: list[dict[str, Any]] = field(default_factory=list)
    estimates: list[dict[str, Any]] = field(default_factory=list)
    problems: list[dict[str, Any]] = field(default_factory=list)

    def add_problems(
        self, problems: Iterable[Problem], suite: str | None = None, version: str | None = None
    ) -> None:
        """Why something was not evaluated; without a suite, why nothing was."""
        self.problems += [
            {"suite": suite, "version": version, **msgspec.to_builtins(each)} for each in problems
        ]

    def data(self, exit_code: int) -> dict[str, Any]:
        """The whole document."""
        return {
            "exit_code": exit_code,
            "pass": exit_code == 0,
            "evaluations": self.evaluations,
            "estimates": self.estimates,
            "problems": self.problems,
        }


def estimate_data(suite: str, version: str, subject: str, estimate: Estimate) -> dict[str, Any]:
    """What asking for a version would take; `subject` is the version or what it is compared with."""
    data: dict[str, Any] = msgspec.to_builtins(estimate)
    named = {"suite": suite, "version": version, "subject": subject}
    return {**named, **data, "answers": estimate.answers, "text": estimate.text}


def evaluation_data(
    evaluation: Evaluation,
    standings: Standings,
    against: Objections,
    costs: Costs | None,
    *,
    unsigned: str,
    stopping: Stopping | None,
    named: Mapping[str, Sequence[str]],
    proposals: Sequence[str],
    report: Path,
    page: Path,
) -> dict[str, Any]:
    """One evaluation: the same numbers as in `score --json`, `compare --json` and the gate's report."""
    summary, outputs = evaluation.summary, evaluation.identity.outputs
    zones = {gate.metric: gate.zone for gate in summary.gates}
    return {
        "suite": outputs.suite,
        "version": outputs.version,
        "engine": outputs.engine,
        "model": outputs.model,
        "sample": outputs.sample,
        "case_sample": msgspec.to_builtins(outputs.case_sample),
        "evaluation": evaluation.id,
        "evaluated_at": evaluation.created_at,
        "state": against.state,
        "pass": not against.blocking,
        "cases": summary.cases,
        "trials": summary.trials,
        "held_out": msgspec.to_builtins(summary.held_out),
        "errors": summary.error_count,
        "errors_by_kind": summary.errors,
        "tokens": costs.tokens if costs else None,
        "cost_usd": costs.cost_usd if costs else None,
        "metrics": {
            name: {"value": value.value, "zone": zones.get(name)} for name, value in summary.metrics.items()
        },
        "gates": msgspec.to_builtins(summary.gates),
        "operations": msgspec.to_builtins(evaluation.operations),
        "outage": msgspec.to_builtins(evaluation.outage),
        "stopping": msgspec.to_builtins(stopping),
        "comparisons": [comparison_data(each) for each in standings.all],
        "not_compared": standings.missing,
        "notes": standings.notes,
        "objections": [each._asdict() for each in against],
        "named": {metric: list(lines) for metric, lines in named.items()},
        "unsigned": unsigned,
        "proposals": list(proposals),
        "report_path": str(report),
        "page_path": str(page),
    }

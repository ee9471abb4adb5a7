"""The score report: every number of an evaluation as plain data."""

from typing import Any

import msgspec

from eval_pipeline.reports.by_case import by_case
from eval_pipeline.scoring import Scores, Summary
from eval_pipeline.suite import Suite, suite_code


def score_report(suite: Suite, summary: Summary, settings: Any = None) -> dict[str, Any]:
    """The score report: plain numbers, null where a metric is undefined."""
    report: dict[str, Any] = {
        "suite": summary.suite,
        "cases": summary.cases,
        "trials": summary.trials,
        "errors": summary.error_count,
        **({"held_out": msgspec.to_builtins(summary.held_out)} if summary.held_out else {}),
        "errors_by_kind": summary.errors,
        "metrics": {name: value.value for name, value in summary.metrics.items()},
        "metric_details": {
            name: {
                **value.spread,
                "answers": value.answers,
                "errored": value.errored,
                "missing": value.missing,
                **({"bounds": value.bounds} if value.bounds else {}),
            }
            for name, value in summary.metrics.items()
        },
        "groups": summary.groups,
        "tables": summary.tables,
        "gates": [
            {
                "metric": gate.metric,
                "value": gate.value,
                "zone": gate.zone,
                "status": gate.status,
                "severity": gate.severity,
                **({"advice": gate.advice} if gate.advice else {}),
                **({"interval": gate.interval} if gate.interval else {}),
            }
            for gate in summary.gates
        ],
        **({"models": [msgspec.to_builtins(model) for model in summary.models]} if summary.models else {}),
        "problems": list(summary.problems),
        "pass": summary.passed,
    }
    if suite.reporting.report_keys is None:
        return report
    with suite_code(suite.name):
        return {**report, **suite.reporting.report_keys(report, settings)}


def cases_data(suite: Suite, scores: Scores) -> list[dict[str, Any]]:
    """Every case as plain data: what each trial earned, and what was wrong with it."""
    return [
        {
            "case_id": case.case_id,
            "attributes": case.attributes,
            "passed": case.passed,
            "trials": [
                {
                    "trial": each.trial,
                    "error": each.error,
                    "detail": each.detail,
                    "passed": each.passed,
                    "metrics": each.metrics,
                    "diagnoses": [diagnosis._asdict() for diagnosis in each.diagnoses],
                }
                for each in case.trials
            ],
        }
        for case in by_case(suite, scores).values()
    ]

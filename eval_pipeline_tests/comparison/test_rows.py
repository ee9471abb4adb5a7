"""A comparison as rows: one metric with evidence, one without, one group."""

from __future__ import annotations

from eval_pipeline.comparison import Comparison, MetricChange, comparison_rows
from eval_pipeline.comparison.records import Evidence, GroupChange

EVIDENCE = Evidence(12, "regressed", -0.5, -0.125, 0.01, 0.02, 0.25, 40, None)
CHANGES = (
    MetricChange("rate", 0.75, 0.5, -0.25, "pass", "fail", True, "regressed", "block", "why", "", EVIDENCE),
    MetricChange("stability", None, 1.0, None, None, None, False, "improved", "proceed", "defined now"),
)
GROUP = GroupChange("kind", "new", "rate", 3, 1.0, 0.5, -0.5, None, None, None, None, "unclear")


def comparison(against: str) -> Comparison:
    return Comparison(
        suite="toy",
        before=against,
        after="guess-v1.1",
        notes=(),
        shared=12,
        appeared=(),
        vanished=(),
        changed=(),
        metrics=CHANGES,
        improved=(),
        regressed=(),
        verdict="regressed",
        action="block",
        groups=(GROUP,),
        role="baseline",
    )


def test_a_metric_has_its_evidence_and_a_group_its_own_numbers() -> None:
    rate, stability, group = comparison_rows([comparison("baseline guess-v1.0")]).to_pylist()
    assert rate == {
        "suite": "toy",
        "version": "guess-v1.1",
        "against": "baseline guess-v1.0",
        "role": "baseline",
        "metric": "rate",
        "axis": None,
        "group": None,
        "before": 0.75,
        "after": 0.5,
        "difference": -0.25,
        "low": -0.5,
        "high": -0.125,
        "p_value": 0.01,
        "adjusted_p": 0.02,
        "verdict": "regressed",
        "action": "block",
        "gated": True,
        "zone_before": "pass",
        "zone_after": "fail",
        "cases": 12,
        "minimum_detectable_effect": 0.25,
        "cases_needed": 40,
        "trials_needed": None,
        "reason": "why",
    }
    assert (stability["verdict"], stability["after"], stability["action"]) == ("improved", 1.0, "proceed")
    assert [stability[name] for name in ("low", "p_value", "cases")] == [None, None, None]
    assert [group[name] for name in ("axis", "group", "cases", "verdict")] == ["kind", "new", 3, "unclear"]
    assert (group["action"], group["gated"], group["difference"]) == (None, True, -0.5)


def test_several_comparisons_follow_each_other() -> None:
    rows = comparison_rows([comparison("a"), comparison("b")]).to_pylist()
    assert [row["against"] for row in rows] == ["a"] * 3 + ["b"] * 3
    assert len(comparison_rows([])) == 0

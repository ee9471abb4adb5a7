"""Groups side by side come to the same numbers, to the last bit, as each group by itself."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline import suite as kit
from eval_pipeline.comparison import groups as grouping
from eval_pipeline.comparison.evidence import finite
from eval_pipeline.comparison.groups import group_changes
from eval_pipeline.comparison.pairing import paired_metrics
from eval_pipeline.comparison.records import GroupChange
from eval_pipeline.gates import Gate, Regression
from eval_pipeline.scoring import Scores
from eval_pipeline.statistics.estimates import Estimate
from eval_pipeline.statistics.multiplicity import benjamini_hochberg


def f1(sums: kit.Sums) -> kit.Values:
    return kit.divide(2 * sums["kept"], sums["words"] + sums["said"])


def macro(sums: kit.Sums) -> kit.Values:
    table = sums.table("confusion")
    shares = kit.divide(table.values.max(axis=2), table.values.sum(axis=2))
    known = np.isfinite(shares)
    return kit.divide(np.where(known, shares, 0.0).sum(axis=1), known.sum(axis=1).astype(float))


def mean_of_parts(sums: kit.Sums) -> kit.Values:
    """A mean over columns, which NumPy adds up in another order where there is one set only."""
    parts = np.stack([kit.divide(sums[f"part {number}"], sums["whole"]) for number in range(PARTS)])
    return np.asarray(parts.mean(axis=0))


PARTS = 11
METRICS = (
    kit.mean("accuracy", "Right ÷ all."),
    kit.Metric("kept_words", "Kept ÷ words.", kit.ratio_of("kept", "words")),
    kit.Metric("f1", "Of words.", f1),
    kit.Metric("parts", "Mean over parts.", mean_of_parts),
    kit.Metric("macro", "Over labels.", macro),
)
COLUMNS_ONLY = ("accuracy", "kept_words", "f1", "parts")
GATE = Gate(fail="< 0.1", passes=">= 0.2", regression=Regression(investigate=0.001, block=0.05))


def suite_of(*names: str) -> tuple[kit.Suite, dict[str, Gate]]:
    """A suite with two kinds of groups, and gates on some metrics."""
    suite = kit.Suite(
        "tickets",
        score=lambda items, context: kit.Batch({}),
        metrics=METRICS,
        errored=lambda case, answer: kit.CaseScore({}),
        groups=("language", "customer"),
    )
    return suite, dict.fromkeys(names, GATE)


def scores_of(seed: int, side: int, sizes: list[int], trials: int) -> Scores:
    """Scores of groups of these sizes; the cases of a group do not stand together."""
    cases = sum(sizes)
    customers = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    random = np.random.default_rng([seed, side])
    rows = cases * trials
    words = random.integers(0, 9, rows).astype(float)
    kept = np.floor(words * random.random(rows))
    ids = [f"case-{number:04}" for number in range(cases)] * trials
    trial = np.repeat(np.arange(1, trials + 1), cases)
    graded = np.where(random.random(rows) < 0.5, random.random(rows), random.integers(0, 2, rows))
    known = (random.random(rows) < 0.9).astype(float)
    counts = {
        "case_id": ids,
        "trial": trial,
        "error": pa.nulls(rows, pa.string()),
        "detail": pa.nulls(rows, pa.string()),
        "attribute:customer": pa.array(
            [f"customer {each}" if each else None for each in customers] * trials, pa.string()
        ),
        "attribute:language": ["de" if each % 3 else "en" for each in range(cases)] * trials,
        "accuracy": graded * known,
        "accuracy:defined": known,
        "kept": kept,
        "words": words,
        "said": words + random.integers(0, 3, rows),
        "whole": random.random(rows),
        **{f"part {number}": random.random(rows) for number in range(PARTS)},
    }
    keyed = {
        "case_id": ids,
        "trial": trial,
        "table": ["confusion"] * rows,
        "row_key": [f"label {each}" for each in random.integers(0, 12, rows)],
        "column_key": [f"label {each}" for each in random.integers(0, 4, rows)],
        "value": np.ones(rows),
    }
    return Scores(pa.table(counts), pa.table(keyed), pa.table({"case_id": pa.nulls(0, pa.string())}))


def one_by_one(suite: kit.Suite, old: Scores, new: Scores, gates: dict[str, Gate]) -> list[GroupChange]:
    """The plain way: every group is cut out of both sides, and compared as everything is."""
    metrics = [metric for metric in suite.metrics if metric.name in gates]
    found = []
    for axis in suite.groups:
        names, group_of = old.attribute(axis)
        ids = np.array(old.case_ids)
        for number, name in enumerate(names):
            cases = set(ids[group_of == number].tolist())
            if len(cases) > 1 and len(names) > 1:
                pairs = paired_metrics(metrics, old.restricted(cases), new.restricted(cases))
                found.append((axis, name, Estimate(pairs.moments)))
    if not found:
        return []
    adjusted = benjamini_hochberg(np.concatenate([each.p_value for _, _, each in found]))
    changes = []
    for (axis, name, estimate), p_values in zip(found, adjusted.reshape(-1, len(metrics)), strict=True):
        moments, (low, high) = estimate.moments, estimate.interval()
        for place, metric in enumerate(metrics):
            far = abs(moments.difference[place]) >= 0.001 - 1e-9 and p_values[place] <= 0.05
            columns = {
                "before": moments.before,
                "after": moments.after,
                "difference": moments.difference,
                "low": low,
                "high": high,
                "p_value": estimate.p_value,
                "adjusted_p": p_values,
            }
            changes.append(
                GroupChange(
                    axis=axis,
                    group=name,
                    metric=metric.name,
                    cases=int(moments.cases[place]),
                    verdict=("improved" if moments.difference[place] > 0 else "regressed")
                    if far
                    else "unclear",
                    **{key: finite(float(values[place])) for key, values in columns.items()},
                )
            )
    return changes


@pytest.mark.slow
@pytest.mark.parametrize("gated", [COLUMNS_ONLY, (*COLUMNS_ONLY, "macro")])
@settings(max_examples=20)
@given(
    seed=st.integers(0, 2**32),
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=12),
    trials=st.tuples(st.integers(1, 3), st.integers(1, 3)),
)
def test_groups_are_what_each_is_by_itself(
    gated: tuple[str, ...], seed: int, sizes: list[int], trials: tuple[int, int]
) -> None:
    suite, gates = suite_of(*gated)
    old, new = (scores_of(seed, side, sizes, each) for side, each in enumerate(trials))
    assert list(group_changes(suite, old, new, gates)) == one_by_one(suite, old, new, gates)


@pytest.mark.parametrize("gated", [("accuracy",), ("accuracy", "kept_words")])
def test_how_many_groups_are_computed_at_once_changes_nothing(
    gated: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    suite, gates = suite_of(*gated)
    old, new = (scores_of(7, side, [33] * 9, 1) for side in range(2))
    together = group_changes(suite, old, new, gates)
    monkeypatch.setattr(grouping, "NUMBERS_AT_ONCE", 30)
    assert group_changes(suite, old, new, gates) == together
    assert len(together) == (9 + 2) * len(gated)


def test_without_gates_or_with_a_single_group_nothing_is_compared() -> None:
    suite, gates = suite_of("accuracy")
    old, new = (scores_of(1, side, [1], 1) for side in range(2))
    assert group_changes(suite, old, new, gates) == ()
    assert group_changes(suite, old, new, {}) == ()

"""The chosen test on every suite, against SciPy and statsmodels on values that are made the long way."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import get_args

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar

from eval_pipeline.comparison import ChosenTest
from eval_pipeline.comparison.chosen_test import chosen_tests
from eval_pipeline.comparison.records import MetricTest
from eval_pipeline.golden import GoldenSet
from eval_pipeline.problems import Problems
from eval_pipeline.project import Project
from eval_pipeline.prompts import versions_in
from eval_pipeline.scoring import Scores, score_cases, summarize
from eval_pipeline.stages import Workbench
from eval_pipeline.statistics.significance import TestName
from eval_pipeline.store import baseline_side, read_baseline
from eval_pipeline.suite import Suite, quantities
from eval_pipeline.suites import find_suite, suite_names
from eval_pipeline_tests.conftest import REPOSITORY
from eval_pipeline_tests.sources import Recorded

PROJECT = Project(REPOSITORY, REPOSITORY / ".eval")
CASES = 12


def sides_of(name: str) -> tuple[Suite, Scores, Scores]:
    """Some cases of a suite as its baseline answers them, and the same with answers gone."""
    bench = Workbench(PROJECT, find_suite(PROJECT, name))
    version = versions_in(PROJECT.prompts(name))[0]
    baseline = read_baseline(bench.golden_folder, version)
    assert baseline is not None
    golden = GoldenSet(bench.suite, bench.golden_folder, Problems())
    cases = list(islice(golden.read(), CASES))
    answers = baseline_side(bench.golden_folder, version, baseline).answers
    old = score_cases(bench.suite, cases, answers, bench.context)
    kept = {each.case.id for place, each in enumerate(cases) if place not in (1, 4, 5, 7, 8)}
    before = {each.case.id: answers.get(each.case.id, 1, each.input_hash) for each in cases}
    outputs = {id_: answer for id_, answer in before.items() if answer and id_ in kept}
    new = score_cases(bench.suite, cases, Recorded(outputs), bench.context)
    return bench.suite, old, new


def of_metrics(
    sides: tuple[Suite, Scores, Scores], test: TestName, alpha: float = 0.05
) -> dict[str, MetricTest]:
    return {each.metric: each for each in chosen_tests(*sides, ChosenTest(test, alpha))}


def pseudo_values(suite: Suite, scores: Scores, metric: str) -> dict[str, float]:
    """What each case contributes, by scoring everything once more without it."""
    ids = sorted(set(scores.case_ids))

    def value(cases: list[str]) -> float | None:
        return summarize(suite, scores.restricted(cases), {}).metrics[metric].value

    about = [each for each in ids if value([each]) is not None]
    whole = value(ids)
    assert whole is not None
    result = {}
    for each in about:
        rest = value([other for other in ids if other != each])
        assert rest is not None
        result[each] = len(about) * whole - (len(about) - 1) * rest
    return result


def expected(test: str, before: Mapping[str, float], after: Mapping[str, float]) -> tuple[float, float]:
    """Statistic and p by other hands."""
    old, new = (np.array([side[each] for each in sorted(before)]) for side in (before, after))
    difference = np.round(new - old, 9)
    if test == "paired_t":
        return tuple(stats.ttest_rel(new, old))
    if test == "wilcoxon":
        return tuple(stats.wilcoxon(difference))
    flipped = stats.permutation_test(
        (difference,), np.mean, permutation_type="samples", n_resamples=np.inf, vectorized=True
    )
    return float(flipped.statistic), float(flipped.pvalue)


@pytest.mark.rehearsal
@pytest.mark.parametrize("name", suite_names(PROJECT))
def test_every_test_on_every_suite(name: str) -> None:
    sides = sides_of(name)
    suite, old, new = sides
    before, after = (pseudo_values(suite, scores, suite.headline) for scores in (old, new))
    assert before.keys() == after.keys()
    for test in get_args(TestName):
        found = of_metrics(sides, test)
        assert found.keys() == quantities(suite).keys()
        assert all((each.significant is None) == bool(each.reason) for each in found.values())
        headline = found[suite.headline]
        if test in ("paired_t", "wilcoxon", "permutation"):
            statistic, p_value = expected(test, before, after)
            assert headline.p_value == pytest.approx(p_value)
            assert headline.statistic == pytest.approx(statistic)
        if test in ("paired_t", "wilcoxon", "permutation", "mcnemar") and headline.p_value is not None:
            assert headline.significant is (headline.p_value <= 0.05)
    errors = of_metrics(sides, "mcnemar")["error_rate"]  # five answers are gone, and none came back
    assert errors.p_value == pytest.approx(mcnemar([[7, 5], [0, 0]], exact=True).pvalue)


def test_alpha_is_the_level_of_the_test_and_of_its_interval() -> None:
    sides = sides_of("heritage_typing")
    assert of_metrics(sides, "bootstrap") == of_metrics(sides, "bootstrap")  # seeded
    wide, narrow = (of_metrics(sides, "bootstrap", alpha)["accuracy"] for alpha in (0.001, 0.2))
    assert wide.low is not None
    assert narrow.low is not None
    assert wide.low < narrow.low
    loose, strict = (of_metrics(sides, "mcnemar", alpha)["error_rate"] for alpha in (0.1, 0.01))
    assert loose.p_value == strict.p_value == pytest.approx(0.0625)  # five of twelve answers are gone
    assert (loose.significant, strict.significant) == (True, False)


def test_what_does_not_apply_says_why() -> None:
    suite, old, new = sides_of("heritage_typing")
    found = of_metrics((suite, old, new), "mcnemar")
    assert (found["macro_f1"].significant, found["macro_f1"].p_value) == (None, None)
    assert found["macro_f1"].reason.startswith("McNemar's test is for cases that are right or wrong")
    one = [sorted(set(old.case_ids))[0]]
    alone = of_metrics((suite, old.restricted(one), new.restricted(one)), "paired_t")
    assert {each.reason for each in alone.values()} == {"1 case is too few"}

"""Type metrics: worked examples, what the corrections mean, scikit-learn, and properties of any output."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline.answers import Answer
from eval_pipeline.golden import GoldenCase
from eval_pipeline.project import Project
from eval_pipeline.scoring import Scores, Summary, score_cases, summarize
from eval_pipeline.suite import Case, Context
from eval_pipeline.suites._heritage.vocabulary import CATEGORIES, CUSTODIAN_TYPES, category_of
from eval_pipeline.suites.heritage_typing import SUITE
from eval_pipeline.suites.heritage_typing.cases import TypingExpected, TypingInput
from eval_pipeline_tests.running import invoke
from eval_pipeline_tests.sources import Recorded, golden, values

LETTERS = list(CUSTODIAN_TYPES)


def case(letter: str, case_id: str, secondary: str = "") -> GoldenCase:
    return golden(Case(case_id, TypingInput("A text."), TypingExpected(letter, list(secondary)), {}))


def scores_of(gold: str, predicted: list[Any], order: list[int] | None = None) -> Scores:
    cases = [case(letter, f"c{number:03d}", "A") for number, letter in enumerate(gold)]
    outputs = {
        f"c{number:03d}": said if isinstance(said, Answer) else {"type": said}
        for number, said in enumerate(predicted)
    }
    ordered = [cases[place] for place in order] if order else cases
    return score_cases(SUITE, ordered, Recorded(outputs), Context())


def summary_of(gold: str, predicted: list[Any], order: list[int] | None = None) -> Summary:
    return summarize(SUITE, scores_of(gold, predicted, order), {})


def values_of(gold: str, predicted: list[Any], order: list[int] | None = None) -> dict[str, float | None]:
    return {name: each.value for name, each in summary_of(gold, predicted, order).metrics.items()}


def test_the_hierarchy_holds_every_letter_once() -> None:
    assert sorted("".join(CATEGORIES.values())) == sorted("GLAMORCUBESFIXPHDNT") == sorted(LETTERS)


def test_worked_example() -> None:
    found = values_of("MMAL", ["M", "A", "A", "O"])
    assert found["accuracy"] == 0.5
    assert found["category_accuracy"] == 0.75
    assert found["hierarchy_gap"] == 0.25
    assert found["macro_f1"] == pytest.approx((2 / 3 + 2 / 3 + 0) / 3)
    assert found["weighted_f1"] == pytest.approx((2 * 2 / 3 + 2 / 3 + 0) / 4)


def test_a_perfect_classifier_on_three_types_has_macro_f1_one() -> None:
    """Averaged over all 19 letters, as the document's code does it, the same answers get 0.158."""
    found = values_of("MAL", ["M", "A", "L"])
    assert found["macro_f1"] == found["weighted_f1"] == 1.0
    assert found["macro_f1_all_types"] == pytest.approx(3 / 19)
    assert found["macro_f1_all_types"] == pytest.approx(0.158, abs=5e-4)


@pytest.mark.parametrize("said", ["Z", "museum", "", "MM", "U X", "🏛", "M\u0301"])
def test_a_label_outside_the_19_is_wrong_and_never_equals_unknown(said: str) -> None:
    """The document's code puts an unknown letter into the category UNKNOWN: right for a `U`."""
    found = summary_of("UM", [said, "M"])
    assert found.metrics["accuracy"].value == found.metrics["category_accuracy"].value == 0.5
    assert found.error_count == 0
    row = next(row for row in found.tables["confusion"] if row[""] == "U")
    assert row["invalid"] == 1


@pytest.mark.parametrize("said", ["m", " M ", "Ｍ"])
def test_a_letter_is_compared_as_text_is(said: str) -> None:
    assert values_of("M", [said])["accuracy"] == 1.0


def test_tables_and_diagnoses() -> None:
    scores = scores_of("MMMAL", ["A", "A", "H", "L", Answer("c004", error="timeout")])
    tables = summarize(SUITE, scores, {}).tables
    assert tables["top_confusions"] == [
        {"true_type": "M", "predicted_type": "A", "count": 2},
        {"true_type": "A", "predicted_type": "L", "count": 1},
        {"true_type": "L", "predicted_type": "error", "count": 1},
        {"true_type": "M", "predicted_type": "H", "count": 1},
    ]
    rows = {row["type"]: row for row in tables["per_type"]}
    assert (rows["M"]["support"], rows["M"]["precision"], rows["M"]["recall"]) == (3, None, 0.0)
    assert rows["H"]["recall"] is None
    kinds = [row["kind"] for row in scores.diagnoses.to_pylist()]
    assert kinds == ["secondary_type", "secondary_type", "wrong_type", "wrong_type", "error"]


@pytest.mark.parametrize("bad", ["", "M", '{"type": null}', '{"type": 3}', "[]"])
def test_an_unusable_output_is_an_error_at_its_worst(bad: str) -> None:
    found = values_of("MM", ["M", Answer("c001", text=bad)])
    assert (found["error_rate"], found["accuracy"], found["category_accuracy"]) == (0.5, 0.5, 0.5)
    assert found["macro_f1"] == pytest.approx(2 / 3)


_pairs = st.lists(
    st.tuples(st.sampled_from(LETTERS[:6]), st.sampled_from([*LETTERS[:7], "invalid"])),
    min_size=1,
    max_size=25,
)


@settings(max_examples=30, deadline=None)
@given(_pairs)
def test_values_equal_those_of_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    from sklearn.metrics import accuracy_score, confusion_matrix, f1_score, precision_recall_fscore_support

    gold, predicted = "".join(one for one, _ in pairs), [other for _, other in pairs]
    found = summary_of(gold, predicted)
    true = list(gold)
    support = sorted(set(true))
    metrics = {name: each.value for name, each in found.metrics.items()}
    assert metrics["accuracy"] == pytest.approx(accuracy_score(true, predicted))
    for name, labels, average in (
        ("macro_f1", support, "macro"),
        ("macro_f1_all_types", LETTERS, "macro"),
        ("weighted_f1", LETTERS, "weighted"),
    ):
        expected = f1_score(true, predicted, labels=labels, average=average, zero_division=0)
        assert metrics[name] == pytest.approx(expected)
    categories = [[str(category_of(each)) for each in each_list] for each_list in (true, predicted)]
    assert metrics["category_accuracy"] == pytest.approx(accuracy_score(*categories))
    per_class = precision_recall_fscore_support(true, predicted, labels=support, zero_division=0)
    rows = {row["type"]: row for row in found.tables["per_type"]}
    for number, letter in enumerate(support):
        ours = [rows[letter][name] or 0.0 for name in ("precision", "recall", "f1")]
        assert ours == pytest.approx([per_class[which][number] for which in range(3)])
    columns = [*LETTERS, "invalid"]
    matrix = confusion_matrix(true, predicted, labels=columns)
    for row in found.tables["confusion"]:
        for column in (key for key in row if key):
            assert row[column] == matrix[columns.index(row[""]), columns.index(column)]


@settings(max_examples=20, deadline=None)
@given(_pairs, st.randoms(use_true_random=False))
def test_rates_or_null_in_any_order_and_an_error_never_pays(
    pairs: list[tuple[str, str]], order: random.Random
) -> None:
    gold = "".join(one for one, _ in pairs)
    predicted: list[Any] = [pairs[0][0], *(other for _, other in pairs[1:])]
    found = values_of(gold, predicted)
    assert values_of(gold, predicted, order.sample(range(len(pairs)), len(pairs))) == found
    assert all(value is not None and 0.0 <= value <= 1.0 for value in found.values())
    worse = values_of(gold, [Answer("c000", error="timeout"), *predicted[1:]])
    for name in ("accuracy", "macro_f1", "macro_f1_all_types", "weighted_f1", "category_accuracy"):
        one, other = found[name], worse[name]
        assert one is not None
        assert other is not None
        assert other <= one + 1e-12


@pytest.mark.parametrize(
    ("said", "gold", "right"),
    [
        ("I", "I", 1.0),
        (" i\n", "I", 1.0),
        ("Ｉ", "I", 1.0),
        ("ı", "I", 0.0),
        ("İ", "I", 0.0),
        ("ſ", "S", 1.0),
        ("ß", "S", 0.0),
        ("U", "U", 1.0),
        ("unknown", "U", 0.0),
        ("", "U", 0.0),
    ],
)
def test_a_letter_is_the_letter_after_normalization_and_nothing_else(
    said: str, gold: str, right: float
) -> None:
    assert values(SUITE, [case(gold, "a")], {"a": {"type": said}})["accuracy"] == right


def test_a_split_is_scored_on_request() -> None:
    project = Project.find()
    folder = project.golden("heritage_typing")
    (outputs,) = (folder / "baseline").glob("*.outputs.jsonl")
    arguments = ("score", "heritage_typing", "--golden", folder, "--outputs", outputs, "--json")
    everything = json.loads(invoke(project, *arguments).stdout)
    test = json.loads(invoke(project, *arguments, "--set", "split=test").stdout)
    assert everything["cases"] == 950
    assert 0 < test["cases"] < 950
    assert test["metrics"]["accuracy"] == everything["groups"]["split"]["test"]["accuracy"]
    for value in ("exam", "[" * 20_000, "[" * 500 + "]" * 500):
        unknown = invoke(project, *arguments, "--set", f"split={value}")
        assert unknown.returncode == 2
        assert "split" in unknown.stderr
        assert "Traceback" not in unknown.stderr
        assert len(unknown.stderr) < 1000

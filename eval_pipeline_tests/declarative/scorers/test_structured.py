"""JSON, sets and rankings, against jsonschema, scikit-learn, trec_eval, and tables worked by hand."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.declarative.catalogue import Refused
from eval_pipeline.declarative.cells import Unusable
from eval_pipeline_tests.declaring import kind_of, passes, scored, scorer, value

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "pattern": "^[A-Z]"}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name"],
    "additionalProperties": False,
}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["Ada", "bob", ""]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["name", "age", "more"]), inner, max_size=3)
    ),
    max_leaves=4,
)


@given(VALUES)
def test_schemas_agree_with_jsonschema(output: Any) -> None:
    valid = jsonschema.Draft202012Validator(SCHEMA).is_valid(output)
    assert value({"json_schema": SCHEMA}, {}, output, "json") == valid


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "https://example.org/schema.json"},
        {"properties": {"a": {"$ref": "file:///etc/passwd"}}},
        {"$ref": "other.json"},
        {"$ref": "#/$defs/missing"},
        {"type": "objekt"},
        {"patternProperties": {"(a+)+b": {}}},
        {"properties": {"a": {"pattern": "("}}, "pattern": "("},
    ],
)
def test_a_schema_that_cannot_be_used(schema: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        scorer({"json_schema": schema})


def test_references_within_a_schema_are_followed() -> None:
    schema = {"$defs": {"n": {"type": "integer"}}, "items": {"$ref": "#/$defs/n"}}
    assert value({"json_schema": schema}, {}, [1, 2], "json") == 1
    assert value({"json_schema": schema}, {}, [1, "2"], "json") == 0


WANTED = '{"name": "Ada", "age": 36, "tags": ["x", "y"]}'


@pytest.mark.parametrize(
    ("entry", "output", "expected"),
    [
        ({}, {"name": "Ada", "age": 36, "tags": ["x", "y"]}, 1),
        ({}, {"age": 36.0, "tags": ["x", "y"], "name": " Ada"}, 1),
        ({}, {"name": "Ada", "age": 36}, 2 / 3),
        ({}, {"name": "Ada", "age": 36, "tags": ["y", "x"]}, 2 / 3),
        ({}, {"name": "Ada", "age": 36, "tags": ["x", "y"], "more": 1}, 3 / 4),
        ({"fields": ["name"]}, {"name": "Ada"}, 1),
        ({"fields": ["name"]}, {"age": 36}, 0),
        ({"tolerance": 1}, {"name": "Ada", "age": 37, "tags": ["x", "y"]}, 1),
        ({"ignore": ["case"]}, {"name": "ADA", "age": 36, "tags": ["X", "y"]}, 1),
        ({}, [], 0),
        ({}, "Ada", 0),
    ],
)
def test_fields_of_an_object(entry: dict[str, Any], output: Any, expected: float) -> None:
    assert value({"json_equals": WANTED, **entry}, {}, output, "json") == pytest.approx(expected)


def test_each_field_is_counted_for_the_report() -> None:
    task, batch = scored(
        [{"json_equals": WANTED}], [{}, {}], [{"name": "Ada"}, {"age": 36, "odd": 1}], "json"
    )
    counted = {(row.row_key, row.column_key) for _, row in batch.keyed}
    assert counted == {
        ("name", "right"), ("age", "wrong"), ("tags", "wrong"), ("name", "wrong"), ("age", "right"),
    }  # fmt: skip
    assert list(task.reporting.tables) == ["json_equals"]


LABELS = ["a", "b", "c", "d"]
SETS = st.lists(st.sampled_from(LABELS), unique=True)


@given(SETS, SETS)
def test_set_f1_agrees_with_scikit_learn(expected: list[str], given_: list[str]) -> None:
    from sklearn.metrics import f1_score
    from sklearn.preprocessing import MultiLabelBinarizer

    marks = MultiLabelBinarizer(classes=LABELS).fit_transform([expected, given_])
    oracle = f1_score(marks[:1], marks[1:], average="samples", zero_division=1.0)
    row, output = {"want": expected}, str(given_).replace("'", '"')
    for kind in ("list", {"kind": "labels", "of": LABELS}):
        assert value({"set_f1": "{{ want }}"}, row, output, kind) == pytest.approx(oracle)


IDS = [f"d{number}" for number in range(6)]


@given(
    st.lists(st.sampled_from(IDS), unique=True),
    st.dictionaries(st.sampled_from(IDS), st.integers(0, 1), min_size=1).filter(
        lambda each: any(each.values())
    ),
)
def test_rankings_agree_with_trec_eval(ranking: list[str], grades: dict[str, int]) -> None:
    oracle = pytrec_eval.RelevanceEvaluator({"q": grades}, {"ndcg_cut.3", "recall.3", "recip_rank"})
    run = {"q": {name: float(len(ranking) - rank) for rank, name in enumerate(ranking)}}
    measured = oracle.evaluate(run)["q"] if ranking else {}
    output = str(ranking).replace("'", '"')
    for measure, name in (("ndcg", "ndcg_cut_3"), ("recall", "recall_3"), ("mrr", "recip_rank")):
        entry = {"ranking": "{{ want }}", "measure": measure, "k": 3}
        assert value(entry, {"want": grades}, output, "list") == pytest.approx(measured.get(name, 0.0))


def test_grades_give_more_gain() -> None:
    entry = {"ranking": "{{ want }}", "k": 2}
    best, worst = '["a", "b"]', '["b", "a"]'
    assert value(entry, {"want": '{"a": 2, "b": 1}'}, best, "list") == 1
    expected = (1 + 3 / 1.5849625007) / (3 + 1 / 1.5849625007)
    assert value(entry, {"want": '{"a": 2, "b": 1}'}, worst, "list") == pytest.approx(expected)


@pytest.mark.parametrize("want", ["", "[]", '{"a": 0}', '{"a": "high"}', '{"a": -1}'])
def test_a_ranking_needs_something_relevant(want: str) -> None:
    with pytest.raises(Unusable):
        scorer({"ranking": "{{ want }}"}).wanted({"want": want}, kind_of("list"))


@pytest.mark.parametrize(
    ("entry", "kind", "outputs", "rewarded"),
    [
        ({"set_f1": "red, green"}, "list",
         {"all": "red, green, blue", "twice": "red, red, green", "other": "blue"}, {"twice"}),
        ({"ranking": "b"}, "list", {"all": "a, b, c", "first": "b, a", "other": "c"}, {"first"}),
        ({"json_equals": WANTED}, "json",
         {"all": {"name": "Ada", "age": 36, "tags": ["x", "y"], "z": 1}, "none": {}}, set()),
        ({"json_schema": SCHEMA}, "json", {"empty": {}, "any": {"name": "Xyz"}}, {"any"}),
    ],
)  # fmt: skip
def test_cheats(entry: dict[str, Any], kind: str, outputs: dict[str, Any], rewarded: set[str]) -> None:
    assert {name for name, output in outputs.items() if passes(entry, {}, output, kind)} == rewarded

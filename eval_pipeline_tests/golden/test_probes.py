"""Probes follow from the contract: small suites, and what each probe answers."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eval_pipeline.suite as kit
from eval_pipeline.golden import make_probes, shuffled_sets
from eval_pipeline.golden.probes import negated

RIGHT = kit.Metric("right", "Right ÷ all.", kit.ratio_of("right", "answers"))


def score(items: kit.Items, context: kit.Context) -> kit.Batch:
    return kit.Batch({"right": np.zeros(len(items))})


def suite(output: type[Any], **more: Any) -> kit.Suite:
    errored = lambda case, answer: kit.CaseScore({"right": 0.0})  # noqa: E731
    return kit.Suite(name="small", output=output, score=score, metrics=(RIGHT,), errored=errored, **more)


def texts(**expected: Any) -> list[kit.Case[Any, Any]]:
    return [kit.Case(name, kit.TextInput(f"What is {name}?"), each) for name, each in expected.items()]


def test_a_text_suite_gets_every_probe_that_applies() -> None:
    cases = texts(a="It is big.", b="They were small.", c="It is big.")
    probes = make_probes(kit.Suite(name="small"), cases, kit.Context(), {})
    assert probes.oracle == {"a": "It is big.", "b": "They were small.", "c": "It is big."}
    told = {name: list(values.values()) for name, values in probes.answers.items()}
    assert told["empty"] == [""] * 3
    assert told["echo"] == told["everything"] == ["What is a?", "What is b?", "What is c?"]
    assert told["constant"] == ["It is big."] * 3
    assert told["another's"] == ["They were small.", "It is big.", "They were small."]
    assert told["negated"] == ["It is not big.", "They were not small.", "It is not big."]
    assert [sorted(text.split()) for text in told["shuffled"]] == [
        sorted(text.split()) for text in probes.oracle.values()
    ]
    assert not {*told["shuffled"]} & {*probes.oracle.values()}
    assert set(told) | {*probes.not_applicable} == {
        *("empty", "echo", "refusal", "everything", "constant", "drawn"),
        *("another's", "negated", "shuffled", "reversed"),
    }
    assert probes.not_applicable.keys() == {"drawn", "reversed"}


class Ranked(msgspec.Struct):
    documents: list[str]
    hints: list[str] = []


def test_rankings_are_reversed_and_what_is_carried_is_added() -> None:
    class Prepared(msgspec.Struct):
        text: str
        hints: list[str]

    ranking = suite(
        Ranked,
        expected=list[str],
        prepared=Prepared,
        prepare=lambda input_, parameters, resources: Prepared(input_.text, [input_.text[-2]]),
        carried=("hints",),
        probing=kit.Probing(lambda case: Ranked(case.expected), ranked=("documents", "hints")),
    )
    probes = make_probes(ranking, texts(a=["d1", "d2"], b=["d3"]), kit.Context(), {})
    assert probes.answers["reversed"] == {"a": {"documents": ["d2", "d1"], "hints": ["a"]}}
    assert probes.answers["everything"]["b"] == {"documents": ["d1", "d2", "d3"], "hints": ["b"]}
    assert probes.answers["empty"]["b"] == {"documents": [], "hints": ["b"]}
    assert shuffled_sets({"a": {"documents": ["1", "2"]}}, ("documents",)) == {"a": {"documents": ["1", "2"]}}


class Span(msgspec.Struct):
    text: str
    start: int
    end: int
    kind: str


def test_every_word_is_a_span_of_every_kind() -> None:
    cases = [
        kit.Case("a", kit.TextInput("red fox"), [Span("red", 0, 3, "colour")]),
        kit.Case("b", kit.TextInput("big red"), [Span("big", 0, 3, "size"), Span("red", 4, 7, "colour")]),
        kit.Case("c", kit.TextInput("big"), [Span("big", 0, 3, "size")]),
    ]
    probes = make_probes(suite(list[Span], expected=list[Span]), cases, kit.Context(), {})
    assert probes.answers["echo"]["a"] == [{"text": "red fox", "start": 0, "end": 7, "kind": "colour"}]
    assert [(each["text"], each["kind"]) for each in probes.answers["everything"]["a"]] == [
        *(("red", "colour"), ("red", "size"), ("fox", "colour"), ("fox", "size"))
    ]
    assert all({e["kind"] for e in v} <= {"colour", "size"} for v in probes.answers["drawn"].values())


def test_without_golden_answers_the_contract_alone_is_probed() -> None:
    unknown = suite(Ranked, expected=int)
    probes = make_probes(unknown, texts(a=1, b=2), kit.Context(), {})
    assert not probes.oracle
    assert {*probes.answers} == {"empty", "echo", "everything"}
    assert "golden_answer" in probes.not_applicable["oracle"]
    written = make_probes(unknown, texts(a=1, b=2), kit.Context(), {"b": {"documents": ["x"]}})
    assert written.oracle == {"b": {"documents": ["x"]}}
    assert len(written.answers["constant"]) == 2


def test_a_suite_brings_its_own_probes_and_leaves_some_out() -> None:
    own = kit.Probing(
        own={"empty": lambda case, context: "nil", "odd": lambda case, context: None},
        left_out={"echo": "nobody reads it"},
    )
    probes = make_probes(kit.Suite(name="small", probing=own), texts(a="x y"), kit.Context(), {})
    assert probes.answers["empty"] == {"a": "nil"}
    assert probes.not_applicable["echo"] == "nobody reads it"
    assert probes.not_applicable["odd"] == "it has no answer to any case"


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("A king founded it.", "not A king founded it."),
        ("It is old. It was rich.", "It is not old. It was not rich."),
        ("Paris", "not Paris"),
    ],
)
def test_negation(text: str, denied: str) -> None:
    assert negated(text) == denied


@given(st.dictionaries(st.text(max_size=3), st.lists(st.integers(), max_size=5)))
def test_shuffled_sets_hold_the_same(values: dict[str, list[int]]) -> None:
    shuffled = shuffled_sets({"a": {"set": values}}, ())
    kept = {name: sorted(each) for name, each in values.items()}
    assert {name: sorted(each) for name, each in shuffled["a"]["set"].items()} == kept

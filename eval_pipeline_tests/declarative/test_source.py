"""A declared suite and its ejected twin: the same counts, metrics, reports and identity."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eval_pipeline.answers import Answer
from eval_pipeline.declarative import SCORERS, DeclaredSuite, module_in, read_suite
from eval_pipeline.golden import read_cases
from eval_pipeline.problems import Problems
from eval_pipeline.scoring import Code, score_cases, scorer_version, summarize
from eval_pipeline.scoring.identity import PACKAGE
from eval_pipeline.suite import Context, Suite
from eval_pipeline_tests.conftest import REPOSITORY
from eval_pipeline_tests.declaring import CLASSIFIER, declare, importing_from, scored

ROWS: list[dict[str, Any]] = [
    {
        "id": "a",
        "text": "one",
        "part": "x",
        "want": "red",
        "several": ["red", "green"],
        "object": {"red": 1},
        "no": False,
    },
    {
        "id": "b",
        "text": "two",
        "part": "y",
        "want": "green",
        "several": ["green"],
        "object": {"green": 2},
        "no": True,
    },
    {
        "id": "c",
        "text": "three",
        "part": "y",
        "want": "blue",
        "several": ["blue", "red"],
        "object": {},
        "no": False,
    },
]
CODE = "def shouts(answer, case):\n    return str(answer).isupper() and case['want'] != 'x'\n"
ENTRIES: dict[str, dict[str, Any]] = {
    "equals": {"equals": "{{ want }}", "ignore": ["case"]},
    "one_of": {"one_of": "{{ several }}"},
    "contains": {"contains": "a {{ want }}", "weight": 2},
    "contains_all": {"contains_all": "{{ several }}", "at_least": 0.5},
    "contains_any": {"contains_any": ["{{ want }}", "x\"'\n\u2028é"]},
    "not_contains": {"not_contains": "{{ several }}", "name": "silent"},
    "regex": {"regex": "r.d|\\bblue", "exact": True},
    "starts_with": {"starts_with": "{{ want }}", "exact": True},
    "length": {"length": "words", "max": 3},
    "json_schema": {"json_schema": {"type": "object", "properties": {"red": {"type": "integer"}}}},
    "json_equals": {"json_equals": "{{ object }}", "tolerance": 1},
    "f1": {"f1": "{{ want }}"},
    "rouge": {"rouge": "{{ want }}", "variant": "rouge1"},
    "levenshtein": {"levenshtein": "{{ want }}", "at_most": 2},
    "set_f1": {"set_f1": "{{ several }}"},
    "ranking": {"ranking": "{{ several }}", "k": 2, "measure": "recall"},
    "citations": {"citations": "{{ several }}"},
    "refusal": {"refusal": "{{ no }}"},
    "latency": {"latency": 5},
    "cost": {"cost": 0.5, "weight": 0},
    "similarity": {"similarity": "{{ want }}"},
    "python": {"python": "shouting_in_tests:shouts", "columns": ["want"]},
    "all_of": {
        "all_of": [{"contains": "{{ want }}"}, {"any_of": [{"length": "words", "max": 2}, {"regex": "x"}]}]
    },
    "any_of": {"any_of": [{"equals": "{{ want }}"}, {"contains": "x"}], "optional": True},
    "none_of": {"none_of": [{"equals": "{{ want }}"}, {"contains": "x", "ignore": ["case"], "exact": True}]},
    "mean_of": {"mean_of": [{"f1": "{{ want }}"}, {"contains": "x"}], "weights": [2, 1], "at_least": 0.5},
    "is_json": {"is_json": {"type": "object", "required": ["red"]}},
}
KINDS: list[dict[str, Any]] = [
    {"kind": "text"},
    {"kind": "label", "of": ["red", "green", "blue"]},
    {"kind": "labels", "of": ["red", "green", "blue"], "strict": True},
    {"kind": "list"},
    {"kind": "json", "schema": {"type": ["object", "string"]}},
]
TEXTS = [
    "red",
    "It is GREEN.",
    "blue, red",
    "I cannot answer that.",
    '["green"]',
    '{"red": 1}',
    '"blue"',
    "",
    "[red]",
]
_numbers = itertools.count()


class Answers:
    """Answers by case, with figures."""

    trials = (1,)

    def __init__(self, texts: list[str]) -> None:
        self._texts = dict(zip("abc", texts, strict=True))

    def get(self, case_id: str, trial: int, input_hash: str) -> Answer | None:
        """The answer to a case."""
        text = self._texts[case_id]
        return Answer(
            case_id, trial, text, latency_ms=float(len(text)), cost_usd=0.1 if case_id == "a" else None
        )


def twin_of(folder: Path) -> Suite:
    """The suite that the ejected module holds."""
    module = ModuleType("ejected")
    exec(compile(module_in(folder), "ejected", "exec"), module.__dict__)
    suite = module.SUITE
    assert isinstance(suite, Suite)
    assert not isinstance(suite, DeclaredSuite)
    return suite


def evaluated(suite: Suite, folder: Path, texts: list[str]) -> Any:
    problems = Problems()
    cases = list(read_cases(suite, folder, problems))
    assert not list(problems)
    scores = score_cases(suite, cases, Answers(texts), Context())
    summary = summarize(suite, scores, {})
    return (
        scores.counts.to_pylist(),
        scores.keyed,
        scores.diagnoses,
        msgspec.json.encode(summary),
        [each.case_hash for each in cases],
    )


def fits(entry: dict[str, Any], kind: str) -> bool:
    (name,) = [each for each in entry if each in SCORERS]
    kinds = SCORERS[name].kinds
    if kind in ("label", "labels", "json") and name in ("contains_any", "one_of", "equals", "any_of"):
        return kind == "label" and name in ("equals", "any_of", "one_of")
    return not kinds or kind in kinds


@given(
    kind=st.sampled_from(KINDS),
    names=st.lists(
        st.sampled_from([name for name in ENTRIES if name != "similarity"]), min_size=1, max_size=5
    ),
    texts=st.lists(st.sampled_from(TEXTS), min_size=3, max_size=3),
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_twins(kind: dict[str, Any], names: list[str], texts: list[str], tmp_path: Path) -> None:
    chosen = dict.fromkeys(name for name in names if fits(ENTRIES[name], kind["kind"]))
    if any(ENTRIES[name].get("weight", 1) for name in chosen):
        check_twins(tmp_path / str(next(_numbers)), kind, list(chosen), texts)


@pytest.mark.parametrize("name", ENTRIES)
def test_every_scorer_has_a_twin(name: str, tmp_path: Path) -> None:
    kind = next(each for each in KINDS if fits(ENTRIES[name], each["kind"]))
    check_twins(tmp_path, kind, [name, "length"] if name != "length" else [name], TEXTS[:3])


def check_twins(root: Path, kind: dict[str, Any], names: list[str], texts: list[str]) -> None:
    suite = {
        "description": 'A "suite"\\ for\ntests',
        "cases": ["cases.jsonl"],
        "id": "id",
        "attributes": "part",
        "inputs": ["text"],
        "answer": kind,
        "scores": [ENTRIES[name] for name in names],
    }
    root.mkdir(parents=True, exist_ok=True)
    (root / "shouting_in_tests.py").write_text(CODE)
    folder = declare(root, suite, ROWS).golden("tickets")
    with importing_from(root, "shouting_in_tests"):
        declared, twin = read_suite(folder), twin_of(folder)
    assert evaluated(declared, folder, texts) == evaluated(twin, folder, texts)
    assert [each.description for each in declared.metrics] == [each.description for each in twin.metrics]
    assert (declared.headline, declared.groups, declared.variables) == (
        twin.headline,
        twin.groups,
        twin.variables,
    )
    assert declared.probing.golden_answer is None or twin.probing.golden_answer is not None


@given(text=st.text(max_size=40) | st.text(alphabet='[]{}",:\n- redgreen0.5', max_size=40))
@settings(max_examples=60, deadline=None)
def test_no_reply_makes_a_scorer_raise(text: str) -> None:
    for kind in KINDS:
        if kind["kind"] != "json" and text.strip():
            entries = [
                entry
                for name, entry in ENTRIES.items()
                if fits(entry, kind["kind"]) and name not in ("python", "similarity")
            ]
            task, batch = scored(entries, [ROWS[0]], [text], kind)
            assert all(0 <= batch.counts[name][0] <= 1 for name in task.scores)
            list(batch.diagnoses)


def test_every_scorer_is_tried() -> None:
    assert ENTRIES.keys() == SCORERS.keys()


def test_no_case_has_a_label(tmp_path: Path) -> None:
    rows = [{**row, "want": ""} for row in ROWS]
    entries = [{"equals": "{{ want }}", "optional": True}, {"length": "words", "max": 9}]
    suite = {"cases": "cases.jsonl", "id": "id", "inputs": ["text"], "answer": KINDS[1], "scores": entries}
    folder = declare(tmp_path, suite, rows).golden("tickets")
    *_, summary, _ = evaluated(read_suite(folder), folder, ["red", "", "blue"])
    metrics = {each["name"]: each["value"] for each in metrics_of(summary)}
    assert metrics["accuracy"] is metrics["macro_f1"] is None
    assert metrics["length"] == pytest.approx(2 / 3)


def metrics_of(summary: bytes) -> list[dict[str, Any]]:
    decoded: dict[str, Any] = msgspec.json.decode(summary)
    found = decoded["metrics"]
    return [{"name": name, **each} for name, each in found.items()] if isinstance(found, dict) else found


def identity(root: Path, suite: dict[str, Any] | str) -> str:
    return scorer_version(read_suite(declare(root, suite).golden("tickets")))


def test_identity_is_the_meaning_of_the_file(tmp_path: Path) -> None:
    plain = yaml.safe_dump(CLASSIFIER)
    before = identity(tmp_path, plain)
    commented = "# A thought\n" + plain.replace("answer:", "# More\nanswer:")
    assert identity(tmp_path, commented) == before
    assert identity(tmp_path, {**CLASSIFIER, "description": "Other words"}) == before
    assert identity(tmp_path, yaml.safe_dump(CLASSIFIER, default_flow_style=True)) == before
    others = [
        {**CLASSIFIER, "scores": [{"equals": "{{ label }}"}, {"length": "words", "max": 9}]},
        {**CLASSIFIER, "answer": {"kind": "label", "of": ["billing", "bug", "other", "more"]}},
        {**CLASSIFIER, "answer": {**CLASSIFIER["answer"], "strict": True}},
    ]
    assert len({before, *(identity(tmp_path, each) for each in others)}) == 4


def test_identity_holds_the_code_of_the_scorers_that_are_used(tmp_path: Path) -> None:
    package = tmp_path / PACKAGE
    shutil.copytree(REPOSITORY / PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    source = read_suite(declare(tmp_path / "project", CLASSIFIER).golden("tickets")).source

    def scorer() -> str:
        return Code(package, declared={"tickets": source}.get).scorer("tickets")

    def edit(name: str, old: str, new: str) -> None:
        file = package / "declarative" / name
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))

    before = scorer()
    edit(
        "scorers/texts.py", "return float(wanted[0] <= self._length", "return float(wanted[0] < self._length"
    )
    edit("scorers/structured.py", "2 * len(given & expected)", "3 * len(given & expected)")
    edit("scorers/matching.py", "self.spelt(wanted) in self.spelt(reply.text)", "True")
    edit("records.py", "MOST_RAGGED = 100", "MOST_RAGGED = 10")
    edit("catalogue.py", "Let each be an entry of its own.", "Split them.")
    assert scorer() == before
    edit("scorers/matching.py", "return one == other or", "return one != other or")
    changed = scorer()
    assert changed != before
    edit("labels.py", "2 * right", "3 * right")
    assert scorer() != changed


def test_identity_holds_the_project_s_own_functions(tmp_path: Path) -> None:
    suite = {**CLASSIFIER, "scores": [{"python": "rude_in_tests:polite"}]}
    helper = tmp_path / "words_in_tests.py"
    (tmp_path / "rude_in_tests.py").write_text(
        "from words_in_tests import RUDE\n\ndef polite(answer, case):\n    return answer not in RUDE\n"
    )
    helper.write_text("RUDE = ('no',)\nUNUSED = 1\n")
    folder = declare(tmp_path, suite).golden("tickets")
    with importing_from(tmp_path, "rude_in_tests", "words_in_tests"):
        loaded = read_suite(folder)

    def scorer() -> str:
        code = Code(REPOSITORY / PACKAGE, declared={"tickets": loaded.source}.get, project=tmp_path)
        return code.scorer("tickets")

    before = scorer()
    assert before == scorer_version(loaded)
    helper.write_text("# Words\nRUDE = ('no',)\nUNUSED = 2\n")
    assert scorer() == before
    helper.write_text("RUDE = ('no', 'never')\n")
    assert scorer() != before


def test_the_twin_has_the_same_identity(tmp_path: Path) -> None:
    folder = declare(tmp_path, CLASSIFIER).golden("tickets")
    ejected = tmp_path / "suites" / "tickets" / "__init__.py"
    ejected.parent.mkdir(parents=True)
    ejected.write_text(module_in(folder))
    assert Code(REPOSITORY / PACKAGE, tmp_path / "suites").scorer("tickets") == scorer_version(
        read_suite(folder)
    )

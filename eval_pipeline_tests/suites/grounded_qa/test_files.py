"""Gold and trace files: both as the document has them, what is wrong with them, and the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eval_pipeline.answers import AnswerFile, parse
from eval_pipeline.cli import score as score_command
from eval_pipeline.golden import read_cases
from eval_pipeline.problems import BadInput, Problems
from eval_pipeline.project import Project
from eval_pipeline.scoring import files
from eval_pipeline.suites.grounded_qa import SUITE
from eval_pipeline.suites.grounded_qa.traces import GroundedAnswer, answer_format
from eval_pipeline_tests.conftest import copy_project
from eval_pipeline_tests.running import checks, instance_in, invoke, run_chain
from eval_pipeline_tests.suites.grounded_qa.examples import GOLD, TRACES


def write(path: Path, *lines: Any) -> Path:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def read_traces(path: Path, problems: Problems) -> AnswerFile:
    return answer_format(path).open(path, problems)


def gold_problems(path: Path, *lines: Any) -> list[tuple[int, str, str]]:
    problems = Problems()
    list(read_cases(SUITE, write(path / "gold.jsonl", *lines), problems))
    return [(each.line, each.field, each.message) for each in problems]


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"answerable": "false"}, "answerable", "Expected 'bool', got 'str'"),
        ({"answerable": None}, "answerable", "Expected 'bool', got 'null'"),
        ({"answerable": 17}, "answerable", "Expected 'bool', got 'int'"),
        ({"qid": 17}, "qid", "Expected 'str', got 'int'"),
        ({"qid": None}, "qid", "Expected 'str', got 'null'"),
        ({"gold_citations": []}, "gold_citations", "is empty though the question is answerable"),
        ({"gold_citations": ["p1#2", " "]}, "gold_citations[1]", "is blank"),
        ({"gold_citations": [3]}, "gold_citations[0]", "Expected 'str', got 'int'"),
        ({"gold_claim_substr": ["fine", "rejects"]}, "gold_claim_substr[0]", "fewer than 5 characters"),
        ({"gold_claim_substr": ["a       b"]}, "gold_claim_substr[0]", "fewer than 5 characters"),
        ({"all_of": [["rejects"], []]}, "all_of[1]", "is empty and can never match"),
        ({"all_of": [["rejects", "null"]]}, "all_of[0][1]", "fewer than 5 characters"),
        ({"answerable": False, "all_of": [["rejects"]]}, "all_of", "asks for parts of no answer"),
        ({"gold_claim_substr": ["ﬁﬁ"]}, "gold_claim_substr[0]", "fewer than 5 characters"),
        ({"question": " "}, "question", "is blank"),
        ({"gold_citation": ["p1"]}, "gold_citation", "is not a known field"),
    ],
)
def test_golden_entries_are_strict(tmp_path: Path, changes: dict[str, Any], field: str, message: str) -> None:
    entry = {**GOLD[0], **changes}
    if field == "gold_citation":
        entry.pop("gold_citations")
    found = [each for each in gold_problems(tmp_path, *GOLD[1:], entry) if each[1] == field]
    assert found
    assert found[0][0] == 3
    assert message in found[0][2]


def test_golden_ids_stand_once_and_every_problem_is_named_at_once(tmp_path: Path) -> None:
    found = gold_problems(
        tmp_path, *GOLD, GOLD[0], "{", {**GOLD[1], "qid": " "}, {**GOLD[2], "answerable": 1}
    )
    assert [(line, field) for line, field, _ in found] == [(4, "id"), (5, ""), (6, "id"), (7, "answerable")]


def test_no_substring_means_any_claim_but_must_be_said(tmp_path: Path) -> None:
    silent = {name: value for name, value in GOLD[0].items() if name != "gold_claim_substr"}
    assert gold_problems(tmp_path, {**GOLD[0], "gold_claim_substr": []}) == []
    assert gold_problems(tmp_path, silent) == [(1, "gold_claim_substr", "is missing")]


def test_unknown_fields_are_fine(tmp_path: Path) -> None:
    assert gold_problems(tmp_path, {**GOLD[0], "reviewer": "Ada"}) == []


JSON = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=5)
    | st.lists(st.text(max_size=3), max_size=3)
)
TRACE = st.fixed_dictionaries(
    {"qid": st.sampled_from(["a", "b", "c", "d"])},
    optional={
        "retrieved_ids": JSON,
        "answer_json": JSON
        | st.fixed_dictionaries({"claim": JSON}, optional={"citations": JSON, "retrieved_ids": JSON}),
        "error": st.none() | st.text(max_size=3),
        "note": JSON,
    },
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(TRACE, max_size=8))
def test_the_shortcut_and_the_long_way_agree(tmp_path: Path, traces: list[Any]) -> None:
    problems = Problems()
    answers = read_traces(write(tmp_path / "trace.jsonl", *traces), problems)
    assert len(problems) == 0
    ids = ["a", "b", "c", "d", "e"]
    for case_id, output in zip(ids, answers.outputs(ids, 1), strict=True):
        if output is not None:
            parsed = parse(answers.get(case_id, 1), GroundedAnswer)
            stated = (output.claim, output.citations, output.retrieved_ids)
            assert stated == (parsed.output.claim, parsed.output.citations, parsed.output.retrieved_ids)  # type: ignore


@pytest.mark.parametrize(
    "traces",
    [
        TRACES,
        TRACES[::-1],
        [*TRACES, TRACES[0]],
        TRACES[:2],
        [{**TRACES[0], "error": "timeout"}, *TRACES[1:]],
        [TRACES[0], {**TRACES[1], "trial": 2}, TRACES[2]],
        [TRACES[0], {**TRACES[1], "tokens": "many"}, TRACES[2]],
        [{**TRACES[0], "latency_ms": 5}, {**TRACES[1], "answer_json": "no"}, TRACES[2]],
    ],
)
def test_large_files_are_scored_in_parts_with_the_same_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, traces: list[Any]
) -> None:
    gold, outputs = write(tmp_path / "gold.jsonl", *GOLD), write(tmp_path / "t.jsonl", *traces)
    whole = run_score(gold, outputs)
    monkeypatch.setattr(files, "LEAST_PART", 1)
    monkeypatch.setattr(files, "usable_processors", lambda: 3)
    assert run_score(gold, outputs) == whole
    monkeypatch.setattr(files.OutputsScorer, "score_in_step", lambda *given: None)
    assert run_score(gold, outputs) == whole


def run_score(gold: Path, outputs: Path) -> tuple[int, str]:
    arguments = ["grounded_qa", "--golden", str(gold), "--outputs", str(outputs), "--json"]
    done = CliRunner().invoke(score_command.command, arguments)
    assert done.exception is None or isinstance(done.exception, SystemExit | BadInput)
    return done.exit_code, done.output + str(done.exception)


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ({"retrieved_ids": []}, "qid"),
        ({"qid": ""}, "qid"),
        ({"qid": 5}, "qid"),
        ({"qid": "a", "trial": "one"}, "trial"),
        ("{", ""),
        ("[1]", ""),
    ],
)
def test_bad_trace_lines_are_named(tmp_path: Path, line: Any, field: str) -> None:
    problems = Problems()
    answers = read_traces(write(tmp_path / "t.jsonl", TRACES[0], line, TRACES[1]), problems)
    assert [(each.line, each.field) for each in problems] == [(2, field)]
    assert answers.get("A0002", 1) is not None


def test_other_spellings_and_formats_are_read(tmp_path: Path) -> None:
    renamed = [{("q_id" if name == "qid" else name): value for name, value in TRACES[0].items()}]
    answers = read_traces(write(tmp_path / "t.jsonl", *renamed), Problems())
    assert answers.get("A0001", 1) is not None
    output = {**TRACES[0]["answer_json"], "retrieved_ids": ["p1#2"]}
    common = read_traces(write(tmp_path / "o.jsonl", {"case_id": "A0001", "output": output}), Problems())
    assert common.get("A0001", 1) is not None


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A copy of this project with the suite that is looked at here."""
    return copy_project(tmp_path / "project", "grounded_qa")


def score(project: Project, tmp_path: Path, traces: Path, *more: str) -> tuple[int, Any, str]:
    path = tmp_path / "gold.jsonl"
    if not path.exists():
        write(path, *GOLD)
    done = invoke(project, "score", "grounded_qa", "--golden", path, "--outputs", traces, "--json", *more)
    assert "Traceback" not in done.stderr
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr


SHIP_GATES = ("--gates", "precision=0.80,chr=0.75,under=0.05,over=0.10")


def test_the_documents_keys_stand_beside_the_common_report(project: Project, tmp_path: Path) -> None:
    traces = write(tmp_path / "t.jsonl", *TRACES)
    code, report, _ = score(project, tmp_path, traces, "--set", "k=5", *SHIP_GATES)
    assert code == 0
    keys = {
        "answered": 2,
        "refused": 1,
        "answerable": 2,
        "unanswerable": 1,
        "precision": 1.0,
        "chr": 1.0,
        "under_refusal": 0.0,
        "over_refusal": 0.0,
        "recall@k": 1.0,
        "k": 5,
        "pass": True,
    }
    assert {name: report[name] for name in keys} == keys
    assert report["metrics"]["citation_precision"] == 1.0
    assert {gate["metric"] for gate in report["gates"]} >= {
        "precision",
        "chr",
        "under_refusal",
        "over_refusal",
    }
    assert set(report["groups"]["answerability"]) == {"answerable", "unanswerable"}


def test_a_failing_gate_exits_1_with_advice_and_limits_can_be_given(project: Project, tmp_path: Path) -> None:
    wrong = {**TRACES[1], "answer_json": {"claim": "Z is a letter.", "citations": ["p1#1"]}}
    traces = write(tmp_path / "t.jsonl", TRACES[0], TRACES[2], wrong, TRACES[2], {**wrong, "qid": "B"})
    code, report, told = score(project, tmp_path, traces, "--set", "k=1", *SHIP_GATES)
    assert (code, report["pass"], report["k"], report["recall@k"]) == (1, False, 1, 0.5)
    advice = {gate["metric"]: gate.get("advice", "") for gate in report["gates"]}
    assert "strengthen the refusal rule" in advice["under_refusal"]
    assert "grounding is broken" in advice["precision"]
    assert advice["over_refusal"] == ""
    assert report["outputs"] == {"without_case": 1, "repeated": 1, "warnings": []}
    assert "repeated in 1 line;" in told
    lenient = ("--gates", "precision=0.5,chr=0.5,under=1,over=0.10")
    assert score(project, tmp_path, traces, *lenient)[0] == 0
    people = invoke(project, "score", "grounded_qa", "--golden", tmp_path / "gold.jsonl", "--outputs", traces)
    assert "strengthen the refusal rule" in people.stdout


def test_a_last_line_that_was_cut_off_is_named_and_the_rest_reported(
    project: Project, tmp_path: Path
) -> None:
    traces = tmp_path / "t.jsonl"
    text = "\ufeff" + "\n".join(json.dumps(trace) for trace in TRACES)
    traces.write_text(text[:-20])
    code, report, told = score(project, tmp_path, traces)
    assert (code, report["answered"], report["errors"]) == (1, 1, 1)
    assert "t.jsonl:3: not valid JSON" in told
    assert "cut off" in report["outputs"]["warnings"][0]
    traces.write_text(text)
    assert score(project, tmp_path, traces)[0] == 0


@pytest.mark.parametrize("setting", ["k=0", "k=1.5", "k=many", "kk=5"])
def test_a_bad_setting_is_named(project: Project, tmp_path: Path, setting: str) -> None:
    code, _, told = score(project, tmp_path, write(tmp_path / "t.jsonl", *TRACES), "--set", setting)
    assert code == 2
    assert setting.partition("=")[0] in told


def test_bad_input_exits_2_with_file_line_and_field(project: Project, tmp_path: Path) -> None:
    write(
        tmp_path / "gold.jsonl",
        GOLD[0],
        {**GOLD[1], "answerable": "false"},
        {**GOLD[2], "gold_citations": []},
    )
    code, report, told = score(project, tmp_path, write(tmp_path / "t.jsonl", "{", *TRACES))
    assert (code, report) == (2, None)
    assert "gold.jsonl:2: answerable: Expected 'bool', got 'str'" in told
    assert "gold.jsonl:3: gold_citations: is empty though the question is answerable" in told
    assert "t.jsonl:1: not valid JSON" in told


def test_failing_checks_carry_the_advice(project: Project) -> None:
    with instance_in(project) as instance:
        result = run_chain(project, instance, "grounded_qa", "answer-with-citations-v2.0")
    assert result.success
    found = checks(result)
    assert not found["gate_under_refusal"].passed
    assert "strengthen the refusal rule" in found["gate_under_refusal"].description
    assert "grounding is broken" in found["gate_precision"].description
    assert found["gate_recall_at_k"].passed
    assert "strengthen the refusal rule" in result.output_for_node("grounded_qa__report").text

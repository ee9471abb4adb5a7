"""`eval-pipeline score`: the report, the exit codes, and what bad input looks like to a person."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from eval_pipeline.project import Project
from eval_pipeline_tests.running import Run, command, invoke

ENTRY: dict[str, Any] = {
    "id": "ml",
    "topic": "Machine learning",
    "domain": "technical",
    "sourceText": "Machine learning (ML) needs data.",
    "expectedConcepts": [{"label": "Machine Learning", "aliases": ["ML"]}, {"label": "Data"}],
    "expectedRelationships": [{"source": "ML", "target": "Data", "predicate": "REQUIRES"}],
    "forbiddenConcepts": ["Neural Osmosis"],
}
OUTPUT: dict[str, Any] = {
    "concepts": [
        {"label": "ML", "source_quote": "Machine learning"},
        {"label": "data", "source_quote": "needs data"},
    ],
    "relationships": [{"source": "Machine Learning", "target": "DATA", "predicate": "requires"}],
}


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    folder = tmp_path / "golden"
    folder.mkdir()
    (folder / "ml.gold.json").write_text(json.dumps(ENTRY, indent=2))
    return folder


def outputs(tmp_path: Path, *lines: object) -> Path:
    path = tmp_path / "outputs.jsonl"
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def score(
    project: Project, golden: Path, answers: Path, *more: str, run: Run = invoke
) -> tuple[int, Any, str]:
    done = run(project, "score", "decomposition", "--golden", golden, "--outputs", answers, "--json", *more)
    assert "Traceback" not in done.stderr
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr


def test_the_report_of_a_perfect_output(project: Project, golden: Path, tmp_path: Path) -> None:
    code, report, told = score(
        project, golden, outputs(tmp_path, {"case_id": "ml", "output": OUTPUT}), run=command
    )
    assert code == 0
    assert (report["suite"], report["cases"], report["trials"], report["errors"], report["pass"]) == (
        "decomposition",
        1,
        1,
        0,
        True,
    )
    assert report["metrics"]["overall_score"] == pytest.approx(0.85)
    assert report["metrics"]["overall_index"] == pytest.approx(1.0)
    assert report["groups"]["domain"]["technical"]["concept_recall"] == 1.0
    recall = next(gate for gate in report["gates"] if gate["metric"] == "concept_recall")
    assert recall == {
        "metric": "concept_recall",
        "value": 1.0,
        "zone": "excellent",
        "status": "pass",
        "severity": "critical",
    }
    assert "golden set, case_count: 1 case, at least 5 needed" in told


def test_a_failing_gate_exits_1(project: Project, golden: Path, tmp_path: Path) -> None:
    nothing_found = {"case_id": "ml", "output": {"concepts": [], "relationships": []}}
    code, report, _ = score(project, golden, outputs(tmp_path, nothing_found), run=command)
    assert code == 1
    assert report["pass"] is False
    nothing = next(gate for gate in report["gates"] if gate["metric"] == "hallucination_rate")
    assert (nothing["value"], nothing["status"]) == (None, "fail")


@pytest.mark.parametrize(
    ("lines", "kinds"),
    [
        ((), {"missing": 1}),
        (({"case_id": "other", "output": OUTPUT},), {"missing": 1}),
        (({"case_id": "ml", "output": None},), {"missing": 1}),
        (({"case_id": "ml", "error": "timeout"},), {"timeout": 1}),
        (({"case_id": "ml", "output": OUTPUT, "error": "truncated"},), {"truncated": 1}),
        (({"case_id": "ml", "output": "I cannot answer."},), {"not_json": 1}),
        (({"case_id": "ml", "output": {"concepts": "none"}},), {"schema": 1}),
        (
            ({"case_id": "ml", "trial": 1, "output": OUTPUT}, {"case_id": "x", "trial": 2, "output": OUTPUT}),
            {"missing": 1},
        ),
    ],
)
def test_what_cannot_be_used_is_an_error(
    project: Project, golden: Path, tmp_path: Path, lines: tuple[Any, ...], kinds: Any
) -> None:
    code, report, _ = score(project, golden, outputs(tmp_path, *lines))
    assert code == 1
    assert report["errors_by_kind"] == kinds
    assert report["pass"] is False


def test_the_last_of_repeated_outputs_counts_and_strangers_are_mentioned(
    project: Project, golden: Path, tmp_path: Path
) -> None:
    lines = (
        {"case_id": "ml", "output": None},
        {"case_id": "ml", "output": OUTPUT},
        {"case_id": "zebra", "output": OUTPUT},
    )
    code, _, told = score(project, golden, outputs(tmp_path, *lines))
    assert code == 0
    assert "a case and trial repeated in 1 line" in told
    assert "ignored 1 case that the golden set lacks: zebra" in told


def test_limits_can_be_given(project: Project, golden: Path, tmp_path: Path) -> None:
    answers = outputs(tmp_path, {"case_id": "ml", "output": {**OUTPUT, "relationships": []}})
    lenient = "relationship_accuracy=0,overall_index=0.5"
    assert score(project, golden, answers)[0] == 1
    assert score(project, golden, answers, "--gates", lenient)[0] == 0
    code, _, told = score(project, golden, answers, "--gates", "recall=0.5,concept_recall=high")
    assert code == 2
    assert "'recall=0.5' is not a gate" in told
    assert "'concept_recall=high' is not a gate" in told


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            json.dumps({**ENTRY, "sourceText": 5}, indent=2),
            ["ml.gold.json:5: sourceText: Expected 'str', got 'int'"],
        ),
        (
            json.dumps(
                {**ENTRY, "id": None, "domain": "legal", "expectedConcepts": [{"label": 1}, {}]}, indent=2
            ),
            [
                "ml.gold.json:2: id:",
                "ml.gold.json:4: domain:",
                "expectedConcepts[0].label:",
                "expectedConcepts[1].label: is missing",
            ],
        ),
        (
            json.dumps(
                {**ENTRY, "expectedRelationships": [{"source": "A", "target": "B", "predicate": "PART_OF"}]},
                indent=2,
            ),
            ["expectedRelationships[0].predicate: 'PART_OF' is not known"],
        ),
        (
            json.dumps(
                {**ENTRY, "expectedConcepts": [{"label": "ML"}, {"label": "X", "aliases": ["ml "]}]}, indent=2
            ),
            ["expectedConcepts[1].aliases[0]: 'ml ' belongs to 'ML' and to 'X'"],
        ),
        (
            json.dumps({**ENTRY, "forbiddenConcepts": ["ml"]}),
            ["'ml' is forbidden and expected (as 'Machine Learning')"],
        ),
        (
            json.dumps(ENTRY).replace('"expectedConcepts"', '"expectedConcept"'),
            ["expectedConcept: is not a known field", "expectedConcepts", "3 problems"],
        ),
        ("", ["ml.gold.json:1: the file is empty"]),
        ('{"id": "ml",\n "domain": }', ["ml.gold.json:2: not valid JSON"]),
        ("[]", ["the list is empty"]),
        (b"\xff\xfe\x00", ["is not UTF-8"]),
    ],
)
def test_a_bad_golden_file_is_named_with_line_and_field(
    project: Project, golden: Path, tmp_path: Path, content: str | bytes, told: list[str]
) -> None:
    file = golden / "ml.gold.json"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    (golden / "other.gold.json").write_text("{")
    code, report, stderr = score(project, golden, outputs(tmp_path, {"case_id": "ml", "output": OUTPUT}, "{"))
    assert code == 2
    assert report is None
    for part in told:
        assert part in stderr
    assert "other.gold.json:1: not valid JSON" in stderr
    assert "outputs.jsonl:2: not valid JSON" in stderr


def test_a_byte_order_mark_is_tolerated(project: Project, golden: Path, tmp_path: Path) -> None:
    file = golden / "ml.gold.json"
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    answers = outputs(tmp_path, {"case_id": "ml", "output": OUTPUT})
    answers.write_bytes(b"\xef\xbb\xbf" + answers.read_bytes())
    assert score(project, golden, answers)[0] == 0


def test_an_id_may_stand_only_once(project: Project, golden: Path, tmp_path: Path) -> None:
    (golden / "twice.jsonl").write_text(json.dumps(ENTRY) + "\n" + json.dumps(ENTRY) + "\n")
    code, _, told = score(project, golden, outputs(tmp_path))
    assert code == 2
    assert "twice.jsonl:1: id: 'ml' is also the id of" in told
    assert "twice.jsonl:2: id: 'ml' is also the id of" in told


def test_a_line_of_a_hundred_megabytes_is_refused(project: Project, golden: Path, tmp_path: Path) -> None:
    with (golden / "ml.gold.json").open("wb") as file:
        file.write(b'{"id": "')
        for _ in range(100):
            file.write(b"x" * 2**20)
    code, _, told = score(project, golden, outputs(tmp_path), run=command)
    assert code == 2
    assert "ml.gold.json:1: the file has 104,857,608 bytes; the limit is" in told


@pytest.mark.parametrize("missing", ["golden", "outputs"])
def test_missing_files_are_named(project: Project, golden: Path, tmp_path: Path, missing: str) -> None:
    nowhere = tmp_path / "nowhere"
    answers = outputs(tmp_path, {"case_id": "ml", "output": OUTPUT})
    code, _, told = score(
        project, nowhere if missing == "golden" else golden, nowhere if missing == "outputs" else answers
    )
    assert code == 2
    assert str(nowhere) in told


def test_an_unknown_suite_lists_the_suites(project: Project, golden: Path, tmp_path: Path) -> None:
    done = invoke(project, "score", "nonsense", "--golden", golden, "--outputs", outputs(tmp_path))
    assert done.returncode == 2
    assert "'nonsense' is not a suite. Suites: decomposition" in done.stderr


def test_people_get_a_table(project: Project, golden: Path, tmp_path: Path) -> None:
    answers = outputs(tmp_path, {"case_id": "ml", "output": {**OUTPUT, "relationships": []}})
    done = invoke(
        project, "score", "decomposition", "--golden", golden / "ml.gold.json", "--outputs", answers
    )
    assert done.returncode == 1
    assert (
        "relationship_accuracy  0.0 %" in " ".join(done.stdout.split("\n")).replace("  ", "  ")
        or "✗ fail" in done.stdout
    )
    assert "✗ relationship_accuracy: 0.0 % is in the fail zone (< 40 %)." in done.stdout


@pytest.mark.parametrize("own", [False, True])
def test_second_annotations_of_the_project_say_nothing_about_another_golden_set(
    whole_project: Project, tmp_path: Path, own: bool
) -> None:
    """Cases with ids of the project's, labelled otherwise: only annotations that lie beside them count."""
    second = whole_project.golden("heritage_typing") / "references" / "second-annotation.tsv"
    names = [line.split("\t")[0] for line in second.read_text().splitlines()[1:6]]
    folder = tmp_path / "foreign"
    (folder / "cases").mkdir(parents=True)
    rows = ["id\ttext\tgold_type", *(f"{name}\tA zoo.\tB" for name in names)]
    (folder / "cases" / "en.tsv").write_text("\n".join(rows) + "\n")
    if own:
        (folder / "references").mkdir()
        (folder / "references" / "mine.tsv").write_text(f"id\tgold_type\n{names[0]}\tB\n")
    outputs = tmp_path / "outputs.jsonl"
    lines = [json.dumps({"case_id": name, "output": {"type": "B"}}) for name in names]
    outputs.write_text("\n".join(lines) + "\n")
    done = invoke(whole_project, "score", "heritage_typing", "--golden", folder, "--outputs", outputs)
    assert done.returncode == 0, done.stderr
    said = next(line for line in done.stderr.splitlines() if "annotator_agreement" in line)
    if own:
        assert "Cohen's κ is undefined" in said  # one label that both gave
    else:
        assert "0 of 5 cases annotated twice, a fifth is needed" in said


def test_cases_are_exported_beside_the_report(project: Project, golden: Path, tmp_path: Path) -> None:
    lines = outputs(tmp_path, {"case_id": "ml", "trial": 1, "output": OUTPUT}, {"case_id": "ml", "trial": 2})
    file = tmp_path / "cases.csv"
    _, report, told = score(project, golden, lines, "--export", str(file))
    assert "2 rows written to" in told
    with file.open(newline="") as read:
        first, second = csv.DictReader(read)
    assert (first["case_id"], first["trial"], first["error"], first["concept_recall"]) == ("ml", "1", "", "1")
    assert (second["trial"], second["error"], second["attribute:domain"]) == ("2", "missing", "technical")
    values = [float(row["overall_index"]) for row in (first, second)]
    assert sum(values) / 2 == pytest.approx(report["metrics"]["overall_index"])


def test_an_export_without_a_known_ending_scores_nothing(
    project: Project, golden: Path, tmp_path: Path
) -> None:
    file = tmp_path / "cases.xls"
    code, report, told = score(project, golden, tmp_path / "nothing.jsonl", "--export", str(file))
    assert (code, report) == (2, None)
    assert "'cases.xls' does not say by its ending how to write it. Endings: .csv, .json, .parquet." in told
    assert "nothing.jsonl" not in told

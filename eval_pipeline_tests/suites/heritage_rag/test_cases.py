"""A golden file of questions over a corpus: every contradiction is named, all of them at once."""

import json
from pathlib import Path

from eval_pipeline.golden import read_cases
from eval_pipeline.problems import Problems
from eval_pipeline.project import Project
from eval_pipeline.suites.heritage_rag import SUITE
from eval_pipeline_tests.running import invoke

GOOD = {
    "id": "one",
    "question": "When?",
    "gold_answer": "In 1911.",
    "supporting_facts": ["It opened in 1911."],
    "supporting_passages": [["p1", "p2"]],
    "answer_type": "temporal",
}


def test_every_contradiction_is_named(tmp_path: Path) -> None:
    lines = [
        GOOD,
        {**GOOD, "id": "two", "supporting_passages": []},
        {**GOOD, "id": "three", "supporting_passages": [[]]},
        {**GOOD, "id": "four", "supporting_passages": [[" "]]},
        {**GOOD, "id": "five", "gold_answer": "The sources do not say.", "question": " "},
        {**GOOD, "id": "six", "answerable": False},
    ]
    path = tmp_path / "all.jsonl"
    path.write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    problems = Problems()
    cases = [each.case for each in read_cases(SUITE, path, problems)]
    assert [case.expected.passages for case in cases] == [[["p1", "p2"]]]
    assert {(each.line, each.field) for each in problems} == {
        (2, "supporting_passages"),
        (3, "supporting_passages[0]"),
        (4, "supporting_passages[0]"),
        (5, "question"),
        (5, "gold_answer"),
        (6, "gold_answer"),
        (6, "supporting_facts"),
    }


def test_a_passage_that_the_corpus_does_not_have_is_named(tmp_path: Path) -> None:
    lines = [GOOD, {**GOOD, "id": "two", "supporting_passages": [["p2", "p3"]]}]
    path = tmp_path / "cases" / "all.jsonl"
    passages = tmp_path / "resources" / "passages.jsonl"
    for file in (path, passages):
        file.parent.mkdir()
    path.write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    known = [
        {"doc_id": name, "language": "en", "source": "web", "text": "It opened in 1911."}
        for name in ("p1", "p2")
    ]
    passages.write_text("".join(f"{json.dumps(each)}\n" for each in known))
    problems = Problems()
    assert [each.case.id for each in read_cases(SUITE, tmp_path, problems)] == ["one"]
    (problem,) = problems
    assert (problem.line, problem.field) == (2, "supporting_passages[0][1]")
    assert "'p3' is no passage" in str(problem)
    assert "resources/passages.jsonl" in str(problem)
    # What cannot be read itself is said where the corpus is loaded, and not once more for every question.
    passages.write_text("{")
    assert len(list(read_cases(SUITE, tmp_path, Problems()))) == 2


def test_the_check_of_a_golden_set_stops_at_it(whole_project: Project) -> None:
    path = whole_project.golden("heritage_rag") / "cases" / "questions.jsonl"
    first, *others = path.read_text().splitlines()
    entry = json.loads(first)
    entry["supporting_passages"] = [["nowhere"] for _ in entry["supporting_facts"]]
    path.write_text("\n".join([json.dumps(entry), *others]))
    done = invoke(whole_project, "golden", "check", "heritage_rag")
    assert done.returncode == 2
    assert "questions.jsonl:1: supporting_passages[0][0]: 'nowhere' is no passage" in done.stderr
    assert "Traceback" not in done.stderr

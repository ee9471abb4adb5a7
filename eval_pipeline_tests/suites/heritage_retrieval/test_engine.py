"""The passages, the retrievers over them, the golden set itself, and recorded runs on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from eval_pipeline.golden import GoldenCase, OverviewBuilder, read_cases, shortfalls
from eval_pipeline.problems import BadInput, Problems
from eval_pipeline.project import Project
from eval_pipeline.prompts import load_prompts
from eval_pipeline.suites.heritage_retrieval import SUITE
from eval_pipeline.suites.heritage_retrieval.cases import RetrievalInput
from eval_pipeline.suites.heritage_retrieval.engine import Parameters, fused, prepare, retrieve
from eval_pipeline.suites.heritage_retrieval.engine.corpus import (
    Corpus,
    Passage,
    Scored,
    load_corpus,
    stemmed,
)
from eval_pipeline.suites.heritage_retrieval.requirements import second_annotations
from eval_pipeline.suites.heritage_retrieval.trec import Retrieval, write_run
from eval_pipeline_tests.running import invoke
from eval_pipeline_tests.sources import values

PROJECT = Project.find()
FOLDER = PROJECT.golden(SUITE.name)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """The passages of the golden set."""
    return load_corpus(FOLDER / "resources")


@pytest.fixture(scope="module")
def cases() -> list[GoldenCase]:
    """The golden set."""
    problems = Problems()
    found = list(read_cases(SUITE, FOLDER, problems))
    assert [str(problem) for problem in problems] == []
    return found


def found_by(case: GoldenCase, corpus: Corpus, parameters: Parameters) -> Retrieval:
    return retrieve(prepare(case.case.input, parameters, corpus), parameters, corpus)


def test_passages_with_problems_are_all_named(tmp_path: Path) -> None:
    good = {"doc_id": "a", "language": "nl", "source": "web", "text": "Tekst."}
    lines = [good, good, {**good, "doc_id": "b", "language": "la"}, {**good, "doc_id": "c", "text": ""}]
    (tmp_path / "passages.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(BadInput) as caught:
        load_corpus(tmp_path)
    assert [(each.line, each.field) for each in caught.value.problems] == [
        (2, "doc_id"),
        (3, "language"),
        (4, "text"),
    ]


def test_stems_join_the_forms_of_a_word() -> None:
    assert stemmed("Klokken KLOK", "nl") == "klok klok"
    assert stemmed("bells bell", "en") == "bell bell"
    assert stemmed("bells bell", "") == "bells bell"


def test_bm25_over_stems_finds_what_words_do_not(corpus: Corpus) -> None:
    query = RetrievalInput("loonstaat turfgraver", "nl")
    words, stems = (
        [each.doc_id for each in prepare(query, Parameters(words=kind), corpus).passages]
        for kind in ("words", "stems")
    )
    assert words == []
    assert len(stems) == 1


def test_fusion_adds_reciprocal_ranks_and_names_both_sources() -> None:
    a, b, c = (Passage(name, "en", "web", name) for name in "abc")
    found = fused({"bm25": [Scored(a, 9.0), Scored(b, 8.0)], "dense": [Scored(b, 0.9), Scored(c, 0.8)]}, 3)
    assert [(each.doc_id, each.source) for each in found] == [
        ("b", "bm25+dense"),
        ("a", "bm25"),
        ("c", "dense"),
    ]
    assert found[0].score == pytest.approx(1 / 62 + 1 / 61)


@pytest.mark.parametrize("query", ["", " \n", "?!", "\u202e" * 50, "x" * 10_000])
@pytest.mark.parametrize("system", ["bm25", "hybrid"])
def test_any_query_is_answered(query: str, system: Any, corpus: Corpus) -> None:
    parameters = Parameters(system=system, depth=3)
    assert len(prepare(RetrievalInput(query, "xx"), parameters, corpus).passages) <= 3


def test_judged_documents_exist_and_the_set_has_the_documents_size(
    cases: list[GoldenCase], corpus: Corpus
) -> None:
    overview = OverviewBuilder(SUITE)
    for golden in cases:
        overview.add(golden)
        assert golden.case.expected.judgments.keys() <= corpus.passages.keys()
    built = overview.build(second_annotations(Project.find().golden(SUITE.name) / "references"))
    assert len(corpus.passages) >= 450
    short = {requirement.name for requirement, missing in shortfalls(SUITE, built) if missing}
    assert short <= {"split_balance"}


def test_the_versions_run_on_every_case_and_the_active_one_is_best(
    cases: list[GoldenCase], corpus: Corpus
) -> None:
    found = {}
    for prompt in load_prompts(SUITE, PROJECT.prompts(SUITE.name), Problems()):
        outputs = {
            case.case.id: msgspec.to_builtins(found_by(case, corpus, prompt.parameters)) for case in cases
        }
        found[prompt.front.status] = values(SUITE, cases, outputs)
    assert all(each["error_rate"] == 0 for each in found.values())
    active, *others = (found[status]["ndcg@10"] or 0.0 for status in ("active", "archived", "candidate"))
    assert active > max(others)
    assert active >= 0.60
    assert (found["active"]["judged@10"] or 0) == 1.0


def test_a_run_is_scored_on_the_command_line(cases: list[GoldenCase], corpus: Corpus, tmp_path: Path) -> None:
    run = tmp_path / "bm25.run"
    write_run(run, {case.case.id: found_by(case, corpus, Parameters()).results for case in cases})
    done = invoke(PROJECT, "score", SUITE.name, "--golden", FOLDER, "--outputs", run, "--json")
    assert done.returncode == 1, done.stderr  # it is just below the target
    report = json.loads(done.stdout)
    assert report["metrics"]["ndcg@10"] > 0.5
    assert [row["source"] for row in report["tables"]["sources"]] == ["bm25"]
    run.write_text(run.read_text() + "one two\nq Q0 d x 1 t\n")
    failed = invoke(PROJECT, "score", SUITE.name, "--golden", FOLDER, "--outputs", run, "--json")
    lines = len(run.read_text().splitlines())
    assert failed.returncode == 2
    assert f":{lines - 1}: " in failed.stderr
    assert f":{lines}: rank" in failed.stderr
    assert "Traceback" not in failed.stderr

"""TREC's formats: what is read, every bad line named at once, nothing half loaded, and what is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline.golden import read_cases
from eval_pipeline.problems import BadInput, Problems
from eval_pipeline.suites.heritage_retrieval import SUITE
from eval_pipeline.suites.heritage_retrieval.trec import (
    Result,
    answer_format,
    read_qrels,
    read_run,
    read_topics,
    write_qrels,
    write_run,
)

QRELS = "q1 0 a 3\nq1 0 b 0\nq2 0 a 1\n"
TOPIC = "<top>\n<num> Number: {}\n<title> {}\n<language> nl\n<split> dev\n</top>\n"
TOPICS = TOPIC.format("q1", "Waar?") + "\n" + TOPIC.format("q2", "Wie?")
RUN = "q1 Q0 b 1 0.5 bm25\nq2 Q0 a 1 7 dense\nq1 Q0 a 2 0.25 -\n"

Found = list[tuple[int, str, str]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, so that problems name short paths."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def named(problems: Problems) -> Found:
    return [(each.line, each.field, each.message) for each in problems]


def test_judgments_and_topics_make_cases(folder: Path) -> None:
    (folder / "x.qrels").write_text(QRELS)
    (folder / "x.topics").write_text(TOPICS)
    problems = Problems()
    for path in (folder, folder / "x.qrels", folder / "x.topics"):
        first, second = (each.case for each in read_cases(SUITE, path, problems))
        assert (first.id, first.input.query, first.input.language) == ("q1", "Waar?", "nl")
        assert first.expected.judgments == {"a": 3, "b": 0}
        assert first.attributes == {"language": "nl", "split": "dev"}
        assert second.input.query == "Wie?"
    assert named(problems) == []


def test_judgments_alone_are_enough_to_score_recorded_runs(folder: Path) -> None:
    (folder / "x.qrels").write_text(QRELS)
    cases = list(read_cases(SUITE, folder, Problems()))
    assert [(each.case.id, each.case.input.query) for each in cases] == [("q1", ""), ("q2", "")]


def test_every_bad_line_of_judgments_is_named_and_none_is_loaded(folder: Path) -> None:
    path = folder / "x.qrels"
    path.write_bytes(b"q1 0 a 3\nq1 0 a\nq1 0 b high\nq1 0 c 99\nq1 0 a 2\n\xff 0 d 1\nq1 0 d 1 extra\n")
    problems = Problems()
    assert read_qrels(path, problems) == {}
    assert [line for line, _, _ in named(problems)] == [2, 3, 4, 5, 6, 7]
    assert list(read_cases(SUITE, path, Problems())) == []


def test_a_query_in_one_of_the_two_files_only_is_named_in_the_other(folder: Path) -> None:
    (folder / "x.qrels").write_text(QRELS + "q3 0 a 1\n")
    (folder / "x.topics").write_text(TOPICS + TOPIC.format("q4", "Wat?"))
    problems = Problems()
    assert list(read_cases(SUITE, folder, problems)) == []
    assert [(each.file, each.line, each.message) for each in problems] == [
        ("x.qrels", 4, "'q3' is no topic"),
        ("x.topics", 14, "'q4' has no judgments"),
    ]


def test_every_problem_of_topics_is_named(folder: Path) -> None:
    path = folder / "x.topics"
    path.write_text(
        "stray\n<top>\n<num> q1\n<title> A\n<colour> red\n</top>\n"
        "<top>\n<num> q1\n<title>\n<split> tomorrow\n<split> dev\n</top>\n</top>\n<top>\n<num> q2\n"
    )
    problems = Problems()
    assert read_topics(path, problems) == {}
    found = {(line, field) for line, field, _ in named(problems)}
    assert found == {
        (1, ""),
        (5, "colour"),
        (7, "title"),
        (7, "num"),
        (10, "split"),
        (11, "split"),
        (13, ""),
    } | {(14, "")}


def test_topics_in_the_forms_that_trec_used(folder: Path) -> None:
    path = folder / "x.topics"
    path.write_text(
        "<top>\n<num> Number: 301\n<title> Organized\n  crime\n<desc> Description:\nWho\nknows?\n"
        "<narr> Narrative: Any.\n</top>\n<top>\n<num>302</num>\n<title>Polio</title>\n</top>\n"
    )
    topics = read_topics(path, Problems())
    assert {name: topic.title for name, topic in topics.items()} == {"301": "Organized crime", "302": "Polio"}


def test_a_run_gives_answers_whatever_the_order_of_its_lines(folder: Path) -> None:
    path = folder / "x.run"
    path.write_text(RUN)
    problems = Problems()
    answers = answer_format(path).open(path, problems)
    assert named(problems) == []
    assert answers.trials == (1,)
    answer = answers.get("q1", 1)
    assert answer is not None
    assert json.loads(answer.text or "") == {
        "results": [
            {"doc_id": "b", "score": 0.5, "source": "bm25"},
            {"doc_id": "a", "score": 0.25, "source": None},
        ]
    }
    assert answers.get("q3", 1) is None
    assert answers.get("q1", 2) is None
    assert answers.without_case(["q1"]) == ["q2"]


def test_recorded_json_lines_are_still_read(folder: Path) -> None:
    path = folder / "x.txt"
    path.write_text('\ufeff{"case_id": "q1", "output": {"results": []}}\n')
    answer = answer_format(path).open(path, Problems()).get("q1", 1)
    assert answer is not None
    assert answer.text == '{"results": []}'


def test_every_bad_line_of_a_run_is_named_and_none_is_loaded(folder: Path) -> None:
    path = folder / "x.run"
    path.write_text(
        RUN + "q1 Q0 c 3 0.1\nq1 Q0 d 4 nan t\nq1 Q0 e x 0.1 t\nq1 Q0 f 5 1_0 t\nq1 Q0 g y inf t\n"
    )
    problems = Problems()
    assert read_run(path, problems) == {}
    assert [(line, field) for line, field, _ in named(problems)] == [
        (4, ""),
        (5, "score"),
        (6, "rank"),
        (7, "score"),
        (8, "rank"),
        (8, "score"),
    ]


def test_what_cannot_be_read_back_is_not_written(folder: Path) -> None:
    rows = {"q 1": [Result("a b", 1.0, "two words"), Result("", 0.5)]}
    with pytest.raises(BadInput) as caught:
        write_run(folder / "x.run", rows)
    assert {each.field for each in caught.value.problems} == {"query", "document", "source"}
    with pytest.raises(BadInput):
        write_qrels(folder / "x.qrels", {"q": {"\u00a0": 1, "a\tb": 1}})
    assert list(folder.iterdir()) == []


def test_unscored_results_keep_their_order_in_a_run(folder: Path) -> None:
    path = folder / "x.run"
    write_run(path, {"q": [Result("b"), Result("a"), Result("b")]})
    assert path.read_text() == "q Q0 b 1 2.0 -\nq Q0 a 2 1.0 -\n"


WORD = st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1, max_size=8)
RESULT = st.builds(Result, WORD, st.floats(-1e9, 1e9), st.none() | WORD.filter(lambda word: word != "-"))


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(WORD, st.lists(RESULT, min_size=1, max_size=6, unique_by=lambda each: each.doc_id)))
def test_a_run_survives_writing_and_reading(
    tmp_path_factory: pytest.TempPathFactory, queries: dict[str, list[Result]]
) -> None:
    path = tmp_path_factory.mktemp("runs") / "x.run"
    write_run(path, queries)
    problems = Problems()
    read = read_run(path, problems)
    assert named(problems) == []
    assert {name: set(found) for name, found in read.items()} == {
        name: set(found) for name, found in queries.items()
    }


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(WORD, st.dictionaries(WORD, st.integers(-3, 3), min_size=1, max_size=4), min_size=1))
def test_judgments_survive_writing_and_reading(
    tmp_path_factory: pytest.TempPathFactory, judgments: dict[str, dict[str, int]]
) -> None:
    path = tmp_path_factory.mktemp("qrels") / "x.qrels"
    write_qrels(path, judgments)
    assert {name: query.grades for name, query in read_qrels(path, Problems()).items()} == judgments


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_named(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("bytes") / "x.topics"
    path.write_bytes(data)
    for read in (read_qrels, read_topics, read_run):
        problems = Problems()
        loaded = read(path, problems)
        assert not (loaded and len(problems))

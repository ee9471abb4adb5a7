"""Golden sets: which files are read, and what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval_pipeline.golden import GoldenCase, read_cases
from eval_pipeline.problems import Problems
from eval_pipeline.suites.decomposition import SUITE

Found = list[tuple[str, int, str, str]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A golden folder in the working directory, so that problems name short paths."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "golden").mkdir()
    return tmp_path / "golden"


def entry(case_id: str, **changes: Any) -> dict[str, Any]:
    concepts = [{"label": "Coral reef", "aliases": ["reef"]}, {"label": "Algae"}]
    base = {"id": case_id, "domain": "ecological", "sourceText": "Reefs.", "expectedConcepts": concepts}
    return {**base, **changes}


def write(path: Path, *entries: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = path.suffix in (".jsonl", ".ndjson")
    path.write_text("\n".join(map(json.dumps, entries)) if lines else json.dumps(list(entries), indent=1))
    return path


def read(path: Path) -> tuple[list[GoldenCase], Found]:
    problems = Problems()
    cases = list(read_cases(SUITE, path, problems))
    return cases, [(each.file, each.line, each.field, each.message) for each in problems]


def ids(path: Path) -> list[tuple[str, str]]:
    cases, found = read(path)
    assert found == []
    return [(each.case.id, each.file) for each in cases]


def test_a_folder_is_read_in_the_order_of_its_files(folder: Path) -> None:
    write(folder / "b.json", entry("b"))
    write(folder / "a.jsonl", entry("a1"), entry("a2"))
    write(folder / "deeper" / "c.ndjson", entry("c"))
    (folder / "gates.yaml").write_text("not a case")
    (folder / ".hidden.json").write_text("not a case")
    assert ids(folder) == [
        ("a1", "golden/a.jsonl"),
        ("a2", "golden/a.jsonl"),
        ("b", "golden/b.json"),
        ("c", "golden/deeper/c.ndjson"),
    ]


def test_of_a_folder_with_cases_only_those_are_read(folder: Path) -> None:
    write(folder / "cases" / "a.json", entry("a"))
    (folder / "signoff.json").write_text("not a case")
    (folder / "resources").mkdir()
    (folder / "resources" / "words.json").write_text("not a case")
    assert ids(folder) == [("a", "golden/cases/a.json")]


def test_a_single_file_is_read(folder: Path) -> None:
    write(folder / "other.json", entry("other"))
    assert ids(write(folder / "a.json", entry("a"))) == [("a", "golden/a.json")]


def test_a_missing_path_and_an_empty_folder_are_named(folder: Path) -> None:
    assert read(folder / "nowhere") == ([], [("golden/nowhere", 0, "", "does not exist")])
    empty = ("golden", 0, "", "holds no golden file (.json, .jsonl, .ndjson)")
    assert read(folder) == ([], [empty])
    (folder / "cases").mkdir()
    write(folder / "a.json", entry("a"))
    assert read(folder) == ([], [empty])


def test_an_id_that_stands_twice_is_named_with_both_places(folder: Path) -> None:
    write(folder / "a.jsonl", entry("x"), entry("same"))
    write(folder / "b.jsonl", entry("y"), entry("z"), entry("same"), entry("same"))
    cases, found = read(folder)
    assert len(cases) == 6
    message = "'same' is also the id of golden/a.jsonl:2"
    assert found == [("golden/b.jsonl", 3, "id", message), ("golden/b.jsonl", 4, "id", message)]


def test_blank_ids_are_named(folder: Path) -> None:
    write(folder / "a.jsonl", entry(""), entry("a"), entry(" \t"))
    assert read(folder)[1] == [
        ("golden/a.jsonl", 1, "id", "is no usable id"),
        ("golden/a.jsonl", 3, "id", "is no usable id"),
    ]


def concepts(*names: list[str]) -> dict[str, Any]:
    return {"expectedConcepts": [{"label": label, "aliases": aliases} for label, *aliases in names]}


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        (concepts(["Reef", "REEF", "reef "]), []),
        (
            concepts(["Reef", "Coral"], ["coral"]),
            [("expectedConcepts[1].label", "'coral' belongs to 'Reef'")],
        ),
        (
            concepts(["Reef"], ["Algae", "Kelp", "ＲＥＥＦ"]),
            [("expectedConcepts[1].aliases[1]", "'ＲＥＥＦ' belongs to 'Reef' and to 'Algae'")],
        ),
        (
            concepts(["", "a"], ["b", " "]),
            [("expectedConcepts[0].label", "is blank"), ("expectedConcepts[1].aliases[0]", "is blank")],
        ),
        ({"forbiddenConcepts": ["Whale"]}, []),
        (
            {"forbiddenConcepts": ["Whale", "coral  REEF", "Reef", ""]},
            [
                ("forbiddenConcepts[1]", "'coral  REEF' is forbidden and expected (as 'Coral reef')"),
                ("forbiddenConcepts[2]", "'Reef' is forbidden and expected (as 'Coral reef')"),
                ("forbiddenConcepts[3]", "is blank"),
            ],
        ),
        ({"sourceText": " \n"}, [("sourceText", "is blank")]),
        ({"domain": "culinary"}, [("domain", "'culinary' is not known")]),
        (
            {"expectedRelationships": [{"source": "a", "target": "b", "predicate": "EATS"}]},
            [("expectedRelationships[0].predicate", "'EATS' is not known")],
        ),
    ],
)
def test_contradictions_are_named(
    folder: Path, changes: dict[str, Any], found: list[tuple[str, str]]
) -> None:
    path = write(folder / "a.jsonl", entry("fine"), entry("a", **changes))
    cases, named = read(path)
    assert [case.case.id for case in cases] == (["fine"] if found else ["fine", "a"])
    assert [(line, field) for _, line, field, _ in named] == [(2, field) for field, _ in found]
    assert all(part in message for (_, part), (*_, message) in zip(found, named, strict=True))


def test_hashes_tell_what_changed(folder: Path) -> None:
    def hashes(**changes: Any) -> tuple[str, str]:
        ((case,), _) = read(write(folder / "a.json", entry("a", **changes)))
        return case.input_hash, case.case_hash

    before = hashes()
    same = [first == second for first, second in zip(before, hashes(forbiddenConcepts=["x"]), strict=True)]
    assert same == [True, False]
    assert not set(before) & set(hashes(sourceText="Other."))
    assert before == hashes()

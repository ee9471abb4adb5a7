"""Files of another program: read as they mean it, with their lines, and never beyond their bounds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from eval_pipeline.importing.documents import MOST_FILES, Fields, Folder, parse_document, resolved
from eval_pipeline.importing.places import Leftovers, NotTaken
from eval_pipeline.problems import BadInput, Problems
from eval_pipeline_tests.importing.configuring import LAUGHS


def parsed(text: str) -> tuple[Any, list[str], Leftovers]:
    problems, leftovers = Problems(), Leftovers()
    value = parse_document(text, Path("x.yaml"), leftovers, problems)
    return value, [str(each) for each in problems], leftovers


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", "yes"),
        ("off", "off"),
        ("true", True),
        ("TRUE", True),
        ("'true'", "true"),
        ("~", None),
        ("", None),
        ("012", 12),
        ("0x1f", 31),
        ("1.0", 1),
        ("1.5", 1.5),
        ("1e3", 1000),
        ("1:30", "1:30"),
        (".5", 0.5),
        ("1_000", "1_000"),
        ('"1"', "1"),
        ("Capital of France?", "Capital of France?"),
    ],
)
def test_values_are_those_of_javascript(text: str, value: Any) -> None:
    document, problems, _ = parsed(f"a: {text}")
    assert not problems
    assert document["a"] == value
    assert type(document["a"]) is type(value)


def test_every_value_knows_its_line() -> None:
    document, _, _ = parsed("a: 1\nb:\n  - c: 2\n  - {d: 3,\n     e: 4}\n")
    assert document.at("b") == (Path("x.yaml"), 2, "b")
    assert document["b"].lines[1] == (Path("x.yaml"), 4, "b[1]")
    assert document["b"][1].at("e") == (Path("x.yaml"), 5, "b[1].e")


def test_anchors_and_merged_keys() -> None:
    document, _, _ = parsed(
        "base: &b {x: 1, y: 2}\none:\n  <<: *b\n  y: 3\ntwo: [*b, *b]\nlast: {<<: [*b, {z: 4}]}\n"
    )
    assert document["one"] == {"x": 1, "y": 3}
    assert document["two"] == [{"x": 1, "y": 2}] * 2
    assert document["last"] == {"x": 1, "y": 2, "z": 4}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (LAUGHS, "has more than 100,000 values, anchors followed"),
        ("&a [*a]", "nested more than 100 deep"),
        ("[" * 500_000, "nested more than 100 deep"),
        ("- " * 50_000, "nested more than 100 deep"),
        ("a: 1\nb: 2\na: 3", "x.yaml:3: a: stands twice"),
        ("a: b: c", "x.yaml:1: not valid YAML"),
        ("a: \x00", "not valid YAML"),
        ("a: [1", "not valid YAML"),
        ("a: 1\n--- \nb: 2", "not valid YAML"),
    ],
    ids=["laughs", "circle", "brackets", "dashes", "twice", "syntax", "nul", "open", "two"],
)
def test_documents_that_cannot_be_used(text: str, said: str) -> None:
    document, problems, _ = parsed(text)
    assert document is None
    assert len(problems) == 1
    assert said in problems[0]


def test_what_is_read_otherwise_is_said() -> None:
    document, _, leftovers = parsed(
        "a: 2026-11-17\nb: !!python/object/apply:os.system [true]\nc: !!binary aGk=\n"
    )
    assert document["a"] == "2026-11-17"
    assert document["b"] == [True]
    assert [each.line for each in leftovers.changed] == [1, 3]


def test_references_within_the_document() -> None:
    document, problems, leftovers = parsed(
        "t: {p: {type: regex, value: x}, q: [{$ref: '#/t/p'}]}\n"
        "use:\n  - $ref: '#/t/p'\n  - $ref: '#/t/q/0'\n  - $ref: 'http://x/y.json#/a'\n  - $ref: '#/none'\n"
    )
    assert not problems
    found = resolved(document, leftovers, Problems())
    assert found["use"] == [{"type": "regex", "value": "x"}] * 2 + [None] * 2
    assert found["use"][0].place.line == 3
    assert [(each.line, each.message) for each in leftovers.dropped] == [
        (5, "refers to 'http://x/y.json#/a'"),
        (6, "refers to '#/none'"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "a: {$ref: '#/a'}",
        "a: {b: {$ref: '#/a'}}",
        "a: [x]\n"
        + "".join(
            f"a{number}: [{', '.join([f'{{$ref: `#/a{number - 1 or str()}`}}'.replace('`', chr(39))] * 9)}]\n"
            for number in range(1, 12)
        ),
    ],
    ids=["itself", "inside", "laughs"],
)
def test_references_that_lead_nowhere(text: str) -> None:
    document, problems, leftovers = parsed(text)
    assert not problems
    assert isinstance(document, Fields)
    with pytest.raises(BadInput, match="references make more than"):
        resolved(document, leftovers, Problems())


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    root = tmp_path / "config"
    (root / "data").mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("secret")
    (root / "data" / "a.txt").write_text("a")
    (root / "data" / "b.txt").write_text("b")
    (root / "link.txt").symlink_to(tmp_path / "secret.txt")
    (root / "up").symlink_to(tmp_path)
    (root / "in.txt").symlink_to(root / "data" / "a.txt")
    os.mkfifo(root / "pipe.txt")
    return Folder(root, Leftovers())


def test_files_are_named_from_the_folder_on(folder: Folder) -> None:
    assert [path.name for path in folder.named("file://data/*.txt")] == ["a.txt", "b.txt"]
    assert folder.text(*folder.named("file://./data/a.txt")) == "a"
    assert folder.text(*folder.named("in.txt")) == "a"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("file://../secret.txt", "leads out"),
        ("file://data/../../secret.txt", "leads out"),
        ("file:///etc/passwd", "leads out"),
        ("file://link.txt", "leads out"),
        ("file://up/secret.txt", "leads out"),
        ("file://up/*.txt", "leads out"),
        ("file://*.txt", "leads out"),
        ("file://none.txt", "there is no file"),
        ("file://data", "there is no file"),
        ("file://pipe.txt", "there is no file"),
        ("file://a\0b", "there is no file"),
        (f"file://{'x' * 5000}", "there is no file"),
        ("file://x.py:get_var", "never run"),
        ("file://x.JS", "never run"),
        ("file://{{ name }}.txt", "a template of a path"),
    ],
)
def test_nothing_else_is_read(folder: Folder, name: str, said: str) -> None:
    with pytest.raises(NotTaken, match=said):
        folder.named(name)


def test_files_are_bounded(folder: Folder) -> None:
    (folder.root / "large.txt").write_bytes(b"x" * (2**20 + 1))
    (folder.root / "latin.txt").write_bytes(b"\xe9")
    for name in ("large.txt", "latin.txt"):
        with pytest.raises(NotTaken):
            folder.text(*folder.named(name))
    for number in range(MOST_FILES + 1):
        (folder.root / "data" / f"{number}.md").write_text("x")
    with pytest.raises(NotTaken, match="the limit is"):
        folder.named("file://data/*.md")

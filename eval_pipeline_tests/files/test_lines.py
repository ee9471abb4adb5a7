"""Reading JSON, JSON Lines and YAML: every problem at once, each in its place."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.files import (
    LARGEST_YAML,
    Violation,
    line_blocks,
    lines,
    parts_in_step,
    read_json,
    read_json_lines,
    read_yaml,
)
from eval_pipeline.files.lines import LARGEST_LINE
from eval_pipeline.files.text import LARGEST_FILE
from eval_pipeline.problems import Problems

Found = list[tuple[int, str, str]]


class Part(msgspec.Struct):
    label: str
    aliases: list[str] = []


class Record(msgspec.Struct):
    id: str
    count: int = 0
    parts: list[Part] = []
    version: str = ""
    main: Part | None = None
    sizes: dict[str, float] = {}


class Strict(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    limit: float = 1.0


def read(
    path: Path, content: str | bytes, kind: Any = Record, check: Any = lambda _: ()
) -> tuple[list[Any], Found]:
    """The records in a file of that content, and the problems with their lines and fields."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    problems = Problems()
    records: list[Any]
    if path.suffix == ".yaml":
        record = read_yaml(path, kind, problems, check)
        records = [] if record is None else [record]
    else:
        reader = read_json if path.suffix == ".json" else read_json_lines
        records = [(each.line, each.record) for each in reader(path, kind, problems, check)]
    assert {problem.file for problem in problems} <= {str(path)}
    return records, [(problem.line, problem.field, problem.message) for problem in problems]


def test_json_lines_give_their_good_records_and_name_the_others(tmp_path: Path) -> None:
    lines = [
        '\ufeff{"id": "a"}',
        "",
        '{"id": 1, "parts": [{"label": 2}], "verson": "x"}',
        '{"id": "b"}\r',
        "[]",
        '{"id": "c',
    ]
    records, found = read(tmp_path / "x.jsonl", "\n".join(lines))
    assert records == [(1, Record("a")), (4, Record("b"))]
    assert [(line, field) for line, field, _ in found] == [
        (3, "id"),
        (3, "parts[0].label"),
        (3, "verson"),
        (5, ""),
        (6, ""),
    ]
    assert "not valid JSON" in found[-1][2]
    assert "cut off" in found[-1][2]


@pytest.mark.parametrize("name", ["x.json", "x.jsonl", "x.yaml"])
def test_unknown_fields_are_ignored_unless_the_record_is_strict(tmp_path: Path, name: str) -> None:
    text = '{"id": "a", "colour": "red", "taste": "sweet"}\n'
    assert len(read(tmp_path / name, text)[0]) == 1
    assert read(tmp_path / name, text, Strict) == (
        [],
        [(1, "colour", "is not a known field"), (1, "taste", "is not a known field")],
    )


@pytest.mark.parametrize(
    ("name", "text"), [("x.json", '\n{"id":\n"a"}'), ("x.jsonl", '\n\n{"id":"a"}'), ("x.yaml", "\n\nid: a")]
)
def test_what_a_check_finds_is_named_in_its_place(tmp_path: Path, name: str, text: str) -> None:
    def check(record: Record) -> Iterable[Violation]:
        yield Violation(("id",), f"{record.id!r} is taken")

    assert read(tmp_path / name, text, Record, check) == ([], [(3, "id", "'a' is taken")])


def empty(line: int) -> Found:
    return [(line, "", "the file is empty")]


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("x.json", "", empty(1)),
        ("x.json", "\ufeff", empty(1)),
        ("x.json", " \r\n\t\n", empty(1)),
        ("x.yaml", "", empty(1)),
        ("x.yaml", "\n \n", empty(1)),
        ("x.jsonl", "", empty(1)),
        ("x.jsonl", "\ufeff\n \n", empty(1)),
        ("x.json", "[]", [(1, "", "the list is empty")]),
        ("x.yaml", "# nothing\n", [(1, "id", "is missing")]),
        ("x.json", "\n\n7", [(3, "", "Expected 'object', got 'int'")]),
        ("x.yaml", "\n- a\n", [(2, "", "Expected 'object', got 'array'")]),
        ("x.json", b'{\n"id": "\xe9"}', [(2, "", "byte 9 is not UTF-8")]),
        ("x.yaml", b"id: a\n# \xe9\n", [(2, "", "byte 8 is not UTF-8")]),
        ("x.jsonl", b'{"id": "a"}\n{"id": "\xe9"}\n', [(2, "", "byte 8 of the line is not UTF-8")]),
        ("x.yaml", "id: a\ncount: 1\nid: b\n", [(3, "id", "stands twice")]),
        (
            "x.yaml",
            "id: a\nparts:\n- label: a\n  label: b\n  label: c\n",
            [(4, "label", "stands twice"), (5, "label", "stands twice")],
        ),
    ],
)
def test_files_that_hold_no_record(tmp_path: Path, name: str, content: str | bytes, found: Found) -> None:
    assert read(tmp_path / name, content)[1] == found


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("x.json", '{"id": "a"', 1),
        ("x.json", '{\n"id": "a",\n"count" 3}', 3),
        ("x.json", '{\r\n"id": "a",\r\n"count" 3}', 3),
        ("x.json", '\ufeff{\n"id": "a",\n"count" 3}', 3),
        ("x.json", '{"id": "a"}\n{"id": "b"}', 2),
        ("x.json", '[\n{"id": "a"}\n{"id": "b"}]', 3),
        ("x.json", '{\n"id": "a\nb"}', 2),
        ("x.jsonl", '{"id": "a"}\nid\n', 2),
        ("x.yaml", "id: a\nparts: [\n", 3),
        ("x.yaml", "id: a\n\tcount: 1\n", 2),
        ("x.yaml", "id: a\n---\nid: b\n", 2),
        ("x.yaml", "id: !!python/object/apply:os.getcwd []\n", 1),
        pytest.param("x.yaml", "id: " + "[" * 2000, 1, id="deep"),
    ],
)
def test_syntax_errors_are_named_with_their_line(tmp_path: Path, name: str, text: str, line: int) -> None:
    records, found = read(tmp_path / name, text)
    assert [line for line, _, _ in found] == [line]
    assert found[0][2].startswith("not valid ")
    assert len(records) == (1 if name == "x.jsonl" else 0)


def test_a_line_that_is_too_long_is_named_and_skipped(tmp_path: Path) -> None:
    long = b'{"id": "' + b"x" * LARGEST_LINE + b'"}'
    records, found = read(tmp_path / "x.jsonl", b'{"id": "a"}\n' + long + b'\n{"id": "b"}\n' + long)
    assert [line for line, _ in records] == [1, 3]
    assert [(line, message) for line, _, message in found] == [
        (2, "the line is longer than 16,777,216 bytes"),
        (4, "the line is longer than 16,777,216 bytes"),
    ]


@pytest.mark.parametrize(
    ("name", "size", "message"),
    [
        ("x.json", LARGEST_FILE + 1, "the file has 67,108,865 bytes; the limit is 67,108,864"),
        ("x.yaml", LARGEST_YAML + 1, "the file has 1,048,577 bytes; the limit is 1,048,576"),
        ("x.json", None, "cannot be read: No such file or directory"),
        ("x.yaml", None, "cannot be read: No such file or directory"),
    ],
)
def test_files_too_large_or_missing(tmp_path: Path, name: str, size: int | None, message: str) -> None:
    path, problems = tmp_path / name, Problems()
    if size is not None:
        with path.open("wb") as file:
            file.truncate(size)
    found = read_yaml(path, Record, problems) if name == "x.yaml" else [*read_json(path, Record, problems)]
    assert not found
    assert [problem.message for problem in problems] == [message]


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("x.json", '{"id": "a", "x": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deeply"),
        ("x.jsonl", '{"id": "a", "x": ' + "[" * 100_000 + "]" * 100_000 + "}\n", "nested too deeply"),
        ("x.json", '{"id": "a",\n"count": NaN}', "NaN is not a number"),
        ("x.json", '{"id": "a", "count": ' + "1" * 5000 + "}", "not valid JSON"),
        ("x.yaml", "id: a\nversion: \x07", "special characters are not allowed"),
        ("x.yaml", "id: a\ncount: !!bool foo", "not valid YAML"),
        ("x.yaml", "id: a\ncount: !!timestamp foo", "not valid YAML"),
        ("x.yaml", 'id: a\ncount: !!int ""', "not valid YAML"),
        ("x.yaml", 'id: a\nversion: "\\ud800"', "not valid YAML"),
    ],
)
def test_nothing_in_a_file_can_crash_its_reader(tmp_path: Path, name: str, content: str, found: str) -> None:
    records, problems = read(tmp_path / name, content)
    assert records == []
    assert found in " ".join((*problems[0][1:],))


@pytest.mark.parametrize("depth", [900, 985, 990, 994, 997, 1000, 5000, 20_000])
def test_depth_is_read_or_refused(tmp_path: Path, depth: int) -> None:
    """How deep is too deep is Python's own limit, which differs from version to version."""
    records, problems = read(tmp_path / "x.json", '[{"id": "a", "x": ' + "[" * depth + "]" * depth + "}]")
    assert len(records) + len(problems) == 1
    assert records or "nested too deeply" in problems[0][2]


@pytest.mark.parametrize("name", ["x.json", "x.jsonl", "x.yaml"])
def test_a_misspelt_field_is_never_lost(tmp_path: Path, name: str) -> None:
    content = {"id": "a", "verson": "2", "parts": [{"label": "b", "alases": []}]}
    records, problems = read(tmp_path / name, json.dumps(content))
    assert records == []
    assert {field for _, field, _ in problems} == {"verson", "parts[0].alases"}


def test_a_missing_file_is_a_problem(tmp_path: Path) -> None:
    for reader in (read_json, read_json_lines):
        problems = Problems()
        assert list(reader(tmp_path / "none.json", Record, problems)) == []
        assert len(problems) == 1


class Flat(msgspec.Struct):
    id: str
    count: int = 0


@pytest.mark.parametrize("block", [7, 30, 1000])
@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\r\n"])
def test_where_a_block_ends_never_matters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, end: str
) -> None:
    monkeypatch.setattr("eval_pipeline.files.lines.BLOCK", block)
    lines = ['{"id": "a"}', "", '{"id": "b", "count": "x"}', '{"id": "é", "count": 2}', '{"id": "d"}']
    records, found = read(tmp_path / "x.jsonl", "\ufeff" + "\n".join(lines) + end, Flat)
    assert [(line, each.id) for line, each in records] == [(1, "a"), (4, "é"), (5, "d")]
    assert found == [(3, "count", "Expected 'int', got 'str'")]


def test_a_misspelt_field_is_noticed_among_lines_that_are_in_order(tmp_path: Path) -> None:
    text = '{"id": "a", "count": 1}\n{"id": "b", "cuont": 1}\n{"id": "c", "colour": 1}\n'
    records, found = read(tmp_path / "x.jsonl", text, Flat)
    assert [each.id for _, each in records] == ["a", "c"]
    assert found == [(2, "cuont", "is not a known field")]


@pytest.mark.parametrize("block", [10, 39])
def test_a_line_that_is_too_long_costs_only_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr("eval_pipeline.files.lines.BLOCK", block)
    monkeypatch.setattr("eval_pipeline.files.lines.LARGEST_LINE", 40)
    text = '{"id": "a"}\n{"id": "' + "x" * 90 + '"}\n{"id": "c"}\n'
    records, found = read(tmp_path / "x.jsonl", text, Flat)
    assert [(line, each.id) for line, each in records] == [(1, "a"), (3, "c")]
    assert [(line, message) for line, _, message in found] == [(2, "the line is longer than 40 bytes")]


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=20), st.integers(1, 5), st.booleans()
)
def test_files_cut_in_step_are_the_same_lines(sizes: list[tuple[int, int]], count: int, ended: bool) -> None:
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "BLOCK", 7)
        paths = [Path(name) / "one", Path(name) / "other"]
        for column, path in enumerate(paths):
            text = "\n".join("x" * size[column] for size in sizes) + "\n" * ended
            path.write_text(text)
        parts = parts_in_step(paths[0], paths[1], count)
        assert len(parts) == count
        for column, path in enumerate(paths):
            problems = Problems()
            blocks = [block for pair in parts for block in line_blocks(path, problems, pair[column])]
            assert b"".join(block.data for block in blocks) == path.read_bytes()
            number = 1
            for block in blocks:
                assert block.number == number
                number += block.data.count(b"\n")
        starts = [
            [path.read_bytes()[: pair[column].start].count(b"\n") for pair in parts]
            for column, path in enumerate(paths)
        ]
        assert starts[0] == starts[1]


def test_a_line_without_end_is_not_read_to_the_end(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    with file.open("wb") as opened:
        opened.truncate(2**40)
    problems = Problems()
    assert list(line_blocks(file, problems)) == []
    assert [each.message for each in problems] == ["the line is longer than 16,777,216 bytes"]

"""Files of cases: every format gives the same rows, and what is wrong has its line."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from eval_pipeline.declarative.records import LARGEST_CELL, Record, columns_of, read_rows
from eval_pipeline.problems import Problems

ROWS = [
    {"id": "1", "text": "Hello, you"},
    {"id": "2", "text": "two\nlines"},
    {"id": "3", "text": 'a "quote"'},
]


def rows_of(path: Path) -> tuple[list[Record], list[str], Problems]:
    problems = Problems()
    rows = list(read_rows(path, problems))
    return (
        rows,
        [f"{each.line}: {each.field}{': ' * bool(each.field)}{each.message}" for each in problems],
        problems,
    )


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    quoted = ['1,"Hello, you"', '2,"two\nlines"', '3,"a ""quote"""']
    texts = {
        "csv": "\n".join(["id,text", *quoted]),
        "tsv": "\n".join(["id\ttext", *quoted])
        .replace('1,"', '1\t"')
        .replace('2,"', '2\t"')
        .replace('3,"', '3\t"'),
        "jsonl": "\n".join(map(json.dumps, ROWS)),
        "json": json.dumps(ROWS, indent=1),
        "yaml": yaml.safe_dump(ROWS, sort_keys=False),
    }
    found = {}
    for ending, text in texts.items():
        found[ending] = tmp_path / f"cases.{ending}"
        found[ending].write_text(text)
    found["parquet"] = tmp_path / "cases.parquet"
    pq.write_table(pa.Table.from_pylist(ROWS), found["parquet"])
    return found


@pytest.mark.parametrize(
    ("ending", "lines"),
    [
        ("csv", [2, 3, 5]),
        ("tsv", [2, 3, 5]),
        ("jsonl", [1, 2, 3]),
        ("json", [2, 6, 10]),
        ("yaml", [1, 3, 8]),
        ("parquet", [1, 2, 3]),
    ],
)
def test_every_format(files: dict[str, Path], ending: str, lines: list[int]) -> None:
    rows, problems, _ = rows_of(files[ending])
    assert not problems
    assert [each.row for each in rows] == ROWS
    if ending != "yaml":
        assert [each.line for each in rows] == lines
    else:
        text = files[ending].read_text().splitlines()
        assert all(text[each.line - 1].lstrip("- ").startswith("id:") for each in rows)
    assert columns_of(files[ending], Problems()) == ["id", "text"]


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_byte_order_marks(tmp_path: Path, ends: str, mark: bytes) -> None:
    file = tmp_path / "cases.csv"
    file.write_bytes(mark + ends.join(["id,text", '1,"a', 'b"', "", "2,c", "3"]).encode())
    rows, problems, _ = rows_of(file)
    assert [(each.row["id"], each.line) for each in rows] == [("1", 2), ("2", 5)]
    assert rows[0].row["text"] == f"a{ends}b"
    assert problems == ["6: 1 cells, the header has 2"]


@pytest.mark.parametrize(
    ("data", "problems"),
    [
        (b"", ["1: the file is empty"]),
        (b" \n\n", ["1: the file is empty"]),
        (b"id,text\n", ["1: the table has no rows"]),
        (b"id,text,id\n1,a,2\n", ["1: id: stands twice in the header"]),
        (b"\n\nid,text,id\n1,a,2\n", ["3: id: stands twice in the header"]),
        (b"id,,text\n1,2,3\n", ["1: the header has a column without a name"]),
        (b"id,text\n1,a,b\n2\n3,d\n", ["2: 3 cells, the header has 2", "3: 1 cells, the header has 2"]),
        (b"id,text\n1,a\x00b\n2,c\n", ["2: holds the character NUL"]),
        (b"id,text\n1,a\n2,\xe4\n", ["3: is not UTF-8"]),
        ("id,text\n1,a\n".encode("utf-16"), ["1: is UTF-16"]),
        (b'id,text\n1,"a"b\n2,c\n', ["2: not valid CSV: ',' expected after '\"'"]),
        (b'id,text\n1,a\n2,"open\n3,c\n', ["3: not valid CSV: unexpected end of data"]),
    ],
)
def test_tables_that_are_not_well_formed(tmp_path: Path, data: bytes, problems: list[str]) -> None:
    file = tmp_path / "cases.csv"
    file.write_bytes(data)
    assert rows_of(file)[1] == problems


def test_large_cells_and_formulas(tmp_path: Path) -> None:
    file = tmp_path / "cases.csv"
    file.write_text(f"id,text\n1,{'x' * 2**20}\n2,=1+1\n3,-5\n")
    rows, problems, found = rows_of(file)
    assert not problems
    assert len(rows[0].row["text"]) == 2**20
    assert [each.row["text"] for each in rows[1:]] == ["=1+1", "-5"]
    assert [(each.line, each.message) for each in found.notes] == [
        (3, "text: looks like a formula and is read as text")
    ]
    file.write_text(f"id,text\n1,{'x' * (LARGEST_CELL + 1)}\n2,b\n")
    rows, problems, _ = rows_of(file)
    assert [each.row["id"] for each in rows] == ["2"]
    assert problems == [f"2: not valid CSV: field larger than field limit ({LARGEST_CELL})"]


def test_semicolons(tmp_path: Path) -> None:
    file = tmp_path / "cases.csv"
    file.write_text("id;text\n1;a, b\n")
    assert rows_of(file)[0] == [Record({"id": "1", "text": "a, b"}, 2)]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_blank_lines_before_the_header(tmp_path: Path, separator: str) -> None:
    file = tmp_path / ("cases.tsv" if separator == "\t" else "cases.csv")
    file.write_text("\n\r\n" + "\n\n".join(separator.join(row) for row in (("id", "text"), ("1", "a"))))
    rows, problems, _ = rows_of(file)
    assert (rows, problems) == ([Record({"id": "1", "text": "a"}, 5)], [])
    assert columns_of(file, Problems()) == ["id", "text"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", '{"id": 1}\nnot json\n'),
        ("a.jsonl", "[1]\n"),
        ("a.json", "{"),
        ("a.json", "[]"),
        ("a.yaml", "- a: &x 1\n  b: *x\n"),
        ("a.yaml", "a: 1\n"),
        ("a.yaml", ""),
        ("a.parquet", "no parquet"),
        ("a.xlsx", "x"),
    ],
)
def test_other_files_that_cannot_be_read(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert rows_of(tmp_path / name)[1]

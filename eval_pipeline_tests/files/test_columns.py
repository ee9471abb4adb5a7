"""Results for other programs: types that say what may be null, and text that no spreadsheet runs."""

from __future__ import annotations

import csv
import datetime
import json
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.files import Kind, data_frame, export_table, typed_table
from eval_pipeline.files.columns import ENDINGS
from eval_pipeline.problems import BadInput

ACTING = ("=", "+", "-", "@", "\t", "\r")
AT = datetime.datetime(2026, 3, 1, 2, tzinfo=datetime.UTC)
KINDS: dict[str, Kind] = {
    "name": "text",
    "note": "text?",
    "trial": "int",
    "group": "int?",
    "exact": "float",
    "value": "float?",
    "passed": "flag",
    "at": "time",
}
ROWS = [("a", None, 1, None, 0.1, None, True, AT), ("b", "x", 2, 7, -2.5, -0.25, False, AT)]


def table() -> pa.Table:
    return typed_table(KINDS, [dict(zip(KINDS, row, strict=True)) for row in ROWS])


def read_csv(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_columns_of_a_frame_have_types_of_their_own() -> None:
    frame = data_frame(table())
    assert frame.dtypes.map(str).to_dict() == {
        "name": "string",
        "note": "string",
        "trial": "int64",
        "group": "Int64",
        "exact": "float64",
        "value": "Float64",
        "passed": "bool",
        "at": "datetime64[us, UTC]",
    }
    assert frame["value"].isna().tolist() == [True, False]
    assert frame["note"].isna().tolist() == [True, False]
    assert frame["at"].iloc[0] == pd.Timestamp(AT)


def test_a_frame_without_rows_has_the_same_types() -> None:
    assert data_frame(typed_table(KINDS, [])).dtypes.equals(data_frame(table()).dtypes)


def test_what_may_be_null_may_be_left_out_and_nothing_else() -> None:
    kinds: dict[str, Kind] = {"name": "text", "value": "float?"}
    assert typed_table(kinds, [{"name": "a"}]).to_pylist() == [{"name": "a", "value": None}]
    with pytest.raises(KeyError, match="name"):
        typed_table(kinds, [{"value": 1.0}])


def test_parquet_keeps_values_types_and_nulls(tmp_path: Path) -> None:
    export_table(tmp_path / "rows.parquet", table())
    assert pq.read_table(tmp_path / "rows.parquet").equals(table())


def test_csv_keeps_numbers_and_leaves_nulls_blank(tmp_path: Path) -> None:
    export_table(tmp_path / "rows.CSV", table())
    header, *rows = read_csv(tmp_path / "rows.CSV")
    assert header == list(KINDS)
    assert rows == [
        ["a", "", "1", "", "0.1", "", "true", "2026-03-01T02:00:00+00:00"],
        ["b", "x", "2", "7", "-2.5", "-0.25", "false", "2026-03-01T02:00:00+00:00"],
    ]


def test_json_is_a_list_of_rows(tmp_path: Path) -> None:
    columns: dict[str, Kind] = {"name": "text", "value": "float?"}
    first: dict[str, Any] = {"name": "a", "value": None}
    many: list[list[dict[str, Any]]] = [[], [first], [first, {"name": "b", "value": -0.5}]]
    for rows in many:
        export_table(tmp_path / "rows.json", typed_table(columns, rows))
        assert json.loads((tmp_path / "rows.json").read_text()) == rows


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("=1+1", "'=1+1"),
        ("+49 30", "'+49 30"),
        ("-5", "'-5"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\r=1"),
        ("a=1", "a=1"),
        ("a\n=1", "a\n=1"),
        ("'quoted", "'quoted"),
        ("−5", "−5"),
        ("", ""),
    ],
)
def test_text_that_would_act_in_a_spreadsheet_is_text(tmp_path: Path, text: str, written: str) -> None:
    rows = typed_table({"=name": "text", "n": "float"}, [{"=name": text, "n": -1.5}])
    export_table(tmp_path / "rows.csv", rows)
    assert read_csv(tmp_path / "rows.csv") == [["'=name", "n"], [written, "-1.5"]]


@given(st.lists(st.tuples(st.text(), st.floats(allow_nan=False, allow_infinity=False)), max_size=5))
def test_whatever_is_written_is_read_back(rows: list[tuple[str, float]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.csv")
        given_ = [{"text": text, "value": value} for text, value in rows]
        export_table(path, typed_table({"text": "text", "value": "float"}, given_))
        _, *read = read_csv(path)
    assert [float(value) for _, value in read] == [value for _, value in rows]
    for (text, _), (shown, _) in zip(rows, read, strict=True):
        acts = text.startswith(ACTING)
        assert shown == (f"'{text}" if acts else text)


@pytest.mark.parametrize("name", ["rows", "rows.xlsx", "rows.csv.gz", ".csv"])
def test_an_ending_that_says_nothing_is_refused_with_those_that_do(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match=r"--export: .* Endings: \.csv, \.json, \.parquet\."):
        export_table(tmp_path / name, table())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_is_there_whole_or_as_it_was(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"rows{ending}"
    path.write_text("before")
    with (
        mock.patch("pyarrow.csv.write_csv", side_effect=OSError("no room")),
        mock.patch("pyarrow.parquet.write_table", side_effect=OSError("no room")),
        mock.patch("msgspec.json.encode", side_effect=OSError("no room")),
        pytest.raises(OSError, match="no room"),
    ):
        export_table(path, table())
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]

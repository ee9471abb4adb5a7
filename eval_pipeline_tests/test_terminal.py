"""What the command line says, whatever text of others is in it."""

from __future__ import annotations

import ast
import io
import json
import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.answers import Answer, Failure
from eval_pipeline.reports import Table
from eval_pipeline.reports.console import Bar, print_table
from eval_pipeline.terminal import safe, say
from eval_pipeline_tests.conftest import REPOSITORY

HOSTILE = "[/red]\x1b[31mred\x9b1m\x07\r\u202e\udc80é"


@given(st.text(st.characters() | st.sampled_from("\x1b\x9b\r\ud800\u202e\n")))
def test_nothing_acts_and_json_keeps_its_values(text: str) -> None:
    shown = safe(text)
    assert all(each.isprintable() or each in "\n\t" or ord(each) >= 0xA0 for each in shown)
    assert shown.encode().decode() == shown
    assert json.loads(safe(json.dumps(text, ensure_ascii=False))) == text


def test_tables_and_bars_take_text_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(Table((HOSTILE, "b"), [(HOSTILE, "x")], title=HOSTILE, note=HOSTILE))
    with Bar() as bar:
        bar.start(HOSTILE, 2)
        bar.advance(Answer("a"), Failure(HOSTILE, HOSTILE))
        bar.wait(HOSTILE)
    out, err = capsys.readouterr()
    for each in (out, err):
        assert "[/red]" in each
        assert not set("\x9b\x07\u202e") & set(each)
        assert "\x1b[31m" not in each


def test_a_stream_that_is_not_utf_8_gets_escapes(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, "ascii", write_through=True))
    say(json.dumps({"a": "é🌊"}, ensure_ascii=False))
    assert json.loads(written.getvalue()) == {"a": "é🌊"}


def test_nobody_else_prints() -> None:
    """But workers, whose output nobody sees."""
    printers = {"print", "click.echo", "click.secho"}
    printing = {
        file.name
        for file in (REPOSITORY / "eval_pipeline").rglob("*.py")
        if re.search("print|echo", text := file.read_text())
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in printers
    }
    assert printing == {"terminal.py", "local_server.py", "rendering_worker.py"}

"""The ledger: rows chain, seals hold, and whatever was tampered with is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from eval_pipeline.golden import HEAD_FILE, LEDGER_FILE
from eval_pipeline.problems import BadInput
from eval_pipeline.suites.review.ledger import Ledger, Row, sealed_answers
from eval_pipeline.suites.review.matching import Decision
from eval_pipeline.suites.review.references import load_decisions


def ledger(folder: Path) -> Ledger:
    return Ledger(folder / LEDGER_FILE, folder / "state.json")


def answer(book: Ledger, subject: str, ruling: str = "bonus_valid", task: str = "t") -> Row:
    answers = {"ruling": ruling, "error": "", "reason": "seen"}
    return book.add(
        "adjudicate",
        "answer",
        evaluation="e",
        version="v",
        task=task,
        author="Ada",
        subject=subject,
        answers=answers,
    )


def sealed(folder: Path) -> Ledger:
    book = ledger(folder)
    answer(book, "f1")
    answer(book, "f2", "false_positive")
    book.seal("adjudicate", evaluation="e", version="v", task="t", author="Ada")
    return book


def test_sealed_rulings_are_decisions_and_open_ones_are_not(tmp_path: Path) -> None:
    book = sealed(tmp_path)
    answer(book, "f3", task="other")
    assert load_decisions(tmp_path) == {
        ("t", "f1"): Decision("bonus_valid", None, "seen"),
        ("t", "f2"): Decision("false_positive", None, "seen"),
    }
    assert ("other", "f3") not in sealed_answers(book.rows, "adjudicate")


def test_the_last_answer_before_the_seal_counts(tmp_path: Path) -> None:
    book = ledger(tmp_path)
    answer(book, "f1")
    answer(book, "f1", "false_positive")
    book.seal("adjudicate", evaluation="e", version="v", task="t", author="Ada")
    assert load_decisions(tmp_path)["t", "f1"].ruling == "false_positive"


def _rewritten(lines: list[bytes], index: int, **changes: object) -> list[bytes]:
    """A row with other content, and the hash that would fit it."""
    row = msgspec.structs.replace(msgspec.json.decode(lines[index], type=Row), **changes)
    row = msgspec.structs.replace(row, hash=row.digest)
    return [*lines[:index], msgspec.json.encode(row), *lines[index + 1 :]]


def _unsealed(lines: list[bytes]) -> list[bytes]:
    """An answer that is added after the seal, with a proper hash."""
    last = msgspec.json.decode(lines[-1], type=Row)
    first = msgspec.json.decode(lines[0], type=Row)
    row = msgspec.structs.replace(first, number=4, previous=last.hash)
    return [*lines, msgspec.json.encode(msgspec.structs.replace(row, hash=row.digest))]


@pytest.mark.parametrize(
    ("tamper", "told"),
    [
        (lambda lines: [lines[0].replace(b"bonus_valid", b"false_positive"), *lines[1:]], "was changed"),
        (lambda lines: _rewritten(lines, 0, author="Eve"), "does not follow the row before it"),
        (lambda lines: _rewritten(lines, 1, author="Eve"), "does not follow the row before it"),
        (lambda lines: lines[1:], "does not follow the row before it"),
        (lambda lines: [lines[1], lines[0], lines[2]], "does not follow the row before it"),
        (_unsealed, "changes an answer that was sealed"),
        (lambda lines: [*lines, b'{"number": 4}'], "step"),
        (lambda lines: [*lines, b"not json"], "JSON"),
    ],
)
def test_tampering_shows(tmp_path: Path, tamper: Callable[[list[bytes]], list[bytes]], told: str) -> None:
    sealed(tmp_path)
    file = tmp_path / LEDGER_FILE
    file.write_bytes(b"\n".join(tamper(file.read_bytes().splitlines())) + b"\n")
    with pytest.raises(BadInput) as refused:
        load_decisions(tmp_path)
    assert told.casefold() in str(refused.value).casefold()
    with pytest.raises(BadInput):
        ledger(tmp_path)


def test_a_seal_that_covers_other_answers_shows(tmp_path: Path) -> None:
    sealed(tmp_path)
    file = tmp_path / LEDGER_FILE
    lines = file.read_bytes().splitlines()
    file.write_bytes(b"\n".join(_rewritten(lines, 2, answers={"commitment": "0" * 32})) + b"\n")
    with pytest.raises(BadInput, match="seals other answers"):
        load_decisions(tmp_path)


@pytest.mark.parametrize("rows", [0, 2])
def test_cutting_off_the_end_shows_to_every_reader(tmp_path: Path, rows: int) -> None:
    sealed(tmp_path)
    file = tmp_path / LEDGER_FILE
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:rows]))
    for read in (load_decisions, ledger):
        with pytest.raises(BadInput, match="was cut off or rewritten"):
            read(tmp_path)


def test_a_ledger_whose_memory_beside_it_was_removed_is_refused(tmp_path: Path) -> None:
    sealed(tmp_path)
    (tmp_path / HEAD_FILE).unlink()
    with pytest.raises(BadInput, match="may have been rewritten"):
        load_decisions(tmp_path)


def test_a_ledger_that_is_gone_is_refused_where_it_is_remembered(tmp_path: Path) -> None:
    sealed(tmp_path)
    (tmp_path / LEDGER_FILE).unlink()
    with pytest.raises(BadInput, match="was cut off or rewritten"):
        load_decisions(tmp_path)


def test_a_last_line_end_that_an_editor_took_away_spoils_nothing(tmp_path: Path) -> None:
    sealed(tmp_path)
    file = tmp_path / LEDGER_FILE
    whole = len(ledger(tmp_path).rows)
    file.write_bytes(file.read_bytes().rstrip(b"\n"))
    ledger(tmp_path).add("bias", "refused", evaluation="e", version="v", task="t", author="Ada")
    assert len(ledger(tmp_path).rows) == whole + 1


def test_no_ledger_is_no_decision(tmp_path: Path) -> None:
    assert load_decisions(tmp_path) == {}

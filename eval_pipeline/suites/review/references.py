"""What people decided about findings: the sealed rulings of the blind protocol's ledger."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from eval_pipeline.problems import Problems
from eval_pipeline.suites.review.ledger import LEDGER_FILE, Row, read_ledger, sealed_answers
from eval_pipeline.suites.review.matching import Decision


def load_decisions(folder: Path) -> dict[tuple[str, str], Decision]:
    """The rulings by task and finding; a ledger that was tampered with is refused."""
    problems = Problems()
    rows = read_ledger(folder / LEDGER_FILE, problems)
    problems.stop_if_any()
    return decisions_in(rows)


def decisions_in(rows: Sequence[Row]) -> dict[tuple[str, str], Decision]:
    """The sealed rulings among rows of a ledger."""
    return {
        key: msgspec.convert({name: value or None for name, value in row.answers.items()}, Decision)
        for key, row in sealed_answers(rows, "adjudicate").items()
    }

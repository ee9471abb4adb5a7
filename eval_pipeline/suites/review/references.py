"""What people decided about findings: the sealed rulings of the blind protocol's ledger."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from eval_pipeline.golden import LEDGER_FILE
from eval_pipeline.problems import without_problems
from eval_pipeline.suites.review.ledger import Row, read_ledger, sealed_answers
from eval_pipeline.suites.review.matching import Decision


def load_decisions(folder: Path) -> dict[tuple[str, str], Decision]:
    """The rulings by task and finding; a ledger that was tampered with is refused."""
    return decisions_in(without_problems(lambda problems: read_ledger(folder / LEDGER_FILE, problems)))


def decisions_in(rows: Sequence[Row]) -> dict[tuple[str, str], Decision]:
    """The sealed rulings among rows of a ledger.

    Where two adjudicators disagree there is none, until somebody has settled it.
    """
    first, second, settled = (sealed_answers(rows, step) for step in ("adjudicate", "second", "settle"))
    open_disputes = {key for key in first.keys() & second.keys() if disagree(first[key], second[key])}
    rulings = {key: row for key, row in first.items() if key not in open_disputes} | settled
    return {
        key: msgspec.convert({name: value or None for name, value in row.answers.items()}, Decision)
        for key, row in rulings.items()
    }


def disagree(one: Row, other: Row) -> bool:
    """Whether two rulings say different things of a finding; reasons may differ."""
    return any(one.answers[name] != other.answers[name] for name in ("ruling", "error"))

"""Verdicts of a judge that never arrived: which failures count, and when they are too many."""

from __future__ import annotations

import pyarrow as pa
import pytest

from eval_pipeline.gates import ERROR_GATE
from eval_pipeline.scoring import Scores, lost_verdicts, outage_among
from eval_pipeline.suite import ERROR_RATE

GATES = {ERROR_RATE.name: ERROR_GATE}


def scores(*failures: str | None, errored: int = 0) -> Scores:
    """Usable answers, each with a verdict or a failure of the judge, and answers that are errors."""
    cases = [f"case-{number}" for number in range(len(failures) + errored)]
    errors = [None] * len(failures) + ["not_json"] * errored
    rows = [
        {"case_id": case, "trial": 1, "kind": "unjudged", "expected": kind, "got": "why"}
        for case, kind in zip(cases, failures, strict=False)
        if kind
    ]
    other = {"case_id": "x", "trial": 1, "kind": "missed", "expected": "server", "got": ""}
    diagnoses = pa.Table.from_pylist([*rows, other])
    counts = pa.table({"case_id": cases, "error": pa.array(errors, pa.string())})
    return Scores(counts, pa.table({}), diagnoses)


@pytest.mark.parametrize(
    ("failures", "lost"),
    [
        ([None, None], {}),
        ([None, "server"], {"server": 1}),
        ([None, "refused"], {}),  # what the judge makes of an answer
        ([None, "timeout"], {}),  # the answer may take too long to judge
        (["timeout", "timeout"], {"timeout": 2}),  # unless none was judged
        (["timeout", "connection"], {"timeout": 1, "connection": 1}),
        (["denied"] * 2 + [None] * 198, {"denied": 2}),
    ],
)
def test_what_counts_as_lost(failures: list[str | None], lost: dict[str, int]) -> None:
    found = lost_verdicts(scores(*failures, errored=3))
    assert (found.answers, found.errors) == (len(failures), lost)
    few = sum(lost.values()) <= 0.01 * len(failures)
    assert outage_among(found, GATES) == (None if few else found)


def test_one_is_told_with_its_case() -> None:
    text = lost_verdicts(scores(None, "server", "server")).text
    assert text.startswith("incomplete: 2 of 3 verdicts of the judge never arrived")
    assert "2 × server (case-1: why). The endpoint fails; try again later." in text

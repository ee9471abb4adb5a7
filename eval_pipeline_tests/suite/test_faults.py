"""Whose fault an exception is."""

from __future__ import annotations

from typing import Any

import pytest

from eval_pipeline.problems import BadInput, bad_value
from eval_pipeline.suite import suite_code

CODE = "\ndef outer(work):\n    return inner(work)\n\n\ndef inner(work):\n    return work()\n"


def own_code(work: Any) -> None:
    """Run something from within a module of the suite `made`."""
    module: dict[str, Any] = {"__name__": "eval_pipeline.suites.made.scoring"}
    exec(compile(CODE, "made/scoring.py", "exec"), module)
    module["outer"](work)


def raiser(error: BaseException) -> Any:
    def work() -> None:
        raise error

    return work


def test_the_innermost_line_of_the_suite_is_named() -> None:
    with pytest.raises(BadInput) as raised, suite_code("made"):
        own_code(raiser(ValueError("wrong\n  value")))
    assert str(raised.value) == "made/scoring.py:7: ValueError: wrong value. Correct the code of the suite."


def test_the_case_is_named() -> None:
    with pytest.raises(BadInput) as raised, suite_code("made", "score", "case 7"):
        own_code(raiser(KeyError("count")))
    assert "made/scoring.py:7: score of case 'case 7': KeyError: 'count'." in str(raised.value)


def test_what_does_not_pass_through_the_suite_is_not_its_fault() -> None:
    for suite in ("made", "mad", "other"):
        with pytest.raises(ValueError, match="wrong"), suite_code(suite):
            raiser(ValueError("wrong"))()
    with pytest.raises(ValueError, match="wrong"), suite_code("mad"):
        own_code(raiser(ValueError("wrong")))


def test_what_the_suite_is_asked_for_is_its_fault_anyway() -> None:
    with (
        pytest.raises(BadInput, match="suite made: formula of a: KeyError: 'b'"),
        suite_code("made", "formula of a"),
    ):
        raiser(KeyError("b"))()


def test_an_exit_is_not_a_success() -> None:
    with pytest.raises(BadInput, match="SystemExit: 0"), suite_code("made", "score"):
        own_code(raiser(SystemExit(0)))


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError(), bad_value("field", "is wrong")])
def test_what_is_not_swallowed(error: BaseException) -> None:
    with pytest.raises(type(error)) as raised, suite_code("made", "score"):
        own_code(raiser(error))
    assert raised.value is error

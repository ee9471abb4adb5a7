"""What a suite's own code raises, as bad input that names its file and line."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import walk_tb

from eval_pipeline.problems import BadInput, Problem, shown_path

PACKAGE = "eval_pipeline.suites"
REMEDY = "Correct the code of the suite."
LONGEST_MESSAGE = 500


@contextmanager
def suite_code(suite: str, doing: str = "", case_id: str = "") -> Iterator[None]:
    """Turn what the code of a suite raises into bad input.

    With `doing`, everything raised inside is the suite's: a formula of the kit fails where the suite does
    not count what the formula divides. Without it, only what passes through the suite's own modules is;
    anything else is a defect of this program.
    """
    try:
        yield
    except (BadInput, MemoryError):
        raise
    except (Exception, SystemExit) as error:  # a score that exits must not look like a success
        if not doing and _place(suite, error) is None:
            raise
        what = f"{doing} of case {case_id!r}" if case_id else doing
        raise BadInput([fault(suite, error, what)]) from error


def fault(suite: str, error: BaseException, what: str = "", module: Path | None = None) -> Problem:
    """An exception as a problem, at the innermost line of the suite's own code that it passed through.

    `module` is the suite's `__init__.py`, where it could not be imported.
    """
    file, line = _place(suite, error) or (module or _file(suite), 0)
    text = str(error)
    if module and isinstance(error, SyntaxError) and Path(error.filename or "").is_relative_to(module.parent):
        file, line, text = str(error.filename), error.lineno or 0, error.msg
    message = " ".join(f"{type(error).__name__}: {text}".split())[:LONGEST_MESSAGE]
    return Problem(shown_path(file), line, what, message, REMEDY)


def _place(suite: str, error: BaseException) -> tuple[str, int] | None:
    place = None
    for frame, line in walk_tb(error.__traceback__):
        if f"{frame.f_globals.get('__name__')}.".startswith(f"{PACKAGE}.{suite}."):
            place = (frame.f_code.co_filename, line)
    return place


def _file(suite: str) -> str:
    module = sys.modules.get(f"{PACKAGE}.{suite}")
    return str(getattr(module, "__file__", None) or f"suite {suite}")

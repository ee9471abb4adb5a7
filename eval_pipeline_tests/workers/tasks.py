"""What workers are given in tests."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path


def double(number: int) -> int:
    return 2 * number


def fail(number: int) -> int:
    raise LookupError(f"there is no {number}")


def die_once(path: str) -> str:
    """End the worker as the first who gets this, and answer as the second."""
    file = Path(path)
    try:
        file.touch(exist_ok=False)
    except FileExistsError:
        return file.name
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("unreachable")


def die(_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def say_who_and_wait(path: str) -> None:
    """Leave the number of this process in a file, and stay."""
    Path(path).write_text(str(os.getpid()))
    time.sleep(600)

"""A clock that is moved: processes that are started with it take another moment for now."""

from __future__ import annotations

import datetime
import os
import shutil
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("clock.c")
COMPILER = shutil.which("cc") or shutil.which("gcc")
"""Without a C compiler the clock cannot be moved; libraries ask it in C, too."""
MICROSECOND = datetime.timedelta(microseconds=1)
AT_ONCE = 1.0
"""Seconds that may lie between when a clock is set and when it is looked at."""


class Clock:
    """The clock of the processes that have its environment. Between two moves it goes on as clocks do."""

    def __init__(self, folder: Path) -> None:
        assert COMPILER, "there is no C compiler"
        self._file, library = folder / "clock", folder / "clock.so"
        subprocess.run([COMPILER, "-shared", "-fPIC", "-O2", "-o", library, SOURCE, "-ldl"], check=True)
        self.environment = {"LD_PRELOAD": str(library), "SOAK_CLOCK": str(self._file)}
        self._ahead = datetime.timedelta(0)
        self._write()

    def _write(self) -> None:
        """The file is mapped by those who read it, so it is written in place."""
        ahead = self._ahead // MICROSECOND * 1000
        handle = os.open(self._file, os.O_WRONLY | os.O_CREAT)
        os.write(handle, ahead.to_bytes(8, "little", signed=True))
        os.close(handle)

    @property
    def now(self) -> datetime.datetime:
        """The moment that the clock shows."""
        return datetime.datetime.now(datetime.UTC) + self._ahead

    def show(self, moment: datetime.datetime) -> None:
        """Let it be that moment."""
        self._ahead = moment - datetime.datetime.now(datetime.UTC)
        self._write()

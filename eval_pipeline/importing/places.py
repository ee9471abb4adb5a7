"""Where something stands in somebody else's files, and what of it was not taken over."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from eval_pipeline.problems import Problem, Problems


class Place(NamedTuple):
    """A file, a line of it, and the field that stands there."""

    file: Path
    line: int
    field: str = ""

    def below(self, *parts: str | int) -> Place:
        """A field of the value that stands here, on the same line."""
        field = self.field
        for part in parts:
            field += f"[{part}]" if isinstance(part, int) else f".{part}" if field else part
        return self._replace(field=field)


NOWHERE = Place(Path(), 0)


class Leftovers:
    """What an import leaves behind: every part of a configuration is taken over, or stands here."""

    def __init__(self) -> None:
        self._dropped = Problems()
        self._changed = Problems()

    def drop(self, place: Place, message: str, remedy: str) -> None:
        """Something was not taken over."""
        self._dropped.add(place.file, message, remedy, line=place.line, field=place.field)

    def change(self, place: Place, message: str, remedy: str = "") -> None:
        """Something was taken over, and is not quite what it was."""
        self._changed.add(place.file, message, remedy, line=place.line, field=place.field)

    @property
    def dropped(self) -> list[Problem]:
        """What was not taken over, in the order of the files."""
        return list(self._dropped)

    @property
    def changed(self) -> list[Problem]:
        """What was taken over otherwise."""
        return list(self._changed)


class NotTaken(Exception):
    """Why something cannot be taken over, and what to do instead."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

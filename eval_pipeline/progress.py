"""How long work shows that it is going on."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Told of every answer."""

    def start(self, title: str, total: int) -> None:
        """A piece of work with that many steps begins."""

    def advance(self, errors: int) -> None:
        """One step is done; so many have failed up to now."""


class Silence:
    """For work that nobody watches."""

    def start(self, title: str, total: int) -> None:
        """Say nothing."""

    def advance(self, errors: int) -> None:
        """Say nothing."""

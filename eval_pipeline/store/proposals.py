"""What versions propose to people: files in the state folder, or where all machines see them."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import msgspec

from eval_pipeline.files import file_bytes, write_json
from eval_pipeline.project import prefix_of
from eval_pipeline.store.damage import naming_damage
from eval_pipeline.store.database import shared_database
from eval_pipeline.store.pointers import DatabasePointers, Pointers, change
from eval_pipeline.store.sharing import shared_files

FOLDER = "proposals"
LARGEST = 2**20


class Proposal(msgspec.Struct, frozen=True):
    """What a significant improvement proposes to a person: to make it the baseline."""

    suite: str
    version: str
    against: str
    evaluation: str
    sentence: str
    proposed_at: str
    baseline: str = ""
    """The answers of the baseline that it was compared with."""

    @property
    def text(self) -> str:
        """In words, with the command that accepts it."""
        command = f"eval-pipeline baseline promote {self.suite} {self.version} --reason …"
        return f"Proposal: {self.version} is better than {self.against}. To make it the baseline: {command}"


class Proposals(Protocol):
    """What versions propose."""

    def keep(self, suite: str, version: str, proposal: Proposal | None) -> None:
        """Keep what a version proposes; None takes back what it proposed before."""

    def of(self, suite: str) -> list[Proposal]:
        """What versions of a suite propose, in their order."""


def proposals_of(state: Path) -> Proposals:
    """The proposals of a state folder: in the database that machines share, else beside what they share."""
    if url := shared_database():
        return SharedProposals(DatabasePointers(url), state)
    shared = shared_files(state)
    return SharedProposals(shared.pointers, state) if shared else ProposalFiles(state)


class ProposalFiles:
    """Proposals as files, one for each version."""

    def __init__(self, state: Path) -> None:
        self._folder = state / FOLDER

    def keep(self, suite: str, version: str, proposal: Proposal | None) -> None:
        """Keep what a version proposes; None takes back what it proposed before."""
        path = self._folder / suite / f"{version}.json"
        if proposal is None:
            path.unlink(missing_ok=True)
        else:
            write_json(path, proposal)

    def of(self, suite: str) -> list[Proposal]:
        """What versions of a suite propose, in their order."""
        return [_read(file) for file in sorted((self._folder / suite).glob("*.json"))]

    def suites(self) -> list[str]:
        """The suites that propose anything."""
        return sorted(path.name for path in self._folder.glob("*/"))


class SharedProposals:
    """Proposals as pointers that all machines see."""

    def __init__(self, pointers: Pointers, state: Path) -> None:
        self._pointers = pointers
        self._above = "/".join((*prefix_of(state), FOLDER))

    def keep(self, suite: str, version: str, proposal: Proposal | None) -> None:
        """Keep what a version proposes; None takes back what it proposed before."""
        name = f"{self._above}/{suite}/{version}"
        if proposal is None:
            self._pointers.drop(name)
        else:
            text = msgspec.json.encode(proposal).decode()
            change(self._pointers, name, lambda _: text)

    def of(self, suite: str) -> list[Proposal]:
        """What versions of a suite propose, in their order."""
        found = map(self._pointers.get, self._pointers.names(f"{self._above}/{suite}/"))
        return [msgspec.json.decode(each.text, type=Proposal) for each in found if each]


def _read(file: Path) -> Proposal:
    with naming_damage(file):
        return msgspec.json.decode(file_bytes(file, LARGEST), type=Proposal)

"""Signing golden sets off."""

import datetime
from dataclasses import dataclass
from pathlib import Path

import msgspec

from eval_pipeline.files import files_below, files_hash, is_there, read_json, write_json
from eval_pipeline.problems import Problems, without_problems

SIGN_OFF_FILE = "signoff.json"
LEDGER_FILE = "ledger.jsonl"
HEAD_FILE = "ledger.head.json"
"""What vouches for itself, row by row, and grows without being signed off."""


class SignOff(msgspec.Struct, frozen=True):
    """A person's word that a golden set is right as it stands."""

    golden_hash: str
    signed_by: str
    signed_at: str
    reason: str
    cases: dict[str, str]
    references: str = ""
    """What identifies the references, such as a second annotator's answers; blank where there are none."""

    @staticmethod
    def file(folder: Path) -> Path:
        """Where the sign-off of a golden folder is kept."""
        return folder / SIGN_OFF_FILE


def sign_off(folder: Path, present: str, cases: dict[str, str], person: str, reason: str) -> SignOff:
    """Record that a person vouches for the golden set as it stands."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    record = SignOff(present, person, now, reason, dict(sorted(cases.items())), _references(folder))
    write_json(SignOff.file(folder), record)
    return record


@dataclass(frozen=True)
class Unsigned:
    """What nobody vouches for in a golden set; false where all of it is signed off."""

    changes: tuple[str, ...] = ()
    never: bool = False
    """Whether nobody ever signed any of it off."""

    def __bool__(self) -> bool:
        return bool(self.changes)

    @property
    def blocks(self) -> bool:
        """Whether it stops a change: what differs from a sign-off does; a set that nobody froze yet warns."""
        return bool(self.changes) and not self.never


def unsigned_changes(
    folder: Path, present: str, cases: dict[str, str], problems: Problems, rules: Path | None = None
) -> Unsigned:
    """What changed since the golden set was signed off, there or in another folder."""
    file = SignOff.file(rules or folder)
    if not is_there(file):
        return Unsigned(("it was never signed off",), never=True)
    signed = next((each.record for each in read_json(file, SignOff, problems)), None)
    if signed is None:
        return Unsigned(("the sign-off cannot be read",))
    other = [] if signed.references == _references(folder) else ["references changed"]
    if signed.golden_hash == present:
        return Unsigned(tuple(other))
    changes = [
        *(f"added: {case}" for case in sorted(cases.keys() - signed.cases.keys())),
        *(f"removed: {case}" for case in sorted(signed.cases.keys() - cases.keys())),
        *(
            f"changed: {case}"
            for case in sorted(cases.keys() & signed.cases.keys())
            if cases[case] != signed.cases[case]
        ),
    ]
    return Unsigned((*(changes or ["resources changed"]), *other))


def _references(folder: Path) -> str:
    references = folder / "references"
    if not is_there(references):
        return ""
    files = without_problems(lambda problems: files_below(references, problems))
    kept = [file for file in files if file.name not in (LEDGER_FILE, HEAD_FILE)]
    return files_hash(kept) if kept else ""

"""What evaluations leave on disk: golden tables, answers, scores, evaluations, comparisons, reports.

Everything is stored under the hash of what it was made from, so nothing is ever overwritten by
something else; a pointer beside it names the latest.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec.structs import replace

from eval_pipeline.answers import OutputsIdentity
from eval_pipeline.comparison import Comparison, comparison_rows
from eval_pipeline.files import data_frame, file_bytes, write_json, write_text
from eval_pipeline.prompts import prompt_name
from eval_pipeline.scoring import Evaluation, Identity, Probed, Scores, case_rows, of_version
from eval_pipeline.store.damage import naming_damage
from eval_pipeline.store.tables import AnswerTable, GoldenTable, read_table, write_table

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")
LATEST = "latest"
LONGEST_NAME = 4096
LARGEST_RECORD = 2**32
"""Bytes of a file that this project wrote: with very many cases it is large, without end it is damaged."""
COMPARED = "comparisons.json"


class Scored(msgspec.Struct, frozen=True):
    """Scores, and what they are the scores of."""

    identity: Identity
    scores: Scores

    def to_pandas(self) -> pd.DataFrame:
        """Every case and trial with its error, attributes and counts; see `frames.case_scores`."""
        return data_frame(of_version(self.identity.outputs, case_rows(self.scores)))


class Compared(msgspec.Struct, frozen=True):
    """Everything that an evaluation was compared with: the baseline, and what it would replace."""

    identity: Identity
    comparisons: tuple[Comparison, ...]
    missing: str = ""
    """Why it could not be compared with what it would replace; blank where it was, or replaces nothing."""
    note: str = ""
    """Why nobody knows what it would replace."""
    proposal: Proposal | None = None
    """What a significant improvement proposes."""

    def to_pandas(self) -> pd.DataFrame:
        """What became of every metric in each comparison; see `eval_pipeline.frames.comparison`."""
        return data_frame(comparison_rows(self.comparisons))


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


class _KeptProbes(msgspec.Struct, frozen=True):
    key: str
    probed: Probed


class Store:
    """The state folder, by name."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def golden_folder(self, suite: str) -> Path:
        """Where the golden tables of a suite are."""
        return self._root / "golden" / suite

    def outputs_folder(self, suite: str, version: str) -> Path:
        """Where the answers for a prompt version are."""
        return self._root / "outputs" / suite / version

    def shards_folder(self, suite: str, version: str) -> Path:
        """Where shards leave answers and scores until they are put together."""
        return self._root / "shards" / suite / version

    def evaluations_folder(self, suite: str, version: str) -> Path:
        """Where the evaluations of a prompt version are, a folder each."""
        return self._root / "evaluations" / suite / version

    def suites(self) -> list[str]:
        """The suites that left something here."""
        folders = (self._root / name for name in ("golden", "outputs", "evaluations"))
        return sorted({path.name for folder in folders for path in _folders(folder)})

    def version_folders(self, suite: str) -> list[Path]:
        """The folders of all versions that were evaluated."""
        return _folders(self._root / "evaluations" / suite)

    def answer_folders(self, suite: str) -> list[Path]:
        """The folders of all versions that have answers."""
        return _folders(self._root / "outputs" / suite)

    def shard_folders(self, suite: str) -> list[Path]:
        """The folders of all versions of which shards left something."""
        return _folders(self._root / "shards" / suite)

    def golden(self, suite: str, golden_hash: str | None = None) -> GoldenTable | None:
        """The golden table of that hash; by default the latest one."""
        folder = self.golden_folder(suite)
        if golden_hash is None:
            return _open_latest(folder, GoldenTable.open)
        path = folder / f"{golden_hash}.parquet"
        with naming_damage(path):
            return GoldenTable.open(path) if path.is_file() else None

    def outputs(self, suite: str, version: str) -> AnswerTable | None:
        """The latest answers."""
        return _open_latest(self.outputs_folder(suite, version), AnswerTable.open)

    def answers(self, identity: OutputsIdentity) -> AnswerTable | None:
        """The answers of that very identity, whether they are the latest or not."""
        path = self.outputs_folder(identity.suite, identity.version) / f"{identity.id}.parquet"
        with naming_damage(path):
            return AnswerTable.open(path) if path.is_file() else None

    def keep_golden(self, suite: str, table: GoldenTable) -> None:
        """Make a golden table the latest."""
        write_text(self.golden_folder(suite) / LATEST, table.path.name)

    def keep_outputs(self, table: AnswerTable) -> None:
        """Make answers the latest of their version; those to a sample of cases never are."""
        identity = table.identity
        if identity.case_sample:
            return
        write_text(self.outputs_folder(identity.suite, identity.version) / LATEST, table.path.name)

    def keep_scores(self, scored: Scored) -> None:
        """Store scores, and make their evaluation the latest of its version; one on a sample never is."""
        folder = self._folder_of(scored.identity)
        for name in ("counts", "keyed", "diagnoses"):
            write_table(folder / f"{name}.parquet", getattr(scored.scores, name))
        write_json(folder / "identity.json", scored.identity)
        if not scored.identity.outputs.case_sample:
            write_text(folder.parent / LATEST, folder.name)

    def keep_probed(self, key: str, probed: Probed) -> None:
        """Store what cheating would score, in the place of what was stored before."""
        write_json(self._root / "probes" / probed.suite / "latest.json", _KeptProbes(key, probed))

    def probed(self, suite: str, key: str) -> Probed | None:
        """What cheating would score, where that was stored under the same key."""
        kept = _read(self._root / "probes" / suite, "latest.json", _KeptProbes)
        return kept.probed if kept and kept.key == key else None

    def keep_evaluation(self, evaluation: Evaluation) -> None:
        """Store an evaluation's numbers."""
        write_json(self._folder_of(evaluation.identity) / "evaluation.json", evaluation)

    def keep_compared(self, compared: Compared) -> None:
        """Store an evaluation's comparisons, and what its version proposes; a sample proposes nothing."""
        outputs = compared.identity.outputs
        write_json(self._folder_of(compared.identity) / COMPARED, replace(compared, proposal=None))
        if not outputs.case_sample:
            self.keep_proposal(outputs.suite, outputs.version, compared.proposal)

    def keep_proposal(self, suite: str, version: str, proposal: Proposal | None) -> None:
        """Store what a version proposes; None takes back what it proposed before."""
        path = self._root / "proposals" / suite / f"{version}.json"
        if proposal is None:
            path.unlink(missing_ok=True)
        else:
            write_json(path, proposal)

    def proposals(self, suite: str) -> list[Proposal]:
        """What versions of a suite propose."""
        folder = self._root / "proposals" / suite
        proposals = (_read(folder, file.name, Proposal) for file in sorted(folder.glob("*.json")))
        return [proposal for proposal in proposals if proposal is not None]

    def drop_proposals(self, suite: str, name: str) -> None:
        """Forget what versions of a prompt propose: their baseline is another one now."""
        for proposal in self.proposals(suite):
            if prompt_name(proposal.version) == name:
                self.keep_proposal(suite, proposal.version, None)

    def keep_report(self, identity: Identity, text: str, page: str = "") -> Path:
        """Store an evaluation's report, in Markdown and as a page, and say where it is."""
        path = self.report_path(identity)
        if page:
            write_text(self.page_path(identity), page)
        write_text(path, text)
        return path

    def report_path(self, identity: Identity) -> Path:
        """Where the report of an evaluation is."""
        return self._folder_of(identity) / "report.md"

    def page_path(self, identity: Identity) -> Path:
        """Where the same report is as a page for a browser."""
        return self._folder_of(identity) / "report.html"

    def scored(self, suite: str, version: str, evaluation: str | None = None) -> Scored | None:
        """The scores of an evaluation, by default of the latest one."""
        folder = self._latest_evaluation(suite, version)
        if evaluation is not None:
            folder = self.evaluations_folder(suite, version) / evaluation
        identity = _read(folder, "identity.json", Identity)
        if folder is None or identity is None:
            return None
        tables = [read_table(folder / f"{name}.parquet") for name in ("counts", "keyed", "diagnoses")]
        return Scored(identity, Scores(*tables))

    def identities(self, suite: str) -> list[Identity]:
        """What identifies every evaluation of a suite that is still there, the latest first."""
        folders = [folder for each in self.version_folders(suite) for folder in _folders(each)]
        files = [file for folder in folders if (file := folder / "identity.json").is_file()]
        ordered = sorted(files, key=lambda file: (-file.stat().st_mtime_ns, str(file)))
        return [each for file in ordered if (each := _read(file.parent, file.name, Identity))]

    def evaluation(self, suite: str, version: str) -> Evaluation | None:
        """The latest evaluation."""
        return _read(self._latest_evaluation(suite, version), "evaluation.json", Evaluation)

    def compared(self, suite: str, version: str) -> Compared | None:
        """What the latest evaluation was compared with, and what the version proposes."""
        compared = _read(self._latest_evaluation(suite, version), COMPARED, Compared)
        proposals = [each for each in self.proposals(suite) if each.version == version]
        return replace(compared, proposal=proposals[0]) if compared and proposals else compared

    def report(self, suite: str, version: str) -> str | None:
        """The report of the latest evaluation."""
        return self._text_of(suite, version, "report.md")

    def page(self, suite: str, version: str) -> str | None:
        """The same as a page for a browser; None where its evaluation left none."""
        return self._text_of(suite, version, "report.html")

    def _text_of(self, suite: str, version: str, name: str) -> str | None:
        folder = self._latest_evaluation(suite, version)
        path = folder / name if folder else None
        return file_bytes(path, LARGEST_RECORD).decode() if path and path.is_file() else None

    def _folder_of(self, identity: Identity) -> Path:
        outputs = identity.outputs
        return self.evaluations_folder(outputs.suite, outputs.version) / identity.id

    def _latest_evaluation(self, suite: str, version: str) -> Path | None:
        return _open_latest(self.evaluations_folder(suite, version), lambda folder: folder)


def latest_in(folder: Path) -> str:
    """The name of what is the latest in a folder; blank where nothing is."""
    pointer = folder / LATEST
    if not pointer.is_file():
        return ""
    with naming_damage(pointer):
        return file_bytes(pointer, LONGEST_NAME).decode().strip()


def _folders(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


def _open_latest(folder: Path, open_: Callable[[Path], T]) -> T | None:
    with naming_damage(folder):
        path = folder / latest_in(folder)
        return open_(path) if path.exists() and path != folder else None


def _read(folder: Path | None, name: str, record_type: type[T]) -> T | None:
    path = folder / name if folder else None
    if path is None or not path.is_file():
        return None
    with naming_damage(path):
        return msgspec.json.decode(file_bytes(path, LARGEST_RECORD), type=record_type)

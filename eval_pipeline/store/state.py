"""What evaluations leave on disk: golden tables, answers, scores, evaluations, comparisons, reports.

Everything is stored under the hash of what it was made from, so nothing is ever overwritten by
something else; a pointer beside it names the latest. Where machines share a store, what is kept is
shared, and what is opened is brought here first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
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
from eval_pipeline.store.names import LATEST, PAGE, TWIN, is_plain_name
from eval_pipeline.store.parquet import read_table, write_table
from eval_pipeline.store.proposals import Proposal, Proposals, proposals_of
from eval_pipeline.store.sharing import TOPS, SharedFiles, shared_files
from eval_pipeline.store.tables import AnswerTable, GoldenTable

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")
LONGEST_NAME = 4096
LARGEST_RECORD = 2**32
"""Bytes of a file that this project wrote: with very many cases it is large, without end it is damaged."""
COMPARED = "comparisons.json"
TABLES = ("counts", "keyed", "diagnoses")
SCORED = (*(f"{name}.parquet" for name in TABLES), "identity.json")
"""The files of an evaluation's scores."""


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


class _KeptProbes(msgspec.Struct, frozen=True):
    key: str
    probed: Probed


class Store:
    """The state folder, by name."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @cached_property
    def _shared(self) -> SharedFiles | None:
        return shared_files(self._root)

    @cached_property
    def _proposals(self) -> Proposals:
        return proposals_of(self._root)

    def _take(self, folder: Path, *names: str) -> None:
        """Have files of a folder here, as all machines have them."""
        if self._shared:
            self._shared.take(folder, *names)

    def _give(self, folder: Path, *names: str, latest: str = "") -> None:
        """Let all machines have files of a folder; the latest is named after they are there."""
        if latest:
            write_text(folder / LATEST, latest)
        if self._shared:
            self._shared.give(folder, names, latest)

    def _inside(self, folder: Path) -> list[Path]:
        """The folders of a folder, here and elsewhere; one that is elsewhere is made here, and empty."""
        for name in self._shared.folders(folder) if self._shared else ():
            (folder / name).mkdir(parents=True, exist_ok=True)
        return _folders(folder)

    def forget(self, paths: Iterable[Path]) -> None:
        """Let no machine have files and folders of the store any more; those that are here stay."""
        if self._shared:
            for path in paths:
                if path.is_relative_to(self._root) and path.relative_to(self._root).parts[0] in TOPS:
                    self._shared.forget(path)
            self._shared.sweep()

    def forget_reports(self, before: float, *, dry: bool = False) -> int:
        """Let no machine have reports from before a moment any more; how many files these are."""
        if not self._shared:
            return 0
        count = self._shared.forget_older((PAGE, TWIN), before, dry=dry)
        if not dry:
            self._shared.sweep()
        return count

    def bring(self, suite: str, name: str) -> None:
        """Have a file of every evaluation of a suite here, wherever it was made."""
        if self._shared:
            for folder in self.version_folders(suite):
                self._take(folder)
                for evaluation in self._inside(folder):
                    self._take(evaluation, name)

    def share_all(self) -> tuple[int, int]:
        """Let all machines have what is here; how many files were shared, and how many had been."""
        shared, before = 0, 0
        for folder in self._kept_folders() if self._shared else ():
            assert self._shared
            names = [path.name for path in sorted(folder.iterdir()) if path.is_file() and path.name[0] != "."]
            known = self._shared.folder(folder)
            fresh = [name for name in names if name != LATEST and name not in known.files]
            latest = "" if known.latest else _latest_in(folder)
            if fresh or latest:
                self._shared.give(folder, fresh, latest)
            shared, before = shared + len(fresh), before + len(known.files)
        return shared, before

    def _kept_folders(self) -> list[Path]:
        """The folders here that hold files of the store, the innermost first: what names them comes last."""
        tops = (self._root / name for name in TOPS)
        found = (folder for top in tops for folder in top.rglob("*") if folder.is_dir())
        return sorted(found, key=lambda folder: (-len(folder.parts), folder))

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
        folders = (self._root / name for name in TOPS)
        return sorted({path.name for folder in folders for path in self._inside(folder)})

    def version_folders(self, suite: str) -> list[Path]:
        """The folders of all versions that were evaluated."""
        return self._inside(self._root / "evaluations" / suite)

    def answer_folders(self, suite: str) -> list[Path]:
        """The folders of all versions that have answers."""
        return self._inside(self._root / "outputs" / suite)

    def shard_folders(self, suite: str) -> list[Path]:
        """The folders of all versions of which shards left something."""
        return _folders(self._root / "shards" / suite)

    def golden(self, suite: str, golden_hash: str | None = None) -> GoldenTable | None:
        """The golden table of that hash; by default the latest one."""
        folder = self.golden_folder(suite)
        if golden_hash is None:
            return self._open_latest(folder, GoldenTable.open)
        return self._open(folder / f"{golden_hash}.parquet", GoldenTable.open)

    def outputs(self, suite: str, version: str) -> AnswerTable | None:
        """The latest answers."""
        return self._open_latest(self.outputs_folder(suite, version), AnswerTable.open)

    def answers(self, identity: OutputsIdentity) -> AnswerTable | None:
        """The answers of that very identity, whether they are the latest or not."""
        folder = self.outputs_folder(identity.suite, identity.version)
        return self._open(folder / f"{identity.id}.parquet", AnswerTable.open)

    def keep_golden(self, suite: str, table: GoldenTable) -> None:
        """Make a golden table the latest."""
        self._give(self.golden_folder(suite), table.path.name, latest=table.path.name)

    def keep_outputs(self, table: AnswerTable) -> None:
        """Make answers the latest of their version; those to a sample of cases never are."""
        identity, name = table.identity, table.path.name
        folder = self.outputs_folder(identity.suite, identity.version)
        self._give(folder, name, latest="" if identity.case_sample else name)

    def keep_scores(self, scored: Scored) -> None:
        """Store scores, and make their evaluation the latest of its version; one on a sample never is."""
        folder = self._folder_of(scored.identity)
        for name in TABLES:
            write_table(folder / f"{name}.parquet", getattr(scored.scores, name))
        write_json(folder / "identity.json", scored.identity)
        self._give(folder, *SCORED)
        if not scored.identity.outputs.case_sample:
            self._give(folder.parent, latest=folder.name)

    def keep_probed(self, key: str, probed: Probed) -> None:
        """Store what cheating would score, in the place of what was stored before."""
        write_json(self._root / "probes" / probed.suite / "latest.json", _KeptProbes(key, probed))

    def probed(self, suite: str, key: str) -> Probed | None:
        """What cheating would score, where that was stored under the same key."""
        kept = _read(self._root / "probes" / suite / "latest.json", _KeptProbes)
        return kept.probed if kept and kept.key == key else None

    def keep_evaluation(self, evaluation: Evaluation) -> None:
        """Store an evaluation's numbers."""
        self._keep(evaluation.identity, "evaluation.json", evaluation)

    def keep_compared(self, compared: Compared) -> None:
        """Store an evaluation's comparisons, and what its version proposes; a sample proposes nothing."""
        outputs = compared.identity.outputs
        self._keep(compared.identity, COMPARED, replace(compared, proposal=None))
        if not outputs.case_sample:
            self.keep_proposal(outputs.suite, outputs.version, compared.proposal)

    def keep_proposal(self, suite: str, version: str, proposal: Proposal | None) -> None:
        """Store what a version proposes; None takes back what it proposed before."""
        self._proposals.keep(suite, version, proposal)

    def proposals(self, suite: str) -> list[Proposal]:
        """What versions of a suite propose."""
        return self._proposals.of(suite)

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
        self._give(path.parent, *((PAGE, TWIN) if page else (TWIN,)))
        return path

    def _keep(self, identity: Identity, name: str, record: msgspec.Struct) -> None:
        folder = self._folder_of(identity)
        write_json(folder / name, record)
        self._give(folder, name)

    def bring_report(self, suite: str, version: str, evaluation: str) -> None:
        """Have the report of an evaluation here, as page and as text, wherever it was made."""
        self._take(self.evaluations_folder(suite, version) / evaluation, PAGE, TWIN)

    def report_path(self, identity: Identity) -> Path:
        """Where the report of an evaluation is."""
        return self._folder_of(identity) / TWIN

    def page_path(self, identity: Identity) -> Path:
        """Where the same report is as a page for a browser."""
        return self._folder_of(identity) / PAGE

    def scored(self, suite: str, version: str, evaluation: str | None = None) -> Scored | None:
        """The scores of an evaluation, by default of the latest one."""
        folder = self._latest_evaluation(suite, version)
        if evaluation is not None:
            folder = self.evaluations_folder(suite, version) / evaluation
        if folder is None:
            return None
        self._take(folder, *SCORED)
        identity = _read(folder / "identity.json", Identity)
        if identity is None:
            return None
        tables = [read_table(folder / f"{name}.parquet") for name in TABLES]
        return Scored(identity, Scores(*tables))

    def identities(self, suite: str) -> list[Identity]:
        """What identifies every evaluation of a suite that is still there, the latest first."""
        self.bring(suite, "identity.json")
        folders = [folder for each in self.version_folders(suite) for folder in _folders(each)]
        files = [file for folder in folders if (file := folder / "identity.json").is_file()]
        ordered = sorted(files, key=lambda file: (-file.stat().st_mtime_ns, str(file)))
        return [each for file in ordered if (each := _read(file, Identity))]

    def evaluation(self, suite: str, version: str) -> Evaluation | None:
        """The latest evaluation."""
        return self._read(self._latest_evaluation(suite, version), "evaluation.json", Evaluation)

    def compared(self, suite: str, version: str) -> Compared | None:
        """What the latest evaluation was compared with, and what the version proposes."""
        compared = self._read(self._latest_evaluation(suite, version), COMPARED, Compared)
        proposals = [each for each in self.proposals(suite) if each.version == version]
        return replace(compared, proposal=proposals[0]) if compared and proposals else compared

    def report(self, suite: str, version: str) -> str | None:
        """The report of the latest evaluation."""
        return self._text_of(suite, version, TWIN)

    def page(self, suite: str, version: str) -> str | None:
        """The same as a page for a browser; None where its evaluation left none."""
        return self._text_of(suite, version, PAGE)

    def _text_of(self, suite: str, version: str, name: str) -> str | None:
        folder = self._latest_evaluation(suite, version)
        if folder:
            self._take(folder, name)
        path = folder / name if folder else None
        return file_bytes(path, LARGEST_RECORD).decode() if path and path.is_file() else None

    def _folder_of(self, identity: Identity) -> Path:
        outputs = identity.outputs
        return self.evaluations_folder(outputs.suite, outputs.version) / identity.id

    def _latest_evaluation(self, suite: str, version: str) -> Path | None:
        folder = self.evaluations_folder(suite, version)
        name = self.latest_in(folder)
        with naming_damage(folder):
            return folder / name if name and (self._shared or (folder / name).exists()) else None

    def latest_in(self, folder: Path) -> str:
        """The name of what is the latest in a folder, on whatever machine; blank where nothing is."""
        self._take(folder)
        with naming_damage(folder):
            return _latest_in(folder)

    def _open_latest(self, folder: Path, open_: Callable[[Path], T]) -> T | None:
        name = self.latest_in(folder)
        return self._open(folder / name, open_) if name else None

    def _open(self, path: Path, open_: Callable[[Path], T]) -> T | None:
        self._take(path.parent, path.name)
        with naming_damage(path):
            return open_(path) if path.is_file() else None

    def _read(self, folder: Path | None, name: str, record_type: type[T]) -> T | None:
        if folder is None:
            return None
        self._take(folder, name)
        return _read(folder / name, record_type)


def _latest_in(folder: Path) -> str:
    pointer = folder / LATEST
    if not pointer.is_file():
        return ""
    with naming_damage(pointer):
        name = file_bytes(pointer, LONGEST_NAME).decode().strip()
        if name and not is_plain_name(name):
            raise ValueError(f"{name!r} is not the name of a file")
        return name


def _folders(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


def _read(path: Path, record_type: type[T]) -> T | None:
    if not path.is_file():
        return None
    with naming_damage(path):
        return msgspec.json.decode(file_bytes(path, LARGEST_RECORD), type=record_type)

"""What may be deleted: evaluations that nobody needs any more, and what killed processes left behind."""

import datetime
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from eval_pipeline.decisions.approvals import read_approvals
from eval_pipeline.files import file_bytes, is_aside, is_there
from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline.scoring import Identity
from eval_pipeline.store import LARGEST_RECORD, WEEKLY, Store, read_baselines

T = TypeVar("T")
KEPT_LAST, KEPT_DAYS = 50, 90
"""What stays of each version unless a person says otherwise."""
SETTLED = datetime.timedelta(days=1)
"""What is incomplete and as old as this is of no process that still works on it."""


class Keeping(NamedTuple):
    """What stays: so many of each version, and whatever is younger; either is enough."""

    last: int | None = KEPT_LAST
    younger_than: datetime.timedelta | None = datetime.timedelta(days=KEPT_DAYS)

    def superfluous(
        self, items: Iterable[T], moment: Callable[[T], datetime.datetime], now: datetime.datetime
    ) -> list[T]:
        """Those that nothing keeps; the newest always stays."""
        newest_first = sorted(items, key=moment, reverse=True)
        beyond = newest_first[max(1, self.last or 0) :]
        if self.younger_than is None:
            return beyond
        return [item for item in beyond if now - moment(item) >= self.younger_than]


class Superfluous(NamedTuple):
    """Something in the state folder that may be deleted."""

    kind: str
    path: Path


class _Dated(msgspec.Struct):
    """What is read of an evaluation."""

    id: str
    identity: Identity
    created_at: str

    @property
    def moment(self) -> datetime.datetime:
        return datetime.datetime.fromisoformat(self.created_at)


def superfluous_files(project: Project, keeping: Keeping, now: datetime.datetime) -> list[Superfluous]:
    """Evaluations, answers, golden tables, weekly pages and leftovers of a project that may be deleted.

    A baseline, an approved result and a proposal keep their evaluations and answers, however old.
    """
    store = Store(project.state)
    found = [
        *(each for suite in store.suites() for each in _of_suite(project, store, suite, keeping, now)),
        *(Superfluous("weekly page", path) for path in _weekly_pages(project, keeping, now)),
        *(Superfluous("leftover", path) for path in _leftovers(project, now)),
    ]
    return sorted(found, key=lambda each: each.path)


def _of_suite(
    project: Project, store: Store, suite: str, keeping: Keeping, now: datetime.datetime
) -> Iterator[Superfluous]:
    store.bring(suite, "evaluation.json")
    needed = _needed(project, store, suite)
    answers, golden = set(needed), set[str]()
    for folder in store.version_folders(suite):
        evaluations, pieces = _evaluations(folder)
        latest = store.latest_in(folder)
        pinned = {each.id for each in evaluations if each.id == latest or each.identity.outputs.id in needed}
        gone = {each.id for each in keeping.superfluous(evaluations, lambda each: each.moment, now)} - pinned
        yield from (Superfluous("evaluation", folder / name) for name in sorted(gone))
        yield from (
            Superfluous("leftover", piece)
            for piece in pieces
            if piece.name != latest and _settled(piece, now)
        )
        stays = [each.identity for each in evaluations if each.id not in gone]
        answers |= {identity.outputs.id for identity in stays}
        golden |= {identity.golden_hash for identity in stays}
    yield from (
        Superfluous("leftover", path)
        for folder in store.shard_folders(suite)
        for path in sorted(folder.iterdir())
        if not is_aside(path) and _settled(path, now)
    )
    for folder in store.answer_folders(suite):
        yield from _unnamed("answer table", folder, {*answers, store.latest_in(folder)}, now)
    folder = store.golden_folder(suite)
    yield from _unnamed("golden table", folder, {*golden, store.latest_in(folder)}, now)


def _needed(project: Project, store: Store, suite: str) -> set[str]:
    """The answers that a baseline, an approval or a proposal speaks of.

    Where these cannot be read, nobody can tell what they need.
    """
    folder = project.golden(suite)
    approvals = read_approvals(folder)
    proposed = {proposal.evaluation for proposal in store.proposals(suite)}
    evaluations = (each for versions in store.version_folders(suite) for each in _evaluations(versions)[0])
    return {
        *(baseline.identity.outputs.id for baseline in read_baselines(folder)),
        *(side.id for each in approvals for side in (each.before, each.after) if side is not None),
        *(each.identity.outputs.id for each in evaluations if each.id in proposed),
    }


def _evaluations(folder: Path) -> tuple[list[_Dated], list[Path]]:
    """The evaluations of a version, and folders that hold only part of one."""
    evaluations, pieces = [], []
    for path in sorted(each for each in folder.iterdir() if each.is_dir() and not is_aside(each)):
        try:
            if is_there(record := path / "evaluation.json"):
                evaluations.append(msgspec.json.decode(file_bytes(record, LARGEST_RECORD), type=_Dated))
            else:
                pieces.append(path)
        except (BadInput, RecursionError, msgspec.MsgspecError):
            continue  # damaged: whoever reads it is told so
    return evaluations, pieces


def _unnamed(
    kind: str, folder: Path, stays: Iterable[str | None], now: datetime.datetime
) -> Iterator[Superfluous]:
    """The tables of a folder that nothing names; a new one may belong to an evaluation in the making."""
    names = {Path(name).stem for name in stays if name}
    for path in sorted(folder.glob("*.parquet")):
        if path.stem not in names and not is_aside(path) and _settled(path, now):
            yield Superfluous(kind, path)


def _weekly_pages(project: Project, keeping: Keeping, now: datetime.datetime) -> Iterator[Path]:
    for folder in sorted((project.state / WEEKLY).glob("*/")):
        pages = [path for path in folder.glob("*.html") if not is_aside(path)]
        yield from keeping.superfluous(pages, _changed, now)


def _leftovers(project: Project, now: datetime.datetime) -> Iterator[Path]:
    """Files and folders beside their place, of processes that were killed before they put them there."""
    for folder in (project.state, project.root / "golden", project.root / "prompts"):
        for path in sorted(folder.rglob(".*")):
            if is_aside(path) and _settled(path, now):
                yield path


def _settled(path: Path, now: datetime.datetime) -> bool:
    try:
        return now - _changed(path) >= SETTLED
    except FileNotFoundError:
        return False


def _changed(path: Path) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(path.lstat().st_mtime, datetime.UTC)


def size_of(paths: Sequence[Path]) -> int:
    """How many bytes files and folders take."""
    files = (file for path in paths for file in (path, *path.rglob("*")))
    return sum(file.lstat().st_size for file in files if file.is_file() and not file.is_symlink())

"""What people say of sampled answers: sheets that are handed out, and rulings that are sealed.

A queue is some sampled answers of a suite, whose versions nobody sees. Every rater gets a sheet of it, in an
order of its own. What a rater says becomes rows of the ledger of the blind protocol, sealed by rater: nothing
of it can be changed afterwards. It lies in `production/ratings/<suite>/` and holds ids and rulings, no text.
"""

from __future__ import annotations

import datetime
import os
import secrets
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import msgspec

from eval_pipeline.files import content_hash, is_there, read_json, read_json_lines, write_json
from eval_pipeline.golden import LEDGER_FILE
from eval_pipeline.improvement.checking import including
from eval_pipeline.improvement.failures import Ruling
from eval_pipeline.metrics.agreement import cohen_kappa
from eval_pipeline.monitoring import EventStore, Production, rows_of, sample_of
from eval_pipeline.problems import Problems, bad_value
from eval_pipeline.project import Project
from eval_pipeline.revisions import one_spelling
from eval_pipeline.suites.review.ledger import Ledger, Row

FOLDER = "production/ratings"
KEY_LENGTH = 12
LONGEST_NAME = 80
LONGEST_NOTE = 2000
STEP: Literal["adjudicate"] = "adjudicate"
Said = Literal["acceptable", "unacceptable", "unsure"]
SAID: tuple[str, ...] = get_args(Said)


class Item(msgspec.Struct, frozen=True, omit_defaults=True):
    """An answer on a sheet: what was asked, what was answered, and nothing of who answered it."""

    item: str
    input: Any
    answer: str
    passages: list[str] = []


class Queue(msgspec.Struct, frozen=True):
    """What a queue consists of: ids of requests by the keys that raters see."""

    queue: str
    suite: str
    created: str
    raters: int
    requests: dict[str, str]


class Sheet(NamedTuple):
    """What one rater gets."""

    queue: Queue
    number: int
    items: Sequence[Item]


class Head(msgspec.Struct, frozen=True):
    """The first line of a sheet: whose it is."""

    queue: str
    rater: str


class Line(msgspec.Struct, frozen=True):
    """A ruling of a sheet; blank where the rater has not ruled."""

    item: str = ""
    ruling: str = ""
    note: str = ""
    queue: str = ""
    rater: str = ""


def answers_to_rate(
    project: Project,
    store: EventStore,
    suite: str,
    production: Production,
    days: Iterable[datetime.date],
    but: Iterable[str] = (),
) -> Iterator[Mapping[str, Any]]:
    """The sampled answers of some days that have a text, but for some requests."""
    known = set(but)
    for day in days:
        for row in rows_of(sample_of(project, store, suite, day, production)):
            if row["output"] and row["error"] is None and row["request_id"] not in known:
                known.add(row["request_id"])
                yield row


def make_queue(
    project: Project,
    suite: str,
    rows: Iterable[Mapping[str, Any]],
    raters: int,
    most: int,
    hand_out: Callable[[Sheet], None] | None = None,
) -> list[Sheet]:
    """A sheet for each rater: the same answers, chosen and ordered by nothing that shows.

    The queue is written down once all sheets are handed out: answers on a sheet that nobody got can be rated.
    """
    salt = secrets.token_hex(8)
    keyed = {content_hash([salt, row["request_id"]])[:KEY_LENGTH]: row for row in rows}
    chosen = {key: keyed[key] for key in sorted(keyed)[:most]}
    if not chosen:
        remedy = "Take events in, and widen --days; answers are rated whose text was kept, once."
        raise bad_value("suite", f"{suite} has no sampled answer left to rate", remedy)
    requests = {key: row["request_id"] for key, row in chosen.items()}
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    queue = Queue(content_hash([suite, salt])[:KEY_LENGTH], suite, now, raters, requests)
    items = [_item(key, row) for key, row in chosen.items()]
    sheets = [
        Sheet(queue, number, sorted(items, key=lambda each: content_hash([number, each.item])))
        for number in range(1, raters + 1)
    ]
    for sheet in sheets if hand_out else ():
        assert hand_out
        hand_out(sheet)
    write_json(queue_file(project, suite, queue.queue), queue)
    return sheets


def folder_of(project: Project, suite: str) -> Path:
    """Where a suite's queues and rulings lie."""
    return project.root / FOLDER / suite


def queue_file(project: Project, suite: str, queue: str) -> Path:
    """Where a queue is written down."""
    return folder_of(project, suite) / f"queue-{queue}.json"


def queues_of(project: Project, suite: str) -> list[Queue]:
    """The queues of a suite, the oldest first."""
    problems = Problems()
    files = sorted(folder_of(project, suite).glob("queue-*.json"))
    queues = [each.record for file in files for each in read_json(file, Queue, problems)]
    problems.stop_if_any()
    return sorted(queues, key=lambda queue: (queue.created, queue.queue))


def plain_lines(sheet: Sheet) -> bytes:
    """A sheet to be filled in with an editor: JSON Lines, a blank ruling on each."""
    head = msgspec.json.encode(Head(sheet.queue.queue, ""))
    lines = [
        msgspec.json.encode({"ruling": "", "note": "", **msgspec.to_builtins(each)}) for each in sheet.items
    ]
    return b"\n".join([head, *lines, b""])


class Taken(NamedTuple):
    """What became of a sheet."""

    suite: str
    queue: str
    rater: str
    rulings: int
    blank: int


class _Checked(NamedTuple):
    """A sheet with nothing wrong about it."""

    queue: Queue
    rater: str
    rulings: Mapping[str, Line]


def take(project: Project, *paths: Path, by: str | None = None) -> list[Taken]:
    """Seal what raters say on sheets. Nothing is kept of any where anything is wrong with one."""
    problems = Problems()
    sheets: dict[tuple[str, str], _Checked] = {}
    for path in {os.path.realpath(path): path for path in paths}.values():
        checked = None
        with including(problems):
            checked = _checked(project, path, by, problems)
        if checked is None:
            continue
        if sheets.setdefault((checked.queue.queue, checked.rater), checked) is not checked:
            message = f"another file has what {checked.rater} says of this queue, too"
            problems.add(path, message, "Name one of them.")
    problems.stop_if_any()
    return [_seal(project, each) for each in sheets.values()]


def _checked(project: Project, path: Path, by: str | None, problems: Problems) -> _Checked | None:
    """What a rater says on a sheet; what is wrong with it goes to `problems`."""
    before = len(problems)
    if not is_there(path):
        problems.add(path, "there is no such file", "Name the file that the page saved.")
        return None
    lines = list(read_json_lines(path, Line, problems))
    if not lines:
        if len(problems) == before:
            problems.add(path, "is empty", "Name the file that the page saved.")
        return None
    head = lines[0].record
    rater = one_spelling(by or head.rater)
    if not rater or len(rater) > LONGEST_NAME or not rater.isprintable():
        problems.add(path, "is blank or no name", "Say who rated: --by.", line=1, field="rater")
    queue = _known_queue(project, head.queue)
    if queue is None:
        remedy = "Hand out queues of this project: eval-pipeline ratings queue."
        problems.add(path, f"{head.queue!r} is no queue of this project", remedy, line=1, field="queue")
        return None
    rulings: dict[str, Line] = {}
    for line, number in lines[1:]:
        _check(line, number, path, queue, rulings, problems)
        if line.ruling:
            rulings[line.item] = line
    if not rulings:
        problems.add(path, "holds no ruling", f"Rate some answers: {', '.join(SAID)}.", line=1)
    seals = [row for row in ledger_of(project, queue.suite).rows if row.act == "seal"]
    if any(row.stage[:2] == (STEP, queue.queue) and one_spelling(row.task) == rater for row in seals):
        problems.add(path, f"{rater} has rated this queue, and that is sealed", "Somebody else may rate it.")
    return _Checked(queue, rater, rulings)


def _seal(project: Project, sheet: _Checked) -> Taken:
    queue, rater, rulings = sheet
    ledger = ledger_of(project, queue.suite)
    for key, line in rulings.items():
        said = {"ruling": line.ruling, **({"note": line.note} if line.note.strip() else {})}
        ledger.add(
            STEP,
            "answer",
            evaluation=queue.queue,
            version="",
            task=rater,
            author=rater,
            subject=queue.requests[key],
            answers=said,
        )
    ledger.seal(STEP, evaluation=queue.queue, version="", task=rater, author=rater)
    return Taken(queue.suite, queue.queue, rater, len(rulings), len(queue.requests) - len(rulings))


def _check(
    line: Line, number: int, path: Path, queue: Queue, rulings: Mapping[str, Line], problems: Problems
) -> None:
    if line.item not in queue.requests:
        problems.add(path, f"{line.item!r} is not on the sheet", "Leave items as they are.", line=number)
    elif line.item in rulings and line.ruling:
        problems.add(path, f"{line.item!r} is ruled on twice", "Keep one ruling.", line=number)
    if line.ruling not in ("", *SAID):
        remedy = f"Write {', '.join(SAID)}, or leave it blank."
        problems.add(path, f"{line.ruling!r} is no ruling", remedy, line=number, field="ruling")
    if len(line.note) > LONGEST_NOTE:
        remedy = f"Keep it below {LONGEST_NOTE:,} characters."
        problems.add(path, "is too long", remedy, line=number, field="note")


def ledger_of(project: Project, suite: str) -> Ledger:
    """The ledger of a suite's ratings, as the blind protocol keeps it."""
    memory = project.state / "ratings" / suite / "head.json"
    return Ledger(folder_of(project, suite) / LEDGER_FILE, memory)


class Ratings(NamedTuple):
    """What people said of a suite's answers."""

    said: Mapping[str, Mapping[str, str]]
    """Request → rater → ruling; only what is sealed."""
    notes: Mapping[str, tuple[str, ...]]

    def on(self, requests: Container[str]) -> Ratings:
        """The same, of some requests alone."""
        said = {request: each for request, each in self.said.items() if request in requests}
        return Ratings(said, {request: each for request, each in self.notes.items() if request in requests})

    def ruling(self, request: str) -> Ruling | None:
        """What raters say together; who is unsure says nothing."""
        said = {each for each in self.said.get(request, {}).values() if each != "unsure"}
        if not said:
            return None
        return "disagreement" if len(said) > 1 else "acceptable" if "acceptable" in said else "unacceptable"

    @property
    def rulings(self) -> dict[str, Ruling]:
        """The same of every request."""
        ruled = {request: self.ruling(request) for request in self.said}
        return {request: ruling for request, ruling in ruled.items() if ruling is not None}

    @property
    def acceptable(self) -> dict[str, bool]:
        """Which answers people found acceptable: where they disagree, it was not."""
        return {request: ruling == "acceptable" for request, ruling in self.rulings.items()}

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """What each two raters said of an answer that both ruled on."""
        found = []
        for by_rater in self.said.values():
            ruled = [by_rater[rater] for rater in sorted(by_rater)]
            found += [(one, two) for index, one in enumerate(ruled) for two in ruled[index + 1 :]]
        return found

    @property
    def kappa(self) -> float | None:
        """How far raters agree beyond chance."""
        return cohen_kappa(self.pairs)


def ratings_of(project: Project, suite: str) -> Ratings:
    """Everything that raters sealed; a ledger that somebody changed is bad input."""
    rows = _rows(project, suite)
    sealed = {row.stage for row in rows if row.act == "seal"}
    said: dict[str, dict[str, str]] = {}
    notes: dict[str, list[str]] = {}
    for row in rows:
        if row.act == "answer" and row.stage in sealed:
            said.setdefault(row.subject, {})[one_spelling(row.author)] = row.answers.get("ruling", "unsure")
            if note := row.answers.get("note"):
                notes.setdefault(row.subject, []).append(note)
    return Ratings(said, {request: tuple(each) for request, each in notes.items()})


def rated_queues(project: Project, suite: str) -> list[str]:
    """The queues of which somebody sealed a sheet."""
    return sorted({row.evaluation for row in _rows(project, suite) if row.act == "seal"})


def _rows(project: Project, suite: str) -> Sequence[Row]:
    path = folder_of(project, suite) / LEDGER_FILE
    return ledger_of(project, suite).rows if is_there(path) else ()


def _known_queue(project: Project, name: str) -> Queue | None:
    root = project.root / FOLDER
    suites = sorted(each.name for each in root.iterdir() if each.is_dir()) if is_there(root) else []
    return next((each for suite in suites for each in queues_of(project, suite) if each.queue == name), None)


def _item(key: str, row: Mapping[str, Any]) -> Item:
    passages = [each["text"] for each in row["retrieved"] or () if each["text"]]
    return Item(key, row["input"] or "", row["output"], passages)

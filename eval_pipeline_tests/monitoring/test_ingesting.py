from __future__ import annotations

import gzip
import hashlib
import io
import os
import socket
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import uuid4

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from duckdb import DuckDBPyConnection

from eval_pipeline.monitoring import FileOutcome, figures_of, formats, open_ingest, sources
from eval_pipeline.monitoring.batches import Context
from eval_pipeline.monitoring.flat import FEW
from eval_pipeline.monitoring.sources import LONGEST_LINE, Content, Source
from eval_pipeline.project import Project
from eval_pipeline.store.database import URL_VARIABLE
from eval_pipeline_tests.monitoring.events_of import DAY, MONDAY, drop, flat, lines
from eval_pipeline_tests.object_storage import S3
from eval_pipeline_tests.postgres import Server

MANY = [flat(number, topic="x" * 60) for number in range(1000)]
"""More than are read one by one."""
assert len(lines(MANY)) > FEW


def ingest(project: Project, *, now: bool = True) -> dict[str, FileOutcome]:
    with open_ingest(project) as taking:
        return {outcome.name: outcome for outcome in taking.files(now=now)}


def counted(project: Project) -> int:
    with open_ingest(project) as taking:
        rows = figures_of(taking.store, "toy", MONDAY, MONDAY + 7 * DAY, 7)
    return rows[0].requests if rows else 0


def zstd(data: bytes) -> bytes:
    compressed: bytes = pa.compress(data, "zstd", asbytes=True)
    return compressed


def test_what_a_ledger_knows_by_sha_256_is_not_taken_again(
    toy: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = drop(toy, "a.jsonl", lines(MANY) + b"{}\n")
    with monkeypatch.context() as before:
        before.setattr(
            Source,
            "content",
            lambda source: Content(hashlib.sha256(path.read_bytes()).hexdigest()[:32], 1001),
        )
        assert ingest(toy)["a.jsonl"].refused == 1
    path.rename(path.with_name("b.jsonl"))
    drop(toy, "c.jsonl", lines(MANY[1:]) + b"{}\n" + lines(MANY[:1]))
    assert {name: each.outcome for name, each in ingest(toy).items()} == {
        "b.jsonl": "known",
        "c.jsonl": "taken",
    }
    assert ingest(toy) == {}
    assert counted(toy) == len(MANY)


@pytest.mark.parametrize("field", ['"latency_ms": NaN', '"cost_usd": NaN', '"confidences": [NaN]'])
def test_a_number_that_is_none_is_refused_among_good_ones(toy: Project, field: str) -> None:
    rows = [{**row, "latency_ms": 5.0, "cost_usd": 0.1, "confidences": [0.5]} for row in MANY[:900]]
    rest = {name: value for name, value in MANY[999].items() if f'"{name}"' not in field}
    bad = lines([rest]).decode().rstrip().removesuffix("}") + f", {field}}}\n"
    drop(toy, "a.jsonl", lines(rows) + bad.encode())
    outcome = ingest(toy)["a.jsonl"]
    assert (outcome.events, outcome.refused) == (900, 1)


def filled_up(data: bytes) -> bytes:
    """Two members, and zeros up to the end of a block, as tapes and some uploads leave them."""
    half = data.find(b"\n", len(data) // 2) + 1
    return gzip.compress(data[:half]) + gzip.compress(data[half:]) + bytes(10_000)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd, filled_up])
@pytest.mark.parametrize("rows", [MANY[:10], MANY])
def test_a_file_is_taken_once(toy: Project, pack: type[bytes], rows: list[dict[str, object]]) -> None:
    drop(toy, "a", pack(lines(rows)))
    assert ingest(toy)["a"] == FileOutcome("a", "taken", "flat", len(rows))
    assert ingest(toy) == {}
    assert counted(toy) == len(rows)


def test_renamed_and_delivered_again_it_counts_once(toy: Project) -> None:
    path = drop(toy, "a.jsonl", MANY)
    ingest(toy)
    path.rename(path.with_name("b.jsonl"))
    drop(toy, "sub/c.jsonl.gz", gzip.compress(lines(MANY)))
    drop(toy, "part.jsonl", MANY[500:])
    outcomes = ingest(toy)
    assert {name: each.outcome for name, each in outcomes.items()} == {
        "b.jsonl": "known",
        "sub/c.jsonl.gz": "taken",
        "part.jsonl": "taken",
    }
    assert counted(toy) == len(MANY)


@pytest.mark.slow
def test_a_ledger_on_postgresql_counts_once(
    toy: Project, postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(URL_VARIABLE, postgres.new_schema())
    path = drop(toy, "a.jsonl", [*MANY, "{"])
    taken = ingest(toy)["a.jsonl"]
    assert (taken.outcome, taken.events, taken.refused) == ("taken", len(MANY), 1)
    path.rename(path.with_name("b.jsonl"))
    drop(toy, "again.jsonl.gz", gzip.compress(lines(MANY)))
    assert {name: each.outcome for name, each in ingest(toy).items()} == {
        "b.jsonl": "known",
        "again.jsonl.gz": "taken",
    }
    assert ingest(toy) == {}
    assert counted(toy) == len(MANY)
    assert not list(toy.state.glob("*.sqlite*"))
    with open_ingest(toy) as taking:
        assert [line.line for line in taking.store.ledger.quarantined()] == [len(MANY) + 1]


def test_a_drop_folder_elsewhere_counts_once(toy: Project) -> None:
    files = fsspec.filesystem("memory")
    folder = f"/{uuid4().hex}"
    (toy.root / "production.yaml").write_text(f"drop: memory:/{folder}\n")
    try:
        files.pipe(f"{folder}/a.jsonl", lines(MANY))
        assert ingest(toy)["a.jsonl"] == FileOutcome("a.jsonl", "taken", "flat", len(MANY))
        files.mv(f"{folder}/a.jsonl", f"{folder}/b.jsonl")
        files.pipe(f"{folder}/sub/again.jsonl.gz", gzip.compress(lines(MANY)))
        assert {name: each.outcome for name, each in ingest(toy).items()} == {
            "b.jsonl": "known",
            "sub/again.jsonl.gz": "taken",
        }
        assert ingest(toy) == {}
        assert counted(toy) == len(MANY)
    finally:
        files.rm(folder, recursive=True)


def test_a_drop_folder_in_object_storage_counts_once(toy: Project, s3: S3) -> None:
    files, folder = fsspec.filesystem("s3"), s3.new_folder()
    (toy.root / "production.yaml").write_text(f"drop: {folder}\n")
    assert ingest(toy) == {}, "there is no such folder yet"
    files.pipe(f"{folder}/a.jsonl", lines([*MANY, "{"]))
    taken = ingest(toy)["a.jsonl"]
    assert (taken.outcome, taken.events, taken.refused) == ("taken", len(MANY), 1)
    assert ingest(toy) == {}
    files.mv(f"{folder}/a.jsonl", f"{folder}/b.jsonl")
    files.pipe(f"{folder}/day=1/again.jsonl.gz", gzip.compress(lines(MANY)))
    assert ingest(toy, now=False)["b.jsonl"].outcome == "waiting"
    assert {name: each.outcome for name, each in ingest(toy).items()} == {
        "b.jsonl": "known",
        "day=1/again.jsonl.gz": "taken",
    }
    assert ingest(toy) == {}
    assert counted(toy) == len(MANY)


def test_an_object_that_changes_while_it_is_read_is_taken_next_time(
    toy: Project, s3: S3, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, whole = s3.new_folder(), Source.content
    other = fsspec.filesystem("s3", skip_instance_cache=True)  # as on another machine: it tells us nothing
    other.pipe(f"{folder}/a.jsonl", lines(MANY))
    (toy.root / "production.yaml").write_text(f"drop: {folder}\n")

    def changed(source: Source) -> Content:
        content = whole(source)
        other.pipe(f"{folder}/a.jsonl", lines([*MANY, flat(2000)]))
        return content

    with monkeypatch.context() as patch:
        patch.setattr(Source, "content", changed)
        assert ingest(toy)["a.jsonl"].outcome == "changed"
    assert counted(toy) == 0
    assert ingest(toy)["a.jsonl"].events == len(MANY) + 1
    assert counted(toy) == len(MANY) + 1


def test_what_may_still_grow_waits(toy: Project) -> None:
    path = drop(toy, "a.jsonl", MANY)
    assert ingest(toy, now=False)["a.jsonl"].outcome == "waiting"
    os.utime(path, (0, 0))
    assert ingest(toy, now=False)["a.jsonl"].outcome == "taken"
    path.write_bytes(lines([*MANY, flat(2000)]))
    assert ingest(toy)["a.jsonl"].events == len(MANY) + 1
    assert counted(toy) == len(MANY) + 1


def test_a_file_of_nothing(toy: Project) -> None:
    drop(toy, "empty", b"")
    drop(toy, ".hidden", MANY)
    assert ingest(toy) == {"empty": FileOutcome("empty", "taken", "flat")}


BAD: list[tuple[Any, str]] = [
    ("{", "is not JSON"),
    ("[]", "Expected 'object', got 'array'"),
    ({**flat(1), "at": "yesterday"}, "at: "),
    ({**flat(1), "at": "1970-01-01T00:00:00Z"}, "cannot be when a request was made"),
    ({**flat(1), "at": "2970-01-01T00:00:00Z"}, "cannot be when a request was made"),
    ({**flat(1), "suite": "nothing"}, "suite: 'nothing' is not a suite of this project"),
    ({"at": "2026-03-02T00:00:00Z", "suite": "toy"}, "request_id"),
    ({**flat(1), "request_id": ""}, "request_id: "),
    ({**flat(1), "request_id": "x" * 600}, "request_id: "),
    ({**flat(1), "latency_ms": -1}, "latency_ms: "),
    ({**flat(1), "input_tokens": "many"}, "input_tokens: "),
    ({**flat(1), "confidences": [0.5, 1.5]}, "confidences[1]: "),
    ({**flat(1), "feedback": 17}, "feedback: 17 is not between 1 and 5"),
    ({"at": "2026-03-02T00:00:00Z", "feedback": "up"}, "nobody knows what the feedback is about"),
    ({**flat(1), "latency_ms": "jane@example.com"}, "latency_ms: "),
]


@pytest.mark.parametrize("around", [0, 400], ids=["alone", "among many"])
def test_bad_lines_go_to_quarantine_with_file_line_and_reason(toy: Project, around: int) -> None:
    rows: list[dict[str, object] | str] = [
        *MANY[:around],
        *(row for row, _ in BAD),
        *MANY[around : 2 * around],
    ]
    drop(toy, "a.jsonl", [*rows, ""])
    with open_ingest(toy) as taking:
        (outcome,) = taking.files(now=True)
        quarantine = taking.store.ledger.quarantined()
    assert (outcome.events, outcome.refused) == (2 * around, len(BAD))
    assert [line.line for line in quarantine] == list(range(around + 1, around + len(BAD) + 1))
    for line, (_, reason) in zip(quarantine, BAD, strict=True):
        assert line.name == "a.jsonl"
        assert reason in line.reason
    assert "[e-mail]" in quarantine[-1].text
    assert "jane" not in str(quarantine)
    assert counted(toy) == 2 * around


def test_what_quarantine_holds_can_be_fed_again(toy: Project) -> None:
    drop(toy, "a.jsonl", [flat(1), {**flat(2), "suite": "later"}, "{"])
    ingest(toy)
    (toy.root / "production.yaml").write_text("suites: {toy: {raw_text: true}}\n")
    with open_ingest(toy) as taking:
        known = taking.context

        def later(connection: DuckDBPyConnection) -> Context:
            before = known(connection)
            return replace(before, suites=before.suites | {"later"})

        taking.context = later
        kept = taking.retry()
        assert (kept.events, len(kept.refusals)) == (1, 1)
        assert [line.line for line in taking.store.ledger.quarantined()] == [3]
        assert taking.store.suites() == ["later", "toy"]
        assert taking.retry().events == 0


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_line_that_is_longer_than_any_event_is_refused_however_it_is_read(
    toy: Project, pack: Callable[[bytes], bytes]
) -> None:
    rows = [flat(1), flat(2, extra="x" * LONGEST_LINE), flat(3)]
    drop(toy, "long.jsonl", pack(lines(rows)))
    (outcome,) = ingest(toy).values()
    assert (outcome.events, outcome.refused) == (2, 1)
    assert outcome.reason == "the line is longer than any event"


def test_an_export_of_many_spans_counts_wherever_it_stands(toy: Project) -> None:
    def export(*spans: str) -> dict[str, object]:
        attributes = [
            {"key": "eval_pipeline.suite", "value": {"stringValue": "toy"}},
            {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
            {"key": "gen_ai.output.messages", "value": {"stringValue": "word " * 200_000}},
        ]
        each = {"traceId": "aa", "startTimeUnixNano": "1772409600000000000", "attributes": attributes}
        return {"resourceSpans": [{"scopeSpans": [{"spans": [{**each, "spanId": name} for name in spans]}]}]}

    drop(toy, "spans.jsonl", [export("first"), export(*map(str, range(12))), export("last")])
    (outcome,) = ingest(toy).values()
    assert (outcome.outcome, outcome.events, outcome.refused) == ("taken", 14, 0)


def test_files_of_nobodys_format(toy: Project) -> None:
    drop(toy, "picture", b"\x89PNG\r\n\x1a\n" + bytes(100))
    drop(toy, "other.jsonl", ['{"a": 1}'])
    drop(toy, "cut.gz", gzip.compress(lines(MANY))[:-20])
    drop(toy, "cut.parquet", b"PAR1" + bytes(10))
    outcomes = ingest(toy)
    assert {each.outcome for each in outcomes.values()} == {"unreadable"}
    assert "neither our own format" in outcomes["picture"].reason
    assert "cannot be unpacked" in outcomes["cut.gz"].reason
    assert ingest(toy) == {}
    assert counted(toy) == 0


COUNT = 20_000
"""More than are unpacked at once."""


@pytest.mark.parametrize("kind", ["gzip", "zstd", "parquet", "csv"])
def test_what_comes_before_damage_does_not_count(
    toy: Project, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody knows how much of a file is missing; when it is whole, all of it counts."""
    monkeypatch.setattr(formats, "HEAD", 1000)
    monkeypatch.setattr(sources, "PIECE", 2**18)
    monkeypatch.setattr(formats, "ROWS", 2000)
    topics = [hashlib.sha256(str(number).encode()).hexdigest() for number in range(COUNT)]
    rows = [{**flat(number, topic=topic), "at": MONDAY.isoformat()} for number, topic in enumerate(topics)]
    if kind == "csv":
        header, row = "id,type,start_time,trace_id,metadata", "GENERATION,2026-03-02T08:00:00Z,t"
        text = [header, *(f'o{number},{row},"{{""suite"": ""toy""}}"' for number in range(COUNT))]
        whole = gzip.compress("\n".join(text).encode())
    elif kind == "parquet":
        file = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(rows), file, row_group_size=2000, use_dictionary=False)
        whole = file.getvalue()
    else:
        whole = gzip.compress(lines(rows)) if kind == "gzip" else zstd(lines(rows))
    middle = len(whole) * 3 // 4
    damaged = whole[:middle] + bytes(2_000) + whole[middle + 2_000 :] if kind == "parquet" else whole[:middle]
    path = drop(toy, "a", damaged)
    assert ingest(toy)["a"].outcome == "unreadable"
    assert counted(toy) == 0
    path.write_bytes(whole)
    assert ingest(toy)["a"].events == COUNT
    assert counted(toy) == COUNT


def test_nothing_personal_reaches_the_disk(toy: Project) -> None:
    secrets = ["jane@example.com", "+31 20 123 4567", "NL91 ABNA 0417 1643 00", "4111 1111 1111 1111"]
    texts = [f"{secret} {number}" for number, secret in enumerate(secrets)]
    rows = [
        flat(
            number,
            input=text,
            output={"said": [text]},
            retrieved=[{"id": "d", "text": text}],
            topic=text,
            error=text,
            user=text,
            session=text,
            feedback={"points": "up", "comment": text},
        )
        for number, text in enumerate(texts)
    ]
    drop(toy, "a.jsonl", [*rows, *(f"{{bad {text}" for text in texts), flat(9, request_id=secrets[0])])
    drop(toy, "many.jsonl", [row for row in rows for _ in range(200)])
    outcomes = ingest(toy)
    assert outcomes["a.jsonl"]._replace(reason="") == FileOutcome("a.jsonl", "taken", "flat", 5, 4, 0, 4)
    assert outcomes["many.jsonl"].events == 800
    for path in toy.state.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            if path.suffix == ".parquet":
                content = str(pq.read_table(path).to_pylist()).encode()
            for secret in secrets:
                assert secret.encode() not in content, path


def test_feedback_is_about_the_same_person_as_its_request(toy: Project) -> None:
    """An id that is an address becomes the same pseudonym in both, and nothing of it is kept."""
    person = "jan@example.com"
    given = {"at": MONDAY.isoformat(), "feedback": {"points": 1, "id": f"f {person}", "name": person}}
    drop(toy, "a.jsonl", [flat(1, request_id=person, model=person), {"request_id": person, **given}])
    ingest(toy)
    with open_ingest(toy) as taking:
        (figures,) = figures_of(taking.store, "toy", MONDAY, MONDAY + DAY, 7)
        (feedback,) = taking.store.feedback(MONDAY, MONDAY + DAY).to_pylist()
    assert figures.value("feedback_count") == 1
    assert person not in str(feedback)
    assert figures.value("feedback_points") == 1


def test_lines_that_are_fed_again_are_still_of_different_people(toy: Project) -> None:
    """Quarantine keeps no address and no number, and tells them apart all the same."""
    people = [f"user{number}@example.com" for number in range(5)] + [
        f"+3161234567{number}" for number in range(5)
    ]
    rows = [flat(number, request_id=who, user=who, suite="later") for number, who in enumerate(people)]
    text = "Bel:\n0612345678 4111\u00a01111\u00a01111\u00a01111"
    secret = flat(
        99, suite="later", request_id="0201234567", input={"id": {"stringValue": text}, "text": [text]}
    )
    drop(toy, "a.jsonl", [*rows, secret])
    drop(toy, "b.jsonl", [{**rows[0], "suite": "toy", "request_id": "direct"}])
    assert ingest(toy)["a.jsonl"].refused == 11
    with open_ingest(toy) as taking:
        kept = "".join(each.text for each in taking.store.ledger.quarantined())
        assert not [part for part in (*people, "0612345678", "1111") if part in kept]
        context = taking.context

        def with_suite(connection: DuckDBPyConnection) -> Context:
            return replace(context(connection), suites=frozenset({"toy", "later"}))

        taking.context = with_suite
        assert taking.retry().events == 11
        again = taking.store.events("later", MONDAY, MONDAY + DAY).to_pylist()
        (direct,) = taking.store.events("toy", MONDAY, MONDAY + DAY).to_pylist()
    assert len({each["request_id"] for each in again}) == 11
    assert again[-1]["request_id"] == "0201234567"  # an id that is no address, as in events
    assert again[0]["user"] == direct["user"]
    assert len({each["user"] for each in again if each["user"]}) == 10


def test_what_is_no_file_is_left_alone(toy: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    path = drop(toy, "a.jsonl", MANY)
    folder = path.parent
    (folder / "nowhere").symlink_to("gone")
    (folder / "itself").symlink_to("itself")
    (folder / "up").symlink_to(folder.parent)
    os.mkfifo(folder / "pipe")
    (folder / os.fsdecode(b"odd\xff.jsonl")).write_bytes(lines([flat(2000)]))
    monkeypatch.chdir(folder)
    with socket.socket(socket.AF_UNIX) as held:
        held.bind("socket")  # the name of one has to be short
        outcomes = ingest(toy)
    assert {name: each.outcome for name, each in outcomes.items()} == {
        "a.jsonl": "taken",
        "odd\\xff.jsonl": "taken",
    }


def test_a_file_that_cannot_be_opened_keeps_no_other_from_being_taken(
    toy: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    drop(toy, "a.jsonl", [flat(1)])
    drop(toy, "b.jsonl", [flat(2)])
    opened = Source.open

    def refused(source: Source) -> Any:
        if source.name == "a.jsonl":
            raise PermissionError(13, "Permission denied")
        return opened(source)

    with monkeypatch.context() as denied:
        denied.setattr(Source, "open", refused)
        outcomes = ingest(toy)
    assert (outcomes["a.jsonl"].outcome, outcomes["a.jsonl"].reason) == ("unreadable", "Permission denied")
    assert outcomes["b.jsonl"].events == 1
    assert ingest(toy)["a.jsonl"].events == 1


def test_a_file_that_vanishes_keeps_no_other_from_being_taken(toy: Project) -> None:
    paths = [drop(toy, f"{name}.jsonl", [flat(number)]) for number, name in enumerate("abc")]
    with open_ingest(toy) as taking:
        outcomes = taking.files(now=True)
        assert next(outcomes).outcome == "taken"
        paths[1].unlink()
        assert [each.outcome for each in outcomes] == ["changed", "taken"]


def test_raw_text_stays_where_the_settings_say_so(toy: Project) -> None:
    (toy.root / "production.yaml").write_text("suites: {toy: {raw_text: true}}\n")
    drop(toy, "a.jsonl", [flat(1, input="jane@example.com")])
    with open_ingest(toy) as taking:
        list(taking.files(now=True))
        assert taking.store.events("toy", MONDAY, MONDAY + DAY)["input"].to_pylist() == ["jane@example.com"]


def test_concepts_are_counted_and_costs_estimated(project: Project) -> None:
    concept = {"label": "a", "confidence": 0.5}
    answer = {"concepts": [concept, concept, {"label": "b"}], "relationships": [{}]}
    of_suite = {"suite": "decomposition", "model": "m-2026-01-31", "input_tokens": 1000, "output_tokens": 100}
    rows = [
        flat(1, **of_suite, output=answer),
        flat(2, **of_suite, output="not JSON", cost_usd=0.5),
        flat(3, **{**of_suite, "model": "m-mini"}, output="{}"),
        flat(4, suite="review", output=answer),
    ]
    engines = project.engines_file.read_text()
    entry = "  m: {kind: endpoint, url: http://localhost/v1, model: m, prices: {prompt: 2, completion: 10}}\n"
    project.engines_file.write_text(engines.rstrip("\n") + "\n" + entry)
    drop(project, "a.jsonl", rows)
    with open_ingest(project) as taking:
        list(taking.files(now=True))
        table = taking.store.events("decomposition", MONDAY, MONDAY + DAY)
        (other,) = taking.store.events("review", MONDAY, MONDAY + DAY)["concepts"].to_pylist()
    assert other is None
    columns = ["concepts", "relationships", "confidences", "cost_usd", "cost_estimated"]
    assert [list(row.values()) for row in table.select(columns).to_pylist()] == [
        [3, 1, [0.5, 0.5], 0.003, True],
        [None, None, None, 0.5, False],
        [None, None, [], None, False],
    ]

"""Parquet tables of golden cases and of answers, written once and read in pieces."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from eval_pipeline.answers import (
    STALE,
    Answer,
    CaseSample,
    CostCounter,
    Costs,
    Failure,
    OutputsIdentity,
    Stopping,
    costs_of,
)
from eval_pipeline.files import Kind, canonical_json, data_frame, typed_table
from eval_pipeline.golden import GoldenCase
from eval_pipeline.scoring import ATTRIBUTE
from eval_pipeline.store.damage import naming_damage
from eval_pipeline.store.parquet import ROWS, RowWriter, facts_of, opened, row_writer, rows_in, rows_of
from eval_pipeline.suite import Case, Suite

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

ENCODED = ("input", "expected", "attributes")
"""What of a case is stored as JSON."""
PLAIN = ("case_id", "trial", "text", "error", "detail", "latency_ms", "cost_usd")
"""What of an answer is stored as it is."""
ANSWER_COLUMNS: Mapping[str, Kind] = {
    "suite": "text",
    "version": "text",
    "engine": "text",
    "model": "text",
    "case_id": "text",
    "trial": "int",
    "text": "text?",
    "error": "text?",
    "detail": "text?",
    "latency_ms": "float?",
    "cost_usd": "float?",
    "tokens": "int?",
    "carried": "text?",
    "input_hash": "text",
}
"""What a data frame shows of an answer."""
GOLDEN_COLUMNS: Mapping[str, Kind] = {
    "case_id": "text",
    "file": "text",
    "line": "int",
    "input": "text",
    "expected": "text",
    "input_hash": "text",
    "case_hash": "text",
}
"""What a data frame shows of a case, besides its attributes."""
STOPPING = b"eval_pipeline_stopping"
COSTS = b"eval_pipeline_costs"
VARIES = b"eval_pipeline_varies"


class GoldenFacts(msgspec.Struct, frozen=True):
    """What identifies a golden table."""

    golden_hash: str
    inputs_hash: str
    cases: int


@dataclass(frozen=True)
class GoldenTable:
    """A golden set as it was when it was loaded."""

    path: Path
    facts: GoldenFacts
    sample: CaseSample | None = None
    """Which of its cases count; None for all of them."""
    _chosen: Set[str] = frozenset()
    _span: tuple[int, int] | None = None
    """Its first row that counts, and the first that does not any more; None for all of them."""

    @classmethod
    def open(cls, path: Path) -> GoldenTable:
        """A table that was written before."""
        return cls(path, msgspec.json.decode(facts_of(path), type=GoldenFacts))

    @classmethod
    def write(cls, folder: Path, rows: Iterable[GoldenCase], facts: Callable[[], GoldenFacts]) -> GoldenTable:
        """Write cases to a table named by its content; `facts` is asked when all rows are there."""

        def record(golden: GoldenCase) -> dict[str, Any]:
            row = {name: getattr(golden, name) for name in ("file", "line", "input_hash", "case_hash")}
            row |= {name: msgspec.json.encode(getattr(golden.case, name)) for name in ENCODED}
            return row | {"case_id": golden.case.id}

        loading = folder / f".loading-{os.getpid()}.parquet"
        try:
            with row_writer(loading, _golden_schema()) as writer:
                for golden in rows:
                    writer.add(record(golden))
                known_facts = facts()
                writer.finish(known_facts)
            return cls(loading.replace(folder / f"{known_facts.golden_hash}.parquet"), known_facts)
        finally:
            loading.unlink(missing_ok=True)

    def sampled(self, sample: CaseSample, chosen: Set[str]) -> GoldenTable:
        """The same set, of which only the chosen cases count."""
        facts = msgspec.structs.replace(self.facts, cases=len(chosen))
        return replace(self, facts=facts, sample=sample, _chosen=chosen)

    def part(self, start: int, stop: int, cases: int) -> GoldenTable:
        """The same set, of which only the cases of some rows count: so many."""
        facts = msgspec.structs.replace(self.facts, cases=cases)
        return replace(self, facts=facts, _span=(start, stop))

    def places(self) -> Iterator[tuple[int, str, str]]:
        """The row, id and input hash of every case that counts."""
        for number, row in enumerate(rows_in(self.path, ["case_id", "input_hash"])):
            if self.sample is None or row["case_id"] in self._chosen:
                yield number, row["case_id"], row["input_hash"]

    def _rows(self, columns: list[str] | None = None) -> Iterator[dict[str, Any]]:
        for row in (
            rows_in(self.path, columns) if self._span is None else rows_of(self.path, *self._span, columns)
        ):
            if self.sample is None or row["case_id"] in self._chosen:
                yield row

    def attributes(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Each case's id and attributes."""
        decoder = msgspec.json.Decoder(dict[str, str])
        for row in self._rows(["case_id", "attributes"]):
            yield row["case_id"], decoder.decode(row["attributes"])

    def cases(self, suite: Suite, only: Set[str] | None = None) -> Iterator[GoldenCase]:
        """Every case, or those of some ids, decoded as they are needed."""
        attributes = msgspec.json.Decoder(dict[str, str])
        with naming_damage(self.path):
            for row in self._rows() if only is None else rows_in(self.path, only=only):
                case = Case(
                    row["case_id"],
                    msgspec.json.decode(row["input"], type=suite.input),
                    msgspec.json.decode(row["expected"], type=suite.expected),
                    attributes.decode(row["attributes"]),
                )
                yield GoldenCase(case, row["file"], row["line"], row["input_hash"], row["case_hash"])

    def inputs(self, suite: Suite, only: Set[str] | None = None) -> Iterator[tuple[str, str, Any]]:
        """Case id, input hash and input, of every case or some. The expectations are not even read."""
        columns = ["case_id", "input_hash", "input"]
        for row in self._rows(columns) if only is None else rows_in(self.path, columns, only):
            yield row["case_id"], row["input_hash"], msgspec.json.decode(row["input"], type=suite.input)

    def hashes(self, column: Literal["input_hash", "case_hash"]) -> dict[str, str]:
        """Each case's hash: of its input, or of all of it."""
        return {row["case_id"]: row[column] for row in self._rows(["case_id", column])}

    @cached_property
    def input_hashes(self) -> dict[str, str]:
        """The hash of each case's input, read once."""
        return self.hashes("input_hash")

    def to_pandas(self) -> pd.DataFrame:
        """A row for each case: where it stands, its attributes, and input and expectation as JSON."""
        attributes = msgspec.json.Decoder(dict[str, str])
        rows = []
        with naming_damage(self.path):
            for row in self._rows():
                own = {ATTRIBUTE + name: each for name, each in attributes.decode(row["attributes"]).items()}
                rows.append({**row, **{name: row[name].decode() for name in ENCODED}, **own})
        names = sorted({name for row in rows for name in row if name.startswith(ATTRIBUTE)})
        first: dict[str, Kind] = {name: GOLDEN_COLUMNS[name] for name in ("case_id", "file", "line")}
        columns: dict[str, Kind] = {**first, **dict.fromkeys(names, "text?"), **GOLDEN_COLUMNS}
        return data_frame(typed_table(columns, rows))


class AnswerTable:
    """Answers in the order of their trials and cases; texts are read a piece at a time."""

    def __init__(self, path: Path, identity: OutputsIdentity) -> None:
        self.path = path
        self.identity = identity
        self._file = opened(path)
        self._group = -1
        self._rows: list[dict[str, Any]] = []

    @cached_property
    def _places(self) -> dict[tuple[str, int], int]:
        with naming_damage(self.path):
            keys = self._file.read(["case_id", "trial"])
            pairs = zip(keys["case_id"].to_pylist(), keys["trial"].to_pylist(), strict=True)
            return {key: number for number, key in enumerate(pairs)}

    @classmethod
    def open(cls, path: Path) -> AnswerTable:
        """A table that was written before."""
        with naming_damage(path):
            return cls(path, msgspec.json.decode(facts_of(path), type=OutputsIdentity))

    @classmethod
    @contextmanager
    def writing(cls, folder: Path, name: str = "") -> Iterator[AnswerWriter]:
        """Yield a writer; once it knows the identity of its answers, the table appears under that name.

        Only a part of them has another name.
        """
        loading = folder / f".loading-{uuid.uuid4().hex}.parquet"
        try:
            with row_writer(loading, _answer_schema()) as rows:
                writer = AnswerWriter(rows)
                yield writer
            loading.replace(folder / f"{name or writer.identity.id}.parquet")
        finally:
            loading.unlink(missing_ok=True)

    @property
    def stopping(self) -> Stopping | None:
        """Why no further trial was asked; None where their number was fixed."""
        stored = self._file.metadata.metadata.get(STOPPING)
        return msgspec.json.decode(stored, type=Stopping) if stored else None

    @property
    def costs(self) -> Costs:
        """What the answers cost."""
        kept = self._file.metadata.metadata.get(COSTS)
        return msgspec.json.decode(kept, type=Costs) if kept else costs_of(self)

    @property
    def varies(self) -> bool:
        """Whether asking once more may have brought other answers."""
        return bool(self._file.metadata.metadata.get(VARIES) != b"false")

    @property
    def trials(self) -> tuple[int, ...]:
        """The trials there are."""
        return tuple(range(1, self.identity.trials + 1))

    def __len__(self) -> int:
        return int(self._file.metadata.num_rows)

    def input_hashes(self) -> dict[str, str]:
        """Which input of each case was answered."""
        return {row["case_id"]: row["input_hash"] for row in rows_in(self.path, ["case_id", "input_hash"])}

    def __iter__(self) -> Iterator[Answer]:
        with naming_damage(self.path):
            yield from map(_answer, rows_in(self.path))

    def get(self, case_id: str, trial: int, input_hash: str) -> Answer | None:
        """The answer for a case in a trial; one that was given to another input is an error."""
        place = self._places.get((case_id, trial))
        if place is None:
            return None
        with naming_damage(self.path):
            group, index = divmod(place, ROWS)
            if group != self._group:
                self._group, self._rows = group, self._file.read_row_group(group).to_pylist()
            return answer_to(self._rows[index], input_hash)

    def to_pandas(self) -> pd.DataFrame:
        """A row for each answer; see `eval_pipeline.frames.answers`."""
        of = self.identity
        about = {"suite": of.suite, "version": of.version, "engine": of.engine, "model": of.model}
        with naming_damage(self.path):
            rows = [
                {**about, **row, "tokens": _answer(row).token_count, "carried": _unless_null(row["carried"])}
                for row in rows_in(self.path)
            ]
        return data_frame(typed_table(ANSWER_COLUMNS, rows))


class AnswerWriter:
    """Writes answers in the order of their trials and cases."""

    def __init__(self, rows: RowWriter) -> None:
        self._rows = rows
        self._costs = CostCounter()

    def add(self, answer: Answer, input_hash: str, failure: Failure | None) -> None:
        """Write an answer, with the hash of the input it was given to; `failure` is why it is of no use."""
        self._costs.add(answer, failure)
        row = {name: getattr(answer, name) for name in PLAIN}
        row |= {"tokens": msgspec.json.encode(answer.tokens), "carried": bytes(answer.carried)}
        self._rows.add(row | {"input_hash": input_hash})

    def include(self, answers: AnswerTable, rows: pa.Table) -> None:
        """Write the answers of another table after those that are there."""
        self._costs.include(answers.costs, *(rows[name].to_pylist() for name in ("latency_ms", "cost_usd")))
        self._rows.add_table(rows)

    def finish(
        self, identity: OutputsIdentity, stopping: Stopping | None = None, *, varies: bool = True
    ) -> None:
        """Say what the answers are, why there are not more of them, and whether their engine's vary."""
        self.identity = identity
        more = {COSTS: canonical_json(self._costs.costs), VARIES: canonical_json(varies)}
        self._rows.finish(identity, more | ({STOPPING: canonical_json(stopping)} if stopping else {}))


def _unless_null(encoded: bytes) -> str | None:
    return None if encoded == b"null" else encoded.decode()


def answer_to(row: dict[str, Any], input_hash: str) -> Answer:
    """The answer of a row; one that was given to another input is an error."""
    if row["input_hash"] == input_hash:
        return _answer(row)
    detail = "the case's input changed after it was answered"
    return Answer(row["case_id"], row["trial"], error=STALE, detail=detail)


def _answer(row: dict[str, Any]) -> Answer:
    plain = {name: row[name] for name in PLAIN}
    return Answer(**plain, tokens=msgspec.json.decode(row["tokens"]), carried=msgspec.Raw(row["carried"]))


def _golden_schema() -> pa.Schema:
    import pyarrow as pa

    texts = dict.fromkeys(("case_id", "file", "input_hash", "case_hash"), pa.string())
    return pa.schema({**texts, "line": pa.int64(), **dict.fromkeys(ENCODED, pa.binary())})


def _answer_schema() -> pa.Schema:
    import pyarrow as pa

    texts = dict.fromkeys(("case_id", "input_hash", "text", "error", "detail"), pa.string())
    numbers = dict.fromkeys(("latency_ms", "cost_usd"), pa.float64())
    encoded = dict.fromkeys(("tokens", "carried"), pa.binary())
    return pa.schema({**texts, "trial": pa.int64(), **numbers, **encoded})

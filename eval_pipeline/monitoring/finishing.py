"""From what a file says to what is kept: counted, priced, masked, with pseudonyms in the place of people."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from eval_pipeline.engines import read_engines
from eval_pipeline.engines.fields import Prices
from eval_pipeline.monitoring.events import MEASURED, distinct, event_schema
from eval_pipeline.monitoring.ledger import Refusal
from eval_pipeline.monitoring.masking import mask_column, mask_labels, mask_text
from eval_pipeline.monitoring.people import impersonal_ids, pseudonyms, without_people
from eval_pipeline.monitoring.settings import Production
from eval_pipeline.problems import Problems
from eval_pipeline.project import Project
from eval_pipeline.suite import Suite

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

_DATED = re.compile(r"-\d{4}-?\d{2}-?\d{2}$")
Counted = Literal["concepts", "relationships"]
COUNTED: tuple[Counted, ...] = ("concepts", "relationships")
FEEDBACK_IDS = ("feedback_id", "request_id", "trace_id")
_TEXTS = ("input", "output", "topic", "error")
_LABELS = ("version", "model", "experiment")


@dataclass(frozen=True)
class Finishing:
    """How events are finished."""

    production: Production
    prices: Mapping[str, Prices]
    """By the name of the model."""
    counted: Mapping[str, tuple[Counted, ...]]
    """For each suite, what its answers have that is counted."""
    key: str
    """What pseudonyms are made with."""

    def events(self, table: pa.Table, connection: DuckDBPyConnection) -> pa.Table:
        """Events as they are kept."""
        import pyarrow as pa

        if not table.num_rows:
            return event_schema().empty_table()
        columns: dict[str, Any] = {name: table[name] for name in table.column_names}
        columns |= self._counts(table, connection)
        columns |= self._costs(table)
        columns |= self._masked(table)
        columns["simulated"] = table["simulated"].fill_null(False)
        columns["completeness"] = _completeness(columns, table.num_rows)
        schema = event_schema()
        return pa.Table.from_arrays([columns[name] for name in schema.names], schema=schema)

    def feedback(self, table: pa.Table) -> pa.Table:
        """Feedback as it is kept: with the same pseudonyms as the requests that it is about."""
        import pyarrow as pa

        columns = {name: table[name] for name in table.column_names}
        columns |= {name: mask_column(table[name]) for name in ("name", "comment")}
        columns |= {name: impersonal_ids(table[name], self.key) for name in FEEDBACK_IDS}
        return pa.Table.from_arrays(list(columns.values()), schema=table.schema)

    def refusal(self, refused: Refusal) -> Refusal:
        """A refused line as it is kept: always masked, since nobody knows whose it is."""
        return msgspec.structs.replace(
            refused, reason=mask_text(refused.reason), text=without_people(refused.text, self.key)
        )

    def _counts(self, table: pa.Table, connection: DuckDBPyConnection) -> dict[str, pa.ChunkedArray]:
        """Concepts, relationships and confidences that outputs hold, where events do not say."""
        suites = [name for name in distinct(table["suite"]) if self.counted.get(name)]
        if not suites or table["output"].null_count == table.num_rows:
            return {}
        of_suites = ", ".join(f"'{name}'" for name in suites)
        read = f"CASE WHEN suite IN ({of_suites}) AND json_valid(output) THEN output::JSON END"
        view = table.select(["suite", "output", "concepts", "relationships", "confidences"])  # noqa: F841
        counted = connection.sql(
            f"""SELECT coalesce(concepts, json_array_length(answer, '$.concepts')::BIGINT) AS concepts,
              coalesce(relationships, json_array_length(answer, '$.relationships')::BIGINT) AS relationships,
              coalesce(confidences, list_filter(
                TRY_CAST(json_extract(answer, '$.concepts[*].confidence') AS DOUBLE[]),
                lambda each: each BETWEEN 0 AND 1)) AS confidences
            FROM (SELECT *, {read} AS answer FROM view)"""
        ).to_arrow_table()
        schema = event_schema()
        return {name: counted[name].cast(schema.field(name).type) for name in counted.column_names}

    def _costs(self, table: pa.Table) -> dict[str, Any]:
        """The cost that an event names, else what its tokens cost by the prices of its model."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        cost, rows = table["cost_usd"], table.num_rows
        never = pa.array(np.zeros(rows, dtype=bool))
        if not self.prices or not cost.null_count:
            return {"cost_estimated": never}
        models = table["model"].combine_chunks().dictionary_encode()
        known = [self._price(name) for name in models.dictionary.to_pylist()]
        prompt, completion = (
            pa.array([getattr(each, side) if each else None for each in known], pa.float64()).take(
                models.indices
            )
            for side in ("prompt", "completion")
        )
        spent = pc.add(
            pc.multiply(table["input_tokens"], prompt), pc.multiply(table["output_tokens"], completion)
        )
        estimate = pc.divide(spent, 1e6)
        estimated = pc.and_(pc.is_null(cost), pc.is_valid(estimate))
        return {"cost_usd": pc.coalesce(cost, estimate), "cost_estimated": estimated}

    def _price(self, model: str | None) -> Prices | None:
        return self.prices.get(model or "") or self.prices.get(_DATED.sub("", model or ""))

    def _masked(self, table: pa.Table) -> dict[str, Any]:
        """Texts without personal data, but for the suites whose texts are kept as they are."""
        import pyarrow as pa
        import pyarrow.compute as pc

        suites = distinct(table["suite"])
        rules = [self.production.of(name) for name in suites]
        names = any(rule.mask_names for rule in rules)
        masked: dict[str, Any] = {name: mask_column(table[name], names=names) for name in _TEXTS}
        masked |= {name: mask_labels(table[name]) for name in _LABELS}
        masked["retrieved"] = _mask_passages(table["retrieved"], names=names)
        raw = [name for name, rule in zip(suites, rules, strict=True) if rule.raw_text]
        if raw:
            plain = pc.is_in(table["suite"], pa.array(raw))
            masked = {name: pc.if_else(plain, table[name], column) for name, column in masked.items()}
        people = {name: pseudonyms(table[name], self.key) for name in ("user", "session")}
        ids = {name: impersonal_ids(table[name], self.key) for name in ("request_id", "trace_id")}
        return {**masked, **people, **ids}


def finishing_for(project: Project, production: Production, suites: list[Suite], key: str) -> Finishing:
    """How events of a project are finished."""
    counted = {
        suite.name: tuple(name for name in COUNTED if name in getattr(suite.output, "__struct_fields__", ()))
        for suite in suites
    }
    return Finishing(production, model_prices(project), counted, key)


def model_prices(project: Project) -> dict[str, Prices]:
    """What models cost, by name, where `engines.yaml` says so; the first engine with a model decides."""
    file = read_engines(project.engines_file, Problems())
    prices: dict[str, Prices] = {}
    for entry in file.engines.values() if file else ():
        model, price = getattr(entry, "model", None), getattr(entry, "prices", None)
        if model and price:
            prices.setdefault(model, price)
    return prices


def _mask_passages(column: pa.ChunkedArray, *, names: bool) -> pa.ChunkedArray:
    import pyarrow as pa

    def masked(chunk: pa.Array) -> pa.Array:
        if chunk.null_count == len(chunk):
            return chunk
        passages = chunk.flatten()
        texts = [
            mask_column(pa.chunked_array([passages.field(name)]), names=names) for name in ("id", "text")
        ]
        fields = pa.StructArray.from_arrays([each.combine_chunks() for each in texts], names=["id", "text"])
        lengths = chunk.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        offsets = pa.array([0, *lengths.cumsum()], pa.int32())
        return pa.ListArray.from_arrays(offsets, fields, mask=chunk.is_null())

    return pa.chunked_array([masked(chunk) for chunk in column.chunks], column.type)


def _completeness(columns: Mapping[str, Any], rows: int) -> pa.Array:
    """How many of the fields have a value, for every event."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    filled = np.zeros(rows, dtype=np.int64)
    for name in MEASURED:
        column = columns[name]
        if column.null_count == 0:
            filled += 1
        elif column.null_count < rows:
            filled += pc.is_valid(column).to_numpy()
    return pa.array(filled)

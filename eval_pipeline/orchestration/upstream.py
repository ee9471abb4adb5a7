"""Another asset whose rows are evaluated: how they are had, and which partition of them is meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import dagster as dg

from eval_pipeline.problems import BadInput, Problem, bad_value
from eval_pipeline.prompts import rows_version
from eval_pipeline.stages import RowColumns, Workbench

Context = dg.AssetExecutionContext | dg.AssetCheckExecutionContext
ROWS = "rows"
"""What the input of a step is called that gets the rows from the host's IO manager."""
ALIKE = dg.IdentityPartitionMapping()
"""An asset and its evaluation have the same partitions; where they do not, a host's project cannot load."""


@dataclass(frozen=True)
class Upstream:
    """Another asset whose rows are evaluated."""

    key: dg.AssetKey
    load: Callable[[Context], Any] | None = None
    """What returns its rows, as a table of any kind; None where the host's IO manager has them."""
    columns: RowColumns = field(default_factory=RowColumns)
    partitions_def: dg.PartitionsDefinition[str] | None = None
    """How it is partitioned, and so is its evaluation."""
    blocking: bool = False
    """Whether its gate holds back what is downstream of it in the same run."""

    @property
    def name(self) -> str:
        """What its evaluations are called after."""
        return self.key.path[-1]

    @property
    def ins(self) -> dict[str, dg.AssetIn]:
        """What a step gets from the host's IO manager."""
        return {} if self.load else {ROWS: dg.AssetIn(key=self.key, partition_mapping=ALIKE)}

    @property
    def deps(self) -> list[dg.AssetDep]:
        """What a step only comes after."""
        return [dg.AssetDep(self.key, partition_mapping=ALIKE)] if self.load else []

    def version(self, context: Context) -> str:
        """The partition of a run, as a version."""
        return rows_version(self.name, context.partition_key if self.partitions_def else None)

    def rows(self, context: Context, given: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
        """The rows of a run's partition: what the step got, or what is loaded for it."""
        _stop_unless_alike(context, self)
        source = self.key.to_user_string()
        if self.load is None:
            return table_rows(given[ROWS], source)
        try:
            value = self.load(context)
        except (BadInput, dg.Failure):
            raise
        except Exception as error:  # whatever the host's function does, its check says so
            message = f"its rows cannot be loaded: {type(error).__name__}: {error}"
            raise BadInput([Problem(source, 0, ROWS, message, "Correct what loads them.")]) from error
        return table_rows(value, source)


def previous_version(upstream: Upstream | None, context: Context, bench: Workbench) -> str | None:
    """The nearest partition before a run's that was evaluated, as a version; None without any."""
    if upstream is None or upstream.partitions_def is None:
        return None
    keys = upstream.partitions_def.get_partition_keys(dynamic_partitions_store=context.instance)
    course = _course(upstream.partitions_def, keys, context.partition_key)
    before = course[: course.index(context.partition_key)] if context.partition_key in course else course
    versions = (rows_version(upstream.name, key) for key in reversed(before))
    return next((each for each in versions if bench.store.outputs(bench.suite.name, each)), None)


def _course(partitions: dg.PartitionsDefinition[str], keys: Sequence[str], key: str) -> list[str]:
    """The partitions that one comes before or after: of two dimensions, those that differ in time alone."""
    if not isinstance(partitions, dg.MultiPartitionsDefinition):
        return [*keys]
    if not partitions.has_time_window_dimension:
        return []
    name = partitions.secondary_dimension.name

    def beside(each: str) -> str:
        return partitions.get_partition_key_from_str(each).keys_by_dimension[name]

    return [each for each in keys if beside(each) == beside(key)]


def table_rows(value: Any, source: str) -> Iterable[Mapping[str, Any]]:
    """The rows of a table: of pandas, Polars or Arrow, or a list of mappings."""
    if hasattr(value, "collect") and hasattr(value, "lazy"):  # a lazy frame of Polars
        value = value.collect()
    if hasattr(value, "iter_rows"):  # Polars
        rows: Iterable[Mapping[str, Any]] = value.iter_rows(named=True)
        return rows
    if hasattr(value, "to_pylist") and hasattr(value, "schema"):  # Arrow
        return list(value.to_pylist())
    if hasattr(value, "read_all"):  # a reader of Arrow
        return list(value.read_all().to_pylist())
    if hasattr(value, "to_dict") and hasattr(value, "iloc"):  # pandas
        return list(value.to_dict("records"))
    if isinstance(value, list | tuple) and all(isinstance(row, Mapping) for row in value):
        return value
    remedy = "Return a table of pandas, Polars or Arrow, or a list of mappings; or say how with `rows`."
    raise bad_value(source, f"its value is of type {type(value).__name__}, not a table", remedy)


def _stop_unless_alike(context: Context, upstream: Upstream) -> None:
    """Refuse to evaluate an asset that is partitioned otherwise than its evaluation: name both."""
    node, ours = host_asset(context, upstream.key), upstream.partitions_def
    theirs = node.partitions_def if node else ours
    if theirs != ours:
        source = upstream.key.to_user_string()
        message = f"is partitioned by {_said(theirs)}, its evaluation by {_said(ours)}"
        raise bad_value(source, message, "Let `partitions` say what the asset says.")


def host_asset(context: Context, key: dg.AssetKey) -> Any:
    """What the host's project knows of an asset, in a run of any job; None where it has no such asset."""
    graph = context.job_def.asset_layer.asset_graph
    graph = getattr(graph, "source_asset_graph", graph)  # of the whole project, where the job is a part of it
    return graph.get(key) if graph.has(key) else None


def _said(partitions: dg.PartitionsDefinition[str] | None) -> str:
    return repr(str(partitions)) if partitions else "nothing"

"""Holding back what must not happen unless a gate is green, in whatever run it happens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import dagster as dg

from eval_pipeline.hosting.names import asset_key, prefix_parts
from eval_pipeline.orchestration import gate_name, host_asset
from eval_pipeline.orchestration.places import BETWEEN

AT_ONCE = 100


def require_gate(
    context: dg.AssetExecutionContext,
    asset: dg.AssetKey | str,
    suite: str,
    *,
    key_prefix: str | Sequence[str] = (),
    partition: str | None = None,
) -> None:
    """Fail unless the gate on an evaluated asset is green, and about what the asset holds now.

    Call it first thing in what must not happen otherwise, such as publishing. A gate that is red, that never
    ran, that did not finish, or that was passed by an earlier materialization fails the step: it holds in
    every run, also in one that somebody launches by hand. `partition` is by default that of the run, where
    the asset has partitions at all.
    """
    key = dg.AssetCheckKey(asset_key(asset), gate_name(BETWEEN.join((*prefix_parts(key_prefix), suite))))
    evaluated = host_asset(context, key.asset_key)
    is_whole = evaluated and evaluated.is_materializable and not evaluated.partitions_def
    wanted = partition or (context.partition_key if context.has_partition_key and not is_whole else None)
    said = f"The gate {key.name} on {key.asset_key.to_user_string()}" + (f", {wanted}," if wanted else "")
    if evaluated and evaluated.partitions_def and wanted is None:
        _hold(f"{said} is of a partition. Say which one counts: require_gate(…, partition=…).")
    record = next((each for each in _executions(context.instance, key) if each.partition == wanted), None)
    if record is None:
        _hold(f"{said} was never passed: it did not run. Materialize the asset with its checks.")
    evaluation = record.evaluation
    if evaluation is None:
        _hold(f"{said} did not finish. Run the check again.")
    if not evaluation.passed:
        _hold(f"{said} is red: {evaluation.description or 'see the check'}")
    target = evaluation.target_materialization_data
    if target is None or target.storage_id < _latest(context.instance, key.asset_key, wanted):
        _hold(f"{said} is green for an earlier materialization. Run the check on the present one.")
    context.log.info(f"{said} is green.")


def _executions(instance: dg.DagsterInstance, key: dg.AssetCheckKey) -> Iterator[Any]:
    """What a check came to, the latest first."""
    log, cursor = instance.event_log_storage, None
    while records := log.get_asset_check_execution_history(key, limit=AT_ONCE, cursor=cursor):
        yield from records
        cursor = records[-1].id


def _latest(instance: dg.DagsterInstance, key: dg.AssetKey, partition: str | None) -> int:
    """The number of the event that last materialized an asset or its partition; 0 without any."""
    wanted: Any = dg.AssetRecordsFilter(asset_key=key, asset_partitions=[partition] if partition else None)
    records = instance.fetch_materializations(wanted, limit=1).records
    return records[0].storage_id if records else 0


def _hold(reason: str) -> NoReturn:
    raise dg.Failure(f"Held back. {reason}", allow_retries=False)

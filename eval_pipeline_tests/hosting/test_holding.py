"""What a red gate holds back, in the three ways that hold: in the same run, by condition, and in any run."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from eval_pipeline import Rows, build_eval_assets, require_gate
from eval_pipeline_tests.hosted import checks, materialize, materialized, rows, write_suite

SUITE = "golden/capitals/suite.yaml"
GATE = "answers:capitals_gate"
WRONG = rows(q1="Lyon", q2="Milan", q3="Bonn")


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as opened:
        yield opened


class Host:
    """A host that answers and publishes; what it answers can be changed."""

    def __init__(
        self,
        root: Path,
        *,
        blocking: bool = False,
        by: Any = None,
        publish_by: Any = ...,
        careful: bool = False,
        condition: Any = None,
    ) -> None:
        self.rows: Any = rows()

        @dg.asset(partitions_def=by)
        def answers() -> Any:
            return self.rows

        publish_by = by if publish_by is ... else publish_by

        @dg.asset(deps=[answers], partitions_def=publish_by, automation_condition=condition)
        def publish(context: dg.AssetExecutionContext) -> None:
            if careful:
                require_gate(context, "answers", "capitals")

        upstream = Rows("answers", blocking=blocking, partitions=by)
        self.defs = dg.Definitions.merge(
            dg.Definitions(assets=[answers, publish], resources={"io_manager": dg.mem_io_manager}),
            build_eval_assets(SUITE, root=root, upstream=upstream),
        )


def test_in_the_same_run_a_red_blocking_gate_stops_what_is_below(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    write_suite(tmp_path)
    host = Host(tmp_path, blocking=True)
    green = materialize(host.defs, "answers", "publish", instance=instance)
    assert materialized(green) == {"answers", "publish"}
    host.rows = WRONG
    red = materialize(host.defs, "answers", "publish", instance=instance)
    passed, said = checks(red)[GATE]
    assert not passed
    assert "40.0 %" in said
    assert materialized(red) == {"answers"}
    (check,) = (each for each in red.get_asset_check_evaluations() if each.check_name == "capitals_gate")
    report = Path(str(check.metadata["file"].value))
    assert "Milan" in report.with_suffix(".html").read_text()


def test_without_blocking_it_is_red_and_stops_nothing(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    write_suite(tmp_path)
    host = Host(tmp_path)
    host.rows = WRONG
    result = materialize(host.defs, "answers", "publish", instance=instance)
    assert not checks(result)[GATE][0]
    assert materialized(result) == {"answers", "publish"}


def test_in_a_run_of_its_own_nothing_stops_what_does_not_ask(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    """What the documentation warns of: a blocking check is of the run that it is in."""
    write_suite(tmp_path)
    host = Host(tmp_path, blocking=True)
    host.rows = WRONG
    assert materialized(materialize(host.defs, "answers", instance=instance)) == {"answers"}
    assert materialized(materialize(host.defs, "publish", instance=instance)) == {"publish"}


@pytest.mark.filterwarnings("ignore:Parameter `include_sources`")
def test_by_condition_it_waits_for_a_green_gate(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    write_suite(tmp_path)
    condition = dg.AutomationCondition.eager() & dg.AutomationCondition.all_deps_blocking_checks_passed()
    host = Host(tmp_path, blocking=True, condition=condition)

    def wanted(cursor: Any) -> tuple[bool, Any]:
        result = dg.evaluate_automation_conditions(host.defs, instance=instance, cursor=cursor)
        return bool(result.get_num_requested(dg.AssetKey("publish"))), result.cursor

    _, cursor = wanted(None)
    host.rows = WRONG
    materialize(host.defs, "answers", instance=instance)
    is_wanted, cursor = wanted(cursor)
    assert not is_wanted
    host.rows = rows()
    materialize(host.defs, "answers", instance=instance)
    is_wanted, cursor = wanted(cursor)
    assert is_wanted


def failure(result: dg.ExecuteInProcessResult) -> str:
    """Why a step failed."""
    (event,) = (each for each in result.all_events if each.is_step_failure)
    return event.step_failure_data.error_display_string


def test_in_any_run_publishing_asks_for_a_green_gate_on_what_is_there_now(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    write_suite(tmp_path)
    host = Host(tmp_path, careful=True)
    assert "it did not run" in failure(materialize(host.defs, "publish", instance=instance))
    materialize(host.defs, "answers", instance=instance)
    assert materialize(host.defs, "publish", instance=instance).success
    host.rows = WRONG
    materialize(host.defs, "answers", instance=instance)
    assert "is red: answers@latest" in failure(materialize(host.defs, "publish", instance=instance))
    host.rows = rows()
    materialize(host.defs, "answers", instance=instance)
    assert materialize(host.defs, "publish", instance=instance).success
    instance.report_runless_asset_event(dg.AssetMaterialization("answers"))
    stale = failure(materialize(host.defs, "publish", instance=instance))
    assert "is green for an earlier materialization" in stale


def test_which_partition_counts_is_known_or_asked_for(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    write_suite(tmp_path)
    days = dg.StaticPartitionsDefinition(["monday", "tuesday"])
    whole = Host(tmp_path, careful=True, publish_by=days)
    materialize(whole.defs, "answers", instance=instance)
    assert materialize(whole.defs, "publish", instance=instance, partition="monday").success
    parts = Host(tmp_path, careful=True, by=days, publish_by=None)
    assert "Say which one counts" in failure(materialize(parts.defs, "publish", instance=instance))


def test_the_gate_of_another_partition_does_not_count(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    write_suite(tmp_path)
    host = Host(tmp_path, careful=True, by=dg.StaticPartitionsDefinition(["monday", "tuesday"]))
    materialize(host.defs, "answers", instance=instance, partition="monday")
    assert materialize(host.defs, "publish", instance=instance, partition="monday").success
    other = materialize(host.defs, "publish", instance=instance, partition="tuesday")
    assert "tuesday, was never passed" in failure(other)

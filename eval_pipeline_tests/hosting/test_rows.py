"""Rows of another asset, scored against a golden set: from every kind of table, by partition, with a gate."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from eval_pipeline import Rows, build_eval_assets
from eval_pipeline.decisions import latest_result, promote
from eval_pipeline.hosting import RowColumns
from eval_pipeline.hosting.rows import rows_loader
from eval_pipeline.hosting.suites import hosted_suite
from eval_pipeline.problems import BadInput
from eval_pipeline.project import HostedProject
from eval_pipeline.prompts import rows_version
from eval_pipeline.stages import Workbench
from eval_pipeline.store import Store
from eval_pipeline_tests.hosted import checks, materialize, materialized, rows, write_suite

SUITE = "golden/capitals/suite.yaml"
GATE = "rag/answers:capitals_gate"
STAGES = ("golden_set", "model_outputs", "case_scores", "metrics", "baseline_comparison", "report")
CHAIN = [f"capitals/{stage}" for stage in STAGES]
DAYS = dg.StaticPartitionsDefinition(["2026-01-30", "2026-01-31", "a/b c_ü"])


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as opened:
        yield opened


def host(root: Path, value: Any, by: Any = None, **options: Any) -> dg.Definitions:
    """A host whose asset returns a value, or what a function makes of the partition, and its evaluation."""

    @dg.asset(key=["rag", "answers"], partitions_def=by)
    def answers(context: dg.AssetExecutionContext) -> Any:
        return value(context.partition_key) if callable(value) else value

    options = {"asset": "rag/answers", "partitions": by, **options}
    evaluation = build_eval_assets(SUITE, root=root, upstream=Rows(**options))
    own = dg.Definitions(assets=[answers], resources={"io_manager": dg.mem_io_manager})
    return dg.Definitions.merge(own, evaluation)


TABLES: dict[str, Callable[[], Any]] = {
    "pandas": lambda: pd.DataFrame(rows()),
    "polars": lambda: pl.DataFrame(rows()),
    "lazy polars": lambda: pl.LazyFrame(rows()),
    "arrow": lambda: pa.Table.from_pylist(rows()),
    "mappings": rows,
}


def test_every_kind_of_table_is_the_same_evaluation(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    write_suite(tmp_path)
    known = set()
    for kind, table in TABLES.items():
        result = materialize(host(tmp_path, table()), "rag/answers", *CHAIN, instance=instance)
        assert result.success, kind
        assert materialized(result) == {"rag/answers", *CHAIN}
        assert checks(result)[GATE] == (True, "answers@latest: ✓ passes, equals 100.0 %"), kind
        evaluation = Store(tmp_path / ".eval").evaluation("capitals", "answers@latest")
        assert evaluation is not None
        known.add(evaluation.id)
    assert len(known) == 1


def test_rows_are_what_identifies_an_evaluation(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    write_suite(tmp_path)
    store = Store(tmp_path / ".eval")
    hashes = []
    beside = [*rows(), {"case_id": "elsewhere", "output": "x"}]
    for value in (rows(), list(reversed(rows())), beside, rows(q1="Lyon")):
        result = materialize(host(tmp_path, value), "rag/answers", *CHAIN, instance=instance)
        answers = store.outputs("capitals", "answers@latest")
        assert result.success
        assert answers is not None
        assert answers.identity.engine == "rag/answers"
        hashes.append(answers.identity.prompt_hash)
    assert hashes[0] == hashes[1] == hashes[2]
    assert hashes[0] != hashes[3]


def test_a_missing_row_is_an_error_and_no_pass(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    write_suite(tmp_path)
    result = materialize(host(tmp_path, rows()[:2]), "rag/answers", *CHAIN, instance=instance)
    passed, said = checks(result)[GATE]
    assert not passed
    assert "equals" in said
    assert not checks(result)["capitals/model_outputs:answered"][0]


WRONG: dict[str, tuple[Any, str]] = {
    "no rows": ([], "has no rows"),
    "no id": ([{"id": "q1", "output": "Paris"}], "there is no column 'case_id'"),
    "no output": ([{"case_id": "q1", "otput": "Paris"}], "Did you mean otput?"),
    "twice": ([*rows(), rows()[0]], "row 6 answers 'q1' again"),
    "nobody's": ([{"case_id": "x", "output": ""}], "no row is of a golden case"),
    "blank id": ([*rows(), {"case_id": None, "output": ""}], "row 6 names no case"),
    "latency": ([{**rows()[0], "latency_ms": "slow"}], "latency_ms is 'slow'"),
    "no table": ("Paris", "its value is of type str, not a table"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_bad_rows_turn_the_gate_red_with_the_reason(
    wrong: str, tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    write_suite(tmp_path)
    value, reason = WRONG[wrong]
    result = materialize(host(tmp_path, value), "rag/answers", *CHAIN[:2], instance=instance)
    passed, said = checks(result)[GATE]
    assert not passed
    assert reason in said
    assert reason in checks(result)["capitals/model_outputs:prompt_valid"][1]


def test_trials_and_other_names_of_columns(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    write_suite(tmp_path)
    value = [
        {"question": row["case_id"], "reply": row["output"], "attempt": trial, "latency_ms": 5.0}
        for row in rows()
        for trial in (1, 2)
    ]
    columns = RowColumns(case_id="question", output="reply", trial="attempt")
    materialize(host(tmp_path, value, columns=columns), "rag/answers", *CHAIN, instance=instance)
    answers = Store(tmp_path / ".eval").outputs("capitals", "answers@latest")
    assert answers is not None
    assert answers.identity.trials == 2
    assert {each.latency_ms for each in answers} == {5.0}


def test_partitions_are_compared_with_the_baseline_and_the_one_before(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    write_suite(tmp_path)
    by_day = {"2026-01-30": rows(), "2026-01-31": rows(q1="Lyon", q2="Milan"), "a/b c_ü": rows(q1="Lyon")}
    defs = host(tmp_path, by_day.__getitem__, DAYS)
    store = Store(tmp_path / ".eval")
    for day in by_day:
        result = materialize(defs, "rag/answers", *CHAIN, instance=instance, partition=day)
        assert result.success
    first, second = (store.compared("capitals", f"answers@2026-01-{day}") for day in (30, 31))
    assert first is not None
    assert first.comparisons == ()
    assert second is not None
    assert [each.before for each in second.comparisons] == ["answers@2026-01-30 (before)"]
    third = store.compared("capitals", "answers@a_2Fb_20c__C3_BC")
    assert third is not None
    assert [each.before for each in third.comparisons] == ["answers@2026-01-31 (before)"]

    hosted = hosted_suite(SUITE, tmp_path)
    bench = Workbench(HostedProject(tmp_path, tmp_path / ".eval", golden_folder=hosted.golden), hosted.suite)
    promoted = latest_result(bench, "answers@2026-01-30")
    promote(promoted, promoted.standings(), "somebody", "the first")
    materialize(defs, "rag/answers", *CHAIN, instance=instance, partition="2026-01-31")
    compared = store.compared("capitals", "answers@2026-01-31")
    assert compared is not None  # the partition before is the baseline: one comparison
    assert [(each.role, each.before) for each in compared.comparisons] == [
        ("baseline", "baseline answers@2026-01-30")
    ]


DAILY = dg.DailyPartitionsDefinition("2026-01-01")
LANGUAGES = dg.StaticPartitionsDefinition(["en", "nl"])
MISMATCHES: dict[str, tuple[Any, Any, str, str]] = {
    "ours alone": (None, DAILY, "Daily, starting 2026-01-01", "partitions_def: None"),
    "theirs alone": (DAILY, None, "DailyPartitionsDefinition", "NoneType"),
    "another kind": (DAILY, DAYS, "DailyPartitionsDefinition", "StaticPartitionsDefinition"),
    "other keys": (LANGUAGES, DAYS, "'en', 'nl'", "'2026-01-30', '2026-01-31'"),
}


@pytest.mark.parametrize("way", ["io_manager", "{partition}.csv"])
@pytest.mark.parametrize("mismatch", MISMATCHES)
def test_a_mismatch_of_partitions_stops_the_loading_and_names_both(
    mismatch: str, way: str, tmp_path: Path
) -> None:
    write_suite(tmp_path)
    theirs, ours, *named = MISMATCHES[mismatch]
    defs = host(tmp_path, rows(), theirs, partitions=ours, rows=way)
    with pytest.raises(dg.DagsterInvalidDefinitionError, match="rag/answers") as wrong:
        dg.Definitions.validate_loadable(defs)
    said = f"{wrong.value}\n{wrong.value.__cause__}"
    for each in named:
        assert each in said


def test_a_mismatch_that_nobody_validated_fails_the_run_and_names_both(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    write_suite(tmp_path)
    defs = host(tmp_path, rows(), partitions=DAILY, rows="{partition}.csv")
    result = materialize(defs, *CHAIN[:2], instance=instance, partition="2026-01-02")
    passed, said = checks(result)["capitals/model_outputs:prompt_valid"]
    assert not passed
    assert "rag/answers" in said
    assert "is partitioned by nothing, its evaluation by 'Daily" in said


def test_of_two_dimensions_the_one_before_is_that_of_the_day_before(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    write_suite(tmp_path)
    instance.add_dynamic_partitions("places", ["here", "there"])
    places = dg.DynamicPartitionsDefinition(name="places")
    store = Store(tmp_path / ".eval")
    by_partitions: dict[Any, dict[str, list[str]]] = {
        dg.MultiPartitionsDefinition({"day": DAILY, "language": LANGUAGES}): {
            "2026-01-02|en": [],
            "2026-01-02|nl": [],
            "2026-01-03|nl": ["answers@2026-01-02_7Cnl (before)"],
        },
        dg.MultiPartitionsDefinition({"language": LANGUAGES, "place": places}): {
            "en|here": [],
            "nl|here": [],
        },
        places: {"here": [], "there": ["answers@here (before)"]},
    }
    for partitions, keys in by_partitions.items():
        defs = host(tmp_path, rows(), partitions)
        dg.Definitions.validate_loadable(defs)
        for key, before in keys.items():
            result = materialize(defs, "rag/answers", instance=instance, partition=key)
            assert checks(result)[GATE][0]
            compared = store.compared("capitals", rows_version("answers", key))
            assert compared is not None
            assert [each.before for each in compared.comparisons] == before, key


def test_rows_of_files_and_of_functions(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    write_suite(tmp_path)
    table = pa.Table.from_pylist(rows())
    pyarrow.parquet.write_table(table, tmp_path / "rows-2026-01-30.parquet")
    pyarrow.csv.write_csv(table, tmp_path / "rows.csv")
    ways = {
        "rows-{partition}.parquet": DAYS,
        "rows.csv": None,
        f"{__name__}:all_rows": None,
    }
    for way, partitions in ways.items():
        defs = host(tmp_path, None, partitions, rows=way)
        day = "2026-01-30" if partitions else None
        keys = CHAIN if partitions else ["rag/answers", *CHAIN]
        result = materialize(defs, *keys, instance=instance, partition=day)
        assert result.success, way
        assert checks(result)["capitals/metrics:gate_equals"][0], way


def all_rows(context: dg.AssetExecutionContext | dg.AssetCheckExecutionContext) -> Any:
    assert context.run.run_id
    return pd.DataFrame(rows())


def failing(context: Any) -> Any:
    raise OSError("the warehouse is closed")


def test_what_cannot_be_loaded_says_why(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    write_suite(tmp_path)
    for way, reason in {
        "gone.parquet": "is not there",
        f"{__name__}:failing": "OSError: the warehouse is closed",
        "rows-{partition}.csv": "wants a partition, and the run has none",
    }.items():
        result = materialize(host(tmp_path, None, rows=way), *CHAIN[:2], instance=instance)
        passed, said = checks(result)["capitals/model_outputs:prompt_valid"]
        assert not passed
        assert reason in said
    for way in ("rows.xlsx", f"{__name__}:nothing", "no_such_module:rows"):
        with pytest.raises(BadInput, match="rows"):
            rows_loader(way, tmp_path)


def test_a_golden_set_may_be_an_asset(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    file = write_suite(tmp_path)
    cases = file.parent / "cases" / "cases.csv"
    cases.write_text(cases.read_text().splitlines()[0] + "\n")  # the header alone

    @dg.asset
    def golden() -> pd.DataFrame:
        questions = {"q1": "Paris", "q2": "Rome", "q3": "Berlin"}
        return pd.DataFrame(
            [{"case_id": case, "question": "?", "expected": text} for case, text in questions.items()]
        )

    @dg.asset(key=["rag", "answers"])
    def answers() -> pd.DataFrame:
        return pd.DataFrame(rows(q3="Bonn"))

    evaluation = build_eval_assets(SUITE, root=tmp_path, upstream=Rows("rag/answers"), golden_asset="golden")
    own = dg.Definitions(assets=[golden, answers], resources={"io_manager": dg.mem_io_manager})
    defs = dg.Definitions.merge(own, evaluation)
    result = materialize(defs, "golden", "rag/answers", *CHAIN, instance=instance)
    assert result.success
    _, said = checks(result)[GATE]
    assert "66.7 %" in said  # of the cases of this very run
    found = Store(tmp_path / ".eval").evaluation("capitals", "answers@latest")
    assert found is not None
    assert found.summary.cases == 3
    assert found.summary.metrics["equals"].value == pytest.approx(2 / 3)

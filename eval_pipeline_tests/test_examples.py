"""The examples: each is loaded as Dagster loads it, run, and does what its README says."""

import importlib
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import pytest

from eval_pipeline.store import Store
from eval_pipeline_tests.conftest import REPOSITORY
from eval_pipeline_tests.hosted import checks, materialize, materialized, run

pytestmark = [  # of Dagster's own code, which takes assets apart and puts them together
    pytest.mark.filterwarnings(f"ignore::dagster_shared.utils.warnings.{each}Warning")
    for each in ("Preview", "Beta")
]


@contextmanager
def loaded(name: str, root: Path) -> Iterator[dg.Definitions]:
    """The definitions of a copy of an example."""
    shutil.copytree(REPOSITORY / "examples" / name, root, ignore=shutil.ignore_patterns(".eval", "*.duckdb"))
    before = set(sys.modules)
    sys.path.insert(0, str(root / "src"))
    try:
        found = importlib.import_module(f"{name}.definitions").defs
        yield found() if callable(found) else found
    finally:
        sys.path.remove(str(root / "src"))
        for module in set(sys.modules) - before:
            if module.partition(".")[0] == name:
                del sys.modules[module]


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral(str(tmp_path)) as opened:
        yield opened


def test_what_a_rag_pipeline_publishes_is_held_back_by_a_red_gate(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    root = tmp_path / "rag_pipeline"
    handbook, published = root / "data" / "handbook.md", root / "published.json"
    with loaded("rag_pipeline", root) as defs:
        green = run(defs, "nightly_answers", instance)
        assert green.success, checks(green)
        assert "nine to six" in published.read_text()
        published.unlink()

        handbook.write_text(handbook.read_text().partition("## Fines")[0])
        red = run(defs, "nightly_answers", instance)
        passed, said = checks(red)["rag/answers:handbook_gate"]
        assert not passed
        assert "answers@latest: ✗" in said
        assert "rag/publish" not in materialized(red)
        alone = materialize(defs, "rag/publish", instance=instance)
        assert not alone.success
        assert not published.exists()


def test_a_table_of_a_warehouse_is_scored_day_by_day(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    root = tmp_path / "warehouse"
    with loaded("warehouse", root) as defs:
        job = dg.define_asset_job("day", dg.AssetSelection.groups("warehouse", "tickets"))
        both = dg.Definitions.merge(defs, dg.Definitions(jobs=[job]))
        by_day = {day: run(both, "day", instance, day) for day in ("2026-01-14", "2026-01-15")}
    assert all(result.success for result in by_day.values()), [checks(each) for each in by_day.values()]
    gates = {day: checks(result)["warehouse/model_answers:tickets_gate"] for day, result in by_day.items()}
    assert gates["2026-01-14"][0]
    assert not gates["2026-01-15"][0]
    compared = Store(root / ".eval").compared("tickets", "model_answers@2026-01-15")
    assert compared is not None
    assert [each.before for each in compared.comparisons] == ["model_answers@2026-01-14 (before)"]

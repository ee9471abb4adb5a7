"""The first stage: a golden set, as a table of all its cases."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from eval_pipeline.files import plain_row, write_text
from eval_pipeline.golden import Dataset, GoldenSet, Unsigned, read_dataset
from eval_pipeline.problems import Problems
from eval_pipeline.stages.workbench import Workbench
from eval_pipeline.store import GoldenFacts, GoldenTable
from eval_pipeline.suite import Overview

GOLDEN_ROWS = "cases/rows.jsonl"
"""The file of golden cases that another asset brings, in the folder of these."""


@dataclass(frozen=True)
class LoadedGolden:
    """A golden set, its overview, and what nobody signed off."""

    table: GoldenTable
    overview: Overview
    unsigned: Unsigned
    dataset: Dataset | None = None
    """What it says about itself."""


def keep_golden_rows(bench: Workbench, rows: Iterable[Mapping[str, Any]]) -> None:
    """Take rows of another asset as the golden cases, as a file of them would be taken."""
    lines = [json.dumps(plain_row(row), ensure_ascii=False) for row in rows]
    write_text(bench.cases_folder / GOLDEN_ROWS, "".join(f"{line}\n" for line in lines))


def load_golden(bench: Workbench) -> LoadedGolden:
    """Read a suite's golden set; every problem of every file at once, or a table of all cases."""
    problems = Problems()
    golden = GoldenSet(bench.suite, bench.cases_folder, problems)
    dataset = read_dataset(bench.golden_folder, problems)

    def facts() -> GoldenFacts:
        problems.stop_if_any()
        return GoldenFacts(golden.hash, golden.inputs_hash, len(golden))

    table = GoldenTable.write(bench.store.golden_folder(bench.suite.name), golden.read(), facts)
    unsigned = golden.unsigned_changes(bench.rules_folder)
    return LoadedGolden(table, golden.overview(bench.context.references), unsigned, dataset)

"""The first stage: a golden set, as a table of all its cases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from eval_pipeline.golden import (
    GoldenCase,
    OverviewBuilder,
    golden_hash,
    inputs_hash,
    read_cases,
    resources_folder,
    unsigned_changes,
)
from eval_pipeline.problems import Problems
from eval_pipeline.stages.workbench import Workbench
from eval_pipeline.store import GoldenFacts, GoldenTable
from eval_pipeline.suite import Overview


@dataclass(frozen=True)
class LoadedGolden:
    """A golden set, its overview, and the changes that nobody signed off."""

    table: GoldenTable
    overview: Overview
    unsigned: list[str]


def load_golden(bench: Workbench) -> LoadedGolden:
    """Read a suite's golden set; every problem of every file at once, or a table of all cases."""
    folder = bench.golden_folder
    problems = Problems()
    overview = OverviewBuilder(bench.suite)
    case_hashes: dict[str, str] = {}
    input_hashes: dict[str, str] = {}

    def rows() -> Iterator[GoldenCase]:
        for golden in read_cases(bench.suite, folder, problems):
            overview.add(golden)
            case_hashes[golden.case.id] = golden.case_hash
            input_hashes[golden.case.id] = golden.input_hash
            yield golden

    def facts() -> GoldenFacts:
        problems.stop_if_any()
        resources = resources_folder(folder)
        present = golden_hash(case_hashes.values(), resources)
        return GoldenFacts(present, inputs_hash(input_hashes, resources), len(case_hashes))

    table = GoldenTable.write(bench.store.golden_folder(bench.suite.name), rows(), facts)
    unsigned = unsigned_changes(folder, table.facts.golden_hash, case_hashes, problems)
    return LoadedGolden(table, overview.build(bench.context.references), unsigned)

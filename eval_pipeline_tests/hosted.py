"""A host: somebody else's Dagster project, with a suite of five questions in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg

from eval_pipeline.reports import readable

QUIET: dict[str, Any] = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
ANSWERS = {"q1": "Paris", "q2": "Rome", "q3": "Berlin", "q4": "Madrid", "q5": "Vienna"}
SUITE = """\
description: Capitals of countries
cases: cases/cases.csv
id: case_id
inputs: [question]
answer: text
scores:
  - equals: "{{ expected }}"
"""
GATES = """\
metrics:
  equals:
    fail: "< 0.6"
    pass: ">= 0.8"
    regression: {investigate: 0.01, block: 0.05}
"""
ENGINES = """\
default: canned
engines:
  canned: {kind: recorded, path: "recorded/{suite}/{version}.jsonl"}
  other: {kind: recorded, path: "recorded/{suite}/{version}.other.jsonl"}
"""
PROMPT = "---\nsuite: {name}\nstatus: active\n---\nAnswer in one word: {{{{ question }}}}\n"
VERSION = "answer-v1.0"


def write_suite(root: Path, name: str = "capitals", versions: Sequence[str] = (VERSION,)) -> Path:
    """A project with one suite; where its suite.yaml is."""
    golden, prompts, recorded = (root / each / name for each in ("golden", "prompts", "recorded"))
    for folder in (golden / "cases", prompts, recorded):
        folder.mkdir(parents=True)
    (golden / "suite.yaml").write_text(SUITE)
    (golden / "gates.yaml").write_text(GATES)
    lines = [f"{case},Which is the capital of country {case}?,{text}" for case, text in ANSWERS.items()]
    (golden / "cases" / "cases.csv").write_text("\n".join(["case_id,question,expected", *lines]) + "\n")
    for version in versions:
        (prompts / f"{version}.md").write_text(PROMPT.format(name=name))
        rows = [f'{{"case_id": "{case}", "output": "{text}"}}\n' for case, text in ANSWERS.items()]
        (recorded / f"{version}.jsonl").write_text("".join(rows))
        (recorded / f"{version}.other.jsonl").write_text("".join(rows[:1]))
    if not (root / "engines.yaml").exists():
        (root / "engines.yaml").write_text(ENGINES)
    return golden / "suite.yaml"


def rows(**changed: str) -> list[dict[str, Any]]:
    """A row for each question; wrong answers are named."""
    return [{"case_id": case, "output": text} for case, text in {**ANSWERS, **changed}.items()]


def run(
    defs: dg.Definitions, job: str, instance: dg.DagsterInstance, partition: str | None = None, **more: Any
) -> dg.ExecuteInProcessResult:
    """Execute a job of definitions in this process."""
    return defs.resolve_job_def(job).execute_in_process(
        instance=instance, partition_key=partition, run_config=QUIET, raise_on_error=False, **more
    )


def materialize(
    defs: dg.Definitions, *keys: str, instance: dg.DagsterInstance, partition: str | None = None
) -> dg.ExecuteInProcessResult:
    """Materialize some assets of definitions, with the checks on them, as the UI does."""
    selection = dg.AssetSelection.assets(*keys)
    job = dg.define_asset_job("some", selection)
    return run(dg.Definitions.merge(defs, dg.Definitions(jobs=[job])), "some", instance, partition)


def checks(result: dg.ExecuteInProcessResult) -> Mapping[str, tuple[bool, str]]:
    """What the checks of a run said, by asset and name."""
    return {
        f"{each.asset_key.to_user_string()}:{each.check_name}": (
            each.passed,
            readable(each.description or ""),
        )
        for each in result.get_asset_check_evaluations()
    }


def materialized(result: dg.ExecuteInProcessResult) -> set[str]:
    """The assets that a run materialized."""
    events = result.get_asset_materialization_events()
    return {event.asset_key.to_user_string() for event in events if event.asset_key}


def in_process(root: str) -> dg.JobDefinition:
    """The evaluation of a host, all steps in one process."""
    return _job(root, dg.in_process_executor)


def in_processes(root: str) -> dg.JobDefinition:
    """The same, a process for each step, as by default."""
    forked = {"forkserver": {"preload_modules": ["eval_pipeline.hosting"]}}  # Dagster is imported once
    return _job(root, dg.multiprocess_executor.configured({"start_method": forked}))


def _job(root: str, executor: dg.ExecutorDefinition) -> dg.JobDefinition:
    from eval_pipeline import build_eval_assets

    defs = build_eval_assets("golden/capitals/suite.yaml", root=Path(root))
    with_executor = dg.Definitions.merge(defs, dg.Definitions(executor=executor))
    return with_executor.resolve_job_def("capitals_evaluation")

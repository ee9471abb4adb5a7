"""Whether two checkouts come to the same numbers: `python -m benchmarks.same_numbers BEFORE [AFTER]`.

Every version of every suite is evaluated by the code of either checkout, and the answers behind each shipped
baseline are scored with `score --json`. Metrics have to be equal, and score reports equal byte by byte.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple


class Numbers(NamedTuple):
    """What a checkout comes to."""

    metrics: dict[str, dict[str, Any]]
    """By suite and version: every metric, over everything and by group, and every table."""
    reports: dict[str, str]
    """By suite: what `score --json` prints of its baseline's answers."""


def numbers_of(checkout: Path) -> Numbers:
    """Evaluate everything that a checkout holds, by its own code."""
    with tempfile.TemporaryDirectory() as state:
        _run(checkout, state, "run", "all", "--prompt", "all")
        metrics = {}
        for pointer in sorted(Path(state).glob("evaluations/*/*/latest")):
            file = pointer.parent / pointer.read_text().strip() / "evaluation.json"
            summary = json.loads(file.read_bytes())["summary"]
            kept = {name: summary[name] for name in ("cases", "trials", "errors", "groups", "tables")}
            values = {name: (each["value"], each["trials"]) for name, each in summary["metrics"].items()}
            metrics[f"{pointer.parent.parent.name}/{pointer.parent.name}"] = {**kept, "metrics": values}
        reports = {}
        for outputs in sorted(checkout.glob("golden/*/baseline/*.outputs.jsonl")):
            suite = outputs.parent.parent
            printed = _run(
                checkout, state, "score", suite.name, "--golden", suite, "--outputs", outputs, "--json"
            )
            reports[suite.name] = printed
    return Numbers(metrics, reports)


def _run(checkout: Path, state: str, *arguments: str | Path) -> str:
    place = {"DAGSTER_HOME": state, "EVAL_PIPELINE_ROOT": str(checkout), "PYTHONPATH": str(checkout)}
    done = subprocess.run(
        [sys.executable, "-m", "eval_pipeline", *map(str, arguments)],
        cwd=checkout,
        env={**os.environ, **place},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1):
        sys.exit(f"{checkout}: eval-pipeline {arguments[0]} exits with {done.returncode}\n{done.stderr}")
    return done.stdout


def differences(before: Numbers, after: Numbers) -> list[str]:
    """Everything in which two checkouts differ."""
    found = [
        f"{version}: {what} differ"
        for version in sorted(before.metrics.keys() | after.metrics.keys())
        for what in ("cases", "trials", "errors", "metrics", "groups", "tables")
        if before.metrics.get(version, {}).get(what) != after.metrics.get(version, {}).get(what)
    ]
    return found + [
        f"{suite}: the score reports differ"
        for suite in sorted(before.reports.keys() | after.reports.keys())
        if before.reports.get(suite) != after.reports.get(suite)
    ]


def main() -> None:
    """Compare two checkouts, and exit with 1 where they differ."""
    folders = [Path(each).resolve() for each in sys.argv[1:]] or sys.exit(__doc__)
    before, after = (numbers_of(each) for each in (*folders, Path.cwd())[:2])
    counted = sum(len(each["metrics"]) for each in after.metrics.values())
    print(f"{len(after.metrics)} versions, {counted} metrics, {len(after.reports)} score reports compared.")
    found = differences(before, after)
    print("\n".join(found) or "All are the same.")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()

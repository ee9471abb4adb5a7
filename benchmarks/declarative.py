"""A suite from a file on 100,000 rows of CSV with three scorers, and its ejected twin: time and peak memory.

The bounds that the project holds itself to are 1 GB, and 1.5 times the time of the twin.
"""

from __future__ import annotations

import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from eval_pipeline.project import ROOT_VARIABLE, STATE_VARIABLE

CASES = 100_000
LABELS = ("billing", "bug", "feature", "other")
SUITE = f"""\
cases: cases.csv
id: id
attributes: [language]
answer: {{kind: label, of: [{", ".join(LABELS)}]}}
scores:
  - equals: "{{{{ label }}}}"
  - contains: "{{{{ label }}}}"
    ignore: [case]
  - length: words
    max: 12
"""


def write_project(root: Path, cases: int) -> Path:
    """A project with so many tickets, and replies of which three in four are right."""
    folder = root / "golden" / "tickets"
    folder.mkdir(parents=True)
    (folder / "suite.yaml").write_text(SUITE)
    (folder / "gates.yaml").write_text('metrics: {score: {fail: "< 0.1", pass: ">= 0.2"}}\n')
    (root / "engines.yaml").write_text("default: recorded\nengines: {recorded: {kind: recorded}}\n")
    outputs = root / "outputs.jsonl"
    with (folder / "cases.csv").open("w", newline="") as table, outputs.open("w") as answers:
        writer = csv.writer(table)
        writer.writerow(("id", "language", "text", "label"))
        for number in range(cases):
            label = LABELS[number % len(LABELS)]
            text = f"Ticket {number}: something is wrong,\nand it has been for {number % 97} days"
            writer.writerow((f"ticket-{number:06}", "en" if number % 3 else "de", text, label))
            reply = LABELS[0] if number % 4 == 3 else f"The category is {label}."
            answers.write(json.dumps({"case_id": f"ticket-{number:06}", "output": reply}) + "\n")
    return outputs


def eval_pipeline(root: Path, *arguments: str) -> float:
    """How long a command takes, in a process of its own."""
    environment = {**os.environ, ROOT_VARIABLE: str(root), STATE_VARIABLE: str(root / ".eval")}
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "eval_pipeline", *arguments], env=environment, check=True, capture_output=True
    )
    return time.perf_counter() - started


def main(cases: int = CASES) -> None:
    """Print what scoring costs."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        outputs = write_project(root, cases)
        score = (
            "score",
            "tickets",
            "--golden",
            str(root / "golden" / "tickets"),
            "--outputs",
            str(outputs),
            "--json",
        )
        declared = eval_pipeline(root, *score)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
        eval_pipeline(root, "suite", "eject", "tickets")
        twin = eval_pipeline(root, *score)
    print(f"a suite from a file on {cases:,} rows: {declared / cases * 1e3:.2f} ms each, peak {peak:,.0f} MB")
    print(f"  {peak / 1000:.0%} of the bound of 1 GB, {declared / twin:.2f} × its ejected twin (bound 1.5)")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))

"""`eval-pipeline score` on 100,000 cases: time per case and peak memory, in a process of its own.

The bound that the project holds itself to is 1 GB.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from eval_pipeline.project import Project
from eval_pipeline.suites.decomposition import SUITE
from eval_pipeline.suites.decomposition.cases import DecompositionInput
from eval_pipeline.suites.decomposition.engine import Parameters, decompose

CASES = 100_000


def write_inputs(folder: Path, cases: int) -> tuple[Path, Path]:
    """The project's own cases, over and over under new ids, and the embedded engine's outputs for them."""
    files = sorted((Project.find().golden(SUITE.name) / "cases").glob("*.json"))
    entries = [json.loads(file.read_text()) for file in files]
    outputs = [
        msgspec.to_builtins(
            decompose(DecompositionInput(entry["topic"], entry["sourceText"]), Parameters(), None)
        )
        for entry in entries
    ]
    golden, answers = folder / "golden.jsonl", folder / "outputs.jsonl"
    with golden.open("w") as golden_file, answers.open("w") as answers_file:
        for number in range(cases):
            which = number % len(entries)
            golden_file.write(json.dumps({**entries[which], "id": f"case-{number}"}) + "\n")
            answers_file.write(json.dumps({"case_id": f"case-{number}", "output": outputs[which]}) + "\n")
    return golden, answers


def main() -> None:
    """Print what scoring costs."""
    with tempfile.TemporaryDirectory() as folder:
        golden, answers = write_inputs(Path(folder), CASES)
        size = (golden.stat().st_size + answers.stat().st_size) / 1e6
        started = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "eval_pipeline", "score", SUITE.name, "--json"]
            + ["--golden", str(golden), "--outputs", str(answers)],
            check=True,
            capture_output=True,
        )
        seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
    print(
        f"score on {CASES:,} cases ({size:,.0f} MB): {seconds / CASES * 1e3:.2f} ms each, peak {peak:,.0f} MB"
    )
    print(f"  {peak / 1000:.0%} of the bound of 1 GB")


if __name__ == "__main__":
    main()

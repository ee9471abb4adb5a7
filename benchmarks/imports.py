"""What importing costs: the definitions beyond Dagster's own import, and the command line's help.

The bound that the project holds itself to is 1 s more than Dagster alone.
"""

from __future__ import annotations

import subprocess
import sys
import time

ROUNDS = 5


def seconds(code: str) -> float:
    """The best time of a few for a fresh interpreter to run some code."""

    def once() -> float:
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
        return time.perf_counter() - started

    return min(once() for _ in range(ROUNDS))


def main() -> None:
    """Print each import beside what it is to be compared with."""
    nothing, dagster = seconds("pass"), seconds("import dagster")
    definitions = seconds("import eval_pipeline.definitions")
    command_line = seconds("import eval_pipeline.cli")
    print(f"import dagster {dagster:.2f} s, eval_pipeline.definitions {definitions:.2f} s")
    print(f"  {definitions - dagster:.2f} s more, {max(0.0, definitions - dagster):.0%} of the bound of 1 s")
    print(f"command line {command_line - nothing:.2f} s more than a bare interpreter")


if __name__ == "__main__":
    main()

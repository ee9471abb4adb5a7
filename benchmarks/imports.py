"""What importing costs: the definitions beyond Dagster's own import, and the command line's help.

The bounds that the project holds itself to: the definitions at most 1 s more than Dagster alone, and
`--help` at most 0.15 s more than a bare interpreter.
"""

from __future__ import annotations

import os
import subprocess
import sys

ROUNDS = 7


def seconds(*arguments: str, rounds: int = ROUNDS) -> float:
    """The processor time of a fresh interpreter, the best of a few: what a quiet machine would wait for."""

    def once() -> float:
        before = os.times()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        after = os.times()
        return sum(after[2:4]) - sum(before[2:4])

    return min(once() for _ in range(rounds))


def compare(what: str, measured: float, beside: str, bare: float, most: float) -> None:
    """Print one time beside what it is to be compared with."""
    more = measured - bare
    sign = "✓" if more <= most else "✗"
    print(f"{sign} {what} {measured:.2f} s, {beside} {bare:.2f} s: {more:.2f} s more (promised: {most:g} s)")


def main() -> None:
    """Print each import beside what it is to be compared with."""
    definitions, dagster = seconds("-c", "import eval_pipeline.definitions"), seconds("-c", "import dagster")
    compare("eval_pipeline.definitions", definitions, "dagster", dagster, 1)
    compare("--help", seconds("-m", "eval_pipeline", "--help"), "a bare interpreter", seconds("-c", ""), 0.15)


if __name__ == "__main__":
    main()

"""Lives through months of nights, and says what is left of them.

    python -m benchmarks.soak --minutes 60

Schedules, sensors, alerts and prunes are the real ones, on a real instance, at moments of a clock that is
moved; processes of runs are killed, the model has outages, one of two targets of alerts is down at times,
files are edited, and the clock goes wrong and is set right. Exits with 1 where history, files, messages, disk
or memory are not as they have to be.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks.soak.months import Soak, table
from eval_pipeline_tests.conftest import work_in_memory


def main() -> None:
    """Run as told by the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--nights", type=int, default=100_000, help="stop after so many at the latest")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    work_in_memory()
    with tempfile.TemporaryDirectory() as folder, Soak(Path(folder), given.seed) as soak:
        soak.live(60 * given.minutes, given.nights, print)
        print(table(soak))
        troubles = soak.troubles
    if troubles:
        sys.exit("\n".join(("Broke:", *troubles)))
    print("Nothing broke.")


if __name__ == "__main__":
    main()

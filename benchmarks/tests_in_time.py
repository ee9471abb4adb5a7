"""How long one waits for tests: `make test` in a fresh clone, from nothing, and `make quick` without caches.

    python -m benchmarks.tests_in_time            both
    python -m benchmarks.tests_in_time quick      one of them

The bounds are those of two quiet cores with a warm package cache. It exits with 1 where one is not kept, or a
test fails.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.first_minute import fresh_clone, report

BOUNDS = {"test": 720, "quick": 90}
INSTALLED = ".venv/tested"
"""What `make quick` finds there; `make test` begins with installing it."""
CACHES = (".mypy_cache", ".ruff_cache")


def is_in_time(target: str, folder: Path) -> bool:
    """Whether a target is made within its bound."""
    clone, own = fresh_clone(folder)
    if target == "quick":
        subprocess.run(["make", INSTALLED], cwd=clone, env=own, check=True, stdout=subprocess.DEVNULL)
        assert not any((clone / cache).exists() for cache in CACHES)
    started = time.monotonic()
    done = subprocess.run(["make", target], cwd=clone, env=own, capture_output=True, text=True, check=False)
    kept = report(f"make {target} is done", time.monotonic() - started, BOUNDS[target])
    if done.returncode:
        print("\n".join(done.stdout.splitlines()[-20:]), done.stderr, file=sys.stderr)
    return kept and done.returncode == 0


def main() -> int:
    """Make what is asked for, each in a clone of its own."""
    parser = argparse.ArgumentParser(description="Whether tests are done in time, in fresh clones.")
    parser.add_argument("target", nargs="?", choices=BOUNDS)
    target = parser.parse_args().target
    broken = 0
    for each in [target] if target else BOUNDS:
        with tempfile.TemporaryDirectory() as folder:
            broken += not is_in_time(each, Path(folder))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())

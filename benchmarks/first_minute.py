"""The first minute: a fresh clone, `make demo`, until a result is in the UI, and until all are.

The bounds that the project holds itself to, on two quiet cores with a warm package cache: the first result
within 60 s, all within 180 s.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

FIRST, ALL = 60, 180
PATIENCE = 1200
DONE = "Ctrl-C ends it"
QUERY = """{ assetNodeOrError(assetKey: {path: ["decomposition", "metrics"]}) {
    ... on AssetNode { assetMaterializations(limit: 1) { runId } } } }"""


def is_visible(port: int) -> bool:
    """Whether the UI has a result to show."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/graphql",
        json.dumps({"query": QUERY}).encode(),
        {"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return bool(json.load(response)["data"]["assetNodeOrError"].get("assetMaterializations"))
    except OSError:
        return False


def report(what: str, seconds: float, most: float) -> bool:
    """Print a time beside its bound, and say whether it is kept."""
    kept = seconds <= most
    print(f"{'✓' if kept else '✗'} {what} after {seconds:.0f} s (promised: {most} s)", flush=True)
    return kept


def fresh_clone(folder: Path) -> tuple[Path, dict[str, str]]:
    """A clone of what is committed, and the environment in which it knows nothing of this checkout."""
    clone = folder / "clone"
    subprocess.run(["git", "clone", "--quiet", Path.cwd(), clone], check=True)
    return clone, {key: os.environ[key] for key in os.environ if key not in ("DAGSTER_HOME", "MAKEFLAGS")}


def main() -> None:
    """Clone what is committed, run the demo, and print when what was there."""
    with socket.socket() as free, socket.socket() as another:
        for each in (free, another):
            each.bind(("127.0.0.1", 0))
        port, reports_port = free.getsockname()[1], another.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        (clone, own), log = fresh_clone(Path(folder)), Path(folder, "log")
        started = time.monotonic()
        with log.open("wb") as out:
            demo = subprocess.Popen(
                ["make", "demo", f"PORT={port}", f"REPORTS_PORT={reports_port}"],
                cwd=clone,
                env=own,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        try:
            visible = done = None
            while visible is None or done is None:
                now = time.monotonic() - started
                if demo.poll() is not None or now > PATIENCE:
                    raise SystemExit(f"the demo did not come to its end:\n{log.read_text()}")
                if visible is None and is_visible(port):
                    visible = now
                    report("the first result is in the UI", now, FIRST)
                if done is None and DONE in log.read_text():
                    done = now
                    report("all results are there", now, ALL)
                time.sleep(0.5)
            print(f"  {len(log.read_text().splitlines())} lines of output")
        finally:
            os.killpg(demo.pid, signal.SIGTERM)  # Ctrl-C is ignored where this runs in the background
            demo.wait(60)


if __name__ == "__main__":
    main()

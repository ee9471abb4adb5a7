"""Files of events for tests, in our own format."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from eval_pipeline.project import Project

MONDAY = datetime.datetime(2026, 3, 2, tzinfo=datetime.UTC)
MINUTE, HOUR, DAY = (datetime.timedelta(**{name: 1}) for name in ("minutes", "hours", "days"))


def flat(number: int, **fields: Any) -> dict[str, Any]:
    """A line of our own format: one request a minute."""
    at = (MONDAY + number * MINUTE).isoformat()
    return {"request_id": f"r{number}", "at": at, "suite": "toy", "latency_ms": 100.0 + number, **fields}


def lines(rows: Iterable[Mapping[str, Any] | str]) -> bytes:
    """Rows as JSON Lines; texts as they are."""
    return "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows).encode()


def drop(project: Project, name: str, content: bytes | Iterable[Mapping[str, Any] | str]) -> Path:
    """Put a file into the drop folder."""
    path = project.root / "production" / "drop" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else lines(content))
    return path

"""Requests of production with answers that are right or made up, for tests of what samples say."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

from eval_pipeline.monitoring import EventStore, Production, Sampling
from eval_pipeline.project import Project
from eval_pipeline_tests.conftest import REPOSITORY

MONDAY = datetime.datetime(2026, 3, 2, tzinfo=datetime.UTC)
DAY, HOUR = datetime.timedelta(days=1), datetime.timedelta(hours=1)
LATER = MONDAY + 60 * DAY
EVERYTHING = Production(sampling=Sampling(rate=1.0))
"""Nothing is left to chance."""
SOURCE = "Coral reefs host algae. " + "The algae feed the coral with sugar from sunlight. " * 8
GIVEN = json.dumps({"topic": "coral", "source_text": SOURCE})


def answer(made_up: int = 0, of: int = 4) -> str:
    """A decomposition, some of whose concepts are made up."""
    real = ["coral reefs", "algae", "sugar", "sunlight"][: of - made_up]
    quote = "The algae feed the coral with sugar from sunlight."
    concepts = [{"label": label, "source_quote": quote} for label in real]
    concepts += [{"label": f"unicorn {number}", "source_quote": "no such words"} for number in range(made_up)]
    return json.dumps({"concepts": concepts, "relationships": []})


def served(number: int, made_up: int = 0, **fields: Any) -> dict[str, Any]:
    """A request, one each minute."""
    return {
        "request_id": f"r{number}",
        "at": MONDAY + number * datetime.timedelta(minutes=1),
        "suite": "decomposition",
        "version": "decompose-concepts-v1.0",
        "user": f"u{number % 50}",
        "input": GIVEN,
        "output": answer(made_up),
        "latency_ms": 1000.0,
        **fields,
    }


def opened(state: Path) -> tuple[Project, EventStore]:
    """This repository as a project with an empty state, and a salt that does not change."""
    project = Project(REPOSITORY, state)
    store = EventStore.of(project)
    store.ledger.key("sampling", "a salt for tests")
    return project, store

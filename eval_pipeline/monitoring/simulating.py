"""A week of events that never happened, for demonstrations and tests: the same seed gives the same files.

Every event says that it is simulated. One incident is planted: for some hours of one day requests fail and
take long, as they do when a provider is overloaded. Everything else stays within the targets.
"""

from __future__ import annotations

import datetime
import gzip
import math
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from eval_pipeline.answers import FIRST_TRIAL
from eval_pipeline.files import replacing
from eval_pipeline.monitoring.staging import midnight
from eval_pipeline.project import Project
from eval_pipeline.prompts import active_versions, versions_in
from eval_pipeline.store import Store
from eval_pipeline.suite import Suite

MODEL = "simulated-model"
DAY = datetime.timedelta(days=1)
TOPICS = ("billing", "delivery", "returns", "other")
ORDINARY_ERRORS, INCIDENT_ERRORS = 0.002, 0.25
INCIDENT_HOURS = range(10, 14)
INCIDENT_KIND = "rate_limited"
RATED, CONTENT = 0.1, 0.9
"""The share of requests with feedback, and of that the share of thumbs up."""
PERSONAL = "Please answer to jane.doe@example.com or call +31 20 123 4567."
"""Nobody's address and number, so that masking has something to do."""


class Exchange(NamedTuple):
    """A question and its answer, from an evaluation."""

    input: str
    output: str


class Plan(NamedTuple):
    """What is simulated."""

    suite: str
    versions: Sequence[str]
    first: datetime.date
    days: int
    per_day: int
    seed: int
    exchanges: Sequence[Exchange] = ()

    @property
    def incident_day(self) -> datetime.date:
        """The day of the incident: the last but two, or the only one."""
        return self.first + DAY * max(self.days - 3, 0)


def plan_for(
    project: Project, suite: Suite, first: datetime.date, days: int, per_day: int, seed: int
) -> Plan:
    """Events of a suite's versions, with the questions and answers of its latest evaluations."""
    folder = project.prompts(suite.name)
    active = active_versions(suite, folder)
    others = [version for version in versions_in(folder) if version not in active]
    versions = [*active, *others][:2] or ["unknown-v1.0"]
    exchanges = list(_exchanges(project, suite, versions[0]))
    return Plan(suite.name, versions, first, days, per_day, seed, exchanges)


def _exchanges(project: Project, suite: Suite, version: str) -> Iterator[Exchange]:
    store = Store(project.state)
    golden, answers = store.golden(suite.name), store.outputs(suite.name, version)
    if golden is None or answers is None:
        return
    for case_id, input_hash, question in golden.inputs(suite):
        answer = answers.get(case_id, FIRST_TRIAL, input_hash)
        if answer is not None and answer.text is not None:
            yield Exchange(msgspec.json.encode(question).decode(), answer.text)


def write_simulated(plan: Plan, folder: Path) -> list[Path]:
    """Write a file for each day, compressed, into a folder."""
    paths = []
    for number in range(plan.days):
        day = plan.first + DAY * number
        path = folder / f"simulated-{plan.suite}-{plan.seed}-{day}.jsonl.gz"
        content = b"".join(msgspec.json.encode(event) + b"\n" for event in simulated_day(plan, day))
        with replacing(path) as temporary:
            temporary.write_bytes(gzip.compress(content, mtime=0))
        paths.append(path)
    return paths


def simulated_day(plan: Plan, day: datetime.date) -> Iterator[dict[str, Any]]:
    """The events of a day in order of time: few at night, most in the afternoon."""
    chance = random.Random(f"{plan.seed}/{plan.suite}/{day}")
    start = midnight(day)
    weights = [1.2 + math.sin((hour - 9) / 24 * 2 * math.pi) for hour in range(24)]
    hours = chance.choices(range(24), weights, k=plan.per_day)
    moments = sorted(start + datetime.timedelta(hours=hour, seconds=chance.random() * 3600) for hour in hours)
    failed_in: set[int] = set()
    for number, at in enumerate(moments):
        unwell = day == plan.incident_day and at.hour in INCIDENT_HOURS
        failed = chance.random() < (INCIDENT_ERRORS if unwell else ORDINARY_ERRORS)
        if not unwell and at.hour in failed_in:
            # Two of an hour's few requests would be an incident that nobody planted.
            failed = False
        if failed:
            failed_in.add(at.hour)
        request = f"sim-{plan.seed}-{plan.suite}-{day}-{number}"
        yield _event(plan, chance, request, at, unwell=unwell, failed=failed)


def _event(
    plan: Plan, chance: random.Random, request: str, at: datetime.datetime, *, unwell: bool, failed: bool
) -> dict[str, Any]:
    latency = chance.lognormvariate(math.log(900), 0.35) * (6 if unwell else 1)
    exchange = chance.choice(plan.exchanges) if plan.exchanges else Exchange("", "")
    event: dict[str, Any] = {
        "request_id": request,
        "at": at.isoformat(),
        "suite": plan.suite,
        "version": plan.versions[0] if len(plan.versions) == 1 or chance.random() < 0.8 else plan.versions[1],
        "model": MODEL,
        "latency_ms": round(latency, 1),
        "input_tokens": chance.randrange(400, 1600),
        "topic": chance.choice(TOPICS),
        "user": f"user-{chance.randrange(plan.per_day // 4 + 1)}",
        "session": f"session-{chance.randrange(plan.per_day // 2 + 1)}",
        "simulated": True,
    }
    if exchange.input:
        event["input"] = exchange.input + (f" {PERSONAL}" if chance.random() < 0.02 else "")
    if failed:
        return event | {"error": INCIDENT_KIND if unwell else "timeout", "output_tokens": 0, "cost_usd": 0.0}
    tokens = chance.randrange(200, 900)
    event |= {"output_tokens": tokens, "cost_usd": round(0.004 + tokens * 1e-5, 6)}
    concepts = chance.randrange(17, 27)
    event |= {"concepts": concepts, "relationships": 2 * concepts + chance.randrange(-4, 5)}
    event["confidences"] = [round(min(chance.betavariate(9, 1.9), 1.0), 3) for _ in range(5)]
    if exchange.output:
        event["output"] = exchange.output
    if chance.random() < RATED:
        event["feedback"] = "up" if chance.random() < CONTENT else "down"
    return event

"""A project with a suite that costs next to nothing, and as many cases as are wanted.

What a stage takes beyond the suite's own code is what is measured. The suite has what comparisons look at: a
mean over cases, a ratio of unequal cases, groups of which some are few and others are many, and diagnoses.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from eval_pipeline.project import Project

SUITE = "tickets"
BEFORE, AFTER = "sort-v1.0", "sort-v1.1"
LABELS = ("billing", "bug", "feature", "login", "other", "praise", "shipping", "spam")
LANGUAGES = ("de", "en", "fr", "pl")
OF_A_CUSTOMER = 50
"""So many tickets a customer has, more or less: the more tickets, the more groups."""

CODE = '''\
"""Tickets and what they are about."""

import msgspec

import eval_pipeline.suite as kit
from eval_pipeline.golden import JsonCases


class Ticket(msgspec.Struct):
    text: str
    number: int


class Entry(msgspec.Struct):
    id: str
    text: str
    number: int
    label: str
    language: str
    customer: str


class Sorted(msgspec.Struct):
    label: str
    words: list[str]


class Parameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    misses: int = 10


def case(entry: Entry) -> kit.Case[Ticket, str]:
    groups = {"language": entry.language, "customer": entry.customer}
    return kit.Case(entry.id, Ticket(entry.text, entry.number), entry.label, groups)


def sort(ticket: Ticket, parameters: Parameters, resources: None) -> dict[str, object]:
    label, *words = ticket.text.split()
    right = ticket.number * 7919 % 101 >= parameters.misses
    return {"label": label if right else "unclear", "words": words[: len(words) - (not right)]}


def score(item: kit.Item, context: kit.Context) -> kit.CaseScore:
    gold, given = item.case.expected, item.output
    right = float(gold == given.label)
    words = len(item.case.input.text.split()) - 1
    counts = {**kit.mean_counts({"accuracy": right}), "kept": float(len(given.words)), "words": float(words)}
    return kit.CaseScore(counts, diagnoses=() if right else (kit.Diagnosis("confused", gold, given.label),))


SUITE = kit.Suite(
    name="tickets",
    description="What tickets are about.",
    reader=JsonCases(Entry, case),
    input=Ticket,
    output=Sorted,
    parameters=Parameters,
    score=kit.per_case(score),
    errored=lambda case, answer: kit.CaseScore({"kept": 0.0, "words": 1.0}),
    metrics=(
        kit.mean("accuracy", "Right ÷ all.", explained_by="confused"),
        kit.Metric("kept_words", "Words kept ÷ words.", kit.ratio_of("kept", "words")),
    ),
    groups=("language", "customer"),
    embedded=sort,
)
'''
ENGINES = """\
default: embedded
engines:
  embedded: {kind: embedded, description: The suite's own system.}
"""
GATES = """\
metrics:
  accuracy: {fail: "< 0.5", pass: ">= 0.8", regression: {investigate: 0.01, block: 0.05}}
  kept_words: {fail: "< 0.5", pass: ">= 0.8", regression: {investigate: 0.01, block: 0.05}}
"""
PROMPT = """\
---
suite: tickets
status: {status}
parameters: {{misses: {misses}}}
---
What is this ticket about? {{{{ text }}}}
"""


def write_project(root: Path, cases: int, of_a_customer: int = OF_A_CUSTOMER) -> Project:
    """A project with so many tickets, and two versions of a prompt, of which the later is a bit worse."""
    for name, text in {
        f"suites/{SUITE}/__init__.py": CODE,
        "engines.yaml": ENGINES,
        f"golden/{SUITE}/gates.yaml": GATES,
        f"prompts/{SUITE}/{BEFORE}.md": PROMPT.format(status="active", misses=10),
        f"prompts/{SUITE}/{AFTER}.md": PROMPT.format(status="candidate", misses=14),
    }.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    project = Project(root, root / ".eval")
    project.state.mkdir(exist_ok=True)
    shutil.copy(Project.find().root / "dagster.yaml", root)
    folder = project.golden(SUITE) / "cases"
    folder.mkdir(exist_ok=True)
    with (folder / "tickets.jsonl").open("w") as file_:
        for number in range(cases):
            file_.write(json.dumps(_ticket(number, max(cases // of_a_customer, 2))) + "\n")
    return project


def _ticket(number: int, customers: int) -> dict[str, object]:
    label = LABELS[number % len(LABELS)]
    words = " ".join(f"word{place}" for place in range(1 + number % 9))
    return {
        "id": f"ticket-{number:07}",
        "text": f"{label} {words}",
        "number": number,
        "label": label,
        "language": LANGUAGES[number * 31 % 97 % len(LANGUAGES)],
        "customer": f"customer {number * 7_654_321 % 1_000_003 % customers}",
    }

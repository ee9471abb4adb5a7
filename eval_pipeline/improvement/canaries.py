"""Names that answers make up again and again: suggested as canaries, which golden cases forbid."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Protocol

from eval_pipeline.files import content_hash
from eval_pipeline.improvement.failures import Failures, text_of
from eval_pipeline.improvement.suggestions import Suggestion, undecided
from eval_pipeline.language.embedder import Embedder, similarity
from eval_pipeline.metrics.text import normalize
from eval_pipeline.numbers import counted
from eval_pipeline.project import Project
from eval_pipeline.suite import Suite

RECURRING = 3
"""So many different inputs must lead to a name before it is one that answers make up by habit."""
MOST = 20
NEAREST = 3
"""Golden cases that are named as places for a canary."""
ID_LENGTH = 10


class Named(Protocol):
    """A golden case by its name and its text."""

    @property
    def name(self) -> str:
        """Its id."""

    @property
    def text(self) -> str:
        """What it asks."""


def suggest_canaries(
    project: Project,
    suite: Suite,
    failures: Failures,
    golden: Sequence[Named],
    decided: AbstractSet[str],
    forbidden: AbstractSet[str],
    embedder: Embedder,
) -> list[tuple[str, Suggestion]]:
    """The names that recur, most often first; what a golden case's text names is no canary there.

    What a person decided on is left out, and what a golden case forbids already.
    """
    known = forbidden | {normalize(each.canary) for _, each in undecided(project, suite.name) if each.canary}
    recurring = [
        (key, each)
        for key, each in failures.inventions.items()
        if len(each.inputs) >= RECURRING and key not in known and _key(key) not in decided
    ]
    recurring.sort(key=lambda pair: (-len(pair[1].inputs), pair[0]))
    vectors = embedder.embed([each.text for each in golden]) if recurring and golden else None
    suggested = []
    for key, each in recurring[:MOST]:
        near: list[str] = []
        if vectors is not None:
            close = similarity(embedder.embed([text_of(each.example)])[0], vectors)
            order = sorted(range(len(golden)), key=lambda index: (-close[index], golden[index].name))
            fitting = [index for index in order if key not in normalize(golden[index].text)]
            near = [golden[index].name for index in fitting[:NEAREST]]
        inputs = f"{counted(len(each.inputs), 'different input')}"
        suggestion = Suggestion(
            suite=suite.name,
            about=f"canary: {each.label}",
            to_do="List in forbid_in the cases that are to forbid it, then: eval-pipeline cases accept FILE",
            why=[f"{counted(each.times, 'answer')} on {inputs} named it though their sources do not"],
            times=each.times,
            requests=each.requests,
            suggested=datetime.datetime.now(datetime.UTC).date().isoformat(),
            group=", ".join(sorted(each.topics))[:200],
            near=", ".join(near),
            input=_key(key),
            canary=each.label,
        )
        suggested.append((f"canary-{_key(key)[:ID_LENGTH]}", suggestion))
    return suggested


def _key(name: str) -> str:
    return content_hash(["canary", name])

"""Whether an engine could answer: before a run asks it, and pays."""

from __future__ import annotations

import asyncio

from eval_pipeline.engines.calls import CallFailed
from eval_pipeline.engines.interface import Request
from eval_pipeline.engines.kinds import EngineEntry, MeteredEntry
from eval_pipeline.numbers import counted
from eval_pipeline.problems import BadInput, Problem
from eval_pipeline.project import Project
from eval_pipeline.suite import Suite

QUESTION = "Reply with the word yes."


def readiness(project: Project, suite: Suite, name: str, entry: EngineEntry, *, call: bool) -> str:
    """What an engine has of what it needs; with `call`, what it says to one small question.

    A key that is not set and a call that fails are bad input. The call is in no journal.
    """
    if not isinstance(entry, MeteredEntry):
        kind = str(getattr(entry, "kind", "other"))
        return {"recorded": "its answers are recorded, no model is asked"}.get(kind, f"{kind}, asks no model")
    metered = entry.metered(name, project, suite, None)
    said = f"{getattr(entry, 'model', metered.model)} at {metered.client.url}, its keys are set"
    if not call:
        return said

    async def ask() -> int:
        async with metered.client as client:
            reply = await client.call(client.body(Request("doctor", 1, None, QUESTION)))
        return len(reply.text)

    try:
        return f"{said}; it answered with {counted(asyncio.run(ask()), 'character')}"
    except CallFailed as failed:
        problem = Problem(project.engines_file.name, 0, name, str(failed), "See its URL, model and key.")
        raise BadInput([problem]) from None

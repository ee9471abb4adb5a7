"""The recorded engine: outputs that another system produced, read from a JSON Lines file."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path, PurePosixPath
from typing import Literal

from msgspec.structs import replace
from pydantic import field_validator

from eval_pipeline.answers import MISSING, Answer
from eval_pipeline.engines.interface import Request
from eval_pipeline.engines.kinds import EngineEntry, Use, register
from eval_pipeline.files import Violation, files_hash, write_text
from eval_pipeline.files.models import refusal
from eval_pipeline.problems import Problems
from eval_pipeline.project import Project
from eval_pipeline.revisions import SHORT_COMMIT, text_at
from eval_pipeline.suite import Suite


@register
class RecordedEntry(EngineEntry):
    """A file of outputs; `{suite}` and `{version}` in its path are filled in."""

    kind: Literal["recorded"] = "recorded"
    path: str
    """The file, from the project's folder on: `recorded/{suite}/{version}.jsonl`."""
    description: str = ""

    @field_validator("path")
    @classmethod
    def _without_other_placeholders(cls, path: str) -> str:
        if set("{}") & set(_filled(path, "", "")):
            remedy = "Only {suite} and {version} are filled in."
            raise refusal(Violation((), "has a placeholder that nobody fills in", remedy))
        return path

    def reads(self, file: PurePosixPath, suite: str, version: str) -> bool:
        """The outputs of a version."""
        return file == PurePosixPath(_filled(self.path, suite, version))

    def open(self, name: str, use: Use) -> RecordedEngine:
        """The engine of that name."""
        path = use.project.root / _filled(self.path, use.suite.name, use.prompt.version)
        if commit := use.prompt.commit:  # what is recorded now is not what that text brought
            path = _as_recorded_at(use.project, commit, path)
        return RecordedEngine(name, use.suite, path)


def _as_recorded_at(project: Project, commit: str, path: Path) -> Path:
    """A copy of an outputs file as it was at a commit."""
    text = text_at(project, commit, path) if path.is_relative_to(project.root) else None
    if text is None:
        problems = Problems()
        remedy = "Commit recorded outputs together with their prompt, or make a new version of it."
        problems.add(path, f"is not in Git at {commit[:SHORT_COMMIT]}", remedy)
        problems.stop_if_any()
    copy = project.state / "recorded" / commit / path.name
    write_text(copy, text or "")
    return copy


def _filled(path: str, suite: str, version: str) -> str:
    return path.replace("{suite}", suite).replace("{version}", version)


class RecordedEngine:
    """Answers from a file. What the file does not hold is missing, and so an error."""

    varies = False
    reads_prompt = False
    prepared_elsewhere = True
    held_out = None

    def __init__(self, name: str, suite: Suite, path: Path) -> None:
        self.name = name
        problems = Problems()
        if not path.is_file():
            problems.add(path, "does not exist", "Record outputs there, or choose another engine.")
            problems.stop_if_any()
        self._answers = suite.answer_format(path).open(path, problems)
        problems.stop_if_any()
        self.model = f"recorded-{files_hash([path])[:8]}"

    @property
    def trials(self) -> int:
        """How many trials the file holds."""
        return len(self._answers.trials)

    async def answer(self, requests: AsyncIterator[Request]) -> AsyncGenerator[Answer, None]:
        """Look every request up; the file's trials are taken in order, whatever their numbers."""
        trials = self._answers.trials
        async for request in requests:
            answer = None
            if request.trial <= len(trials):
                answer = self._answers.get(request.case_id, trials[request.trial - 1])
            missing = Answer(
                request.case_id, request.trial, error=MISSING, detail="the file has no such output"
            )
            yield replace(answer, trial=request.trial) if answer else missing

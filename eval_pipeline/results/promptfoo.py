"""What `promptfoo eval -o FILE` writes as JSON or JSON Lines: a result for each test, provider and prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from eval_pipeline.files import content_hash, json_lines
from eval_pipeline.problems import Problems
from eval_pipeline.results.decoding import decoded
from eval_pipeline.results.rows import NO_MODEL, Results, Row, as_id, as_score, as_text, scores_of

KIND = "promptfoo"
ERRORED = 2
"""The reason of a failure that is no failed assertion: there was no answer."""
NOTHING = msgspec.Raw(b"null")
OF_THE_RUN = ("sessionId",)
"""Variables that promptfoo adds by itself, with another value each time."""


class Provider(msgspec.Struct, frozen=True):
    """Who answered."""

    id: str = ""
    label: str | None = None


class Prompt(msgspec.Struct, frozen=True):
    """What was asked, before a test's variables are put in."""

    label: str = ""


class Test(msgspec.Struct, frozen=True):
    """A test as its author wrote it."""

    description: str | None = None
    assertions: msgspec.Raw = msgspec.field(name="assert", default=NOTHING)


class Response(msgspec.Struct, frozen=True):
    """What the provider said."""

    output: msgspec.Raw = NOTHING


class Result(msgspec.Struct, frozen=True, rename="camel"):
    """One test, asked of one provider with one prompt."""

    vars: dict[str, Any]
    success: bool
    score: float | None = None
    named_scores: dict[str, Any] = {}
    error: str | None = None
    failure_reason: int | None = None
    provider: Provider | str = ""
    prompt: Prompt = Prompt()
    prompt_idx: int = 0
    test_idx: int | None = None
    test_case: Test = Test()
    response: Response | None = None
    grading_result: msgspec.Raw = NOTHING

    @property
    def asked(self) -> str:
        """The name of the provider."""
        given = self.provider
        return given if isinstance(given, str) else given.label or given.id

    @property
    def input(self) -> Mapping[str, Any]:
        """The variables that its author gave."""
        return {
            name: value
            for name, value in self.vars.items()
            if not name.startswith("_") and name not in OF_THE_RUN
        }

    @property
    def why_no_answer(self) -> str:
        """Why there is nothing to judge; blank where there is, also if an assertion failed."""
        if self.failure_reason is None:  # older files do not tell
            return (self.error or "") if bytes(self.grading_result) == bytes(NOTHING) else ""
        return (self.error or "error") if self.failure_reason == ERRORED else ""


class Table(msgspec.Struct, frozen=True):
    """The results of an evaluation."""

    results: list[Result]
    timestamp: str = ""


class Document(msgspec.Struct, frozen=True):
    """A whole file."""

    results: Table


def read_promptfoo(path: Path, content: bytes, problems: Problems) -> list[Results]:
    """The evaluations of a file: one for each pair of provider and prompt."""
    table = decoded(content, Document).results
    if not table.results:
        problems.add(path, "holds no results", "Run the evaluation again.", field="results.results")
    return _evaluations(path, table)


def read_promptfoo_lines(path: Path, problems: Problems) -> list[Results]:
    """The same of a file with a result on each line."""
    results = []
    for raw in json_lines(path, problems):
        try:
            results.append(decoded(raw.data, Result))
        except (ValueError, RecursionError) as error:
            problems.add(path, f"cannot be understood: {error}", "Make it anew.", line=raw.number)
    return _evaluations(path, Table(results))


def _evaluations(path: Path, table: Table) -> list[Results]:
    columns: dict[tuple[int, str, str], list[Result]] = {}
    for each in table.results:
        columns.setdefault((each.prompt_idx, each.asked, each.prompt.label), []).append(each)
    names = _names(list(columns))
    return [
        Results(path, KIND, _rows(results), as_id(asked) or NO_MODEL, table.timestamp, part=name)
        for name, ((_, asked, _), results) in zip(names, columns.items(), strict=True)
    ]


def _names(columns: Sequence[tuple[int, str, str]]) -> list[str]:
    """What each evaluation is called; blank where there is one."""
    if len(columns) == 1:
        return [""]
    names = [f"{as_id(asked)} · {as_id(prompt)}" for _, asked, prompt in columns]
    return [
        name if names.count(name) == 1 else f"{name} ({number})"
        for name, (number, _, _) in zip(names, columns, strict=True)
    ]


def _rows(results: Sequence[Result]) -> list[Row]:
    """A row for each result. Tests have no names: they are called by description or variables.

    The same test again is another trial; another test with the same name gets a number.
    """
    rows = []
    tests: dict[str, list[str]] = {}
    trials: dict[tuple[str, str], int] = {}
    for each in sorted(results, key=lambda each: each.test_idx or 0):
        name = _name(each)
        test = content_hash([each.test_case.description, each.input, bytes(each.test_case.assertions)])
        known = tests.setdefault(name, [])
        known += [test] if test not in known else []
        number = known.index(test) + 1
        trial = trials[name, test] = trials.get((name, test), 0) + 1
        rows.append(
            Row(
                name if number == 1 else f"{name} ({number})",
                trial,
                {
                    **scores_of(each.named_scores),
                    "success": as_score(each.success),
                    "score": as_score(each.score),
                },
                as_text(each.why_no_answer),
                passed=each.success,
                input_hash=content_hash(each.input),
                input=as_text(each.input),
                output=as_text(decoded(each.response.output, object)) if each.response else "",
            )
        )
    return rows


def _name(result: Result) -> str:
    if result.test_case.description:
        return as_id(result.test_case.description)
    texts = {name: as_text(value) for name, value in result.input.items()}
    if len(texts) == 1:
        return as_id(*texts.values())
    return as_id(", ".join(f"{name}={value}" for name, value in texts.items())) or "no variables"

"""Kinds of tasks: for each, what a reply is, how it is scored, and how a prompt asks for it."""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from eval_pipeline.starting.columns import Column, Roles, Task

LEAST_WORDS = 30
_JINJA = re.compile(r"\{[{%#]|[}%#]\}")


class Written(NamedTuple):
    """What a task puts into the lines of a suite.yaml, and into a prompt."""

    answer: str
    scores: tuple[str, ...]
    instruction: str
    prompt: str
    """The name of the prompt."""


def write_task(task: Task, roles: Roles, columns: Sequence[Column]) -> Written:
    """A task over the columns of a table."""
    by_name = {column.name: column for column in columns}
    expected = by_name.get(roles.expected)
    if expected is None:  # every case brings assertions of its own
        return Written("text", (), "Reply to the text below.", "reply")
    return _TASKS[task](roles, expected)


def _classify(roles: Roles, expected: Column) -> Written:
    labels = ", ".join(quoted(label) for label in expected.distinct)
    named = verbatim(", ".join(" ".join(label.split()) for label in expected.distinct))
    asked = (
        f"Which of these does the text below belong to: {named}?\nReply with one of them and nothing else."
    )
    score = f"equals: {_cell(expected.name)}"
    return Written(f"{{kind: label, of: [{labels}]}}", (score,), asked, "classify")


def _extract(roles: Roles, expected: Column) -> Written:
    fields = dict.fromkeys(name for cell in expected.filled for name in _names(cell))
    named = verbatim(", ".join(fields)) or "what it says"
    asked = f"Take these facts from the text below: {named}.\nReply with one JSON object and nothing else."
    return Written("json", (f"json_equals: {_cell(expected.name)}",), asked, "extract")


def _answer(roles: Roles, expected: Column) -> Written:
    scores = (f"f1: {_cell(expected.name)}", _length(expected))
    return Written("text", scores, "Answer in one or two sentences.", "answer")


def _summarise(roles: Roles, expected: Column) -> Written:
    scores = (f"rouge: {_cell(expected.name)}", _length(expected))
    return Written("text", scores, "Summarise the text below in one or two sentences.", "summarise")


def _rag(roles: Roles, expected: Column) -> Written:
    cited = (f"citations: {_cell(roles.cited)}",) if roles.cited else ()
    asked = "Answer from the passages below and from nothing else, in one or two sentences."
    asked += "\nCite the passages that you used as [id]." if cited else ""
    return Written("text", (f"f1: {_cell(expected.name)}", *cited, _length(expected)), asked, "answer")


def _rank(roles: Roles, expected: Column) -> Written:
    asked = (
        "Which of the candidates below serve the query? Reply with a JSON list of their ids, the best first."
    )
    return Written("list", (f"ranking: {_cell(expected.name)}",), asked, "rank")


_TASKS: Mapping[Task, Callable[[Roles, Column], Written]] = {
    "classify": _classify,
    "extract": _extract,
    "answer": _answer,
    "summarise": _summarise,
    "rag": _rag,
    "rank": _rank,
}
TASKS = tuple(_TASKS)
DESCRIPTIONS: Mapping[Task, str] = {
    "classify": "Texts into categories",
    "extract": "Facts from texts",
    "answer": "Answers to questions",
    "summarise": "Summaries of texts",
    "rag": "Answers from passages",
    "rank": "What serves a query, the best first",
}
"""What a suite of each kind is about, until somebody says it better."""


def _length(expected: Column) -> str:
    """A bound on words, so that saying everything does not pay: twice the longest expectation."""
    longest = max((len(cell.split()) for cell in expected.filled), default=0)
    return f"{{length: words, max: {max(2 * longest, LEAST_WORDS)}}}"


def _names(cell: str) -> list[str]:
    value = json.loads(cell) if cell.lstrip().startswith("{") else {}
    return list(value) if isinstance(value, dict) else []


def _cell(column: str) -> str:
    return quoted(f"{{{{ {column} }}}}")


def quoted(text: str) -> str:
    """A text as YAML takes it for one, whatever is in it."""
    plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*(?:[ ./-][A-Za-z0-9_]+)*", text)
    if plain and text.lower() not in ("true", "false", "yes", "no", "on", "off", "null", "y", "n"):
        return text
    return json.dumps(text, ensure_ascii=False)


def verbatim(text: str) -> str:
    """A text in a template that nothing of it is read as Jinja."""
    return "".join(
        f"{{{{ {json.dumps(each)} }}}}" if _JINJA.fullmatch(each) else each for each in _split(text)
    )


def _split(text: str) -> list[str]:
    return [each for each in re.split(f"({_JINJA.pattern})", text) if each]


def variables(names: Sequence[str]) -> dict[str, str]:
    """What templates call columns: their names, or the nearest that can be a variable's."""
    taken: dict[str, str] = {}
    for name in names:
        wanted = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_").lower() if not name.isidentifier() else name
        wanted = wanted if wanted.isidentifier() and not keyword.iskeyword(wanted) else f"column_{wanted}"
        wanted = wanted if not wanted.startswith("_") else f"column{wanted}"
        while wanted in taken:
            wanted += "_2"
        taken[wanted] = name
    return taken

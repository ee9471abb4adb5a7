"""The prompts of a promptfoo configuration as bodies of prompt versions."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from eval_pipeline.importing.documents import CODE, FILE, REMOTE, Fields, Folder, Items
from eval_pipeline.importing.places import Leftovers, NotTaken, Place
from eval_pipeline.importing.templates import is_raw, is_template, raw, stop_if_different
from eval_pipeline.prompts import Layout

ROLES = ("system", "user", "assistant")
MOST_PROMPTS = 100
LONGEST_LABEL = 120
_ENDINGS = (".txt", ".md", ".j2", ".json", ".jsonl", ".yaml", ".yml", ".csv", *CODE)
_HEADING = re.compile(r"^##(?=[ \t]+\S+[ \t]*$)", re.MULTILINE)
NO_HEADING = '{{ "##" }}'
"""What prints the mark of a heading, and is none."""
_SEPARATOR = "---"
_REMEDY = "Write it as a text, or as messages with a role and a content."


class TakenPrompt(NamedTuple):
    """A prompt that can be a version."""

    body: str
    label: str
    place: Place

    def around(self, prefix: str, suffix: str) -> TakenPrompt:
        """The same with a text before and after it."""
        return self._replace(body=f"{prefix}{self.body}{suffix}")


class Raw(NamedTuple):
    """A prompt as it is written."""

    text: str
    label: str
    place: Place


def read_prompts(config: Fields, folder: Folder, leftovers: Leftovers) -> list[TakenPrompt]:
    """Every prompt that can be taken over; the others are listed."""
    taken: list[TakenPrompt] = []
    for written in _written(config.get("prompts"), config.at("prompts"), folder, leftovers):
        try:
            body = _body(written.text)
        except NotTaken as reason:
            leftovers.drop(written.place, reason.message, reason.remedy)
            continue
        if len(taken) == MOST_PROMPTS:
            leftovers.drop(
                written.place, f"there are more than {MOST_PROMPTS} prompts", "Make several suites."
            )
            break
        taken.append(TakenPrompt(body, " ".join(written.label.split())[:LONGEST_LABEL], written.place))
    return taken


def _written(given: Any, place: Place, folder: Folder, leftovers: Leftovers) -> Iterator[Raw]:
    """The prompts as they are written, in the configuration or in files."""
    if isinstance(given, Items):
        for each, where in given.placed():
            yield from _written(each, where, folder, leftovers)
        return
    try:
        if isinstance(given, str):
            yield from _named(given, "", place, folder)
        elif isinstance(given, Fields):
            _list_fields(given, leftovers)
            text = given.get("raw") or given.get("id")
            if not isinstance(text, str):
                raise NotTaken("is no prompt", _REMEDY)
            yield from _named(text, str(given.get("label") or ""), place, folder)
        elif given is not None:
            raise NotTaken("is no prompt", _REMEDY)
    except NotTaken as reason:
        leftovers.drop(place, reason.message, reason.remedy)


def _list_fields(given: Fields, leftovers: Leftovers) -> None:
    for name in given:
        if name not in ("raw", "id", "label", "display"):
            leftovers.drop(
                given.at(name), "is a field without a counterpart", "See `sampling` of the front matter."
            )


def _named(text: str, label: str, place: Place, folder: Folder) -> Iterator[Raw]:
    if text.startswith("exec:"):
        raise NotTaken("is code, which is never run", "Write the prompt.")
    if REMOTE.match(text):
        raise NotTaken("would be fetched", "Copy the prompt into a file.")
    if not _is_path(text):
        yield Raw(text, label, place)
        return
    try:
        files = folder.named(text)
    except NotTaken:
        if text.startswith(FILE) or Path(text).suffix.lower() in CODE:
            raise
        yield Raw(text, label, place)  # as promptfoo does with what looks like a file and is none
        return
    for path in files:
        for content, line in _contents(path, folder):
            yield Raw(content, label or path.name, Place(path, line))


def _is_path(text: str) -> bool:
    if text.startswith(FILE):
        return True
    plain = re.sub(r":[A-Za-z_]\w*$", "", text)
    return "\n" not in text and not is_template(text) and plain.lower().endswith(_ENDINGS)


def _contents(path: Path, folder: Folder) -> Iterator[tuple[str, int]]:
    """The prompts of a file, with the lines on which they begin."""
    text, ending = folder.text(path), path.suffix.lower()
    if ending == ".txt":
        yield from _separated(text)
    elif ending in (".yaml", ".yml"):
        yield json.dumps(_with_files(folder.document(path), folder), ensure_ascii=False), 1
    elif ending == ".jsonl":
        for number, line in enumerate(re.split(r"\r?\n", text), 1):
            if line:
                yield line, number
    elif ending == ".csv":
        yield from _table(text)
    elif ending in (".md", ".j2", ".json"):
        yield text, 1
    else:
        raise NotTaken(f"{path.name} is in no format that is read", "Save it as .txt, .md, .json or .yaml.")


def _separated(text: str) -> Iterator[tuple[str, int]]:
    lines, start = re.split(r"\r?\n", text), 0
    for number, line in enumerate([*lines, _SEPARATOR]):
        if line.strip() == _SEPARATOR:
            part = "\n".join(lines[start:number]).strip()
            if part:
                yield part, start + 1
            start = number + 1


def _table(text: str) -> Iterator[tuple[str, int]]:
    if "," not in text:
        lines = [(line, number) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
        yield from lines[1:] if lines and lines[0][0].strip().lower() == "prompt" else lines
        return
    reader = csv.DictReader(text.splitlines(keepends=True))
    for row in reader:
        if prompt := (row.get("prompt") or "").strip():
            yield prompt, reader.line_num


def _with_files(value: Any, folder: Folder) -> Any:
    """Messages with the files in place that they name."""
    if isinstance(value, str) and value.startswith(FILE):
        return folder.text(folder.named(value)[0])
    if isinstance(value, Mapping):
        return {name: _with_files(each, folder) for name, each in value.items()}
    return [_with_files(each, folder) for each in value] if isinstance(value, list) else value


def _body(text: str) -> str:
    """A prompt as the body of a version; raises `NotTaken`."""
    if not text.strip():
        raise NotTaken("is blank", "Write the prompt.")
    messages = _messages(text)
    if messages is not None:
        return _chat(messages)
    body = raw(text) if is_raw(text) else text
    stop_if_different(body)
    return _as_text(body)


def _as_text(body: str) -> str:
    """A body whose first line is not taken for a role."""
    return _HEADING.sub(NO_HEADING, body, count=1) if _HEADING.match(body.lstrip()) else body


def _messages(text: str) -> Sequence[Any] | None:
    """The messages of a prompt that is JSON; None where it is a text."""
    if not text.lstrip().startswith(("[", "{")):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        if re.search(r"\"role\"\s*:", text):
            raise NotTaken("its messages are JSON only once they are rendered", "Write them out.") from None
        return None
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        value = value["messages"]
    is_chat = (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(each, dict) and "role" in each for each in value)
    )
    if not is_chat:
        raise NotTaken("is JSON, and no list of messages", _REMEDY)
    return list(value)


def _chat(messages: Sequence[Any]) -> str:
    parts = []
    for each in messages:
        role, content = each.get("role"), each.get("content")
        role = "system" if role == "developer" else role
        if role not in ROLES:
            raise NotTaken(f"has a message of the role {str(role)!r}", f"Roles are {', '.join(ROLES)}.")
        if not isinstance(content, str) or not content.strip():
            raise NotTaken("has a message whose content is no text", _REMEDY)
        if further := sorted(set(each) - {"role", "content"}):
            raise NotTaken(f"has a message with {', '.join(further)}", _REMEDY)
        content = raw(content.strip()) if is_raw(content) else _HEADING.sub(NO_HEADING, content.strip())
        stop_if_different(content)
        parts.append((role, content))
    body = "\n\n".join(f"## {role}\n\n{content}" for role, content in parts)
    if [(part.role, part.text) for part in Layout(body).parts] != parts:
        raise NotTaken("has messages that cannot be told apart under headings", "Close its fences of code.")
    return body

"""The messages of a prompt version: its body is one text, or templates under headings that name a role.

Roles are told apart in the source, before anything is rendered: what a case says is text, whatever it holds.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from functools import cached_property
from typing import NamedTuple

import msgspec

from eval_pipeline.prompts.templates import Trouble, literal_lines, template_problems, used_variables
from eval_pipeline.suite import TURNS, Turn

SYSTEM, USER, ASSISTANT = "system", "user", "assistant"
ROLES = (SYSTEM, USER, ASSISTANT)
HEADINGS = (*ROLES, TURNS)
"""What a heading may name: a role, or the place of the earlier turns that a case carries."""
FOREIGN = ("developer", "tool", "function", "human", "ai", "bot", "model")
"""What others call a role."""
SIMILAR = 0.75
_HEADING = re.compile(r"##[ \t]+(?P<name>\S+)[ \t]*")
_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})(?P<rest>.*)")


class Message(msgspec.Struct, frozen=True):
    """One message, as an engine reads it."""

    role: str
    content: str


Chat = tuple[Message, ...]


def as_text(prompt: str | Chat) -> str:
    """What an engine reads, for people: the messages of a conversation under their roles."""
    if isinstance(prompt, str):
        return prompt
    return "\n\n".join(f"## {each.role}\n\n{each.content}" for each in prompt)


class Template(NamedTuple):
    """A part of a body that is rendered by itself."""

    role: str
    text: str
    line: int
    """The line of the body on which its text starts."""
    heading: int = 0
    """The line of the body that names its role; 0 where nothing does."""


class Layout:
    """How the body of a version is made up: one text, or a message for each of its role headings."""

    def __init__(self, body: str) -> None:
        self._body = body
        self._lines = body.split("\n")

    @cached_property
    def is_chat(self) -> bool:
        """Whether the first line that is not blank names a role, or the place of turns before one."""
        name = _named(self._lines[self._first - 1])
        return name in ROLES or (name == TURNS and self._has_roles)

    @cached_property
    def parts(self) -> list[Template]:
        """What stands under each heading, in order; for one text, that text to the letter."""
        if not self.is_chat:
            return [Template(USER, self._body, 1)]
        starts = [number for number in self._headings if _named(self._lines[number - 1]) in HEADINGS]
        ends = [*starts[1:], len(self._lines) + 1]
        return [self._part(start, end) for start, end in zip(starts, ends, strict=True)]

    @property
    def templates(self) -> list[Template]:
        """The parts that are rendered."""
        return [part for part in self.parts if part.role != TURNS]

    def messages(self, texts: Sequence[str], turns: Sequence[Turn]) -> str | Chat:
        """What an engine reads: the rendered templates, with what was said before in its place.

        That is where the heading `## messages` stands, else before the last message; a template that reads
        `messages` itself has put them where it wants them.
        """
        if not self.is_chat and (not turns or self._reads_turns):
            return texts[0]
        rendered = iter(texts)
        earlier = [Message(turn.role, turn.content) for turn in turns]
        chat: list[Message] = []
        for part in self.parts:
            chat += earlier if part.role == TURNS else [Message(part.role, next(rendered))]
        if not self._reads_turns and all(part.role != TURNS for part in self.parts):
            chat[-1:-1] = earlier
        return tuple(chat)

    def problems(self, known: tuple[str, ...], *, carries_turns: bool) -> Iterator[Trouble]:
        """What is wrong with headings and templates, by the lines of the body."""
        if not self._body.strip():
            yield Trouble(1, "is empty", "Write the prompt below the front matter.")
            return
        yield from self._misnamed()
        if self.is_chat:
            yield from self._misplaced(carries_turns)
        torn = self._torn() if self.is_chat else None
        if torn is not None:
            yield torn
            return
        for part in self.templates:
            if part.text.strip():
                found = template_problems(part.text, known)
                yield from (each._replace(line=part.line + each.line - 1) for each in found)

    @property
    def _first(self) -> int:
        """The first line that is not blank."""
        return next((number for number, line in enumerate(self._lines, 1) if line.strip()), 1)

    @property
    def _has_roles(self) -> bool:
        return any(_named(self._lines[number - 1]) in ROLES for number in self._headings)

    @cached_property
    def _reads_turns(self) -> bool:
        return any(TURNS in used_variables(part.text) for part in self.templates)

    @cached_property
    def _headings(self) -> list[int]:
        """The lines that look like headings and are neither code nor inside of Jinja."""
        literal, fenced = literal_lines(self._body), set(_fenced(self._lines))
        return [
            number
            for number, line in enumerate(self._lines, 1)
            if _named(line) and number in literal and number not in fenced
        ]

    def _part(self, start: int, end: int) -> Template:
        """What stands below a heading; blank lines around it are layout."""
        lines = self._lines[start : end - 1]
        blank = next((number for number, line in enumerate(lines) if line.strip()), len(lines))
        text = "\n".join(lines[blank:]).rstrip()
        return Template(_named(self._lines[start - 1]), text, start + 1 + blank, start)

    def _misnamed(self) -> Iterator[Trouble]:
        """Headings that are meant for roles and are none."""
        if not self.is_chat and not self._begins_misnamed:
            return
        for number in self._headings:
            line = self._lines[number - 1].strip()
            if _named(line) not in HEADINGS and (meant := _meant(_named(line))):
                remedy = f"Write ## {meant}, or let it be text by another heading, such as ###."
                yield Trouble(number, f"{line[:80]!r} is no role", remedy)

    @property
    def _begins_misnamed(self) -> bool:
        """Whether a body that is one text begins as if it were not."""
        name = _named(self._lines[self._first - 1])
        return bool(_meant(name)) and (_folded(name) in ROLES or self._has_roles)

    def _misplaced(self, carries_turns: bool) -> Iterator[Trouble]:
        """Messages that are empty, or stand where they cannot."""
        seen: set[str] = set()
        for number, part in enumerate(self.parts):
            if part.role in (SYSTEM, TURNS) and part.role in seen:
                yield Trouble(part.heading, f"is a second ## {part.role}", "Keep one of them.")
            elif part.role == SYSTEM and number:
                message = "the system message is not the first"
                yield Trouble(part.heading, message, "Put it before all others.")
            seen.add(part.role)
            if part.role == TURNS:
                yield from _wrong_place(part, carries_turns)
            elif not part.text:
                message = f"the {part.role} message is empty"
                yield Trouble(part.heading, message, "Write it, or remove its heading.")
        last = self.parts[-1]
        if last.role != USER:
            message = f"## {last.role} comes last, and the model has nothing to answer"
            yield Trouble(last.heading, message, f"End with ## {USER}.")
        yield from self._unclosed()

    def _unclosed(self) -> Iterator[Trouble]:
        """A fence that is never closed and so hides headings."""
        opened = _unclosed_fence(self._lines)
        if opened and any(_named(line) in HEADINGS for line in self._lines[opened:]):
            yield Trouble(opened, "the fence is never closed, and hides role headings", "Close it.")

    def _torn(self) -> Trouble | None:
        """A heading inside of a block such as `{% if … %}`: each message is a template of its own."""
        if any(each.is_syntax for each in template_problems(self._body, ())):
            return None
        for part, following in zip(self.parts, self.parts[1:], strict=False):
            if any(each.is_syntax for each in template_problems(part.text, ())):
                message = "a message cannot begin inside of a block such as {% if … %} or {% for … %}"
                return Trouble(following.heading, message, "Close the block before the heading.")
        return None


def _wrong_place(part: Template, carries_turns: bool) -> Iterator[Trouble]:
    if not carries_turns:
        yield Trouble(part.heading, "the suite's cases carry no earlier turns", "Remove the heading.")
    if part.text:
        yield Trouble(part.line, f"text stands below ## {TURNS}", "Put it below a heading that names a role.")


def _named(line: str) -> str:
    """What a heading of the second level names; blank where a line is none, or has several words."""
    match = _HEADING.fullmatch(line)
    return match["name"] if match else ""


def _folded(name: str) -> str:
    return name.rstrip(":").casefold()


def _meant(name: str) -> str:
    """The role that somebody meant who wrote something like it; blank where that was no role."""
    folded = _folded(name)
    if folded in FOREIGN:
        return SYSTEM if folded == "developer" else USER if folded == "human" else ASSISTANT
    near = get_close_matches(folded, HEADINGS, 1, SIMILAR)
    return near[0] if near else ""


def _fenced(lines: Sequence[str]) -> Iterator[int]:
    """The lines of fenced code, fences included, as Markdown has them."""
    mark = ""
    for number, line in enumerate(lines, 1):
        mark, was_open = _fence_after(line, mark), bool(mark)
        if mark or was_open:
            yield number


def _unclosed_fence(lines: Sequence[str]) -> int:
    """The line of a fence that nothing closes; 0 where there is none."""
    mark, opened = "", 0
    for number, line in enumerate(lines, 1):
        before, mark = mark, _fence_after(line, mark)
        opened = number if mark and not before else opened
    return opened if mark else 0


def _fence_after(line: str, mark: str) -> str:
    """The fence that is open after a line, given the one before it."""
    match = _FENCE.fullmatch(line)
    if match is None:
        return mark
    if not mark:
        return "" if match["mark"][0] == "`" and "`" in match["rest"] else match["mark"]
    closes = match["mark"].startswith(mark) and not match["rest"].strip()
    return "" if closes else mark

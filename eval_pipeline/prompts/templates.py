"""Templates, as far as they can be judged without compiling: that evaluates constants, for the sandbox."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from jinja2 import Environment

NOT_DETERMINISTIC = {"random", "lipsum"}
_UNREADABLE = (RecursionError, ValueError, OverflowError)


class Trouble(NamedTuple):
    """What is wrong on a line of a template, and what to do."""

    line: int
    message: str
    remedy: str
    is_syntax: bool = False
    """Whether nothing else can be said of the template."""


def template_problems(text: str, known: tuple[str, ...]) -> Iterator[Trouble]:
    """What is wrong with a template that may use some variables."""
    from jinja2 import TemplateSyntaxError, nodes

    environment = _environment()
    try:
        tree = environment.parse(text)
        names = list(tree.find_all(nodes.Name))
        filters = list(tree.find_all(nodes.Filter))
    except TemplateSyntaxError as error:
        yield Trouble(error.lineno, f"is not a valid template: {error.message}", "Correct the syntax.", True)
        return
    except _UNREADABLE as failure:
        yield Trouble(1, f"cannot be read: {failure}", "Simplify it.", True)
        return
    own = {node.name for node in names if node.ctx != "load"} | {
        node.name for node in tree.find_all(nodes.Macro)
    }
    allowed = {*known, *own, *environment.globals, "loop", "caller", "varargs", "kwargs"} - NOT_DETERMINISTIC
    for node in names:
        if node.name not in allowed:
            message = f"uses the unknown variable {node.name!r}"
            yield Trouble(node.lineno, message, f"Known: {', '.join(known)}.")
    for each in filters:
        if each.name in NOT_DETERMINISTIC:
            remedy = "A prompt that changes by itself is asked anew every time: choose by what the case says."
            yield Trouble(each.lineno, f"{each.name!r} gives something else each time", remedy)


def used_variables(text: str) -> set[str]:
    """The names that a template reads; none where it cannot be read."""
    from jinja2 import TemplateSyntaxError, nodes

    try:
        tree = _environment().parse(text)
    except (TemplateSyntaxError, *_UNREADABLE):
        return set()
    return {node.name for node in tree.find_all(nodes.Name) if node.ctx == "load"}


def literal_lines(text: str) -> set[int]:
    """The lines of a template that hold text of their own: outside of tags, comments and `raw` blocks.

    Where a template cannot be read, that is every line: what is wrong with it is said elsewhere.
    """
    from jinja2 import TemplateSyntaxError

    lines: set[int] = set()
    is_raw = False
    try:
        for line, kind, value in _environment().lex(text):
            is_raw = kind == "raw_begin" or (is_raw and kind != "raw_end")
            if kind == "data" and not is_raw:
                lines.update(range(line, line + value.count("\n") + 1))
    except TemplateSyntaxError:
        return set(range(1, text.count("\n") + 2))
    return lines


def _environment() -> Environment:
    from jinja2 import Environment

    return Environment(autoescape=False)  # noqa: S701

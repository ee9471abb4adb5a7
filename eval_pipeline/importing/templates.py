"""Templates of nunjucks: which mean the same to Jinja, and what a plain one says for a test."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from eval_pipeline.importing.places import NotTaken

if TYPE_CHECKING:
    from jinja2 import Environment

PLAIN = re.compile(r"\{\{-?\s*([A-Za-z_]\w*)\s*-?\}\}")
_ACTIVE = re.compile(r"\{[{%#]")
_PARTIAL = re.compile(r"(?:\{%[^%]*$|\{\{[^}]*$|\{#[^#]*$)", re.MULTILINE)
_RAW = re.compile(r"\{%\s*raw\s*%\}.*\{%\s*endraw\s*%\}", re.DOTALL)
SAME_FILTERS = {
    "abs", "capitalize", "d", "default", "first", "join", "last", "length", "lower", "replace", "reverse",
    "safe", "string", "trim", "upper",
}  # fmt: skip
"""Filters that give the same text here and there."""
SAME_TESTS = {"odd", "even"}
LOOP = ("index", "index0", "first", "last", "length", "revindex", "revindex0")
_TEMPLATE = "Write the template in Jinja, or put what it makes into a variable."
MOST_ROUNDS = 5
LONGEST_TEXT = 4 * 2**20


def as_printed(value: Any) -> str:
    """What nunjucks prints for a value."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ",".join(map(as_printed, value))
    if isinstance(value, Mapping):
        return "[object Object]"
    return json.dumps(int(value) if isinstance(value, float) and value.is_integer() else value)


def is_template(text: str) -> bool:
    """Whether anything in a text is more than itself."""
    return bool(_ACTIVE.search(text))


def filled(text: str, variables: Mapping[str, Any]) -> str:
    """A text with its variables put in; raises `NotTaken` where it is more than a text with variables."""
    if is_template(PLAIN.sub("", text)):
        raise NotTaken(
            f"the template {text[:80]!r} is more than a text with variables", "Write what it makes."
        )
    return _substituted(text, {name: variables.get(name) for name in PLAIN.findall(text)})


def resolved_variables(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Variables with each other put in, as far as promptfoo goes; raises `NotTaken`."""
    known = {
        name: value.removesuffix("\n") if isinstance(value, str) else value
        for name, value in variables.items()
    }
    for _ in range(MOST_ROUNDS):
        before = dict(known)
        for name, value in before.items():
            known[name] = _substituted(value, known, 1) if isinstance(value, str) else value
        if known == before:
            break
    for name, value in known.items():
        if isinstance(value, str) and is_template(PLAIN.sub("", value)) and not is_raw(value):
            raise NotTaken(f"the variable {name!r} holds a template", "Write what it makes.")
    return {
        name: _substituted(value, known) if isinstance(value, str) and not is_raw(value) else value
        for name, value in known.items()
    }


def _substituted(text: str, known: Mapping[str, Any], most: int = 0) -> str:
    """A text with known variables put in: all, or the first ones."""
    if not is_template(text):
        return text
    length = len(text) + sum(len(as_printed(known.get(name))) for name in PLAIN.findall(text))
    if length > LONGEST_TEXT:
        raise NotTaken(f"a text becomes longer than {LONGEST_TEXT:,} characters", "Shorten it.")
    return PLAIN.sub(
        lambda match: as_printed(known[match[1]]) if match[1] in known else match[0], text, count=most
    )


def is_raw(text: str) -> bool:
    """Whether promptfoo takes a prompt as it stands: a bracket of a template is open at the end of a line."""
    return bool(_PARTIAL.search(text)) and not _RAW.search(text)


def raw(text: str) -> str:
    """A text of which nothing is a template."""
    return f"{{% raw %}}{text}{{% endraw %}}"


def stop_if_different(text: str) -> None:
    """Raise `NotTaken` where a template may mean something else to Jinja."""
    from jinja2 import TemplateSyntaxError, nodes

    try:
        tree = _environment().parse(text)
        used = list(tree.find_all(nodes.Node))
    except TemplateSyntaxError as error:
        raise NotTaken(f"the template is not Jinja: {error.message}", _TEMPLATE) from None
    except (RecursionError, ValueError, OverflowError):
        raise NotTaken("the template cannot be read", "Simplify it.") from None
    for reason in _differences(used):
        raise NotTaken(f"the template {reason}", _TEMPLATE)


def _differences(used: list[Any]) -> Iterator[str]:
    from jinja2 import nodes

    foreign = (
        nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends, nodes.Macro, nodes.CallBlock,
        nodes.FilterBlock, nodes.Block, nodes.Call,
    )  # fmt: skip
    for node in used:
        match node:
            case nodes.Filter() if node.name not in SAME_FILTERS:
                yield f"has the filter {node.name!r}, which may differ"
            case nodes.Test() if node.name not in SAME_TESTS:
                yield f"has the test {node.name!r}, which may differ"
            case nodes.CondExpr() if node.expr2 is None:
                yield "has an `if` without an `else` inside of {{ }}"
            case nodes.For() if isinstance(node.target, nodes.Tuple):
                yield "takes pairs in a `for`"
            case nodes.Name() if node.name in ("env", "_conversation"):
                yield f"uses {node.name!r} of promptfoo"
            case nodes.Getattr() if _is_loop(node) is False:
                yield f"has .{node.attr}, which may be a matter of JavaScript"
        if isinstance(node, foreign):
            yield f"has {type(node).__name__.lower()}, which may differ"


def _is_loop(node: Any) -> bool | None:
    """Whether an attribute is one of `loop`; None where it is one of an object, whose fields a test shows."""
    if getattr(node.node, "name", "") == "loop":
        return node.attr in LOOP
    return None if node.attr not in ("length", "size") else False


def printed(text: str) -> set[str]:
    """The variables whose value a template prints."""
    from jinja2 import nodes

    outputs = [each for output in _environment().parse(text).find_all(nodes.Output) for each in output.nodes]
    direct = (each.node if isinstance(each, nodes.Filter) else each for each in outputs)
    return {each.name for each in direct if isinstance(each, nodes.Name)}


def used_otherwise(text: str) -> set[str]:
    """The variables that a template does more with than to print them."""
    from jinja2 import nodes

    tree = _environment().parse(text)
    uses = Counter(each.name for each in tree.find_all(nodes.Name))
    outputs = (each for output in tree.find_all(nodes.Output) for each in output.nodes)
    plain = Counter(each.name for each in outputs if isinstance(each, nodes.Name))
    return {name for name, count in uses.items() if count > plain[name]}


def renamed(text: str, names: Mapping[str, str]) -> str:
    """A template with other names for its variables."""
    if not names:
        return text
    tokens = list(_environment().lex(text))
    if "".join(value for _, _, value in tokens) != text:
        raise NotTaken(f"the template cannot be written with other names for {', '.join(names)}", _TEMPLATE)
    before, parts = "", []
    for _, kind, value in tokens:
        parts.append(names.get(value, value) if kind == "name" and before not in (".", "|") else value)
        before = value if kind != "whitespace" else before
    return "".join(parts)


def unknown(text: str, known: Collection[str]) -> list[str]:
    """The variables of a template that nobody gives a value."""
    from jinja2 import nodes

    names = list(_environment().parse(text).find_all(nodes.Name))
    own = {each.name for each in names if each.ctx != "load"}
    return sorted({each.name for each in names} - own - {*known, "loop"})


def _environment() -> Environment:
    from jinja2 import Environment

    return Environment(autoescape=False, keep_trailing_newline=True)  # noqa: S701  (nothing is rendered)

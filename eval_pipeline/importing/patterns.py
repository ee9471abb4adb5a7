"""Regular expressions of JavaScript in Python's syntax, where they mean the same."""

from __future__ import annotations

import re

from eval_pipeline.importing.places import NotTaken
from eval_pipeline.language.patterns import BadPattern, compile_exact

_TOKEN = re.compile(
    r"(?P<set>\[(?P<not>\^?)(?P<members>(?:\\.|[^\]\\])*)\])"
    r"|\(\?<(?P<name>[A-Za-z_]\w*)>|\\k<(?P<back>[A-Za-z_]\w*)>"
    r"|(?P<group>\((?:\?(?::|=|!|<=|<!))?)(?![?])"
    r"|(?P<escape>\\(?:c[A-Za-z]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[0-9]+|.))"
    r"|(?P<repeat>(?:[*+?]|\{\d+(?:,\d*)?\})\??)"
    r"|(?P<end>\$)|(?P<other>[^\\(\[$*+?])",
    re.DOTALL,
)
_WORD = "A-Za-z0-9_"
_OUTSIDE = {
    "d": "[0-9]", "D": "[^0-9]", "w": f"[{_WORD}]", "W": f"[^{_WORD}]", "b": r"(?a:\b)", "B": r"(?a:\B)",
    "s": r"\s", "S": r"\S", "n": r"\n", "r": r"\r", "t": r"\t", "f": r"\f", "v": r"\v",
}  # fmt: skip
_INSIDE = {"d": "0-9", "w": _WORD, "s": r"\s", "n": r"\n", "r": r"\r", "t": r"\t", "f": r"\f", "v": r"\v"}
_ANYTHING = (r"\s\S", r"\S\s", r"\d\D", r"\D\d", r"\w\W", r"\W\w")
_REMEDY = "Write it as Python's `re` reads it, in suite.yaml: - regex: '…' with exact: true."


def from_javascript(pattern: str) -> str:
    """The same pattern for an exact search; raises `NotTaken` where it has no counterpart."""
    parts: list[str] = []
    place, repeatable = 0, False
    while place < len(pattern):
        token = _TOKEN.match(pattern, place)
        if token is None or (token["repeat"] and not repeatable):
            raise NotTaken(
                f"the regular expression is none that can be translated: {pattern[place:][:40]!r}", _REMEDY
            )
        parts.append(_translated(token))
        place, repeatable = token.end(), not token["repeat"]
    translated = "".join(parts)
    try:
        compile_exact(translated)
    except BadPattern as bad:
        message, _, remedy = str(bad).rpartition(". ")
        raise NotTaken(f"the regular expression {message}", remedy) from None
    return translated


def _translated(token: re.Match[str]) -> str:
    if token["set"] is not None:
        return _set(token["not"], token["members"])
    if token["name"]:
        return f"(?P<{token['name']}>"
    if token["back"]:
        return f"(?P={token['back']})"
    if token["end"]:
        return r"\Z"
    if token["escape"]:
        return _escaped(token["escape"][1:], _OUTSIDE)
    return token[0]


def _set(negated: str, members: str) -> str:
    if members in _ANYTHING and not negated:
        return "(?s:.)"
    if not members:
        raise NotTaken(f"the regular expression has the set [{negated}]", _REMEDY)
    if re.search(r"(?<!\\)(?:\\\\)*\\[SDWB]", members):
        raise NotTaken(
            f"the regular expression has a class inside of [{members}] that is everything else", _REMEDY
        )

    def member(each: re.Match[str]) -> str:
        if each[0] in ("[", "&", "~", "|"):  # sets of sets, to Python some day
            return rf"\{each[0]}"
        return _escaped(each[1], _INSIDE) if each[1] else each[0]

    inside = re.sub(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)|.", member, members, flags=re.DOTALL)
    return f"[{negated}{inside}]"


def _escaped(escape: str, known: dict[str, str]) -> str:
    if escape in known:
        return known[escape]
    if re.fullmatch(r"x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}", escape) or (escape.isdecimal() and escape[0] != "0"):
        return rf"\{escape}"
    if len(escape) == 1 and not escape.isalnum():
        return re.escape(escape) if known is _OUTSIDE else rf"\{escape}"
    raise NotTaken(rf"the regular expression has \{escape}", _REMEDY)

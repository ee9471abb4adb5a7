"""The secrets that this process knows, and text without them."""

import json
import re
from functools import cache
from urllib.parse import quote, unquote

HIDDEN = "[hidden]"
SHORTEST = 8
"""Shorter texts are not taken for a secret inside of a text, where they may be meant."""

_known: set[str] = set()


def keep_secret(*texts: str) -> None:
    """Let no text that is kept or shown hold these, as they are or written for a URL or in JSON."""
    _known.update(form for text in texts for form in forms_of(text) if len(form) >= SHORTEST)


def masked(text: str) -> str:
    """Text without the secrets that this process knows."""
    return pattern_of(frozenset(_known)).sub(HIDDEN, text) if _known else text


def forms_of(secret: str) -> set[str]:
    """The ways in which a secret may stand in a text."""
    forms = {secret, quote(secret, safe=""), unquote(secret)}
    for _ in range(2):  # an answer in JSON may hold JSON
        forms |= {json.dumps(each)[1:-1] for each in forms}
    return forms - {""}


@cache
def pattern_of(forms: frozenset[str]) -> re.Pattern[str]:
    """What finds any of them, the longest first, so that none is left in parts."""
    return re.compile("|".join(map(re.escape, sorted(forms, key=len, reverse=True))) or "(?!)")

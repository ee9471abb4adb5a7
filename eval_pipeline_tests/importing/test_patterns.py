"""Regular expressions of JavaScript: what they find there, they find here."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from eval_pipeline.importing.patterns import from_javascript
from eval_pipeline.importing.places import NotTaken
from eval_pipeline.language.patterns import is_found

TEXTS = [
    "", "a", "A", "ab", "a\n", "a\nb", "été", "٢", "7", "x_1", "a.b", "a/b", "{a}", "[a]", "^", "$", "a b",
    "a\u00a0b", "\t", "2026-11-17", "aa", "abab", "-", "]", "\\", "&&", "yes, no", "1,234.5", "I’m", "ß",
    "a|b", "(a)", "a+b",
]  # fmt: skip
PATTERNS = {
    r"\d+": "7", r"\D": "a", r"^\w+$": "ab", r"\W": "a b", r"\bt": "été", r"\Bb": "ab", r"^a$": "a",
    r"a\sb": "a b", r"a\Sb": "a.b", r"[\d-]{10}": "2026-11-17", r"[^\w\s]": "^", r"(?<x>a)\k<x>": "aa",
    r"(a)\1": "aa", r"(?:ab){2}": "abab", r"a(?=b)": "ab", r"a(?!b)": "a", r"(?<=a)b": "ab",
    r"(?<!a)b": "a b", r"\/": "a/b", r"[\s\S]b": "ab", r"^{a}": "{a}", r"\[a\]": "[a]", r"[\]]": "]",
    r"\u00e9": "été", r"\x61b": "ab", r"a.b": "a.b", r"[a-c]+?$": "ab", r"\^": "^", r"\$": "$",
    r"[&]{2}": "&&", r"a|é": "a", r"\d{1,3}(?:,\d{3})*(?:\.\d+)?": "7", r"[.]b": "a.b", r"\(a\)": "(a)",
    r"a\+b": "a+b", r"[^\d]b": "ab", r"\\": "\\", r"I['’]m": "I’m", r"\t": "\t",
}  # fmt: skip
"""Patterns, and a text in which each finds something."""


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_find_what_they_should(pattern: str) -> None:
    assert is_found(from_javascript(pattern), PATTERNS[pattern])


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_patterns_find_what_node_finds() -> None:
    given = json.dumps([list(PATTERNS), TEXTS])
    program = "const [p, t] = JSON.parse(require('fs').readFileSync(0)); "
    program += "console.log(JSON.stringify(p.map(each => t.map(text => new RegExp(each).test(text)))))"
    done = subprocess.run(["node", "-e", program], input=given, capture_output=True, text=True, check=True)
    theirs = dict(zip(PATTERNS, json.loads(done.stdout), strict=True))
    ours = {pattern: [is_found(from_javascript(pattern), text) for text in TEXTS] for pattern in PATTERNS}
    assert ours == theirs


@pytest.mark.parametrize(
    "pattern",
    [
        "(?i)a", "(?P<x>a)", "a++b", "(?>a)b", r"\Aa", r"a\z", r"\p{L}", "[]a", "[^]", r"[\S]", r"\cA",
        "(a", "a)", "*a", ".*", "a" * 400, "(?#x)a", r"\k<x>", "a{99999}", r"(?(1)a|b)", "",
        "(?<x>a)(?<x>b)",
    ],
)  # fmt: skip
def test_others_are_listed(pattern: str) -> None:
    with pytest.raises(NotTaken):
        from_javascript(pattern)

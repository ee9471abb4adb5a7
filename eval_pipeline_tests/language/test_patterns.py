"""Patterns from data: they find what `re` finds, and what takes too long is an error."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from eval_pipeline.golden import read_cases
from eval_pipeline.language import patterns
from eval_pipeline.language.patterns import BadPattern, SlowPattern, compile_bounded, found
from eval_pipeline.metrics.text import normalize
from eval_pipeline.problems import Problems
from eval_pipeline.suites import optimization
from eval_pipeline.suites.optimization.models import load_resources
from eval_pipeline.suites.review.engine import load_checklist
from eval_pipeline_tests.conftest import REPOSITORY

GOLDEN = REPOSITORY / "golden"


@pytest.mark.parametrize(
    ("pattern", "text", "hit"),
    [
        ("violence", "No VIOLENCE here", "violence"),
        (r"\bguns?\b", "a gunner", ""),
        (r"\bguns?\b", "two ＧＵＮＳ", "guns"),
        (r"smart ?watch", "a smart\u00a0watch", "smart watch"),
        (r"\d{1,3} (?:dogs|cats)", "101 dogs", "101 dogs"),
    ],
)
def test_what_is_found(pattern: str, text: str, hit: str) -> None:
    assert found(pattern, text) == hit


LOOSE = [
    *("(a+)+$", "(a|a)*b", "a*a*a*b", "(x?){40}y", "(.{1,50}){1,50}z", r"(a)\1", "a{5,}"),
    *("((a{1,9}){1,9}){1,9}", "((((a*)*)*)*)*b", "(.*)(.*)(.*)(.*)x"),
]
"""What a backtracking engine may search for ever."""


@pytest.mark.parametrize("pattern", LOOSE)
def test_patterns_that_repeat_repeats_come_to_an_end(pattern: str) -> None:
    assert set(found(pattern, "a" * 5000)) <= {"a"}


SLOW = ["(a|aa){30}c", "(?=(a+)+b)x|c"]


@pytest.mark.parametrize("pattern", SLOW)
def test_a_search_that_takes_too_long_is_an_error_and_no_result(
    pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patterns, "MOST_SECONDS", 0.05)
    with pytest.raises(SlowPattern, match=r"stopped after 0\.05 s on 3,000 characters.*\{0,20\}") as slow:
        found(pattern, "a" * 3000)
    (problem,) = slow.value.in_case("opt-1").problems
    assert problem.field == "case opt-1"
    assert problem.message == f"the pattern {pattern!r} was stopped after 0.05 s on 3,000 characters"
    assert problem.remedy.startswith("Write repeats")


def test_the_remedy_is_told_apart_from_a_pattern_with_a_full_stop() -> None:
    (problem,) = SlowPattern("the pattern 'a. b' was stopped. Mend it.").in_case("x").problems
    assert (problem.message, problem.remedy) == ("the pattern 'a. b' was stopped", "Mend it.")


@pytest.mark.parametrize(
    "pattern", ["x{10001}", "(?:a{65535}){65535}b", "((((a{99}){99}){99}){0}){99}", "[ab]{20000,}"]
)
def test_patterns_that_would_fill_the_memory_are_refused(pattern: str) -> None:
    with pytest.raises(BadPattern, match="more than 10,000 times"):
        compile_bounded(pattern)


@pytest.mark.parametrize(
    "pattern", ["a{99}b{99}c{99}", "(?:a{90}){90}", "[x]{0,99999}y", r"a\{99999}", "[a{99999}]"]
)
def test_what_only_looks_large_is_not(pattern: str) -> None:
    assert compile_bounded(pattern)


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("", "blank"),
        (" ", "blank"),
        ("[", "not a regular expression"),
        ("x?", "empty text"),
        ("a" * 301, "301 characters"),
        ("(" * 290 + ")" * 10, "not a regular expression"),
        (r"\p{Lu}", "not a regular expression"),
        ("(?R)", "not a regular expression"),
    ],
)
def test_what_is_no_use_is_refused(pattern: str, told: str) -> None:
    with pytest.raises(BadPattern, match=told):
        compile_bounded(pattern)


HAND_MADE = [
    *(
        "a{e}",
        "a{e<=1}b",
        "aa{2,3}{",
        "[[:alpha:]]x",
        "x{}",
        "x{,3}y",
        r"\N{EM DASH}x",
        r"[\N{EM DASH}a]",
        "[]x]",
    ),
    *(
        "[^]x]y",
        r"\[{i}\]",
        "(?i:a)b",
        "(?#c [)a{d}",
        "[a&&b]",
        "[a||b]",
        "(?P<n>a)b",
        r"\x41\u0042",
        r"\n|\\.",
    ),
    *(
        "straße",
        "ß",
        "ς",
        r"\bσ",
        "(?s).x",
        "(?m)^a$",
        "(?x) a b # c",
        "a++b",
        "(?>ab|a)c",
        "(?<=a)b",
        "(?<!a)b",
    ),
    *("(?=a)ab", r"\Ab|b\Z", r"\d{1,9}x", r"(?a:\w)x", r"\101", r"\bguns?\b", r"[^\W\d_]{2,9}", r"\s[a-z]"),
]
"""Patterns that the rule before this one accepted: no repeat without a limit, few ways to match."""


def shipped_patterns() -> list[str]:
    """The patterns of the golden sets."""
    cases = [each.case for each in read_cases(optimization.SUITE, GOLDEN / "optimization", Problems())]
    rules = load_resources(GOLDEN / "optimization" / "resources").rules.values()
    methods = [
        method
        for concern in load_checklist(GOLDEN / "review" / "resources").values()
        for method in concern.methods
    ]
    return sorted(
        {pattern for case in cases for pattern in case.expected.forbidden_patterns}
        | {pattern for each in rules for rule in each for pattern in rule.forbids}
        | {
            each
            for method in methods
            for each in (method.find, method.also, method.unless, method.absent)
            if each
        }
    )


def expected(pattern: str, text: str) -> str:
    """What Python's own engine finds first."""
    match = re.compile(pattern, re.IGNORECASE).search(normalize(text))
    return match.group() if match else ""


def test_the_golden_sets_find_what_they_found() -> None:
    folders = (GOLDEN / "optimization" / "baseline", GOLDEN / "review" / "cases")
    texts = [line for folder in folders for file in folder.iterdir() for line in file.read_text().split("\n")]
    hits = 0
    for pattern in shipped_patterns():
        for text in texts:
            hit = found(pattern, text)
            assert hit == expected(pattern, text), (pattern, text)
            hits += bool(hit)
    assert hits > 100


LETTERS = st.characters(
    max_codepoint=0x2FFF, exclude_categories=("Cn", "Cs", "M", "Nl", "No"), exclude_characters="ıİ"
)
"""Not those that `re` knows less of than `regex`."""


@pytest.mark.filterwarnings("ignore:Possible:FutureWarning")
@given(pattern=st.sampled_from([*HAND_MADE, *shipped_patterns()]), data=st.data())
@settings(max_examples=300)
def test_it_finds_what_re_finds(pattern: str, data: st.DataObject) -> None:
    matching = st.from_regex(re.compile(pattern, re.IGNORECASE), alphabet=LETTERS)
    text = data.draw(st.one_of(matching, st.text(LETTERS, max_size=30)))
    assume(not any(unicodedata.combining(each) for each in normalize(text)))  # NFKC takes ´ apart
    assert found(pattern, text) == expected(pattern, text)


def test_what_regex_knows_more_of_than_re() -> None:
    assert (expected("ı", "i"), found("ı", "i")) == ("i", "")
    assert (expected(r"\w{1,9}", "कि"), found(r"\w{1,9}", "कि")) == ("क", "कि")

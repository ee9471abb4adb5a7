"""Templates of nunjucks: taken over where Jinja reads the same, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest

from eval_pipeline.importing.places import NotTaken
from eval_pipeline.importing.templates import (
    as_printed,
    filled,
    is_raw,
    printed,
    renamed,
    resolved_variables,
    stop_if_different,
    unknown,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        ("x", "x"),
        (3, "3"),
        (1.5, "1.5"),
        (True, "true"),
        ([1, "a", None], "1,a,"),
        ({}, "[object Object]"),
    ],
)
def test_values_are_printed_as_javascript_does(value: Any, text: str) -> None:
    assert as_printed(value) == text


def test_a_plain_template_is_filled() -> None:
    assert filled("{{a}} and {{ b }}{{none}}", {"a": "1", "b": True}) == "1 and true"
    for text in ("{{ a | upper }}", "{% if a %}x{% endif %}", "{# x #}", "{{ a.b }}", "{{ 7 * 7 }}", "{{ a"):
        with pytest.raises(NotTaken):
            filled(text, {"a": "1"})


def test_variables_refer_to_each_other() -> None:
    given = {"a": "{{b}}!", "b": "{{ c }}?", "c": "x\n", "d": "{{ nobody }}", "e": "open {{ brace"}
    assert resolved_variables(given) == {
        "a": "x?!",
        "b": "x?",
        "c": "x",
        "d": "{{ nobody }}",
        "e": "open {{ brace",
    }
    assert len(resolved_variables({"a": "{{a}}{{a}}"})["a"]) < 10_000
    with pytest.raises(NotTaken):
        resolved_variables({"a": "{{ b | upper }}", "b": "x"})


@pytest.mark.parametrize(
    "text",
    [
        "Say {{ a }}",
        "{% if a %}x{% else %}y{% endif %}",
        "{% for each in a %}{{ loop.index }} {{ each.name }}{% endfor %}",
        "{{ a | lower | trim }}",
        "{{ 'x' if a else 'y' }}",
        "{% set b = a %}{{ b }}",
        "{% raw %}{{ x | dump }}{% endraw %}",
        "{{ a['b'] }}",
    ],
)
def test_templates_that_mean_the_same(text: str) -> None:
    stop_if_different(text)


@pytest.mark.parametrize(
    "text",
    [
        "{{ a | dump }}",
        "{{ a | random }}",
        "{{ a.toUpperCase() }}",
        "{{ a.length }}",
        "{{ a === b }}",
        "{{ env.HOME }}",
        "{{ _conversation }}",
        "{% include 'x' %}",
        "{% import 'x' as y %}",
        "{% macro m() %}{% endmacro %}",
        "{% for k, v in a %}{% endfor %}",
        "{{ 'x' if a }}",
        "{% if a is defined %}x{% endif %}",
        "{{ ''.__class__.__mro__() }}",
        "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
        "{% if a %}",
    ],
)
def test_templates_that_may_not(text: str) -> None:
    with pytest.raises(NotTaken):
        stop_if_different(text)


def test_names() -> None:
    text = "{{ class }} {{ x.class | class }} {% if class %}class{% endif %} {{ 'class' }}"
    assert (
        renamed(text, {"class": "kind"})
        == "{{ kind }} {{ x.class | class }} {% if kind %}class{% endif %} {{ 'class' }}"
    )
    assert unknown("{% for a in b %}{{ a }}{{ c }}{% endfor %}", ["b"]) == ["c"]
    assert printed("{{ a }}{{ b | upper }}{% if c %}{% endif %}") == {"a", "b"}


@pytest.mark.parametrize(
    ("text", "expected"), [("a {{ b\n }}", True), ("a {{ b }}", False), ("{% raw %}{{ x{% endraw %}", False)]
)
def test_an_open_bracket_makes_a_text_of_a_prompt(text: str, expected: bool) -> None:
    assert is_raw(text) is expected

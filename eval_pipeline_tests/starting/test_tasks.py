"""What is written of tasks: safe in YAML and in templates, whatever stands in a table."""

from __future__ import annotations

import jinja2
import yaml
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.starting.columns import Column, Roles
from eval_pipeline.starting.tasks import quoted, variables, verbatim, write_task

TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20)
JINJA = st.text(st.sampled_from("{}%# ab'\"\\"), max_size=12)


@given(
    TEXTS | st.sampled_from(["yes", "null", "1", "a: b", "# no", "- x", "[a", "{{ x }}", "Ja, nein", "off"])
)
def test_a_text_in_yaml_is_that_text(text: str) -> None:
    assert yaml.safe_load(f"[{quoted(text)}, x]") == [text, "x"]


@given(JINJA)
def test_a_text_in_a_template_is_that_text(text: str) -> None:
    environment = jinja2.Environment(autoescape=False, keep_trailing_newline=True)  # noqa: S701
    assert environment.from_string(verbatim(text)).render() == text


@given(st.lists(TEXTS, unique=True, max_size=6))
def test_every_column_has_a_variable_of_its_own(names: list[str]) -> None:
    seen = variables(names)
    assert list(seen.values()) == names
    assert all(name.isidentifier() and not name.startswith("_") for name in seen)


def test_labels_stand_in_the_prompt_and_do_not_act_there() -> None:
    labels = Column("label", ["ok", "{{ 7 * 7 }}", "ok", "{% raw %}"])
    written = write_task("classify", Roles(inputs=("text",), expected="label"), [labels])
    shown = jinja2.Template(written.instruction).render()
    assert "ok, {% raw %}, {{ 7 * 7 }}?" in shown
    assert yaml.safe_load(written.answer) == {"kind": "label", "of": ["ok", "{% raw %}", "{{ 7 * 7 }}"]}

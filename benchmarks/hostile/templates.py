"""Templates that escape, never end, grow without bound or are never the same."""

from __future__ import annotations

from benchmarks.hostile.commands import attempt
from benchmarks.hostile.projects import AFTER, Pristine
from benchmarks.hostile.tally import Tried, ended
from eval_pipeline.cli import BAD_INPUT

TEMPLATES = {
    "attributes": "{{ sound.__class__.__mro__[1].__subclasses__() }}",
    "attributes by a filter": "{{ sound|attr('__class__')|attr('__mro__') }}",
    "attributes by format": "{{ '{0.__class__}'.format(sound) }}",
    "attributes by map": "{{ [sound]|map(attribute='__class__')|list }}",
    "globals of a function": "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "the template itself": "{{ self._TemplateReference__context }}",
    "a file": "{% include '/etc/passwd' %}",
    "another template": "{% extends 'guess-v1.0.md' %}",
    "an endless loop": "{% for a in range(9999) %}{% for b in range(99999) %}{{ a }}{% endfor %}{% endfor %}",
    "a range": "{{ range(10**12)|list }}",
    "a text": "{{ 'a' * 10**10 }}",
    "a power": "{{ 9**9**9 }}",
    "a shift of digits": "{{ (10**9999)**9999 }}",
    "padding": "{{ sound|center(10**10) }}",
    "padding by format": "{{ '%9999999999d' % 1 }}",
    "batches": "{{ range(99999)|batch(1, 'x' * 99999)|list }}",
    "indentation": "{{ sound|indent(10**9, first=true) }}",
    "replacement": "{{ ('a' * 99999)|replace('a', 'b' * 99999) }}",
    "a macro that calls itself": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "a recursive loop": "{% for a in [[1]] recursive %}{{ loop([a]) }}{% endfor %}",
    "1,000 filters": "{{ sound" + "|upper" * 1000 + " }}",
    "a sum of 1,200 terms": "{{ " + "+".join(["1"] * 1200) + " }}",
    "10,000 brackets": "{{ " + "(" * 10_000 + "1" + ")" * 10_000 + " }}",
    "10,000 lists": "{{ " + "[" * 10_000 + "]" * 10_000 + " }}",
    "1,000 conditions": "{% if sound %}" * 1000 + "{% endif %}" * 1000,
    "1,000 nots": "{{ " + "not " * 3000 + "sound }}",
    "100,000 expressions": "{{ sound }}" * 100_000,
    "chance": "{{ [1, 2, 3]|random }}",
    "filler": "{{ lipsum() }}",
    "an unknown name": "{{ config }}",
    "an unknown filter": "{{ sound|nothing }}",
    "an open bracket": "{{ sound ",
    "an open block": "{% if sound %}",
    "a comment without end": "{# ",
    "NUL": "{{ sound }}\x00",
    "half a character": "{{ '\\ud800' }} {{ sound }}",
    "division by zero": "{{ 1 // 0 }}",
    "nothing": "{{ '' }}",
    "debugging": "{% debug %}",
    "a translation": "{% trans %}a{% endtrans %}",
    "a search": "{{ ('a' * 30 ~ '!')|wordwrap(1)|striptags|urlize }}",
    "a megabyte": "x" * 1_000_000 + "{{ sound }}",
}


def try_templates(pristine: Pristine, names: tuple[str, ...] = tuple(TEMPLATES)) -> list[Tried]:
    """Run the toy with each of them."""
    project, tried = pristine.project, []
    file = project.prompts("toy") / f"{AFTER}.md"
    head = file.read_text().rpartition("---\n")[0]
    for name in names:
        file.write_text(f"{head}---\n{TEMPLATES[name]}\n")
        result = attempt(project, "run", "toy", "--prompt", AFTER, "--engine", "embedded")
        leaked = "root:" in result.out + result.err or "uid=" in result.out + result.err
        trouble = result.trouble or ("the sandbox opened" if leaked else "")
        refused = result.code == BAD_INPUT
        tried.append(ended("template", "run (toy)", trouble and f"{name}: {trouble}", refused=refused))
        pristine.restore()
    return tried

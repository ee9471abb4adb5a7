"""Prompts as bodies of versions; that they render the same is shown on what promptfoo ran."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval_pipeline.importing import Imported
from eval_pipeline.prompts import Layout
from eval_pipeline_tests.importing.configuring import imported_from

CHAT = '[{"role": "system", "content": "Be {{word}}.\\n## user\\nhm"}, {"role": "user", "content": "Go"}]'


def with_prompts(folder: Path, *prompts: object, **files: str) -> Imported:
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    return imported_from(folder, prompts=[*prompts, "{{ word }}"])


def test_a_heading_in_a_message_is_no_role(tmp_path: Path) -> None:
    body = with_prompts(tmp_path, CHAT).prompts[0].body
    assert [part.role for part in Layout(body).parts] == ["system", "user"]
    assert '{{ "##" }} user' in body
    text = with_prompts(tmp_path, "## system\n\nis what I call it").prompts[0].body
    assert not Layout(text).is_chat


def test_several_in_one_file(tmp_path: Path) -> None:
    imported = with_prompts(
        tmp_path, "file://p.txt", "p.csv", p__txt="one\n---\n\n---\ntwo\nlines\n", p__csv="prompt\nthree\n"
    )
    assert [each.body for each in imported.prompts] == ["one", "two\nlines", "three", "{{ word }}"]
    assert [(each.place.file.name, each.place.line) for each in imported.prompts[:2]] == [
        ("p.txt", 1),
        ("p.txt", 5),
    ]


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("file://p.py", "never run"),
        ("file://p.js:make", "never run"),
        ("exec:./p.sh", "never run"),
        ("p.rb", "never run"),
        ("https://example.com/p.txt", "fetched"),
        ("langfuse://x:1", "fetched"),
        ("file://../p.txt", "leads out"),
        ("file://none.txt", "there is no file"),
        ("{{ word | dump }}", "the filter 'dump'"),
        ("{{ word.split(',') }}", "has call"),
        ('[{"role": "user", "content": [{"type": "image"}]}]', "content is no text"),
        ('[{"role": "tool", "content": "x"}]', "the role 'tool'"),
        (
            '[{"role": "user", "content": "{{ word }}"}, {% for x in y %}{% endfor %}]',
            "only once they are rendered",
        ),
        (
            '[{"role": "user", "content": "```\\nx"}, {"role": "user", "content": "y"}]',
            "cannot be told apart",
        ),
        ('{"input": "{{ word }}"}', "no list of messages"),
        (" ", "blank"),
        ({"label": "x"}, "is no prompt"),
    ],
)
def test_prompts_that_are_listed(tmp_path: Path, prompt: object, said: str) -> None:
    imported = with_prompts(tmp_path, prompt)
    (left,) = imported.leftovers.dropped
    assert said in left.message
    assert left.line == 2
    assert [each.body for each in imported.prompts] == ["{{ word }}"]

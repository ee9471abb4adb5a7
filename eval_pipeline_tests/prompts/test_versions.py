"""Prompt files: what is read from them, and every way in which they can be wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval_pipeline.files import content_hash
from eval_pipeline.problems import BadInput, Problems
from eval_pipeline.project import Project
from eval_pipeline.prompts import Prompt, load_prompt, load_prompts, prompt_name, version_order, versions_in
from eval_pipeline.suites import find_suite
from eval_pipeline.suites.decomposition import SUITE
from eval_pipeline_tests.conftest import REPOSITORY

VERSION = "decompose-v1.0"
HEAD = "---\nsuite: decomposition\nstatus: active\n"
BODY = "---\nDecompose {{ topic }}:\n{{ source_text }}\n"

Found = list[tuple[int, str, str]]


def load(folder: Path, text: str | bytes, version: str = VERSION) -> tuple[Prompt | None, Found]:
    path = folder / f"{version}.md"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    problems = Problems()
    prompt = load_prompt(SUITE, folder, version, problems)
    assert {problem.file for problem in problems} <= {str(path)}
    return prompt, [(problem.line, problem.field, problem.message) for problem in problems]


@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_good_file(tmp_path: Path, start: str, end: str) -> None:
    (tmp_path / "decompose-v0.9.md").write_text(HEAD + BODY)
    more = "predecessor: decompose-v0.9\nengine: recorded\nparameters:\n  max_concepts: 5\n  aliases: false\n"
    prompt, found = load(tmp_path, start + (HEAD + more + BODY).replace("\n", end))
    assert found == []
    assert prompt is not None
    assert (prompt.name, prompt.version, prompt.front.status) == ("decompose", VERSION, "active")
    assert (prompt.front.predecessor, prompt.front.engine) == ("decompose-v0.9", "recorded")
    assert prompt.parameters == SUITE.parameters(max_concepts=5, aliases=False)
    assert prompt.body == "Decompose {{ topic }}:\n{{ source_text }}\n"
    assert prompt.body_line == 10


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", [(1, "", "has no front matter")]),
        ("Decompose {{ topic }}", [(1, "", "has no front matter")]),
        ("\n" + HEAD + BODY, [(1, "", "has no front matter")]),
        (HEAD, [(1, "", "has no front matter")]),
        ("---\n" + BODY, [(2, "status", "is missing"), (2, "suite", "is missing")]),
        (HEAD + "author: me\n" + BODY, [(4, "author", "is not a known field")]),
        (HEAD + "status: active\n" + BODY, [(4, "status", "stands twice")]),
        (HEAD + "engine: [a]\n" + BODY, [(4, "engine", "is a list, not a text")]),
        (HEAD.replace("active", "new") + BODY, [(3, "status", "'new' is not a choice")]),
        (HEAD.replace("decomposition", "other") + BODY, [(2, "suite", "is 'other'")]),
        (
            HEAD + "parameters:\n  max_concepts: many\n  aliases: true\n  speed: 3\n" + BODY,
            [
                (5, "parameters.max_concepts", "is a text, not a whole number"),
                (7, "parameters.speed", "is not a known field"),
            ],
        ),
        (
            "---\nsuite: other\nstatus: activ\npredecessor: nobody-v1.0\nengin: x\n"
            "parameters:\n  max_concepts: 0\n  max_concept: 1\ndescription: 3\n" + BODY,
            [
                (2, "suite", "is 'other'"),
                (3, "status", "'activ' is not a choice"),
                (4, "predecessor", "'nobody-v1.0' is not a version in this folder"),
                (5, "engin", "is not a known field"),
                (7, "parameters.max_concepts", "is less than 1"),
                (8, "parameters.max_concept", "is not a known field"),
                (9, "description", "is a whole number, not a text"),
            ],
        ),
        (
            HEAD + "parameters:\n  max_concepts: 0\n" + BODY,
            [(5, "parameters.max_concepts", "is less than 1")],
        ),
        (HEAD + "---\n \n", [(5, "template", "is empty")]),
        (HEAD + "---", [(4, "template", "is empty")]),
        (
            HEAD + BODY + "\n{{ label }} {{ topic }}\n{{ colour }}",
            [
                (8, "template", "uses the unknown variable 'label'"),
                (9, "template", "uses the unknown variable 'colour'"),
            ],
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, text: str, found: Found) -> None:
    assert load(tmp_path, text) == (None, found)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (HEAD + "engine: [a\n" + BODY, 5, "not valid YAML"),
        (HEAD + "parameters: [&a x, *a]\n" + BODY, 4, "YAML aliases are not allowed"),
        (HEAD + BODY + "{% if topic %}\n", 7, "is not a valid template"),
        (HEAD + BODY + "\n\n{{ topic \n", 9, "is not a valid template"),
        (HEAD + BODY + "{% nonsense %}\n", 7, "is not a valid template: Encountered unknown tag 'nonsense'"),
        (HEAD + BODY + "{{ topic|random }}", 7, "'random' gives something else each time"),
        (HEAD + BODY + "{{ lipsum() }}", 7, "unknown variable 'lipsum'"),
        pytest.param(HEAD + BODY + "{{ 1" + " + 1" * 1200 + " }}", 5, "cannot be read", id="sum"),
        pytest.param(HEAD + BODY + "{{ topic" + "|upper" * 1000 + " }}", 5, "cannot be read", id="filters"),
        ((HEAD + BODY).encode() + b"\xff", 0, "is not UTF-8"),
        pytest.param(HEAD + BODY + "x" * 2**20, 1, "the limit is 1,048,576", id="large"),
    ],
)
def test_what_cannot_be_parsed_is_named_with_its_line(
    tmp_path: Path, text: str | bytes, line: int, message: str
) -> None:
    prompt, found = load(tmp_path, text)
    assert prompt is None
    assert [line for line, _, _ in found] == [line]
    assert message in found[0][2]


def test_a_predecessor_must_be_a_version_in_the_folder(tmp_path: Path) -> None:
    _, found = load(tmp_path, HEAD + "predecessor: decompose-v0.9\n" + BODY)
    assert [(field, message) for _, field, message in found] == [
        ("predecessor", "'decompose-v0.9' is not a version in this folder")
    ]


@pytest.mark.parametrize(
    "body",
    [
        "{% for word in source_text %}{{ word }}{{ loop.index }}{% endfor %}",
        "{% set half = topic %}{{ half }}",
        "{% macro twice(text) %}{{ text }}{{ text }}{% endmacro %}{{ twice(topic) }}",
        "{% for n in range(3) %}{{ n }}{% endfor %}",
        "No variable at all: {% raw %}{{ label }}{% endraw %}",
    ],
)
def test_names_that_a_template_defines_itself_are_known(tmp_path: Path, body: str) -> None:
    assert load(tmp_path, HEAD + "---\n" + body)[1] == []


@pytest.mark.parametrize(
    "version",
    ["", "..", "../a-v1.0", "a/b-v1.0", "/a-v1.0", "a b-v1.0", "a..b-v1.0", "a-v1", "a-v1.0.1", "a-v1.0\n"],
)
def test_what_is_not_a_version_name_is_refused(tmp_path: Path, version: str) -> None:
    with pytest.raises(BadInput, match="is not a version name"):
        load_prompt(SUITE, tmp_path, version, Problems())


def test_a_version_that_does_not_exist_is_answered_with_those_that_do(tmp_path: Path) -> None:
    load(tmp_path, HEAD + BODY)
    with pytest.raises(BadInput, match=r"decompose-v9\.9\.md does not exist.*decompose-v1\.0"):
        load_prompt(SUITE, tmp_path, "decompose-v9.9", Problems())


def test_a_folder_may_have_one_active_version_per_name(tmp_path: Path) -> None:
    for version in ("a-v1.9", "a-v1.10", "b-v1.0"):
        (tmp_path / f"{version}.md").write_text(HEAD + BODY)
    (tmp_path / "a-v2.0.md").write_text(HEAD.replace("active", "candidate") + BODY)
    problems = Problems()
    found = load_prompts(SUITE, tmp_path, problems)
    assert [prompt.version for prompt in found] == ["a-v1.9", "a-v1.10", "a-v2.0", "b-v1.0"]
    assert [(Path(each.file).name, each.field, each.message) for each in problems] == [
        ("a-v1.10.md", "status", "a-v1.9 is active too")
    ]


def test_files_that_are_not_named_like_a_version_are_named(tmp_path: Path) -> None:
    for name in ("a-v1.0.md", "notes.md", "a-1.0.md", "README.md", "CHANGELOG.md", "notes.txt"):
        (tmp_path / name).write_text(HEAD + BODY)
    problems = Problems()
    assert [prompt.version for prompt in load_prompts(SUITE, tmp_path, problems)] == ["a-v1.0"]
    assert [Path(each.file).name for each in problems] == ["a-1.0.md", "notes.md"]
    assert {each.message for each in problems} == {"is not named like a version"}


def test_versions_are_ordered_by_number(tmp_path: Path) -> None:
    versions = ["a-v1.9", "a-v1.10", "a-v2.0", "a-v10.0", "a-b-v0.1"]
    assert sorted(["a-b-v0.1", "a-v10.0", "a-v1.10", "a-v1.9", "a-v2.0"], key=version_order) == versions
    for version in versions:
        (tmp_path / f"{version}.md").touch()
    assert versions_in(tmp_path) == versions
    assert prompt_name("a-v2-b-v1.10") == "a-v2-b"


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("status: active", "status: archived", True),
        ("status: active\n", "status:   active   # for now\n", True),
        ("\n", "\r\n", True),
        ("description: d", "description: e", False),
        ("engine: e", "engine: f", False),
        ("engine: e\n", "", False),
        ("predecessor: decompose-v0.9", "predecessor: decompose-v0.8", False),
        ("max_concepts: 5", "max_concepts: 6", False),
        ("Decompose", "decompose", False),
        ("source_text }}\n", "source_text }}", False),
    ],
)
def test_the_hash_ignores_the_status_and_nothing_else(tmp_path: Path, old: str, new: str, same: bool) -> None:
    for older in ("decompose-v0.8.md", "decompose-v0.9.md"):
        (tmp_path / older).touch()
    more = "predecessor: decompose-v0.9\nengine: e\ndescription: d\nparameters: {max_concepts: 5}\n"
    text = HEAD + more + BODY
    assert old in text
    before, after = load(tmp_path, text)[0], load(tmp_path, text.replace(old, new))[0]
    assert before is not None
    assert after is not None
    assert (before.hash == after.hash) is same


BASELINES = sorted(REPOSITORY.glob("golden/*/baseline/*.json"))


@pytest.mark.parametrize("file", BASELINES, ids=[each.stem for each in BASELINES])
def test_a_shipped_version_is_identified_as_when_it_was_promoted(file: Path) -> None:
    promoted = json.loads(file.read_text())["identity"]["outputs"]
    project = Project.find()
    folder = project.prompts(promoted["suite"])
    prompt = load_prompt(find_suite(project, promoted["suite"]), folder, promoted["version"], Problems())
    assert prompt is not None
    assert prompt.hash == promoted["prompt_hash"]


def test_a_hash_rests_on_what_is_said_whether_or_not_it_is_the_default(tmp_path: Path) -> None:
    said = "engine: null\npredecessor: null\ndescription: ''\nparameters: {}\n"
    front = {"suite": "decomposition", "predecessor": None, "engine": None, "description": ""}
    path = tmp_path / "p-v1.0.md"
    for head in (HEAD, HEAD + said, HEAD.replace("active", "candidate")):
        path.write_text(head + BODY)
        prompt = load_prompt(SUITE, tmp_path, "p-v1.0", Problems())
        assert prompt is not None
        assert prompt.hash == content_hash([{**front, "parameters": {}}, prompt.body])


@pytest.mark.parametrize(
    ("sampling", "found"),
    [
        ("{temperature: 0.5, top_p: 0.9, stop: [a, b], seed: 1, max_tokens: 5, extra_body: {top_k: 1}}", []),
        ("{temperature: null, reasoning_effort: high}", []),
        ("{temprature: 1}", [(4, "sampling.temprature", "is not a known field")]),
        ("{temperature: -1}", [(4, "sampling.temperature", "is less than 0")]),
        ("{stop: word}", [(4, "sampling.stop", "is a text, not a list")]),
        ("{model: other}", [(4, "sampling.model", "is not a known field")]),
        (
            "{extra_body: {model: x, stream: true, n: 2, API-Key: k, response_format: {}, seed: 1}}",
            [
                (4, f"sampling.extra_body.{name}", "cannot be set here")
                for name in ("API-Key", "model", "n", "response_format", "seed", "stream")
            ],
        ),
    ],
)
def test_sampling_in_front_matter(tmp_path: Path, sampling: str, found: Found) -> None:
    prompt, wrong = load(tmp_path, f"{HEAD}sampling: {sampling}\n{BODY}")
    assert wrong == found
    plain, _ = load(tmp_path, HEAD + BODY, "plain-v1.0")
    assert plain is not None
    assert prompt is None or prompt.hash != plain.hash

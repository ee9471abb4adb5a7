"""`eval-pipeline import promptfoo`: a suite that runs, a list of the rest, and nothing run or overwritten."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import yaml

from eval_pipeline.definitions import build_definitions
from eval_pipeline.project import Project
from eval_pipeline.starting import new_project
from eval_pipeline_tests.importing.configuring import LAUGHS, PLAIN, write_config
from eval_pipeline_tests.renderers import SOCKET
from eval_pipeline_tests.running import command, invoke

FIXTURES = Path(__file__).parent.parent / "importing" / "fixtures"


@pytest.fixture
def here(tmp_path: Path) -> Project:
    (tmp_path / "project").mkdir()
    return Project(tmp_path / "project", tmp_path / "project" / ".eval")


def configured(here: Project, config: dict[str, Any] | str = PLAIN, **files: str) -> Path:
    return write_config(here.root.parent / "capitals", config, **files)


def says(text: str) -> dict[str, str]:
    return {"type": "contains", "value": text}


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_an_imported_suite_runs_at_once(here: Project) -> None:
    done = invoke(
        here, "import", "promptfoo", FIXTURES / "weights" / "promptfooconfig.yaml", "--name", "weighed"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "weighed: 1 prompt, 12 cases, 10 scores"
    assert "Not taken over (3):" in done.stdout
    assert "a stand-in, not from a model" in done.stdout
    checked = invoke(here, "golden", "check")
    assert checked.returncode == 0, checked.stdout
    assert "weighed: 12 cases can be read" in checked.stdout
    build_definitions(here)
    run = command(here, "run", "weighed")
    assert run.returncode == 0, run.stdout + run.stderr
    assert "weighed-v1.0" in run.stdout


@pytest.mark.parametrize("name", sorted(path.name for path in FIXTURES.iterdir() if path.is_dir()))
def test_every_fixture_is_a_suite_whose_gates_the_stand_in_passes(here: Project, name: str) -> None:
    done = invoke(here, "import", "promptfoo", FIXTURES / name / "promptfooconfig.yaml", "--name", "taken")
    assert done.returncode == 0, done.stderr
    versions = sorted(path.stem for path in here.prompts("taken").glob("*.md"))
    recorded = here.root / "recorded" / "taken"
    assert sorted(path.stem for path in recorded.glob("*.jsonl")) == versions
    outputs = recorded / f"{versions[0]}.jsonl"
    scored = invoke(here, "score", "taken", "--golden", here.golden("taken"), "--outputs", outputs, "--json")
    assert scored.returncode == 0, scored.stdout
    assert not json.loads(scored.stdout)["errors"]


def test_what_is_left_is_listed_once_with_all_its_places(here: Project) -> None:
    assertions = [{"type": "contains", "value": "x"}, {"type": "llm-rubric", "value": "is nice"}]
    tests = [
        {"vars": {"word": str(number)}, "assert": [dict(each) for each in assertions]} for number in range(3)
    ]
    done = invoke(here, "import", "promptfoo", configured(here, {**PLAIN, "tests": tests}))
    assert done.returncode == 0, done.stderr
    listed = done.stdout.splitlines()
    assert "Not taken over (3):" in listed
    (line,) = [number for number, text in enumerate(listed) if "(llm-rubric): has no counterpart" in text]
    assert "promptfooconfig.yaml:11: tests[0].assert[1]" in listed[line]
    assert listed[line + 1] == (
        "    Likewise: tests[1].assert[1] (llm-rubric) (line 18), tests[2].assert[1] (llm-rubric) (line 25)"
    )


def test_a_second_one_joins_the_project_and_suggests_engines(here: Project) -> None:
    invoke(here, "import", "promptfoo", configured(here))
    before = contents(here.root)
    config = configured(here, {**PLAIN, "providers": ["openai:gpt-4o"]})
    again = invoke(here, "import", "promptfoo", config)
    assert again.returncode == 2
    assert "golden/capitals: is there already" in again.stderr
    assert contents(here.root) == before
    done = invoke(here, "import", "promptfoo", config, "--name", "more")
    assert done.returncode == 0, done.stderr
    assert "For engines.yaml, from its providers:" in done.stdout
    assert "url: https://api.openai.com/v1" in done.stdout
    after = contents(here.root)
    assert {name: after[name] for name in before} == before
    assert {name.split("/")[1] for name in after.keys() - before.keys()} == {"more"}


def test_a_dry_run_writes_nothing(here: Project) -> None:
    done = invoke(here, "import", "promptfoo", configured(here), "--dry-run")
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "Nothing was written."
    assert not contents(here.root)


def test_a_disk_that_fills_leaves_nothing_behind(here: Project) -> None:
    written = new_project._write

    def failing(path: Path, content: str | Path) -> None:
        if path.name == "gates.yaml":
            raise OSError(28, "No space left on device", str(path))
        written(path, content)

    with mock.patch.object(new_project, "_write", failing):
        done = invoke(here, "import", "promptfoo", configured(here))
    assert done.returncode == 2
    assert not contents(here.root)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (LAUGHS, "more than 100,000 values"),
        ("x" * (10 * 2**20), "the limit is 1,048,576"),
        ("\x00\x01", "not valid YAML"),
        ("just a text", "is no configuration"),
        ("", "the file is empty"),
        ("[1, 2]", "is no configuration"),
        ("prompts: [a]\nprompts: [b]", "stands twice"),
        ("prompts: [a]\ntests: []", "no test of it can be taken over"),
        ("prompts: 3\ntests: 4", "no prompt of it can be taken over"),
        ("tests: [{assert: [{type: contains, value: x}]}]", "no prompt of it can be taken over"),
        (yaml.safe_dump({**PLAIN, "prompts": ["exec:./x"]}), "is code, which is never run"),
        (
            yaml.safe_dump({**PLAIN, "tests": [{"assert": [{"type": "llm-rubric", "value": "x"}]}]}),
            "No model judges here",
        ),
        (
            yaml.safe_dump({**PLAIN, "defaultTest": {"options": {"transform": "output.trim()"}}}),
            "the output is transformed by code",
        ),
        (
            yaml.safe_dump(
                {**PLAIN, "tests": [{"vars": {name: list("abcdefghij") for name in "abcdef"}, "assert": []}]}
            ),
            "make more than 10,000 tests",
        ),
    ],
    ids=[
        "bomb", "ten megabytes", "binary", "text", "empty", "list", "twice", "no tests", "no prompts",
        "none", "code", "graded", "transformed", "many",
    ],
)  # fmt: skip
def test_nothing_usable_is_bad_input(here: Project, config: str, said: str) -> None:
    done = invoke(here, "import", "promptfoo", configured(here, config))
    assert done.returncode == 2, done.stdout
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not contents(here.root)


def test_nothing_that_a_file_names_is_run_fetched_or_read_from_elsewhere(
    here: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    touched = here.root.parent / "touched"
    (here.root.parent / "secret.txt").write_text("the secret")
    hostile = {
        **PLAIN,
        "prompts": [
            "Say {{ word }}", "file://prompt.py", "exec:./prompt.sh", "file://../secret.txt", "file://link.txt",
            "{{ cycler.__init__.__globals__.os.popen('touch x').read() }}",
        ],
        "providers": ["file://provider.py"],
        "extensions": ["file://hook.py:run"],
        "defaultTest": "file://../secret.txt",
        "tests": [
            {"vars": {"word": "yes"}, "assert": [says("yes"), {"type": "python", "value": "file://check.py"}]},
            {"vars": {"word": "file://prompt.py"}, "assert": [says("x")]},
            {"vars": {"word": "file://link.txt"}, "assert": [says("x")]},
            {"vars": {"word": "file://../secret.txt"}, "assert": [says("x")]},
            {"vars": {"word": "{{ 7 * 7 }}"}, "assert": [says("x")]},
            {"vars": {"word": "\x1b[31mred"}, "assert": [says("{{ word | evil }}")]},
            "file://tests.py:make", "https://example.com/tests.csv", "huggingface://datasets/x/y",
            "https://docs.google.com/spreadsheets/d/x",
        ],
    }  # fmt: skip
    code = f"import pathlib\npathlib.Path({str(touched)!r}).touch()\n"
    names = ("prompt.py", "provider.py", "hook.py", "check.py", "tests.py")
    config = configured(here, hostile, **dict.fromkeys(names, code), **{"prompt.sh": f"touch {touched}\n"})
    (config.parent / "prompt.sh").chmod(0o755)
    (config.parent / "link.txt").symlink_to(here.root.parent / "secret.txt")
    monkeypatch.delenv(SOCKET)  # tests ask through it for a process that renders
    with mock.patch("socket.socket", side_effect=AssertionError("nothing may be fetched")):
        done = invoke(here, "import", "promptfoo", config)
    assert done.returncode == 0, done.stderr
    assert not touched.exists()
    assert "\x1b" not in done.stdout
    written = contents(here.root)
    assert not any(b"the secret" in content for content in written.values())
    assert done.stdout.splitlines()[0] == "capitals: 1 prompt, 1 case, 1 score"


def test_a_table_with_odd_quoting(here: Project) -> None:
    table = 'word,__expected\n"a ""b"", c","contains: ""b"""\n"two\nlines",contains: lines\n'
    table += "ragged\n=1+1,contains: 1\n"
    done = invoke(
        here, "import", "promptfoo", configured(here, {**PLAIN, "tests": "tests.csv"}, **{"tests.csv": table})
    )
    assert done.returncode == 0, done.stderr
    rows = [
        json.loads(line)
        for line in (here.golden("capitals") / "cases" / "tests.jsonl").read_text().splitlines()
    ]
    assert [row["word"] for row in rows] == ['a "b", c', "two\nlines", "=1+1"]
    assert "tests.csv:5: 1 cells, the header has 2" in done.stdout


@pytest.mark.parametrize("name", ["no name", "grounded_qa", "../x"])
def test_names_that_cannot_be(here: Project, name: str) -> None:
    done = invoke(here, "import", "promptfoo", configured(here), "--name", name)
    assert done.returncode == 2
    assert "cannot be the name of a suite" in done.stderr


def test_code_is_no_configuration(here: Project) -> None:
    script = here.root.parent / "promptfooconfig.js"
    script.write_text("module.exports = {}")
    done = invoke(here, "import", "promptfoo", script)
    assert done.returncode == 2
    assert "Code is never run" in done.stderr

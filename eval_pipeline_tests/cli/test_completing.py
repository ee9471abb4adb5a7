"""What a shell is offered: of the project as it is, and nothing where it is broken."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest
from click.shell_completion import ShellComplete

from eval_pipeline.cli import COMMANDS, cli
from eval_pipeline.project import ROOT_VARIABLE, STATE_VARIABLE, Project
from eval_pipeline.prompts import versions_in
from eval_pipeline.suites import suite_names
from eval_pipeline_tests.running import environment

V12, V20 = "decompose-concepts-v1.2", "decompose-concepts-v2.0"


@pytest.fixture
def here(whole_project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project in whose environment completion runs."""
    for name in (ROOT_VARIABLE, STATE_VARIABLE):
        monkeypatch.setenv(name, environment(whole_project)[name])
    return whole_project


def offered(*typed: str) -> list[str]:
    """What is offered for the last of the words."""
    completion = ShellComplete(cli, {}, "eval-pipeline", "_EVAL_PIPELINE_COMPLETE")
    return [item.value for item in completion.get_completions(list(typed[:-1]), typed[-1])]


def test_commands_suites_versions_engines_and_metrics_are_offered(here: Project) -> None:
    assert offered("") == list(COMMANDS)
    assert offered("co") == ["compare", "completion"]
    assert offered("run", "") == [*suite_names(here), "all", "heritage"]
    assert offered("run", "deco") == ["decomposition"]
    assert offered("run", "decomposition", "--prompt", "") == [
        *versions_in(here.prompts("decomposition")),
        "all",
    ]
    assert V12 in offered("run", "--prompt", "decompose-")  # no suite is typed yet
    assert offered("run", "decomposition", "--engine", "") == ["embedded", "recorded", "local"]
    assert offered("compare", "decomposition", "--against", "b") == ["baseline"]
    assert offered("compare", "deco") == ["decomposition"]
    assert offered("compare", "results/") == offered("compare", "a.json", "results/") == ["results/"]  # files
    assert offered("baseline", "promote", "decomposition", V20[:-1]) == [V20]
    assert offered("prompt", "new", "decomposition", "") == ["decompose-concepts"]
    assert "concept_recall" in offered("approve", "decomposition", V12, "--metric", "concept_")
    assert offered("review", "status", "") == versions_in(here.prompts("review"))
    assert "decomposition" not in offered("gate", "decomposition", "")
    assert offered("score", "span") == ["span_labeling"]
    assert offered("completion", "") == ["bash", "zsh", "fish"]
    assert "--dry-run" in offered("run", "decomposition", "--d")


@pytest.mark.parametrize("content", ["engines: [", "engines: 3", "", "\0", "default: x"])
def test_a_broken_project_breaks_no_completion(here: Project, content: str) -> None:
    here.engines_file.write_text(content)
    shutil.rmtree(here.golden("decomposition"))
    assert offered("run", "decomposition", "--engine", "") == []
    assert offered("run", "deco") == ["decomposition"]
    assert offered("approve", "decomposition", V12, "--metric", "") == ["error_rate"]
    here.engines_file.write_text("engines: {bad: {kind: nothing}, other: {}}")
    assert offered("run", "decomposition", "--engine", "") == ["bad", "other"]


@pytest.mark.parametrize("typed", ["", "run ", "run decomposition --prompt ", "run decomposition --engine "])
def test_completion_is_light(project: Project, typed: str) -> None:
    program = (
        "import sys\nfrom eval_pipeline.cli import main\n"
        "try: main()\nexcept SystemExit: print(*sys.modules, file=sys.stderr)"
    )
    words = f"eval-pipeline {typed}".split()
    variables = {
        "_EVAL_PIPELINE_COMPLETE": "bash_complete",
        "COMP_WORDS": f"eval-pipeline {typed}",
        "COMP_CWORD": str(len(words)),
    }
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.argv = ['eval-pipeline']\n{program}"],
        env=environment(project) | variables,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout
    assert not {"dagster", "pandas"} & set(done.stderr.split())


def test_a_real_bash_completes(here: Project, tmp_path: Path) -> None:
    """The script is sourced, and what it registered is called as bash calls it on a tab."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash")
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / "eval-pipeline"
    program.write_text(f"#!{sys.executable}\nfrom eval_pipeline.cli import main\nmain()\n")
    program.chmod(0o755)

    def on_tab(*words: str) -> list[str]:
        typed = " ".join(f"'{word}'" for word in ("eval-pipeline", *words))
        script = (
            'eval "$(eval-pipeline completion bash)"\n'
            f"COMP_WORDS=({typed}) COMP_CWORD={len(words)}\n"
            "function=$(complete -p eval-pipeline | sed 's/.*-F \\([^ ]*\\) .*/\\1/')\n"
            '$function eval-pipeline\nprintf "%s\\n" "${COMPREPLY[@]}"\n'
        )
        path = f"{programs}{os.pathsep}{os.environ['PATH']}"
        with mock.patch.dict(os.environ, {"PATH": path}):
            done = subprocess.run([bash, "-c", script], capture_output=True, text=True, check=True)
        assert not done.stderr
        return done.stdout.split()

    assert on_tab("com") == ["compare", "completion"]
    assert on_tab("run", "decomposition", "--prompt", V20[:-1]) == [V20]
    versions = versions_in(here.prompts("decomposition"))
    assert sorted(on_tab("run", "decomposition", "--prompt", "")) == sorted([*versions, "all"])
    assert on_tab("run", "decomposition", "--engine", "e") == ["embedded"]
    here.engines_file.write_text("engines: [")
    assert on_tab("run", "decomposition", "--engine", "e") == []
    assert on_tab("run", "deco") == ["decomposition"]

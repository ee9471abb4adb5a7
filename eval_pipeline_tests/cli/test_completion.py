"""`eval-pipeline completion`: a script for each shell."""

from __future__ import annotations

import pytest

from eval_pipeline.cli.completion import SHELLS, VARIABLE
from eval_pipeline.project import Project
from eval_pipeline_tests.running import invoke


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_asks_the_program_by_its_own_variable(project: Project, shell: str) -> None:
    done = invoke(project, "completion", shell)
    assert done.returncode == 0
    assert f"{VARIABLE}={shell}_complete" in done.stdout
    assert "eval-pipeline" in done.stdout


def test_another_shell_is_refused(project: Project) -> None:
    done = invoke(project, "completion", "tcsh")
    assert done.returncode == 2
    assert "'tcsh' is not one of" in done.stderr

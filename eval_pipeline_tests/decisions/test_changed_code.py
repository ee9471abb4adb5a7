"""Which code changed for whom: a project with its own suites, and one that holds the package."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from eval_pipeline.decisions.changed_code import EVALUATION, changed_code
from eval_pipeline.project import Project
from eval_pipeline.scoring.closure import EVERYTHING, Closure
from eval_pipeline.scoring.identity import PACKAGE
from eval_pipeline.scoring.sources import Sources
from eval_pipeline_tests.conftest import REPOSITORY, TOY
from eval_pipeline_tests.declaring import CLASSIFIER, declare

TOY_CODE = "suites/toy/__init__.py"
SCORING, ENGINE, GOLDEN, EVALUATING = "scoring code", "engine code", "golden set code", "evaluation code"


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "core.hooksPath=/dev/null")
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def committed(root: Path) -> str:
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "The beginning")
    return git(root, "rev-parse", "HEAD")


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


OWN: list[tuple[str, str, set[str]]] = [
    ("import json\n", "import json  # as it is\n", set()),
    ('"""A toy:', '"""One toy:', set()),
    ("float(gold == guess)", "2 * float(gold == guess)", {SCORING}),
    ("prepared.hints[0]", "prepared.hints[-1]", {ENGINE}),
    ("Prepared(entry.sound)", "Prepared(entry.sound + '')", {GOLDEN}),
    ("row.get(row[", "row.get(0 or row[", set()),
    ("SUITE = kit.Suite(", "SUITE = make(", {SCORING, ENGINE, GOLDEN}),
    ("SUITE = kit.Suite(", "SUITE = (", {SCORING, ENGINE, GOLDEN}),
]


@pytest.mark.parametrize(("old", "new", "reasons"), OWN)
def test_an_own_suite(old: str, new: str, reasons: set[str], tmp_path: Path) -> None:
    shutil.copytree(TOY / "suites", tmp_path / "suites", ignore=shutil.ignore_patterns("__pycache__"))
    base = committed(tmp_path)
    edit(tmp_path / TOY_CODE, old, new)
    project = Project(tmp_path, tmp_path / ".eval")
    assert changed_code(project, base, ["decomposition", "toy"]) == {"decomposition": set(), "toy": reasons}


DECLARED: list[tuple[str, str, str, set[str]]] = [
    ("golden/tickets/suite.yaml", "description:", "# A comment\ndescription:", set()),
    ("golden/tickets/suite.yaml", "{{ label }}", "is {{ label }}", {SCORING, GOLDEN}),
    ("golden/tickets/suite.yaml", "id: id", "id: text", {GOLDEN}),
    ("kind_in_tests.py", "return True", "return False", {SCORING, GOLDEN}),
    ("kind_in_tests.py", "SPARE = 1", "SPARE = 2", set()),
]


@pytest.mark.parametrize(("file", "old", "new", "reasons"), DECLARED)
def test_a_declared_suite(file: str, old: str, new: str, reasons: set[str], tmp_path: Path) -> None:
    scores = [{"contains": "{{ label }}"}, {"python": "kind_in_tests:kind"}]
    project = declare(tmp_path, {**CLASSIFIER, "answer": "text", "inputs": ["text"], "scores": scores})
    (tmp_path / "kind_in_tests.py").write_text("SPARE = 1\n\ndef kind(answer, case):\n    return True\n")
    base = committed(tmp_path)
    edit(tmp_path / file, old, new)
    assert changed_code(project, base, ["tickets"]) == {"tickets": reasons}


def test_a_suite_that_is_new(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("Nothing yet.\n")
    base = committed(tmp_path)
    shutil.copytree(TOY / "suites", tmp_path / "suites", ignore=shutil.ignore_patterns("__pycache__"))
    touched = changed_code(Project(tmp_path, tmp_path / ".eval"), base, ["toy"])
    assert touched == {"toy": {SCORING, ENGINE, GOLDEN}}


def test_a_project_that_holds_the_package(tmp_path: Path) -> None:
    """It lies below the root of its repository."""
    root = tmp_path / "inner"
    shutil.copytree(REPOSITORY / PACKAGE, root / PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))
    base = committed(tmp_path)
    package, suites = root / PACKAGE, ["decomposition", "review"]

    def reasons() -> tuple[set[str], ...]:
        return tuple(changed_code(Project(root, root / ".eval"), base, suites).values())

    edit(package / "orchestration" / "heritage_summary.py", "return ", "return not ")
    edit(package / "suites" / "review" / "advice.py", "return ", "return not ")
    assert reasons() == (set(), set())
    edit(package / "statistics" / "variation.py", "LEAST_TRIALS = 3", "LEAST_TRIALS = 4")
    assert reasons() == (set(), {SCORING})
    edit(package / "comparison" / "compare.py", '"proceed"', '"block"')
    assert reasons() == ({EVALUATING}, {EVALUATING, SCORING})
    git(tmp_path, "mv", "inner/eval_pipeline/statistics/variation.py", "inner/eval_pipeline/numbers2.py")
    for file in package.rglob("*.py"):
        file.write_text(
            file.read_text().replace("eval_pipeline.statistics.variation", "eval_pipeline.numbers2")
        )
    edit(package / "numbers2.py", "LEAST_TRIALS = 4", "LEAST_TRIALS = 3")
    edit(package / "comparison" / "compare.py", '"block"', '"proceed"')
    assert reasons() == (set(), set())


def test_another_layout_touches_everything(tmp_path: Path) -> None:
    (tmp_path / PACKAGE).mkdir()
    (tmp_path / PACKAGE / "__init__.py").write_text("")
    base = committed(tmp_path)
    shutil.copytree(REPOSITORY / PACKAGE, tmp_path / PACKAGE, dirs_exist_ok=True)
    touched = changed_code(Project(tmp_path, tmp_path / ".eval"), base, ["review"])
    assert touched == {"review": {SCORING, ENGINE, GOLDEN, EVALUATING}}


def test_what_every_evaluation_goes_through_is_there() -> None:
    closure = Closure(Sources(((PACKAGE, REPOSITORY / PACKAGE),)))
    for name in EVALUATION:
        assert closure.statements([name])
        assert name.name == EVERYTHING or len(closure.bound(name)) == 1

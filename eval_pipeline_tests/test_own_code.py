"""Code of a project: found wherever one works, of the right project, and known by what it is made of."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from eval_pipeline import stages
from eval_pipeline.own_code import import_own, use_code_of
from eval_pipeline.problems import BadInput
from eval_pipeline.project import ROOT_VARIABLE, STATE_VARIABLE, Project
from eval_pipeline.scoring import scorer_version
from eval_pipeline.store import AnswerTable
from eval_pipeline.suites import find_suite
from eval_pipeline_tests.conftest import TEXT_TOY, copy_toy

VERSION = "name-capital-v1.0"
SUITE = """
from helper import NAME
from eval_pipeline.suite import Suite
SUITE = Suite(name="capitals", description=NAME)
"""
ANSWERING = """
import os
from knowledge import facts

def capital(prompt, variables):
    with open(os.environ["ASKED"], "a") as log:
        log.write(variables["text"] + "\\n")
    return facts.look_up(variables["text"])
"""
FACTS = 'CAPITALS = {"France": "Paris"}\ndef look_up(name):\n    return CAPITALS.get(name, "?")\n'


@pytest.fixture(autouse=True)
def _path_and_modules_stay() -> Iterator[None]:
    path, modules = list(sys.path), set(sys.modules)
    yield
    use_code_of(Project(Path(__file__).parent / "no-such-project", Path()))
    sys.path[:] = path
    assert {"answering", "helper", "knowledge", "knowledge.facts"} & (set(sys.modules) - modules) == set()


@pytest.fixture(autouse=True)
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How often functions were asked."""
    log = tmp_path / "asked"
    monkeypatch.setenv("ASKED", str(log))
    return lambda: len(log.read_text().splitlines())


@pytest.fixture
def own(tmp_path: Path) -> Project:
    """A project whose only engine is a journaled function that uses a package beside it."""
    return make(tmp_path / "own")


def make(root: Path, name: str = "one") -> Project:
    project = copy_toy(TEXT_TOY, root)
    engine = {"kind": "callable", "function": "answering:capital", "trials": 1, "cached": True}
    project.engines_file.write_text(yaml.safe_dump({"default": "own", "engines": {"own": engine}}))
    (root / "answering.py").write_text(ANSWERING)
    (root / "knowledge").mkdir()
    (root / "knowledge" / "__init__.py").write_text("")
    (root / "knowledge" / "facts.py").write_text(FACTS)
    (root / "helper.py").write_text(f"NAME = {name!r}\n")
    (project.own_suites / "capitals" / "__init__.py").write_text(SUITE)
    return project


def ask(project: Project) -> AnswerTable:
    use_code_of(project)
    bench = stages.Workbench(project, find_suite(project, "capitals"))
    return stages.answer_cases(bench, stages.load_golden(bench).table, VERSION)


def forget(project: Project) -> None:
    """As a new process would see it."""
    use_code_of(Project(project.root / "elsewhere", project.state))


def test_a_journaled_function_is_asked_once_until_its_code_changes(
    own: Project, asked: Callable[[], int]
) -> None:
    first = ask(own)
    assert asked() == 5
    assert list(ask(own)) == list(first)
    assert asked() == 5
    facts = own.root / "knowledge" / "facts.py"
    facts.write_text(f"# a remark\n{FACTS}\ndef unused():\n    return 1\n")
    forget(own)
    assert ask(own).identity == first.identity
    assert asked() == 5
    facts.write_text(FACTS.replace('"?"', '"Lima"'))
    forget(own)
    after = ask(own)
    assert asked() == 10
    assert after.identity.model != first.identity.model
    assert {answer.text for answer in after} == {"Paris", "Lima"}


def test_what_a_function_refuses_is_asked_again(own: Project, asked: Callable[[], int]) -> None:
    code = own.root / "answering.py"
    code.write_text(
        ANSWERING.replace(
            "    return facts", '    if "a" in prompt: raise ValueError("no")\n    return facts'
        )
    )
    answers = ask(own)
    assert {(answer.error, answer.detail) for answer in answers if answer.error} == {
        ("engine", "ValueError: no")
    }
    before = asked()
    ask(own)
    assert asked() == before + answers.costs.error_count


def test_a_function_without_source_cannot_be_journaled(own: Project) -> None:
    own.engines_file.write_text(own.engines_file.read_text().replace("answering:capital", "math:floor"))
    with pytest.raises(BadInput, match="its source cannot be read"):
        ask(own)


def test_two_projects_may_call_their_modules_the_same(tmp_path: Path) -> None:
    one, two = make(tmp_path / "one", "one"), make(tmp_path / "two", "two")
    (two.root / "knowledge" / "facts.py").write_text(FACTS.replace("Paris", "PARIS"))
    for project, name, capital in ((one, "one", "Paris"), (two, "two", "PARIS"), (one, "one", "Paris")):
        answers = {answer.text for answer in ask(project)}
        assert find_suite(project, "capitals").description == name
        assert answers == {capital, "?"}


def test_packages_without_a_file_are_forgotten_whole(tmp_path: Path) -> None:
    """Where the inner one lies is asked of the outer one."""
    deepest = ".".join(f"bare{depth}" for depth in range(8))
    folder = tmp_path.joinpath(*deepest.split("."))
    folder.mkdir(parents=True)
    (folder / "own.py").write_text("")
    import_own(tmp_path, f"{deepest}.own")
    use_code_of(Project(tmp_path / "elsewhere", tmp_path / ".eval"))
    assert [name for name in sys.modules if name.startswith("bare0")] == []


def test_what_a_suite_uses_beside_it_is_part_of_its_scorer(tmp_path: Path) -> None:
    versions = []
    for name, helper in (("a", "NAME = 'a'\n"), ("b", "NAME = 'a'\n"), ("c", "NAME = 'c'\n")):
        project = make(tmp_path / name)
        code = "from helper import NAME\nfrom eval_pipeline.suite import Suite\n"
        suite = project.own_suites / "capitals" / "__init__.py"
        suite.write_text(f"{code}SUITE = Suite(name='capitals', groups=(NAME,))\n")
        (project.root / "helper.py").write_text(helper)
        use_code_of(project)
        versions.append(scorer_version(find_suite(project, "capitals")))
    assert versions[0] == versions[1] != versions[2]


def test_a_file_that_an_installed_module_hides_is_named(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("")
    with pytest.raises(ImportError, match="json of the project is hidden"):
        import_own(tmp_path, "json")


def test_the_command_finds_code_from_another_folder_without_a_path(
    own: Project, tmp_path: Path, asked: Callable[[], int]
) -> None:
    program = Path(sys.executable).with_name("eval-pipeline")
    names = {"PYTHONPATH", ROOT_VARIABLE, STATE_VARIABLE}
    clean = {name: value for name, value in os.environ.items() if name not in names}
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    given = {**clean, ROOT_VARIABLE: str(own.root), STATE_VARIABLE: str(own.state)}
    done = subprocess.run(
        [program, "run", "capitals"], cwd=elsewhere, env=given, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    assert "exact_match" in done.stdout
    assert asked() == 5

"""What counts as a change of one's own measure: every way to touch it, and what touches nothing."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from eval_pipeline.decisions import (
    TouchedMeasure,
    change_since,
    lost_suites,
    rules_at,
    stray_prompts,
    touched_measure,
    touched_measures,
    touched_suites,
)
from eval_pipeline.loading import suite_names
from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline_tests.cli import measured
from eval_pipeline_tests.cli.measured import ACTIVE, declare_anew, edit, record, write
from eval_pipeline_tests.conftest import REPOSITORY
from eval_pipeline_tests.declaring import NAME

GOLDEN = f"golden/{NAME}"
SUITE_FILE, CODE = "suite.yaml", ("golden set code", "scoring code")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project that is committed."""
    project = measured.make_project(tmp_path_factory.mktemp("measure") / "own")
    measured.begin(project)
    return project


@pytest.fixture
def project(original: Project, tmp_path: Path) -> Project:
    """A clone of it that a test may change."""
    shutil.copytree(original.root, tmp_path / "own", symlinks=True)
    return Project(tmp_path / "own", tmp_path / "own" / ".eval")


def parts(project: Project, revision: str = "main") -> tuple[str, ...]:
    """What of the measure differs, engines included."""
    found = touched_measure(project, NAME, revision)
    return (*found.parts, *found.engines) if found else ()


def link_away(project: Project) -> None:
    """The golden folder becomes a link to a copy elsewhere."""
    elsewhere = project.root.parent / "elsewhere"
    shutil.move(project.golden(NAME), elsewhere)
    project.golden(NAME).symlink_to(elsewhere)


def few_cases(project: Project) -> None:
    """The suite has one case."""
    row = '{"id": "a", "text": "b", "language": "en", "label": "bug"}\n'
    write(project, f"{GOLDEN}/few.jsonl", row)
    declare_anew(project, cases="few.jsonl")


def package_for_helper(project: Project) -> None:
    """A package stands where a module was."""
    (project.root / "lib/helper.py").unlink()
    write(project, "lib/helper/__init__.py", "def same(one, other):\n    return True\n")


ATTACKS: dict[str, tuple[Callable[[Project], None], set[str]]] = {
    "another scorer": (
        lambda project: declare_anew(project, scores=[{"not_contains": "xyzzy"}]),
        {SUITE_FILE, *CODE},
    ),
    "another answer": (
        lambda project: declare_anew(project, answer={"kind": "label", "of": ["bug", "billing", "other"]}),
        {SUITE_FILE},
    ),
    "other attributes": (lambda project: declare_anew(project, attributes=[]), {SUITE_FILE}),
    "another id": (lambda project: declare_anew(project, id="text"), {SUITE_FILE, "golden set code"}),
    "other cases": (
        few_cases,
        {SUITE_FILE, "golden set code"},
    ),
    "a scorer's function": (
        lambda project: edit(project, "lib/checks.py", "return same", "return True or same"),
        set(CODE),
    ),
    "a helper of it": (
        lambda project: edit(project, "lib/helper.py", "one == other", "True"),
        set(CODE),
    ),
    "a package in place of a helper": (
        package_for_helper,
        set(CODE),
    ),
    "a lower gate": (
        lambda project: edit(project, f"{GOLDEN}/gates.yaml", "< 0.6", "< 0.1"),
        {"gates.yaml"},
    ),
    "no gates": (lambda project: (project.root / GOLDEN / "gates.yaml").unlink(), {"gates.yaml"}),
    "settings": (
        lambda project: write(project, f"{GOLDEN}/settings.yaml", "judge: bot\n"),
        {"settings.yaml"},
    ),
    "labels of a judge": (lambda project: write(project, f"{GOLDEN}/judge.jsonl", "{}\n"), {"judge.jsonl"}),
    "a file with perfect answers": (
        lambda project: edit(project, "engines.yaml", "recorded/{suite}", "perfect/{suite}"),
        {"recorded"},
    ),
    "a larger budget": (
        lambda project: edit(project, "engines.yaml", "tokens: 1000", "tokens: 9000"),
        {"llm"},
    ),
    "another default": (
        lambda project: edit(project, "engines.yaml", "default: recorded", "default: bot"),
        {"default"},
    ),
    "an engine less": (
        lambda project: edit(
            project, "engines.yaml", '  bot: {kind: callable, function: "bot:answer"}\n', ""
        ),
        {"bot"},
    ),
    "a link in place of the golden folder": (link_away, {"folder"}),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_what_touches_the_measure(project: Project, name: str) -> None:
    change, expected = ATTACKS[name]
    change(project)
    assert expected <= set(parts(project))


def comment(project: Project) -> None:
    """Every file of the measure says the same in other words."""
    edit(project, f"{GOLDEN}/suite.yaml", "description:", "# seen\ndescription:")
    edit(project, f"{GOLDEN}/gates.yaml", "metrics:", "# seen\nmetrics:")
    edit(project, "engines.yaml", "default:", "# seen\ndefault:")
    edit(project, "lib/helper.py", "def same", "# seen\ndef same")


HARMLESS: dict[str, Callable[[Project], None]] = {
    "nothing": lambda project: None,
    "a prompt": lambda project: measured.prompt(project, "classify-v1.1", "candidate"),
    "recorded outputs": lambda project: record(project, ACTIVE, 10),
    "a further case": lambda project: edit(
        project,
        f"{GOLDEN}/cases.jsonl",
        '{"id": "case-00"',
        '{"id": "new", "text": "b", "language": "en", "label": "bug"}\n{"id": "case-00"',
    ),
    "a sign-off": lambda project: write(project, f"{GOLDEN}/signoff.json", "{}"),
    "comments": comment,
    "a description": lambda project: declare_anew(project, description="Tickets"),
    "a function that answers": lambda project: edit(project, "bot.py", "'bug'", "'other'"),
    "a further engine": lambda project: edit(
        project, "engines.yaml", "  bot:", "  more: {kind: embedded}\n  bot:"
    ),
    "a baseline": lambda project: write(project, f"{GOLDEN}/baseline/classify.json", "{}"),
    "an approval": lambda project: write(project, f"{GOLDEN}/approvals/a.json", "{}"),
    "a page of documentation": lambda project: write(project, "docs/notes.md", "New."),
}  # fmt: skip


@pytest.mark.parametrize("name", HARMLESS)
def test_what_does_not_touch_it(project: Project, name: str) -> None:
    HARMLESS[name](project)
    assert parts(project) == ()


def test_attributes_of_git_hide_nothing(project: Project) -> None:
    write(project, ".gitattributes", "golden/** export-ignore -diff\nlib/** export-ignore\n*.yaml binary\n")
    edit(project, f"{GOLDEN}/gates.yaml", "< 0.6", "< 0.1")
    edit(project, "lib/helper.py", "one == other", "True")
    assert {"gates.yaml", *CODE} <= set(parts(project))


def test_rules_that_the_base_itself_holds_back_are_named(project: Project) -> None:
    """Where Git does not hand them out, the change's own would count."""
    write(project, ".gitattributes", "golden/** export-ignore\n")
    measured.commit(project)
    with pytest.raises(BadInput, match=r"gates.yaml at \w{7}: Git does not hand it out"):
        touched_measure(project, NAME, "HEAD")


def test_what_is_approved_is_the_measure_before_and_after(project: Project) -> None:
    def key() -> str:
        found = touched_measure(project, NAME, "main")
        assert found is not None
        return found.key

    git_main = measured.git(project, "rev-parse", "main")
    declare_anew(project, id="text")
    first = key()
    record(project, ACTIVE, 3)  # what is measured is no part of it
    write(project, f"{GOLDEN}/approvals/a.json", "{}")
    assert key() == first
    declare_anew(project, id="label")
    second = key()
    edit(project, f"{GOLDEN}/gates.yaml", "< 0.6", "< 0.1")
    assert len({first, second, key()}) == 3
    measured.git(project, "switch", "--quiet", "--create", "side")
    measured.commit(project)
    measured.git(project, "branch", "--force", "main", git_main)
    third = key()
    edit(project, f"{GOLDEN}/gates.yaml", "< 0.1", "< 0.2")
    assert key() != third


def test_a_suite_that_is_new_is_measured_by_nothing_of_the_base(project: Project) -> None:
    shutil.copytree(project.golden(NAME), project.golden("copy"))
    measured.prompt(project, ACTIVE, "active", "copy")
    found = touched_measure(project, "copy", "main")
    assert found is not None
    assert (found.parts, found.is_new, found.needs_tree, found.has_own) == (
        ("the suite is new",), True, False, False
    )  # fmt: skip
    assert touched_measure(project, NAME, "main") is None


def test_suites_that_are_gone(project: Project) -> None:
    base = measured.git(project, "rev-parse", "HEAD")
    assert (lost_suites(project, base), stray_prompts(project)) == ([], [])
    (project.golden(NAME) / SUITE_FILE).unlink()
    assert (lost_suites(project, base), stray_prompts(project)) == ([NAME], [project.prompts(NAME)])
    shutil.rmtree(project.prompts(NAME))
    assert (lost_suites(project, base), stray_prompts(project)) == ([NAME], [])


def test_every_shipped_suite_is_found_gone(project: Project) -> None:
    """Those that come with the package are known by their data, at a commit as now."""
    whole = Project(REPOSITORY, project.state)
    for name in suite_names(whole):
        measured.prompt(project, "name-v1.0", "active", name)
    base = measured.commit(project)
    for name in suite_names(whole):
        shutil.rmtree(project.prompts(name))
    assert lost_suites(project, base) == suite_names(whole)


@pytest.mark.parametrize(("elsewhere", "shown"), [(True, False), (False, True)])
def test_code_of_a_program_that_is_installed_elsewhere_is_not_run(elsewhere: bool, shown: bool) -> None:
    measure = TouchedMeasure(NAME, "0123456789", ("scoring code",), (), "key", elsewhere)
    assert measure.has_own is shown
    assert ("; its own is not run here" in measure.text) is elsewhere
    gates = TouchedMeasure(NAME, "0123456789", ("gates.yaml", "scoring code"), (), "key", elsewhere)
    assert gates.has_own
    engines = TouchedMeasure(NAME, "0123456789", (), ("llm",), "key", elsewhere)
    assert not engines.has_own
    assert not engines.needs_tree
    assert engines.text == (
        "the change touches its own measure (engines.yaml: llm): it is measured as of 0123456, "
        "and needs an approval"
    )


def test_engines_are_those_of_the_base(project: Project) -> None:
    change = change_since(project, "main")
    edit(project, "engines.yaml", "recorded/{suite}", "perfect/{suite}")
    with rules_at(project, change.base) as judged:
        assert "recorded/{suite}" in judged.engines_file.read_text()
        touched = touched_suites(project, change_since(project, "main"), [NAME])
        assert touched_measures(project, judged, change, touched)[NAME].engines == ("recorded",)

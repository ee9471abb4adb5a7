"""The gate, as CI runs it: in a Git repository, through the real command; every exit code in a process."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from unittest import mock
from xml.etree import ElementTree

import pytest

from eval_pipeline.answers import OutputsIdentity
from eval_pipeline.comparison import Comparison
from eval_pipeline.decisions import (
    Change,
    Decision,
    FailedCheck,
    Standing,
    Standings,
    change_since,
    decide,
    objections,
    rules_at,
    touched_suites,
    unusable,
    worst,
)
from eval_pipeline.decisions.touched import OTHER_ENGINES
from eval_pipeline.gates import GateResult
from eval_pipeline.loading import load_suites, suite_names
from eval_pipeline.problems import BadInput, Problem
from eval_pipeline.project import Project
from eval_pipeline.reports import line_of, to_junit, to_markdown
from eval_pipeline.scoring import Evaluation, Identity, MetricValue, Summary
from eval_pipeline.stages import Workbench
from eval_pipeline.store import Store, read_baselines
from eval_pipeline.suite import Suite
from eval_pipeline.suites.decomposition import SUITE as DECOMPOSITION
from eval_pipeline_tests.cli.recorded_toy import (
    BODY,
    cases_file,
    make_project,
    prompt_file,
    record,
    write_prompt,
)
from eval_pipeline_tests.conftest import House, copy_project
from eval_pipeline_tests.running import begin, command, command_line, ended, invoke

RIGHT = 90
ACTIVE, CANDIDATE = "guess-v1.0", "guess-v1.1"
UNKNOWN = "production state unknown: no shared database is configured, and this one has no events"


def git(project: Project, *arguments: str) -> str:
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "core.hooksPath=/dev/null")
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=project.root, capture_output=True, text=True, check=True
    )
    return done.stdout


def commit(project: Project, message: str = "A change") -> None:
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message", message)


def candidate(project: Project, right: int, *front: str, body: str = BODY) -> None:
    """A new version with outputs of its own, which differs from the active one in nothing else."""
    own = front or ("engine: recorded",)
    write_prompt(project, CANDIDATE, "status: candidate", f"predecessor: {ACTIVE}", *own, body=body)
    record(project, CANDIDATE, right)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A toy with a hundred cases, a signed golden set and a baseline of 90 % right, committed."""
    project = make_project(tmp_path_factory.mktemp("gate") / "toy")
    write_prompt(project, ACTIVE, "status: active", "engine: recorded")
    record(project, ACTIVE, RIGHT)
    (project.root / ".gitignore").write_text(".eval/\n__pycache__/\n")
    for arguments in (
        ("run", "toy"),
        ("golden", "freeze", "toy", "--reason", "looks right", "--by", "Ada"),
        ("baseline", "promote", "toy", ACTIVE, "--reason", "the first", "--by", "Ada"),
    ):
        done = invoke(project, *arguments)
        assert done.returncode == 0, done.stderr
    shutil.rmtree(project.state)
    git(project, "init", "--quiet", "--initial-branch", "main")
    commit(project, "The beginning")
    return project


@pytest.fixture
def repository(original: Project, tmp_path: Path) -> Project:
    """A clone of it that a test may change."""
    root = tmp_path / "clone"
    shutil.copytree(original.root, root)
    return Project(root, root / ".eval")


def better(project: Project) -> None:
    candidate(project, RIGHT + 9)


def a_little_worse(project: Project) -> None:
    candidate(project, RIGHT - 4)


def worse(project: Project) -> None:
    candidate(project, RIGHT - 12)


def other_gates(project: Project) -> None:
    gates = project.golden("toy") / "gates.yaml"
    gates.write_text(gates.read_text().replace(">= 0.8", ">= 0.95"))


def failing(project: Project) -> None:
    candidate(project, 40)


def other_expectation(project: Project) -> None:
    text = cases_file(project).read_text()
    changed = text.replace(
        '"case-099", "sound": "meow", "animal": "cat"', '"case-099", "sound": "meow", "animal": "dog"'
    )
    assert changed != text
    cases_file(project).write_text(changed)


def signed_expectation(project: Project) -> None:
    other_expectation(project)
    done = invoke(project, "golden", "freeze", "toy", "--reason", "it was wrong", "--by", "Ada")
    assert done.returncode == 0, done.stderr


def unsigned_expectation(project: Project) -> None:
    other_expectation(project)
    (project.golden("toy") / "signoff.json").unlink()


def broken_case(project: Project) -> None:
    with cases_file(project).open("a") as file:
        file.write('{"id": "case-000", "sound": 1}\n')


def endpoint_down(project: Project) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    with (project.root / "engines.yaml").open("a") as file:
        file.write(
            f"  llm:\n    kind: endpoint\n    url: http://127.0.0.1:{port}/v1\n"
            "    model: none\n    attempts: 1\n    trials: 1\n"
        )
    commit(project, "An engine")
    candidate(project, 0, "engine: llm")


def no_baseline(project: Project) -> None:
    shutil.rmtree(project.golden("toy") / "baseline")
    commit(project, "No baseline")
    better(project)


def other_engine(project: Project) -> None:
    file = project.root / "engines.yaml"
    file.write_text(file.read_text().replace("default: embedded", "default: recorded"))
    write_prompt(project, ACTIVE, "status: active", "engine: embedded")


def unread_text(project: Project) -> None:
    write_prompt(project, ACTIVE, "status: active", "engine: recorded", body=f"Think first. {BODY}")


class Scenario(NamedTuple):
    """A change, and what the gate says of it: exit code, state of each version, and words in the output."""

    change: Callable[[Project], None]
    code: int
    states: dict[str, str]
    told: tuple[str, ...]


SCENARIOS = {
    "improved": Scenario(better, 0, {CANDIDATE: "pass"}, (f"✓ toy: {CANDIDATE} (prompt)\n",)),
    "regressed by 1 to 5 points": Scenario(
        a_little_worse,
        0,
        {CANDIDATE: "warn"},
        (
            rf"⚠ toy: {CANDIDATE} \(prompt\)\n"
            rf"  ⚠ against baseline {ACTIVE} \(in use\): (regressed|inconclusive); investigate\. ",
        ),
    ),
    "regressed by more than 5 points": Scenario(
        worse,
        1,
        {CANDIDATE: "block"},
        (rf"✗ toy: {CANDIDATE} \(prompt\)\n  ✗ against baseline {ACTIVE} \(in use\): regressed; block\. ",),
    ),
    "other gates": Scenario(
        other_gates,
        1,
        {ACTIVE: "block", f"{ACTIVE}, by the change's own measure": "warn"},
        (
            rf"✗ toy: {ACTIVE} \(gates\)\n  ✗ the change touches its own measure \(gates\.yaml\): it is "
            r"measured as of [0-9a-f]{7}, and needs an approval\n",
            r"  ⚠ the change touches what it is judged by \(gates\.yaml\): ",
            rf"⚠ toy: {ACTIVE}, by the change's own measure \(gates\)\n  ⚠ accuracy: 90\.0 % is between fail",
        ),
    ),
    "new fail zone": Scenario(
        failing,
        1,
        {CANDIDATE: "block"},
        (
            r"  ✗ accuracy: 40\.0 % is in the fail zone \(< 50 %\)\.\n",
            rf"  ✗ against baseline {ACTIVE} \(in use\): regressed; block\. ",
        ),
    ),
    "golden set changed": Scenario(
        other_expectation,
        1,
        {ACTIVE: "block"},
        (
            rf"✗ toy: {ACTIVE} \(golden set\)\n"
            r"  ✗ golden set: Changes that nobody signed off: changed: case-099\. Review",
        ),
    ),
    "golden set changed and signed off": Scenario(
        signed_expectation,
        1,
        {ACTIVE: "block"},
        (
            rf"✗ toy: {ACTIVE} \(golden set\)\n  ✗ golden set: Changes that nobody signed off: changed: case",
            r"  ⚠ the change touches what it is judged by \(signoff\.json\): it is judged as of [0-9a-f]{7}",
            rf"  Note: Against baseline {ACTIVE}: The golden set changed",
        ),
    ),
    "golden set changed and its sign-off deleted": Scenario(
        unsigned_expectation,
        1,
        {ACTIVE: "block"},
        (
            rf"✗ toy: {ACTIVE} \(golden set\)\n  ✗ golden set: Changes that nobody signed off: changed: case",
            r"  ⚠ the change touches what it is judged by \(signoff\.json\): it is judged as of [0-9a-f]{7}",
        ),
    ),
    "golden set broken": Scenario(
        broken_case,
        2,
        {ACTIVE: "unusable"},
        (r"  ✗ golden/toy/cases/sounds\.jsonl:101: ",),
    ),
    "endpoint down": Scenario(
        endpoint_down,
        1,
        {CANDIDATE: "incomplete"},
        (
            r"✗ incomplete toy: guess-v1\.1",
            r"  ✗ incomplete: 100 of 100 answers never arrived, .* 100 × connection",
        ),
    ),
    "baseline missing": Scenario(
        no_baseline,
        1,
        {CANDIDATE: "block"},
        (
            rf"✗ toy: {CANDIDATE} \(prompt\)\n"
            r"  ✗ there is no baseline to compare with; promote an evaluation that you trust\n",
        ),
    ),
    "engine changed": Scenario(
        other_engine,
        1,
        {ACTIVE: "block"},
        (
            rf"✗ toy: {ACTIVE} \(prompt, engines\)\n"
            r"  ✗ the change touches its own measure \(engines\.yaml: default\): it is measured as of ",
            rf"  Note: Against baseline {ACTIVE}: The engine differs: recorded before, embedded after\.\n",
        ),
    ),
    "only unread text changed": Scenario(
        unread_text,
        1,
        {ACTIVE: "not_evaluated"},
        (
            rf"✗ not evaluated toy: {ACTIVE} \(prompt\)\n"
            r"  ✗ only text changed that the engine 'recorded' does not read; evaluate it on one that does\n",
        ),
    ),
}


def shown_name(version: dict[str, Any]) -> str:
    """A version of the report as it is called on the screen."""
    own = ", by the change's own measure" if version["measure"] == "own" else ""
    return f"{version['version']}{own}"


IN_A_PROCESS = ("improved", "regressed by more than 5 points", "golden set broken")
"""One scenario per exit code is told by a process of its own."""


@pytest.mark.parametrize("name", SCENARIOS)
def test_what_the_gate_says(repository: Project, name: str) -> None:
    scenario, run = SCENARIOS[name], command if name in IN_A_PROCESS else invoke
    scenario.change(repository)
    files = [repository.root / "out" / name for name in ("summary.md", "junit.xml", "gate.json")]
    summary, junit, report = files
    done = run(
        repository,
        "gate",
        "--changed-since",
        "main",
        "--markdown",
        summary,
        "--junit",
        junit,
        "--json",
        report,
    )
    output = done.stdout + done.stderr
    assert done.returncode == scenario.code, output
    for told in scenario.told:
        assert re.search(told, output) or told in output, output
    assert "Traceback" not in output
    found = json.loads(report.read_text())
    assert {shown_name(each): each["state"] for each in found["versions"]} == scenario.states
    assert found["pass"] is (scenario.code == 0)
    assert found == json.loads((repository.state / "gate.json").read_text())
    cases = ElementTree.fromstring(junit.read_bytes()).findall("testsuite/testcase")
    failures = dict.fromkeys(("block", "not_evaluated", "incomplete"), "failure")
    kinds = {**failures, "unusable": "error"}
    for case in cases:
        kind = kinds.get(scenario.states[str(case.get("name"))])
        assert (kind is None) == (case.find("failure") is None and case.find("error") is None)
        assert kind is None or case.find(kind) is not None
    assert len(cases) == len(scenario.states)
    markdown = summary.read_text()
    assert markdown.startswith(
        "# ✓" if scenario.code == 0 and "⚠" not in output else ("# ⚠", "# ✗")[scenario.code > 0]
    )
    assert sorted(path.name for path in summary.parent.iterdir()) == sorted(file.name for file in files)


def always_right(project: Project) -> None:
    """A worse candidate that weakens every rule, and makes itself the baseline."""
    failing(project)
    gates = project.golden("toy") / "gates.yaml"
    weaker = re.sub(r"(pass|excellent): .*", r"\1: '>= 0'", gates.read_text())
    gates.write_text(re.sub(r"fail: .*", "fail: '< 0'", weaker))
    baseline = project.golden("toy") / "baseline"
    shutil.rmtree(baseline)


def test_a_change_is_not_judged_by_its_own_rules(repository: Project) -> None:
    always_right(repository)
    done = invoke(repository, "gate", "--changed-since", "main")
    assert done.returncode == 1
    assert f"✗ toy: {CANDIDATE} (prompt)\n  ✗ accuracy: 40.0 % is in the fail zone (< 50 %).\n" in done.stdout
    assert "baseline/guess.json, gates.yaml): it is judged as of " in done.stdout


def test_a_problem_of_the_bases_own_rules_is_named_by_its_commit(repository: Project) -> None:
    gates = repository.golden("toy") / "gates.yaml"
    kept = gates.read_text()
    gates.write_text(kept.replace("fail:", "fial:"))
    commit(repository, "A typo")
    gates.write_text(kept)
    better(repository)
    done = invoke(repository, "gate", "--changed-since", "HEAD")
    assert done.returncode == 2, done.stdout + done.stderr
    base = git(repository, "rev-parse", "HEAD")[:7]
    assert f"golden/toy/gates.yaml at {base}:" in done.stderr
    assert tempfile.gettempdir() not in done.stdout + done.stderr


def test_every_shipped_suite_is_judged_by_the_bases_rules(tmp_path: Path) -> None:
    """Whatever a change does to gates, sign-off, approvals and baselines; and by its own where accepted."""
    project = copy_project(tmp_path / "project")
    (project.root / ".gitignore").write_text(".eval/\n")
    git(project, "init", "--quiet")
    commit(project)
    before = {suite.name: rules_of(project, suite) for suite in load_suites(project, suite_names(project))[0]}
    for name in before:
        golden = project.golden(name)
        (golden / "gates.yaml").write_text("metrics:\n  error_rate: {fail: '> 0.01', pass: '<= 0.01'}\n")
        (golden / "signoff.json").unlink()
        shutil.rmtree(golden / "baseline")
    with rules_at(project, git(project, "rev-parse", "HEAD").strip()) as judged:
        for suite in load_suites(judged, list(before))[0]:
            assert rules_of(judged, suite) == before[suite.name]
            gates, signed, baselines = rules_of(project, suite)
            assert (list(gates), signed, baselines) == (["error_rate"], False, [])


def rules_of(project: Project, suite: Suite) -> tuple[Any, ...]:
    """By what a suite is judged: its gates, whether somebody signed, its baselines."""
    bench = Workbench(project, suite)
    rules = bench.rules_folder
    return bench.gates, (rules / "signoff.json").is_file(), read_baselines(rules)


def test_rules_that_somebody_accepted(repository: Project) -> None:
    signed_expectation(repository)
    done = invoke(repository, "gate", "--changed-since", "main", "--rules", "change")
    assert done.returncode == 0, done.stdout
    assert (
        "  ⚠ the change touches what it is judged by (signoff.json), and is judged by that\n" in done.stdout
    )


def test_an_unchanged_project_passes(repository: Project) -> None:
    same = invoke(repository, "gate")
    assert same.returncode == 0, same.stdout + same.stderr
    assert same.stdout == f"✓ toy: {ACTIVE} (asked for)\n{UNKNOWN}\nReport: .eval/gate.json\n"
    untouched = invoke(repository, "gate", "--changed-since", "HEAD")
    assert untouched.returncode == 0
    assert untouched.stdout == f"Not touched: toy\nNothing to evaluate.\n{UNKNOWN}\nReport: .eval/gate.json\n"
    assert json.loads((repository.state / "gate.json").read_text())["versions"] == []


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("no front matter", "has no front matter"),
        ("---\nsuite: toy\nstatus: candidate\nengine: recorded\n---\n{% if %}\n", "is not a valid template"),
        ("---\nsuite: toy\nstatus: brilliant\n---\nx\n", "status"),
    ],
)
def test_a_prompt_that_cannot_be_parsed_is_bad_input(repository: Project, content: str, told: str) -> None:
    prompt_file(repository, CANDIDATE).write_text(content)
    done = invoke(repository, "gate", "--changed-since", "HEAD")
    assert done.returncode == 2, done.stdout + done.stderr
    assert f"✗ unusable toy: {CANDIDATE} (prompt)\n" in done.stdout
    assert f"prompts/toy/{CANDIDATE}.md:" in done.stderr
    assert told in done.stderr


class Typo(NamedTuple):
    """A misspelt field, and the commands that read its file."""

    file: str
    right: str
    wrong: str
    read_by: tuple[str, ...] = ("gate", "run", "golden")


TYPOS = [
    Typo(f"prompts/toy/{ACTIVE}.md", "status", "statu", ("gate", "run")),
    Typo("engines.yaml", "kind", "knd", ("gate", "run")),
    Typo("golden/toy/gates.yaml", "fail", "fial"),
    Typo("golden/toy/cases/sounds.jsonl", "animal", "animl"),
]


@pytest.mark.parametrize("typo", TYPOS, ids=[each.file for each in TYPOS])
def test_one_typo_is_one_problem_wherever_it_is_read(repository: Project, typo: Typo) -> None:
    second_suite(repository, "")
    candidate(repository, RIGHT)
    file = repository.root / typo.file
    assert typo.right in file.read_text()
    file.write_text(file.read_text().replace(typo.right, typo.wrong, 1))
    commands = {"gate": ("gate",), "run": ("run", "toy", "--prompt", "all"), "golden": ("golden", "check")}
    for name in typo.read_by:
        done = invoke(repository, *commands[name])
        said = done.stdout + done.stderr
        assert done.returncode == 2, said
        assert said.count(f"{typo.wrong}: is not a known field. Did you mean {typo.right}?") == 1, said
        assert "is missing" not in said


@pytest.mark.parametrize(
    ("file", "line", "told", "read_by"),
    [
        (
            "golden/toy/settings.yaml",
            "strictnes: 3",
            "golden/toy/settings.yaml:1: strictnes: is not a known field. Did you mean strictness?",
            ("gate", "run", "golden"),
        ),
        (
            "automation.yaml",
            "nighty: 0 2 * * *",
            "automation.yaml:1: nighty: is not a known field. Did you mean nightly?",
            ("gate", "run"),
        ),
    ],
)
def test_one_typo_is_one_problem_in_a_file_that_need_not_be_there(
    repository: Project, file: str, line: str, told: str, read_by: tuple[str, ...]
) -> None:
    code = repository.own_suites / "toy" / "__init__.py"
    code.write_text(
        code.read_text()
        .replace(
            "SUITE = ",
            "class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):\n"
            "    strictness: int = 1\n\n\nSUITE = ",
        )
        .replace('name="toy",', 'name="toy",\n    settings=Settings,')
    )
    (repository.root / file).write_text(f"{line}\n")
    commands = {"gate": ("gate",), "run": ("run", "toy"), "golden": ("golden", "check")}
    for name in read_by:
        done = invoke(repository, *commands[name])
        said = done.stdout + done.stderr
        assert done.returncode == 2, said
        assert said.count(told) == 1, said
        assert said.count("known field") == 1, said


def doubled(project: Project) -> None:
    shutil.copy(prompt_file(project, ACTIVE), prompt_file(project, CANDIDATE))


def archived(project: Project) -> None:
    file = prompt_file(project, ACTIVE)
    file.write_text(file.read_text().replace("status: active", "status: archived"))


def misnamed(project: Project) -> None:
    shutil.copy(prompt_file(project, ACTIVE), project.prompts("toy") / "guess 1.1.md")


def replaced_by_another_name(project: Project) -> None:
    """The active version of one prompt is deleted, while another prompt of the suite has one."""
    write_prompt(project, "ask-v1.0", "status: active", "engine: recorded")
    write_prompt(project, "guess-v0.9", "status: archived", "engine: recorded")
    commit(project)
    prompt_file(project, ACTIVE).unlink()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (doubled, "guess-v1.0 is active too"),
        (archived, "prompts/toy: no version of guess is active any more"),
        (lambda project: prompt_file(project, ACTIVE).unlink(), "prompts/toy: holds no active version"),
        (misnamed, "'guess 1.1' is not a version name"),
        (
            lambda project: prompt_file(project, ACTIVE).rename(prompt_file(project, "Guess")),
            "'Guess' is not a version name",
        ),
    ],
)
def test_nothing_passes_because_it_is_not_there(
    repository: Project, change: Callable[[Project], None], told: str
) -> None:
    change(repository)
    git(repository, "add", "--all")
    shutil.rmtree(repository.root / "recorded")  # so that nothing gets as far as an evaluation
    done = invoke(repository, "gate", "--changed-since", "HEAD")
    assert done.returncode == 2, done.stdout + done.stderr
    assert told in done.stderr


def test_a_prompt_that_loses_its_active_version_is_told_beside_others(repository: Project) -> None:
    replaced_by_another_name(repository)
    shutil.rmtree(repository.root / "recorded")
    done = invoke(repository, "gate", "--changed-since", "HEAD")
    assert done.returncode == 2
    assert "no version of guess is active any more" in done.stderr


def test_a_renamed_version_is_a_new_one(repository: Project) -> None:
    candidate(repository, RIGHT)
    commit(repository)
    (repository.root / "recorded" / "toy" / f"{CANDIDATE}.jsonl").rename(
        repository.root / "recorded" / "toy" / "guess-v1.2.jsonl"
    )
    git(repository, "mv", f"prompts/toy/{CANDIDATE}.md", "prompts/toy/guess-v1.2.md")
    done = invoke(repository, "gate", "--changed-since", "HEAD")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("✓ toy: guess-v1.2 (prompt)\n")
    assert done.stdout.count("toy: ") == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ("--changed-since", "nowhere"),
            "input: --changed-since: 'nowhere' is not a revision of this repository.",
        ),
        (
            ("--changed-since", "--all"),
            "input: --changed-since: '--all' is not a revision of this repository.",
        ),
        (("--changed-since", ""), "input: --changed-since: '' is not a revision of this repository."),
        (("--changed-since", "HEAD:prompts"), "is not a revision of this repository."),
        (
            ("nothing", "--changed-since", "HEAD"),
            "input: suite: 'nothing' is not a suite. Suites: toy",
        ),
    ],
)
def test_what_is_asked_for_must_exist(repository: Project, arguments: tuple[str, ...], told: str) -> None:
    done = invoke(repository, "gate", *arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert done.stdout == ""


def test_a_suite_that_the_project_does_not_use_is_left_out_unless_it_is_named(repository: Project) -> None:
    named = invoke(repository, "gate", "decomposition")
    assert named.returncode == 2
    assert "prompts/decomposition: holds no active version" in named.stderr
    assert "decomposition" not in invoke(repository, "gate", "--changed-since", "HEAD").stdout


def test_without_a_repository_the_gate_says_so(toy: Project) -> None:
    done = invoke(toy, "gate", "--changed-since", "HEAD")
    assert done.returncode == 2
    assert "--changed-since: the project is not in a Git repository." in done.stderr


WORSE = "concept_recall fell 9.6 points"


def test_a_version_that_is_worse_than_the_one_in_use_is_blocked(tmp_path: Path) -> None:
    """Better than the baseline, and yet a loss: as a new version, and as an edit of the active file."""
    root = tmp_path / "repository" / "project"  # below the root of its repository
    project = copy_project(root, "decomposition")
    git(project, "init", "--quiet", "..")
    (project.root / ".gitignore").write_text(".eval/\n")
    commit(project)
    assert invoke(project, "prompt", "new", "decomposition", "decompose-concepts", "--minor").returncode == 0
    active, new = (project.prompts("decomposition") / f"decompose-concepts-v1.{n}.md" for n in (2, 3))
    new.write_text(new.read_text().replace("max_concepts: 22", "max_concepts: 19"))
    report = tmp_path / "gate.json"
    asked = ("gate", "decomposition", "--changed-since", "HEAD", "--json", report)
    done = command(project, *asked)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "  ✗ against decompose-concepts-v1.2 (in use): regressed; block. " in done.stdout
    assert WORSE in done.stdout
    (version,) = json.loads(report.read_text())["versions"]
    baseline, replaced = version["comparisons"]
    assert version["comparison"] == baseline
    assert (baseline["role"], baseline["verdict"]) == ("baseline", "improved")
    assert (replaced["role"], replaced["verdict"]) == ("replaced", "regressed")

    new.unlink()
    active.write_text(active.read_text().replace("max_concepts: 22", "max_concepts: 19"))
    done = command(project, *asked)
    assert done.returncode == 1, done.stdout + done.stderr
    base = git(project, "rev-parse", "HEAD")[:7]
    assert f"  ✗ against decompose-concepts-v1.2 (in use, as of {base}): regressed; block. " in done.stdout
    assert WORSE in done.stdout
    approve = ("approve", "decomposition", "decompose-concepts-v1.2", "--reason", "shorter is better")
    metrics = [
        each["metric"] for each in replaced["metrics"] if each["gated"] and each["action"] != "proceed"
    ]
    scope = [part for metric in metrics for part in ("--metric", metric)]
    refused = invoke(project, *approve, *scope)
    assert refused.returncode == 2  # the baseline has nothing to be approved
    commit(project)
    named = ("--against", "decompose-concepts-v1.2", "--changed-since", "HEAD~")
    done = invoke(project, *approve, *scope, *named)
    assert done.returncode == 0, done.stderr
    since = ("gate", "decomposition", "--changed-since", "HEAD~")
    done = command(project, *since)
    assert done.returncode == 1, "nobody approves his own change"
    done = command(project, *since, "--rules", "change")
    assert done.returncode == 0, done.stdout
    assert "✓ approved decomposition: decompose-concepts-v1.2 (prompt" in done.stdout


PATHS: list[tuple[str, dict[str, Any]]] = [
    ("README.md", {}),
    ("eval_pipeline_tests/test_gates.py", {}),
    ("prompts/one/CHANGELOG.md", {}),
    ("golden/one/README.md", {}),
    ("prompts/one/notes.txt", {}),
    ("prompts/one/old/name-v1.0.md", {}),
    ("prompts/three/name-v1.0.md", {}),
    ("suites/one/__pycache__/x.pyc", {}),
    ("prompts/one/name-v1.0.md", {"one": "name-v1.0"}),
    ("golden/one/cases/a/b.json", {"one": "golden set"}),
    ("golden/one/resources/README.md", {"one": "golden set"}),
    ("golden/one/signoff.json", {"one": "golden set"}),
    ("golden/one/gates.yaml", {"one": "gates"}),
    ("golden/one/baseline/name.json", {"one": "baseline"}),
    ("engines.yaml", {"one": "engines", "two": "engines"}),
    *(
        (name, {"one": "environment", "two": "environment"})
        for name in ("Makefile", "dagster.yaml", "pyproject.toml", "requirements.lock")
    ),
    ("recorded/one/name-v1.0.jsonl", {"one": "name-v1.0"}),
    ("recorded/one/name-v1.1.jsonl", {}),
    ("lib/bot.py", {"one": "name-v1.0"}),
]
ENGINES = """default: recorded
engines:
  recorded: {kind: recorded, path: "recorded/{suite}/{version}.jsonl"}
  bot: {kind: callable, function: "lib.bot:answer"}
"""


@pytest.mark.parametrize(("path", "expected"), PATHS, ids=[path for path, _ in PATHS])
def test_what_a_file_touches(path: str, expected: dict[str, str], tmp_path: Path) -> None:
    change = Change("base", frozenset({PurePosixPath(path)}), frozenset())
    project = Project(tmp_path, tmp_path)
    project.engines_file.write_text(ENGINES)
    project.prompts("one").mkdir(parents=True)
    (project.prompts("one") / "name-v1.0.md").touch()
    touched = touched_suites(project, change, ("one", "two"))
    assert {name: {*each.prompts, *each.answers, *each.reasons} for name, each in touched.items()} == {
        name: {what} for name, what in expected.items()
    }


def test_a_change_is_what_is_committed_uncommitted_and_new(repository: Project) -> None:
    base = git(repository, "rev-parse", "HEAD").strip()
    git(repository, "switch", "--quiet", "--create", "side")
    candidate(repository, RIGHT)
    engines = repository.root / "engines.yaml"
    before = engines.read_text()
    engines.write_text(before + "# a thought\n")
    commit(repository)
    git(repository, "switch", "--quiet", "main")
    (repository.root / "README.md").write_text("Elsewhere, later.\n")
    commit(repository)
    git(repository, "switch", "--quiet", "side")
    git(repository, "mv", "golden/toy/cases/sounds.jsonl", "golden/toy/cases/noises.jsonl")
    gates = repository.golden("toy") / "gates.yaml"
    gates.write_text(gates.read_text() + "# seen\n")
    (repository.root / "new é\n.txt").write_text("")
    (repository.state / "ignored").parent.mkdir(exist_ok=True)
    (repository.state / "ignored").write_text("")
    change = change_since(repository, "main")
    assert change.base == base
    assert {str(file) for file in change.files} == {
        f"prompts/toy/{CANDIDATE}.md",
        f"recorded/toy/{CANDIDATE}.jsonl",
        "engines.yaml",
        "golden/toy/cases/sounds.jsonl",
        "golden/toy/cases/noises.jsonl",
        "golden/toy/gates.yaml",
        "new é\n.txt",
    }
    engines.write_text(before)
    held_back = change_since(repository, "main")
    assert held_back.undone == {PurePosixPath("engines.yaml")}
    assert OTHER_ENGINES in touched_suites(repository, held_back, ("toy",))["toy"].reasons


def test_a_project_below_the_repository_counts_its_own_files_only(tmp_path: Path) -> None:
    outer, inner = Project(tmp_path, tmp_path), Project(tmp_path / "inner", tmp_path)
    inner.root.mkdir()
    git(outer, "init", "--quiet")
    (outer.root / "engines.yaml").write_text("1")
    (inner.root / "engines.yaml").write_text("1")
    commit(outer)
    (outer.root / "engines.yaml").write_text("2")
    (outer.root / "new").write_text("")
    assert change_since(inner, "HEAD").files == frozenset()
    (inner.root / "engines.yaml").write_text("2")
    assert change_since(inner, "HEAD").files == {PurePosixPath("engines.yaml")}


def test_histories_that_share_nothing_are_compared_as_they_are(repository: Project) -> None:
    git(repository, "checkout", "--quiet", "--orphan", "other")
    (repository.root / "README.md").write_text("New.\n")
    commit(repository)
    assert {str(file) for file in change_since(repository, "main").files} == {"README.md"}
    with pytest.raises(BadInput, match="'nowhere' is not a revision"):
        change_since(repository, "nowhere")


HOSTILE = 'x <img src=y onerror=z> ](http://e.vil) | `a` @all ]]> & "q" \x00\x1b[31m\ud800\ufffe\u202e'


def hostile() -> Iterator[Decision]:
    outputs = OutputsIdentity("decomposition", "v", "p", "i", HOSTILE, "m", "default", 1)
    identity = Identity(outputs, "g", "s")
    values = {name: MetricValue(0.5, (0.5,)) for name in (metric.name for metric in DECOMPOSITION.metrics)}
    gate = GateResult("overall_index", 0.5, "fail", "fail", "critical", HOSTILE)
    summary = Summary("decomposition", 1, 1, {}, values, {}, {}, (gate,))
    evaluation = Evaluation("e", identity, "now", summary, ())
    comparison = Comparison(
        "decomposition", HOSTILE, HOSTILE, (HOSTILE,), 1, (HOSTILE,), (), (), (), (), (), "regressed", "block"
    )
    failed = [FailedCheck("answered", HOSTILE, blocking=False)]
    standing = Standing(comparison)
    against = objections(evaluation, [standing], failed=failed)
    unsigned = FailedCheck("signed_off", HOSTILE, blocking=True)
    yield decide("prompt", evaluation, Standings((standing,)), against, unsigned=unsigned, unread_text=True)
    yield unusable("decomposition", HOSTILE, "prompt", [Problem(HOSTILE, 1, HOSTILE, HOSTILE, HOSTILE)])


def test_hostile_text_acts_nowhere() -> None:
    decisions = list(hostile())
    lines = [line_of(each, DECOMPOSITION) for each in decisions]
    markdown = to_markdown(lines, [])
    for active in ("<img", "](http", "`a`", "@all", "\x1b", "\x00", "\u202e", "http://e"):
        assert active not in markdown
    assert "\n| ✗ unusable | decomposition | x &lt;img" in markdown
    root = ElementTree.fromstring(to_junit(lines))
    messages = [str(each.get("message")) for each in root.iter() if each.tag in ("failure", "error")]
    assert len(messages) == 2
    for message in messages:
        assert "<img src=y onerror=z>" in message
        assert ']]> & "q" \ufffd\ufffd[31m\ufffd\ufffd' in message
    assert {each.get("failures") for each in root} == {"1"}
    assert {each.get("errors") for each in root} == {"1"}


@pytest.mark.parametrize("suite", ["grounded_qa", "review", "span_labeling"])
def test_a_suite_with_settings_or_tables_of_its_own_can_be_gated(suite: str, tmp_path: Path) -> None:
    """Those that no encoder is needed for: all of them are rehearsed."""
    project, file = copy_project(tmp_path / "project", suite), tmp_path / "gate.json"
    done = command(project, "gate", suite, "--json", file)
    assert done.returncode in (0, 1), done.stderr
    (line,) = json.loads(file.read_text())["versions"]
    assert line["state"] in ("pass", "warn", "approved", "block"), line["reasons"]
    assert line["report"]["suite"] == line["suite"] == suite
    assert line["report"].get("k") == (5 if suite == "grounded_qa" else None)


def test_every_shipped_suite_can_be_gated_and_pruned(house: House, tmp_path: Path) -> None:
    """All suites in one command, with every file that CI reads, and nothing that breaks in between.

    Their answers and what probes found are there already: a run of all looks at making them.
    """
    root = tmp_path / "project"
    shutil.copytree(house.project.root, root, symlinks=True)
    project = Project(root, root / ".eval")
    (project.root / ".gitignore").write_text(".eval/\n")
    git(project, "init", "--quiet")
    commit(project)
    for name in suite_names(project):
        with (project.golden(name) / "gates.yaml").open("a") as gates:
            gates.write("# seen\n")
    files = {name: tmp_path / f"gate.{name}" for name in ("markdown", "junit", "json")}
    options = [each for name, file in files.items() for each in (f"--{name}", file)]
    done = command(project, "gate", "--changed-since", "HEAD", *options)
    assert done.returncode in (0, 1), done.stderr
    versions = json.loads(files["json"].read_text())["versions"]
    assert {each["suite"] for each in versions} == set(suite_names(project))
    shown = "the change touches what it is judged by (gates.yaml): it is judged as of "
    assert all(any(shown in warning for warning in each["warnings"]) for each in versions)
    for each in versions:
        assert each["state"] in ("pass", "warn", "approved", "block"), each["reasons"]
        assert each["report"]["suite"] == each["suite"]
        assert each["suite"] in files["markdown"].read_text()
    grounded = next(each["report"] for each in versions if each["suite"] == "grounded_qa")
    assert grounded["k"] == 5
    junit = ElementTree.fromstring(files["junit"].read_bytes())
    assert {each.get("name") for each in junit.iter("testsuite")} == set(suite_names(project))
    prune_all(project, {each["suite"]: each["version"] for each in versions})


def prune_all(project: Project, versions: dict[str, str]) -> None:
    """An older evaluation of each version goes, unless a baseline or a proposal rests on its answers."""
    store = Store(project.state)
    older, needed = {}, set()
    for suite, version in versions.items():
        evaluation = store.evaluation(suite, version)
        assert evaluation is not None
        older[suite] = store.evaluations_folder(suite, version) / "older"
        shutil.copytree(older[suite].with_name(evaluation.id), older[suite])
        record = older[suite] / "evaluation.json"
        content = json.loads(record.read_text())
        record.write_text(json.dumps({**content, "id": "older", "created_at": "2020-01-01T00:00:00+00:00"}))
        baselines = read_baselines(project.golden(suite))
        needed |= {suite for each in baselines if each.identity.outputs == evaluation.identity.outputs}
        needed |= {suite for each in store.proposals(suite) if each.evaluation == evaluation.id}
    done = invoke(project, "prune", "--keep-last", "1")
    assert done.returncode == 0, done.stderr
    assert {suite for suite, folder in older.items() if folder.exists()} == needed
    assert needed < set(versions)
    assert all(store.report(suite, version) for suite, version in versions.items())


def second_suite(project: Project, more: str) -> Path:
    """A copy of the toy under another name, with more code at its end."""
    folder = project.root / "suites" / "second"
    shutil.copytree(project.root / "suites" / "toy", folder)
    code = folder / "__init__.py"
    code.write_text(code.read_text().replace('name="toy"', 'name="second"') + more)
    for name in ("golden", "prompts"):
        shutil.copytree(project.root / name / "toy", project.root / name / "second")
    for file in (project.prompts("second")).glob("*.md"):
        file.write_text(file.read_text().replace("suite: toy", "suite: second"))
    shutil.copytree(project.root / "recorded" / "toy", project.root / "recorded" / "second")
    return code


FAILING = """
from dataclasses import replace


def _fails(*given):
    raise RuntimeError("it fails")


"""
FORMULA = 'SUITE = replace(SUITE, metrics=(*SUITE.metrics, kit.Metric("odd", "Odd.", _fails)))\n'
REPORT_KEYS = "SUITE = replace(SUITE, reporting=replace(SUITE.reporting, report_keys=_fails))\n"


@pytest.mark.parametrize(
    ("more", "version", "reason"),
    [
        pytest.param(FAILING + FORMULA, ACTIVE, "formula of odd: RuntimeError: it fails", id="formula"),
        pytest.param(FAILING + REPORT_KEYS, ACTIVE, "RuntimeError: it fails", id="report"),
        pytest.param("raise RuntimeError('it fails')", "all versions", "RuntimeError: it fails", id="import"),
    ],
)
def test_a_suite_whose_code_fails_is_one_red_line(
    repository: Project, tmp_path: Path, more: str, version: str, reason: str
) -> None:
    """What the other suites came to is decided and written all the same."""
    code = second_suite(repository, more)
    line = 1 + next(number for number, text in enumerate(code.read_text().splitlines()) if "it fails" in text)
    files = {name: tmp_path / f"gate.{name}" for name in ("markdown", "junit", "json")}
    options = [each for name, file in files.items() for each in (f"--{name}", file)]
    done = command(repository, "gate", "second", "toy", *options)
    assert done.returncode == 2
    second, toy = json.loads(files["json"].read_text())["versions"]
    assert (toy["suite"], toy["state"]) == ("toy", "pass")
    assert (second["suite"], second["version"], second["state"]) == ("second", version, "unusable")
    assert f"suites/second/__init__.py:{line}: " in second["reasons"][0]
    assert reason in second["reasons"][0]
    assert "✗ unusable" in files["markdown"].read_text()
    assert b'name="second" tests="1" failures="0" errors="1"' in files["junit"].read_bytes()
    assert second["reasons"][0] in done.stderr


def gate_that_crashes(report: Path) -> None:
    crash = mock.Mock(side_effect=RuntimeError("an internal error"))
    with mock.patch("eval_pipeline.stages.scores.operation_results", crash):
        command_line("gate", "toy", "--json", str(report))


def test_a_defect_of_the_program_is_a_crash(repository: Project, tmp_path: Path) -> None:
    report, err = tmp_path / "gate.json", tmp_path / "err"
    assert ended(begin(repository, gate_that_crashes, report, err=err)) == 70
    (version,) = json.loads(report.read_text())["versions"]
    assert version["state"] == "crashed"
    assert "an internal error" in err.read_text()


def test_the_worst_version_decides() -> None:
    blocked, broken = hostile()
    assert blocked.state == "block"
    assert "only text changed" in blocked.reasons[-1]
    assert worst([]) == "pass"
    assert worst([blocked.state]) == "block"
    assert worst([broken.state, blocked.state]) == "unusable"
    assert unusable("toy", "v", "prompt", []).reasons == ("it could not be evaluated; see the run in the UI",)

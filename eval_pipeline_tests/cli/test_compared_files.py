"""`eval-pipeline compare A B`: two files of anybody's results, with the verdict of two versions."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from eval_pipeline.project import Project
from eval_pipeline_tests.conftest import REPOSITORY
from eval_pipeline_tests.results.files_of_results import FIXTURES, lines
from eval_pipeline_tests.running import baseline_outputs, invoke
from eval_pipeline_tests.test_imports import command_line, modules_after

FROZEN = json.loads((REPOSITORY / "eval_pipeline_tests" / "frozen.json").read_text())


def compare(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Compare in this process, from the folder of the fixtures and in a project that does not exist."""
    nowhere = Project(FIXTURES, FIXTURES / "no-state")
    return invoke(nowhere, "compare", *arguments)


PAIRS = [
    (("promptfoo_first.json", "promptfoo_second.json"), "score fell 38.1 points"),
    (("promptfoo_first.json", "promptfoo_second.json", "--metric", "right"), "right fell 58.3 points"),
    (("inspect_first.eval", "inspect_second.eval"), "includes fell 58.3 points"),
    (
        ("lm_eval_first.jsonl", "lm_eval_second.jsonl", "--metric", "exact_match,first-word"),
        "exact_match_first_word fell 50.0 points",
    ),
]


@pytest.mark.parametrize(("asked", "fell"), PAIRS, ids=str)
def test_results_of_other_programs_get_a_verdict(asked: tuple[str, ...], fell: str) -> None:
    done = compare(*asked)
    assert (done.returncode, done.stderr) == (1, "")
    assert f"regressed; block. {fell}" in done.stdout
    same = compare(asked[0], asked[0], *asked[2:])
    assert (same.returncode, same.stderr) == (0, "")
    assert "identical; proceed." in same.stdout
    better = compare(asked[1], asked[0], *asked[2:])
    assert better.returncode == 0
    assert "improved; proceed." in better.stdout


def test_the_screen_names_both_sides() -> None:
    before, after, *_ = compare("inspect_first.eval", "inspect_second.eval").stdout.splitlines()
    known = r"on Inspect \(mockllm/model\), 2 trials, evaluated 2026-\d\d-\d\d \d\d:\d\d UTC"
    assert re.fullmatch(f"Before: inspect_first.eval {known}", before)
    assert re.fullmatch(f"After:  inspect_second.eval {known}", after)


def test_json_has_the_keys_of_other_comparisons() -> None:
    done = compare("promptfoo_first.json", "promptfoo_second.json", "--json")
    assert done.returncode == 1
    report = json.loads(done.stdout)
    prefix = "evaluations[].comparisons[]."
    known = [path.removeprefix(prefix) for path in FROZEN["run --json"] if path.startswith(prefix)]
    assert set(report) == {re.split(r"[.\[]", path)[0] for path in known}
    assert report["headline"] == "score"
    assert report["examples"][0]["after"] == "error: failed 503 the endpoint is down"
    assert json.loads(report["examples"][0]["input"]) == {"country": "Iraq", "capital": "Baghdad"}


def test_one_of_several_evaluations_is_chosen_by_its_name() -> None:
    file = "promptfoo_four.json"
    asked = ("--before", "first · What", "--after", "second · What")
    worse = compare(file, file, *asked, "--metric", "brevity")
    assert (worse.returncode, worse.stderr) == (0, "")  # four cases prove nothing
    assert "brevity fell 36.0 points" in worse.stdout
    assert "over 4 cases × 2 trials." in worse.stdout
    unclear = compare(file, file, "--after", "second")
    assert unclear.returncode == 2
    assert "--after: 'second' names 2 of the evaluations in promptfoo_four.json." in unclear.stderr
    assert "--before: promptfoo_four.json holds 4 evaluations. Choose one: 'first · What" in unclear.stderr


def test_one_of_several_scores_is_chosen_by_its_name() -> None:
    files = ("inspect_scorers.eval", "inspect_scorers.json")
    unclear = compare(*files)
    assert (unclear.returncode, unclear.stdout) == (2, "")
    names = "'includes', 'style/words', 'style/capitalised', 'odd'"
    assert f"--metric: the files hold several scores. Choose one: {names}." in unclear.stderr
    assert compare(*files, "--metric", "style/words").returncode == 0
    assert "has no 'style'" in compare(*files, "--metric", "style").stderr


def test_own_outputs_and_exports_are_compared(tmp_path: Path) -> None:
    project = Project.find()
    outputs = baseline_outputs(project)
    exports = [tmp_path / "before.csv", tmp_path / "after.json"]
    for file in exports:
        asked = ("score", "decomposition", "--golden", project.golden("decomposition"), "--outputs", outputs)
        invoke(project, *asked, "--export", file)
    done = compare(*exports, "--metric", "concept_recall")
    assert (done.returncode, done.stderr) == (0, "")
    assert "identical; proceed. concept_recall is identical in every case over 15 cases" in done.stdout
    bare = compare(outputs, outputs)
    assert bare.returncode == 2
    assert "--metric: the files share no score." in bare.stderr


def test_a_table_and_lines_are_one_comparison(tmp_path: Path) -> None:
    table = tmp_path / "before.csv"
    rows = [f"t{number},{1 if number % 4 else 0}" for number in range(40)]
    table.write_text("\n".join(["ticket,correct", *rows]))
    after = lines(tmp_path / "after", ({"ticket": f"t{n}", "correct": n % 4 == 0} for n in range(40)))
    done = compare(table, after, "--id", "ticket", "--test", "mcnemar")
    assert done.returncode == 1
    assert "Note: The engine differs: CSV before, JSON Lines after." in done.stdout
    assert "correct fell 50.0 points" in done.stdout
    assert "mcnemar at alpha 0.05:" in done.stdout
    assert compare(table, after, "--id", "ticket", "--lower-is-better").returncode == 0


def test_too_little_in_common_stops(tmp_path: Path) -> None:
    before = lines(tmp_path / "a", ({"id": n, "score": 1} for n in range(20)))
    after = lines(tmp_path / "b", ({"id": n, "score": 1} for n in range(5, 20)))
    done = compare(before, after)
    assert done.returncode == 1
    assert "Cases that vanished (5): 0, 1, 2, 3, 4." in done.stdout
    assert "incomparable; needs approval." in done.stdout


def test_every_problem_of_both_files_is_named_at_once(tmp_path: Path) -> None:
    before = lines(tmp_path / "a", [{"id": 1, "score": "good"}, {"id": 1, "score": 1}])
    after = lines(tmp_path / "b", [{"id": 1, "score": 1}, {"id": 1, "score": 1}])
    done = compare(before, after, "--metric", "score")
    assert done.returncode == 2
    assert "is a text, not a number" in done.stderr
    assert done.stderr.count("is there twice in trial 1") == 2
    assert "3 problems; nothing was changed." in done.stderr


def test_the_number_of_arguments_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One is a suite, also where a file has its name; two are files."""
    monkeypatch.chdir(tmp_path)
    Path("decomposition").write_text("id,score\na,1\n")
    project = Project.find()
    missing = invoke(project, "compare", "decomposition", "nothing.json")
    assert missing.returncode == 2
    assert "decomposition is not a file" in missing.stderr  # from the project's folder
    assert "nothing.json is not a file. Name two files of results; versions of a suite" in missing.stderr
    both = tmp_path / "decomposition"
    assert "identical; proceed." in invoke(project, "compare", both, both).stdout
    nowhere = Project(tmp_path, tmp_path / "state")
    as_suite = invoke(nowhere, "compare", "decomposition", "--prompt", "x-v1.0")
    assert as_suite.returncode == 2
    assert "x-v1.0" in as_suite.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("decomposition", "--metric", "x"), "--metric: goes with two files of results. Leave it out."),
        (("decomposition", "--lower-is-better"), "--lower-is-better: goes with two files of results."),
        (("a", "b", "--prompt", "x"), "--prompt: goes with versions of a suite. Leave it out."),
        (("a", "b", "--against", "baseline"), "--against: goes with versions of a suite."),
    ],
)
def test_options_of_the_other_kind_are_refused(arguments: tuple[str, ...], message: str) -> None:
    done = compare(*arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_text_of_a_file_does_not_act_on_the_screen(tmp_path: Path) -> None:
    hostile = "\x1b[2J\x1b]0;owned\x07\u202eevil\nidentical; proceed."
    content: Any = json.loads((FIXTURES / "promptfoo_second.json").read_text())
    for each in content["results"]["results"]:
        each["testCase"]["description"] = hostile + each["vars"]["country"]
        each["provider"] = {"id": hostile, "label": hostile}
        each["namedScores"][hostile] = 0.5
    path = tmp_path / "a.json"
    path.write_text(json.dumps(content))
    for arguments in ((path, path), ("promptfoo_first.json", path), (path, path, "--metric", hostile)):
        done = compare(*arguments)
        shown = done.stdout + done.stderr
        assert not re.search("[\x1b\x07\u202e]", shown)
        assert shown.count("\nidentical; proceed.") <= 1  # the verdict's own line
        assert "Traceback" not in shown


@pytest.mark.parametrize("name", ["promptfoo_first.json", "inspect_first.eval", "lm_eval_first.jsonl"])
def test_a_file_that_is_cut_is_bad_input(tmp_path: Path, name: str) -> None:
    whole = (FIXTURES / name).read_bytes()
    path = tmp_path / name
    path.write_bytes(whole[: len(whole) // 2])
    done = compare(name, path)
    assert (done.returncode, done.stdout) == (2, "")
    assert name in done.stderr
    assert "Traceback" not in done.stderr


def test_neither_a_project_nor_dagster_is_needed(tmp_path: Path) -> None:
    """As a process of its own, in an empty folder, with an environment that names a project of nobody."""
    names = ["inspect_first.eval", "inspect_second.eval"]
    files = [str(shutil.copy(FIXTURES / name, tmp_path)) for name in names]
    program = f"import os; os.chdir({str(tmp_path)!r})\n{command_line('compare', *files, '--json')}"
    loaded = modules_after(program)
    assert "pyarrow" in loaded
    assert not {"dagster", "jinja2", "aiohttp", "sqlalchemy"} & loaded
    assert sorted(each.name for each in tmp_path.iterdir()) == names


MOST_MEMORY = 900 * 2**20

MEASURED = """
import re, sys
from pathlib import Path
from eval_pipeline.cli import main
sys.argv = ["eval-pipeline", "compare", *sys.argv[1:]]
try:
    main()
except SystemExit as ended:
    most = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())
    print(ended.code, int(most[1]) * 1024, file=sys.stderr)
"""
"""What getrusage says includes the process that started this one, which may be a large one."""


def test_a_hundred_thousand_rows_a_side_take_bounded_memory(tmp_path: Path) -> None:
    text = "x" * 300
    before = lines(
        tmp_path / "before",
        ({"id": f"case-{n}", "score": n % 2, "input": text, "output": text} for n in range(100_000)),
    )
    table = tmp_path / "after.csv"
    table.write_text("id,score\n" + "".join(f"case-{n},{n % 2}\n" for n in range(100_000)))
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, before, table],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ,
    )
    code, memory = map(int, done.stderr.split())
    assert code == 0
    assert "identical; proceed. score is identical in every case over 100,000 cases × 1 trial." in done.stdout
    assert memory < MOST_MEMORY

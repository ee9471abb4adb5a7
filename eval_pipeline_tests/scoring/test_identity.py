"""The identity of the shipped suites' code, on copies of the package that are edited."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from eval_pipeline.loading import load_suites, suite_names
from eval_pipeline.project import Project
from eval_pipeline.scoring import Code, engine_version, scorer_version
from eval_pipeline.scoring.closure import EVERYTHING, Closure, Reference
from eval_pipeline.scoring.identity import NOT_SCORING, PACKAGE, SCORING
from eval_pipeline.scoring.sources import Sources
from eval_pipeline_tests.conftest import REPOSITORY

SUITES = suite_names(Project(REPOSITORY, REPOSITORY / ".eval"))


@pytest.fixture(scope="module")
def before() -> Code:
    """The code as it is, read once."""
    return Code(REPOSITORY / PACKAGE)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / PACKAGE
    shutil.copytree(REPOSITORY / PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


ALL = set(SUITES)
EDITS: dict[str, tuple[str, str, str, set[str], set[str]]] = {
    "a formula next door": ("statistics/variation.py", "LEAST_TRIALS = 3", "LEAST_TRIALS = 4", {"review"},
                            set()),
    "wording for reports": ("suites/review/advice.py", "def advise(", "SPARE = 1\ndef advise(", set(), set()),
    "the heritage summary": ("orchestration/heritage_summary.py", "return ", "return not ", set(), set()),
    "what all scores go through": ("scoring/score.py", "BATCH = 500", "BATCH = 501", ALL, set()),
    "how answers are read": ("answers/parsing.py", "4 * 2**20", "5 * 2**20", ALL, set()),
    "the message of a gate": ("gates/result.py", "An undefined metric never passes.", "No.", set(), set()),
    "a table": ("suites/review/tables.py", "TABLES = {", "TABLES = {**{}, ", {"review"}, set()),
    "an engine": ("suites/decomposition/engine/__init__.py", "def decompose(", "@str\ndef decompose(", set(),
                  {"decomposition"}),
    "a declaration": ("suites/review/__init__.py", '"detection_rate"', '"precision"', {"review"}, set()),
    "a data file": ("language/data/pairs.tsv", "a", "b", {"heritage_qa", "heritage_rag", "suggestions"},
                    set()),
    "a word that an engine knows": ("suites/decomposition/engine/data/verb_statements.txt", " absorb ", " ",
                                    set(), {"decomposition"}),
    "a word that scoring knows": ("language/data/negations.txt", "|never|", "|",
                                  {"grounded_qa", "heritage_qa", "heritage_rag"},
                                  {"heritage_qa", "heritage_rag"}),
}  # fmt: skip


@pytest.mark.parametrize(("file", "old", "new", "scorers", "engines"), EDITS.values(), ids=EDITS)
def test_an_edit_changes_those_who_use_it(
    before: Code, package: Path, file: str, old: str, new: str, scorers: set[str], engines: set[str]
) -> None:
    text = (package / file).read_text()
    assert old in text
    (package / file).write_text(text.replace(old, new))
    after = Code(package)
    assert {suite for suite in SUITES if before.scorer(suite) != after.scorer(suite)} == scorers
    assert {suite for suite in SUITES if before.engine(suite) != after.engine(suite)} == engines


def test_a_comment_anywhere_changes_nobody(before: Code, package: Path) -> None:
    for file in package.rglob("*.py"):
        file.write_text(f"# A thought.\n{file.read_text()}\n# Another one.\n")
    after = Code(package)
    for suite in SUITES:
        assert before.scorer(suite) == after.scorer(suite)
        assert before.engine(suite) == after.engine(suite)
        assert before.golden(suite) == after.golden(suite)


def test_every_suite_has_its_own_identity() -> None:
    suites, _ = load_suites(Project(REPOSITORY, REPOSITORY / ".eval"), suite_names(Project.find()))
    identities = [identity for suite in suites for identity in (scorer_version(suite), engine_version(suite))]
    assert len(set(identities)) == 2 * len(suites) > 0


@pytest.mark.parametrize("suite", SUITES)
def test_every_declaration_can_be_read(suite: str) -> None:
    closure = Closure(Sources(((PACKAGE, REPOSITORY / PACKAGE),)))
    (declaration,) = closure.bound(Reference(f"{PACKAGE}.suites.{suite}", "SUITE"))
    parts = closure.declared(declaration, "Suite")
    assert parts is not None
    assert {"score", "metrics", "metric", "selects"} <= parts.keys() - set(NOT_SCORING)


def test_grouped_parts_count_one_by_one(tmp_path: Path) -> None:
    """Of what reports show, a table is part of the scorer and advice is not."""
    files = {
        "suite.py": "class Suite:\n    score: object = len\nclass Reporting: ...\nclass Case: ...\n",
        "suites/one/__init__.py": "from eval_pipeline.suite import Reporting, Suite\n"
        "def table(): return 1\n\ndef advise(): return 1\n\n"
        "SUITE = Suite(name='one', reporting=Reporting(tables={'a': table}, advice=advise))\n",
        "answers.py": "def parse(): ...\n",
        "scoring/__init__.py": "def score_cases(): ...\ndef case_results(): ...\n",
        "scoring/summary.py": "def measured(): ...\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    declaration = tmp_path / "suites/one/__init__.py"
    versions = []
    for name in ("", "advise", "table"):
        text = files["suites/one/__init__.py"]
        declaration.write_text(text.replace(f"{name}(): return 1", f"{name}(): return 2") if name else text)
        versions.append(Code(tmp_path).scorer("one"))
    assert versions[0] == versions[1] != versions[2]


@pytest.mark.parametrize("name", SCORING, ids=str)
def test_what_every_suite_uses_is_there(name: Reference) -> None:
    closure = Closure(Sources(((PACKAGE, REPOSITORY / PACKAGE),)))
    alone = closure.statements([name])
    assert 0 < len(alone) < len(closure.statements([Reference(name.module, EVERYTHING)]))

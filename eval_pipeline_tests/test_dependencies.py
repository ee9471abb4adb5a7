"""What is imported is declared, what is declared is used, and the locks hold versions and hashes alone."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from eval_pipeline_tests.conftest import REPOSITORY
from eval_pipeline_tests.trees import statements

PROJECT: dict[str, Any] = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
NOT_IMPORTED = {
    "dagster-postgres": "Dagster loads it for storage in PostgreSQL",
    "dagster-webserver": "`dagster dev` and `eval-pipeline demo` start it as a program",
    "psycopg": "SQLAlchemy loads it for the URL of a journal in PostgreSQL",
    "s3fs": "fsspec loads it for the URL of a store on S3",
    "threadpoolctl": "the sentence encoder keeps to one thread by it, and silently takes all without",
}
LOCKS = ("requirements.lock", "tests.lock", "local.lock")
PIN = re.compile(r"(?P<name>[a-z0-9-]+)==(?P<version>[^ ;\\]+)(?: ; (?P<marker>[^\\]+))? \\")
HASH = re.compile(r" {4}--hash=sha256:[0-9a-f]{64}( \\)?")


def names(requirements: list[str]) -> set[str]:
    return {canonicalize_name(Requirement(each).name) for each in requirements}


NEEDED = names(PROJECT["dependencies"])
OPTIONAL = names([each for extra, some in EXTRAS.items() if extra != "test" for each in some])


def imports_of(body: list[ast.stmt], *, inside: bool) -> Iterator[str]:
    """The first names of modules that are imported; `inside` functions and conditions as well."""
    for node in statements(body) if inside else body:
        if isinstance(node, ast.Import):
            yield from (each.name.partition(".")[0] for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


@cache
def imported(folder: Path, *, inside: bool) -> set[str]:
    """The modules of others that a package imports."""
    trees = (ast.parse(file.read_bytes()) for file in folder.rglob("*.py"))
    modules = {name for tree in trees for name in imports_of(tree.body, inside=inside)}
    return modules - set(sys.stdlib_module_names) - {folder.name}


@cache
def installed() -> Mapping[str, list[str]]:
    """The packages that each module comes from."""
    return packages_distributions()


def undeclared(modules: set[str], declared: set[str]) -> set[str]:
    """Modules that come from no declared package."""
    known = installed()
    return {
        module
        for module in modules
        if not declared & {canonicalize_name(each) for each in known.get(module, ())}
    }


def unused(modules: set[str], declared: set[str]) -> set[str]:
    """Declared packages that no module comes from."""
    known = installed()
    return declared - {canonicalize_name(each) for module in modules for each in known.get(module, ())}


PRODUCT = REPOSITORY / "eval_pipeline"


def local() -> set[str]:
    """What `make local` installs, where nobody ran it."""
    return {"xllamacpp"} - installed().keys()


def test_every_import_is_declared() -> None:
    assert undeclared(imported(PRODUCT, inside=True), NEEDED | OPTIONAL) == local()


def test_what_is_imported_at_once_is_no_extra() -> None:
    assert undeclared(imported(PRODUCT, inside=False), NEEDED) == set()


def test_everything_declared_is_used() -> None:
    assert unused(imported(PRODUCT, inside=True), NEEDED | OPTIONAL) == NOT_IMPORTED.keys() | local()


def test_an_import_that_is_not_declared_and_a_package_that_is_not_used_are_seen(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(
        "import os\nimport yaml.nodes\ndef f():\n    from pytest import raises\n"
    )
    assert imported(tmp_path, inside=True) == {"yaml", "pytest"}
    assert imported(tmp_path, inside=False) == {"yaml"}
    assert undeclared({"yaml", "pytest"}, {"pyyaml"}) == {"pytest"}
    assert unused({"yaml"}, {"pyyaml", "rich"}) == {"rich"}


def pins(lock: str) -> dict[str, tuple[Version, str]]:
    """The version of each package, and where it is wanted."""
    found = [match for line in (REPOSITORY / lock).read_text().split("\n") if (match := PIN.fullmatch(line))]
    return {each["name"]: (Version(each["version"]), each["marker"] or "") for each in found}


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_holds_versions_and_hashes_alone(lock: str) -> None:
    lines = (REPOSITORY / lock).read_text().rstrip("\n").split("\n")
    assert [line for line in lines if not PIN.fullmatch(line) and not HASH.fullmatch(line)] == []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        assert line.endswith("\\") == bool(HASH.fullmatch(following)), line  # no pin without a hash


def test_no_package_stands_in_two_locks() -> None:
    locked = [name for lock in LOCKS for name in pins(lock)]
    assert sorted(locked) == sorted(set(locked))


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
@pytest.mark.parametrize("extra", ["", *EXTRAS])
def test_the_locks_fit_what_is_declared(extra: str, python: str) -> None:
    running = pins("requirements.lock")
    everything = {**running, **pins("tests.lock"), **pins("local.lock")}
    known = running if extra in ("", "fast", "ui") else everything
    environment = {"python_version": python, "python_full_version": f"{python}.0", "sys_platform": "linux"}
    for each in map(Requirement, EXTRAS[extra] if extra else PROJECT["dependencies"]):
        version, marker = known[canonicalize_name(each.name)]
        assert version in each.specifier, f"{each}: locked is {version}; run make lock"
        assert not marker or Requirement(f"x; {marker}").marker.evaluate(environment)  # type: ignore[union-attr]


def test_the_lock_of_what_runs_holds_nothing_of_the_tests() -> None:
    of_tests = names(EXTRAS["test"]) - names(EXTRAS["ui"])
    assert pins("requirements.lock").keys() & of_tests <= {"packaging", "markdown-it-py"}  # others need these

"""The shape of the code: layers point one way, packages list their names, tests stand with their modules.

Imports are read from the syntax tree, those inside functions included.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from eval_pipeline_tests.conftest import REPOSITORY
from eval_pipeline_tests.trees import statements

PRODUCT = REPOSITORY / "eval_pipeline"
TESTS = REPOSITORY / "eval_pipeline_tests"

LAYERS = (
    ("secrets",),
    ("problems", "numbers", "processes", "terminal"),
    ("project",),
    ("own_code",),
    ("metrics", "statistics", "revisions"),
    ("language",),
    ("files",),
    ("answers",),
    ("suite",),
    ("golden", "prompts", "gates", "timetable", "workers"),
    ("declarative",),
    ("suites",),
    ("loading",),
    ("scoring",),
    ("starting",),
    ("importing",),
    ("comparison", "investigation"),
    ("results",),
    ("store",),
    ("engines",),
    ("asking",),
    ("monitoring",),
    ("stages",),
    ("improvement",),
    ("decisions",),
    ("reports",),
    ("orchestration", "checkup"),
    ("automation", "cli", "frames", "serving"),
    ("hosting",),
    ("definitions", "__main__", "__init__"),
)
"""Packages and modules from low to high: each imports only what stands in a row above its own."""

LEVELS = {name: level for level, names in enumerate(LAYERS) for name in names}

SUITES_MAY_IMPORT = {
    "answers",
    "declarative",
    "files",
    "golden",
    "language",
    "metrics",
    "numbers",
    "problems",
    "statistics",
    "suite",
}
"""What a suite may be made of."""

BY_MODULE = {"cli", "language", "metrics", "statistics", "suites"}
"""Packages whose modules are imported one by one; the others are imported through their `__init__`."""

LONGEST_FUNCTION = 60
"""Lines from `def` to the end, docstring included and decorators not."""
LONGEST_MODULE = 450

TOO_LONG: set[str] = set()
"""Functions and modules that are too long today. It only shrinks."""

OF_SEVERAL_MODULES = {
    "automation/test_daemon.py",
    "cli/test_commands.py",
    "cli/test_environment.py",
    "cli/test_paused.py",
    "declarative/test_documented.py",
    "engines/test_faults.py",
    "engines/test_kills.py",
    "engines/test_postgres.py",
    "monitoring/test_kills.py",
    "statistics/test_light.py",
    "statistics/test_simulation.py",
    "suites/grounded_qa/test_files.py",
    "suites/heritage_ner/test_formats.py",
    "suites/review/test_report.py",
    "test_cluster.py",
    "test_dependencies.py",
    "test_examples.py",
    "test_wheel.py",
    "test_frozen.py",
    "test_growth.py",
    "test_hostile.py",
    "test_imports.py",
    "test_isolation.py",
    "test_layers.py",
    "test_toy_suite.py",
    "test_all_versions.py",
    "test_one_evaluation.py",
    "test_outage.py",
    "test_own_task.py",
    "test_text_suite.py",
    "test_broken_suite.py",
    "test_ui.py",
    "test_soak.py",
    "test_workflows.py",
}
"""Tests of what several modules do together."""


class Import(NamedTuple):
    """A name that a module imports from another package; blank where it imports the module itself."""

    importer: Path
    module: str
    name: str

    @property
    def package(self) -> str:
        """The part of the product it comes from."""
        parts = self.module.split(".")
        return parts[1] if len(parts) > 1 else self.name

    def __str__(self) -> str:
        return (
            f"{self.importer.relative_to(REPOSITORY)} imports {self.name or self.module} from {self.module}"
        )


def part_of(file: Path) -> str:
    """The package or top module that a file belongs to."""
    return file.relative_to(PRODUCT).parts[0].removesuffix(".py")


def imports_in(file: Path, text: str) -> Iterator[Import]:
    """What a module imports of the product's other parts."""
    for node in statements(ast.parse(text).body):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "eval_pipeline":
            imports = [Import(file, node.module, each.name) for each in node.names]
        elif isinstance(node, ast.Import):
            modules = [each.name for each in node.names]
            imports = [Import(file, each, "") for each in modules if each.split(".")[0] == "eval_pipeline"]
        else:
            continue
        yield from (each for each in imports if each.package != part_of(file))


def climbing(imports: list[Import]) -> list[str]:
    """Imports of something that does not stand below the importer."""
    return [str(each) for each in imports if LEVELS[each.package] >= LEVELS[part_of(each.importer)]]


@cache
def all_imports() -> list[Import]:
    return [each for file in sorted(PRODUCT.rglob("*.py")) for each in imports_in(file, file.read_text())]


def cycles(imports: list[Import]) -> list[str]:
    """Packages that import themselves, over however many others."""
    above: dict[str, set[str]] = {}
    for each in imports:
        above.setdefault(part_of(each.importer), set()).add(each.package)

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            following = above.get(waiting.pop(), set()) - seen
            seen |= following
            waiting += following
        return seen

    return sorted(name for name in above if name in reached(name))


def test_every_part_has_a_layer() -> None:
    parts = {part_of(file) for file in PRODUCT.rglob("*.py")}
    assert parts == LEVELS.keys()


def test_layers_point_one_way() -> None:
    assert not climbing(all_imports())


def test_no_package_imports_itself_over_others() -> None:
    assert not cycles(all_imports())


def test_storage_knows_no_policy() -> None:
    policy = {"decisions", "stages", "asking", "engines", "reports", "orchestration", "automation", "cli"}
    assert not [
        str(each) for each in all_imports() if part_of(each.importer) == "store" and each.package in policy
    ]


def test_suites_import_the_kit_only() -> None:
    loader = PRODUCT / "suites" / "__init__.py"
    of_suites = [
        each for each in all_imports() if part_of(each.importer) == "suites" and each.importer != loader
    ]
    assert not [str(each) for each in of_suites if each.package not in SUITES_MAY_IMPORT]


def test_nothing_imports_the_definitions() -> None:
    assert not [str(each) for each in all_imports() if each.package == "definitions"]


@pytest.mark.parametrize(
    ("importer", "text", "climbs"),
    [
        ("store/history.py", "from eval_pipeline.scoring import Evaluation", False),
        ("store/history.py", "from eval_pipeline.decisions import objections", True),
        ("store/history.py", "def f():\n    import eval_pipeline.cli.run", True),
        ("store/history.py", "from eval_pipeline import reports", True),
        ("golden/readers.py", "from eval_pipeline.prompts import Prompt", True),
        ("store/history.py", "from eval_pipeline.store.tables import GoldenTable", False),
    ],
)
def test_an_import_that_climbs_is_seen(importer: str, text: str, climbs: bool) -> None:
    assert bool(climbing(list(imports_in(PRODUCT / importer, text)))) == climbs


def test_a_cycle_is_seen() -> None:
    def imported(importer: str, package: str) -> Import:
        return Import(PRODUCT / importer / "x.py", f"eval_pipeline.{package}", "y")

    chain = [imported("a", "b"), imported("b", "c"), imported("d", "a")]
    assert cycles(chain) == []
    assert cycles([*chain, imported("c", "a")]) == ["a", "b", "c"]


PACKAGES = sorted(file.parent.name for file in PRODUCT.glob("*/__init__.py"))


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_lists_names_that_exist(package: str) -> None:
    exported = importlib.import_module(f"eval_pipeline.{package}").__all__
    assert len(set(exported)) == len(exported)
    if package in BY_MODULE - {"cli", "suites"}:
        modules = {file.stem for file in (PRODUCT / package).glob("*.py")} - {"__init__"}
        assert set(exported) == modules
    else:
        module = importlib.import_module(f"eval_pipeline.{package}")
        assert [name for name in exported if not hasattr(module, name)] == []


def test_exported_names_are_imported_through_their_package() -> None:
    exports = {
        package: set(importlib.import_module(f"eval_pipeline.{package}").__all__)
        for package in PACKAGES
        if package not in BY_MODULE
    }
    around = [
        str(each)
        for each in all_imports()
        if each.module.count(".") > 1 and each.name in exports.get(each.package, ())
    ]
    assert not around


def test_a_modules_test_stands_where_its_name_says() -> None:
    astray = []
    for test in sorted(TESTS.rglob("test_*.py")):
        place = test.relative_to(TESTS)
        module = PRODUCT / place.with_name(place.name.removeprefix("test_"))
        exists = module.is_file() or module.with_suffix("").is_dir()
        if exists == (str(place) in OF_SEVERAL_MODULES):
            astray.append(str(place))
    assert not astray


NESTED = """
class A:
    async def f(self):
        async with a: import b1
        async for _ in a:
            while a: import b2
            else: import b3
        else:
            with a: import b4
        try:
            if a: import b5
            elif a: import b6
            else: import b7
        except A: import b8
        else: import b9
        finally:
            match a:
                case 1: import b10
                case _:
                    try: import b11
                    except* A:
                        for _ in a: import b12
                        else: import b13
"""


def test_statements_are_found_wherever_they_may_stand() -> None:
    body = ast.parse(NESTED).body
    found = [each for each in statements(body) if isinstance(each, ast.Import)]
    assert sorted(each.names[0].name for each in found) == sorted(f"b{number}" for number in range(1, 14))
    for file in PRODUCT.glob("cli/*.py"):
        tree = ast.parse(file.read_text())
        every = [ast.dump(each) for each in ast.walk(tree) if isinstance(each, ast.stmt)]
        assert sorted(every) == sorted(
            ast.dump(each) for each in statements(tree.body) if isinstance(each, ast.stmt)
        )


def long_functions(file: Path) -> Iterator[str]:
    for node in statements(ast.parse(file.read_text()).body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > LONGEST_FUNCTION:
                yield f"{file.relative_to(PRODUCT)}: {node.name}"


def test_functions_fit_on_a_screen_and_modules_have_one_subject() -> None:
    files = sorted(PRODUCT.rglob("*.py"))
    long = {each for file in files for each in long_functions(file)}
    long |= {
        str(file.relative_to(PRODUCT))
        for file in files
        if len(file.read_text().splitlines()) > LONGEST_MODULE
    }
    assert long == TOO_LONG

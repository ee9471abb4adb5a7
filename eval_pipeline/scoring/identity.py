"""What identifies the code that scores: everything that the numbers of a suite rest on, and nothing else."""

import sys
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from types import ModuleType

from eval_pipeline.declarative import DeclaredSuite
from eval_pipeline.scoring.closure import EVERYTHING, Closure, Reference
from eval_pipeline.scoring.sources import INIT, Sources, Statement, project_modules
from eval_pipeline.suite import Suite

PACKAGE = "eval_pipeline"
SUITES = f"{PACKAGE}.suites"

WORDING = ("description", "table_units", "confusions", "problems", "advice")
"""Parts of a suite that are words for people, and pictures. Tables are numbers."""
ASKING = ("embedded", "prepare", "prepared", "parameters", "variables", "requests_per_minute")
"""Parts that decide what is asked or how the embedded engine answers: answers have their own identity."""
GOLDEN = ("reader", "measure", "requirements", "probing")
"""Parts that read and check the golden set, which has its own identity, too."""
NOT_SCORING = (*WORDING, *ASKING, *GOLDEN)
"""Whatever else a suite has counts as part of its scorer."""
GROUPED = {"reporting": "Reporting"}
"""Parts that are groups of parts, and the class of each."""
ENGINE = ("embedded", "prepare", "parameters", "resources")
"""Parts that the embedded engine's answers come from."""
SCORING = (
    Reference(f"{PACKAGE}.answers", "parse"),
    Reference(f"{PACKAGE}.scoring", "score_cases"),
    Reference(f"{PACKAGE}.scoring", "case_results"),
    Reference(f"{PACKAGE}.scoring.summary", "measured"),
    Reference(f"{PACKAGE}.suite", "Case"),
)
"""What turns the cases and answers of every suite into numbers."""


class Code:
    """The code of this package and of further folders of suites, to be identified by what of it is used.

    `declared` gives the Python module that says what a suite.yaml says, by the suite's name; such a suite,
    and one of a project, may use the modules beside it.
    """

    def __init__(
        self,
        package: Path,
        *suites: Path,
        declared: Callable[[str], str | None] = lambda suite: None,
        project: Path | None = None,
    ) -> None:
        def text(module: str) -> str | None:
            parent, _, name = module.rpartition(".")
            return declared(name) if parent == SUITES else None

        shipped = ((PACKAGE, package), *((SUITES, folder) for folder in suites))
        self._own = [folder for folder in suites if folder != package / "suites"]
        self._text = text
        roots = dict.fromkeys([*(folder.parent for folder in self._own), *([project] if project else [])])
        beside = [each for root in roots for each in project_modules(root, PACKAGE)]
        self._shipped = Closure(Sources(shipped))
        self._with_project = Closure(Sources((*shipped, *beside), text))

    def _closure_of(self, suite: str) -> Closure:
        """A suite of a project may use what lies beside its folder; no file there changes what others are."""
        own = any((folder / suite).is_dir() for folder in self._own) or self._text(f"{SUITES}.{suite}")
        return self._with_project if own else self._shipped

    def scorer(self, suite: str) -> str:
        """The hash of what scores a suite."""
        return self._closure_of(suite).hash(
            [*SCORING, *self._declared(suite, lambda name: name not in NOT_SCORING)]
        )

    def prober(self, suite: str) -> str:
        """The hash of what probes a suite, its scorer included."""
        parts = self._declared(suite, lambda name: name == "probing" or name not in NOT_SCORING)
        return self._closure_of(suite).hash(
            [*SCORING, Reference(f"{PACKAGE}.scoring", "probe_suite"), *parts]
        )

    def engine(self, suite: str) -> str:
        """The hash of a suite's embedded engine."""
        return self._closure_of(suite).hash(self._declared(suite, ENGINE.__contains__))

    def golden(self, suite: str) -> str:
        """The hash of what reads and checks a suite's golden set."""
        return self._closure_of(suite).hash(self._declared(suite, GOLDEN.__contains__))

    def files(self, suite: str) -> set[Path]:
        """The files that hold what scores a suite and what reads its golden set."""
        parts = self._declared(suite, lambda name: name in GOLDEN or name not in NOT_SCORING)
        return {each.module.file for each in self._closure_of(suite).statements([*SCORING, *parts])}

    def shared(self, *names: Reference) -> str:
        """The hash of code that belongs to no suite."""
        return self._shipped.hash(names)

    def _declared(self, suite: str, counts: Callable[[str], bool]) -> list[Reference | Statement]:
        """Some parts of what a suite is declared with; its whole module where that cannot be read."""
        module, closure = f"{SUITES}.{suite}", self._closure_of(suite)
        bound = closure.bound(Reference(module, "SUITE"))
        parts = closure.declared(bound[0], "Suite") if len(bound) == 1 else None
        if parts is None:
            return [Reference(module, EVERYTHING)]
        for group, class_name in GROUPED.items():
            if group in parts and (members := closure.declared(parts[group], class_name)):
                parts = {name: part for name, part in parts.items() if name != group} | members
        return [part for name, part in parts.items() if counts(name)]


def scorer_version(suite: Suite) -> str:
    """The hash of the code that scores a suite, as this process runs it."""
    return _scorer(_folders(), suite.name, *_declared(suite))


def prober_version(suite: Suite) -> str:
    """The hash of the code that probes a suite, as this process runs it."""
    return _prober(_folders(), suite.name, *_declared(suite))


def engine_version(suite: Suite) -> str:
    """The hash of the code of a suite's embedded engine, as this process runs it."""
    return _engine(_folders(), suite.name, *_declared(suite))


def function_version(root: Path, module: ModuleType, name: str) -> str:
    """The hash of a function and of what it uses in a project, in its own package and in this one.

    What it uses of other libraries does not count. Raises `MissingCode` where there is no source to read.
    """
    package, *suites = _folders()
    top = module.__name__.partition(".")[0]
    file = getattr(sys.modules.get(top), "__file__", None)
    place = Path(file) if file else root / top
    own = (top, place.parent if place.name == INIT else place.with_suffix(""))
    held = ((PACKAGE, package), *((SUITES, folder) for folder in suites))
    sources = Sources((*held, *(() if top == PACKAGE else (own,)), *project_modules(root, PACKAGE, top)))
    return Closure(sources).hash([Reference(module.__name__, name)])


def _folders() -> tuple[Path, ...]:
    """Where this process takes its code from, suites of projects included."""
    suites = sys.modules.get(SUITES)
    return Path(__file__).parent.parent, *map(Path, suites.__path__ if suites else ())


def _declared(suite: Suite) -> tuple[str, Path | None]:
    """The module that a declared suite is made from, and its project; nothing for any other."""
    return (suite.source, suite.root) if isinstance(suite, DeclaredSuite) else ("", None)


@lru_cache(maxsize=8)
def _code(folders: tuple[Path, ...], source: str = "", project: Path | None = None) -> Code:
    return (
        Code(*folders, declared=lambda suite: source or None, project=project) if source else Code(*folders)
    )


@cache
def _scorer(folders: tuple[Path, ...], suite: str, source: str, project: Path | None) -> str:
    return _code(folders, source, project).scorer(suite)


@cache
def _prober(folders: tuple[Path, ...], suite: str, source: str, project: Path | None) -> str:
    return _code(folders, source, project).prober(suite)


@cache
def _engine(folders: tuple[Path, ...], suite: str, source: str, project: Path | None) -> str:
    return _code(folders, source, project).engine(suite)

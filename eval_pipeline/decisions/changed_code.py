"""Which suites' numbers come from other code than at a commit."""

from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from eval_pipeline.declarative import SUITE_FILE, module_in
from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline.revisions import all_files_at, extract
from eval_pipeline.scoring import EVERYTHING, PACKAGE, Code, MissingCode, Reference, project_modules

EVALUATION = (Reference(f"{PACKAGE}.stages", EVERYTHING), Reference(f"{PACKAGE}.decisions", "objections"))
"""What every evaluation goes through, from the golden set to what blocks."""
SCORING, ENGINE, GOLDEN, EVALUATING = "scoring code", "engine code", "golden set code", "evaluation code"
MEASURING = frozenset((SCORING, GOLDEN, EVALUATING))
"""Code that numbers come from, whatever is measured; an engine's code is what is measured."""


def changed_code(project: Project, commit: str, suites: Iterable[str]) -> dict[str, set[str]]:
    """What of the code behind each suite differs from a commit. Comments and unused code do not count."""
    with TemporaryDirectory() as folder:
        base = Path(folder)
        suites = list(suites)
        declared = [suite for suite in suites if (project.golden(suite) / SUITE_FILE).is_file()]
        beside = _beside(project, commit) if uses_own_code(project, suites) else set()
        golden = [f"golden/{suite}" for suite in declared]
        for name in {PACKAGE, project.own_suites.name, *beside, *golden}:
            extract(project, commit, base, name)
        before, now = _code(project, base), _code(project, project.root)
        same = not _held(project) or _same(before, now, lambda code: code.shared(*EVALUATION))
        everywhere = set() if same else {EVALUATING}
        return {suite: everywhere | _changed(before, now, suite) for suite in suites}


def uses_own_code(project: Project, suites: Iterable[str]) -> bool:
    """Whether suites may use what lies beside them: those that are a project's own, or declared."""
    return project.own_suites.is_dir() or any(
        (project.golden(each) / SUITE_FILE).is_file() for each in suites
    )


def _beside(project: Project, commit: str) -> set[str]:
    """The files and folders of the project that hold code now, or did at a commit."""
    now = [path for _, path in project_modules(project.root, PACKAGE)]
    before = {file.parts[0] for file in all_files_at(project, commit) if file.suffix == ".py"}
    return before | {path.name if path.is_dir() else f"{path.name}.py" for path in now}


def code_of_measure(project: Project, tree: Path, suites: Iterable[str]) -> set[PurePosixPath] | None:
    """The files in a tree of a project that hold what scores suites; None where that cannot be told."""
    code = _code(project, tree)
    try:
        files = {file for suite in suites for file in code.files(suite)}
    except (MissingCode, BadInput, SyntaxError, ValueError, OSError):
        return None
    return {PurePosixPath(file.relative_to(tree)) for file in files if file.is_relative_to(tree)}


def _changed(before: Code, now: Code, suite: str) -> set[str]:
    parts: dict[str, Callable[[Code], str]] = {
        SCORING: lambda code: code.scorer(suite),
        ENGINE: lambda code: code.engine(suite),
        GOLDEN: lambda code: code.golden(suite),
    }
    return {reason for reason, part in parts.items() if not _same(before, now, part)}


def _same(before: Code, now: Code, part: Callable[[Code], str]) -> bool:
    """Whether some code is the same; it is not where either cannot be read, such as a suite that is new."""
    try:
        return part(before) == part(now)
    except (MissingCode, BadInput, SyntaxError, ValueError, OSError):
        return False


def _held(project: Project) -> bool:
    """Whether the package is part of the project; in any other one it is what is installed."""
    return (project.root / PACKAGE / "suites").is_dir()


def _code(project: Project, tree: Path) -> Code:
    """The code of a project in a tree. A project without the package uses the one that runs."""
    held = _held(project)
    package = tree / PACKAGE if held else Path(__file__).parent.parent

    def declared(suite: str) -> str | None:
        folder = tree / project.golden(suite).relative_to(project.root)
        return module_in(folder) if (folder / SUITE_FILE).is_file() else None

    own = None if held else tree
    return Code(package, tree / project.own_suites.relative_to(project.root), declared=declared, project=own)

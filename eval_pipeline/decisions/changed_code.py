"""Which suites' numbers come from other code than at a commit."""

from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from eval_pipeline.declarative import SUITE_FILE, module_in
from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline.revisions import extract
from eval_pipeline.scoring import EVERYTHING, PACKAGE, Code, MissingCode, Reference, project_modules

EVALUATION = (Reference(f"{PACKAGE}.stages", EVERYTHING), Reference(f"{PACKAGE}.decisions", "objections"))
"""What every evaluation goes through, from the golden set to what blocks."""


def changed_code(project: Project, commit: str, suites: Iterable[str]) -> dict[str, set[str]]:
    """What of the code behind each suite differs from a commit. Comments and unused code do not count."""
    with TemporaryDirectory() as folder:
        base = Path(folder)
        suites = list(suites)
        declared = [suite for suite in suites if (project.golden(suite) / SUITE_FILE).is_file()]
        own = declared or project.own_suites.is_dir()  # such suites may use what lies beside them
        beside = [path for _, path in project_modules(project.root, PACKAGE)] if own else []
        files = [path.name if path.is_dir() else f"{path.name}.py" for path in beside]
        golden = [f"golden/{suite}" for suite in declared]
        for name in {PACKAGE, project.own_suites.name, *files, *golden}:
            extract(project, commit, base, name)
        before, now = _code(project, base), _code(project, project.root)
        same = not _held(project) or _same(before, now, lambda code: code.shared(*EVALUATION))
        everywhere = set() if same else {"evaluation code"}
        return {suite: everywhere | _changed(before, now, suite) for suite in suites}


def _changed(before: Code, now: Code, suite: str) -> set[str]:
    parts: dict[str, Callable[[Code], str]] = {
        "scoring code": lambda code: code.scorer(suite),
        "engine code": lambda code: code.engine(suite),
        "golden set code": lambda code: code.golden(suite),
    }
    return {reason for reason, part in parts.items() if not _same(before, now, part)}


def _same(before: Code, now: Code, part: Callable[[Code], str]) -> bool:
    """Whether some code is the same; it is not where either cannot be read, such as a suite that is new."""
    try:
        return part(before) == part(now)
    except (MissingCode, BadInput, SyntaxError, ValueError, OSError):
        return False


def _code(project: Project, tree: Path) -> Code:
    """The code of a project in a tree. A project without the package uses the one that runs."""
    held = _held(project)
    package = tree / PACKAGE if held else Path(__file__).parent.parent

    def declared(suite: str) -> str | None:
        folder = tree / project.golden(suite).relative_to(project.root)
        return module_in(folder) if (folder / SUITE_FILE).is_file() else None

    own = None if held else tree
    return Code(package, tree / project.own_suites.relative_to(project.root), declared=declared, project=own)


def _held(project: Project) -> bool:
    """Whether a project has the package in it, so that a change may touch it."""
    return (project.root / PACKAGE / "suites").is_dir()

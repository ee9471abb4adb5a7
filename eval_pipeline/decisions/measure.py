"""What a change does to its own measure: suite.yaml, gates, settings, the code that scores, the engines."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from eval_pipeline.decisions.changed_code import MEASURING
from eval_pipeline.decisions.rules import RULES, engines_at, rules_at
from eval_pipeline.decisions.touched import (
    FOLDER,
    SUITES,
    Change,
    Touched,
    change_since,
    may_be_code,
    touched_suites,
)
from eval_pipeline.declarative import SUITE_FILE
from eval_pipeline.engines import changed_engines
from eval_pipeline.files import content_hash, files_hash
from eval_pipeline.gates import GATES_FILE, same_gates
from eval_pipeline.golden import JUDGE_FILE
from eval_pipeline.loading import shipped_names, suite_names
from eval_pipeline.project import MARKER, Project
from eval_pipeline.prompts import versions_in
from eval_pipeline.revisions import HEAD, SHORT_COMMIT, all_files_at, blob_at
from eval_pipeline.scoring import PACKAGE, SETTINGS_FILE

NEW = "the suite is new"
PARTS = (SUITE_FILE, GATES_FILE, SETTINGS_FILE, JUDGE_FILE)
"""Files of a golden folder that say how its suite is measured."""
RULED = frozenset(RULES) - {GATES_FILE}
"""What of a golden folder is somebody's word: a change's own never counts, and is no measure."""


@dataclass(frozen=True)
class TouchedMeasure:
    """What a change does to the measure of a suite."""

    suite: str
    base: str
    parts: tuple[str, ...]
    """What differs, in words; never empty."""
    engines: tuple[str, ...]
    """The engines that differ."""
    key: str
    """Every file of the measure before and after: what an approval is bound to."""
    elsewhere: bool
    """Whether the program that measures is not the project's own, and so not part of the change."""

    @property
    def is_new(self) -> bool:
        """Whether the base has nothing to measure the suite with."""
        return NEW in self.parts

    @property
    def needs_tree(self) -> bool:
        """Whether more than gates differs, so that the base's measure has to be had from its own files."""
        return not self.is_new and any(part != GATES_FILE for part in self.parts)

    @property
    def has_own(self) -> bool:
        """Whether there is another measure to show; engines of a change are never asked."""
        shown = [part for part in self.parts if not (self.elsewhere and part in MEASURING)]
        return not self.is_new and bool(shown)

    @property
    def text(self) -> str:
        """What an approval is needed for."""
        base = self.base[:SHORT_COMMIT]
        if self.is_new:
            return f"{self._said}: nothing of {base} measures it, and it needs an approval"
        lacking = "; its own is not run here" if self.parts and not self.has_own else ""
        return f"{self._said}: it is measured as of {base}{lacking}, and needs an approval"

    @property
    def accepted(self) -> str:
        """What is said where somebody accepted it."""
        return f"{self._said}, and is measured by that"

    @property
    def _said(self) -> str:
        engines = [f"{MARKER}: {', '.join(self.engines)}"] if self.engines else []
        return f"the change touches its own measure ({', '.join([*self.parts, *engines])})"


def touched_measures(
    project: Project, judged: Project, change: Change, touched: Mapping[str, Touched]
) -> dict[str, TouchedMeasure]:
    """The suites whose measure a change touches; `judged` is the project with the rules of the base."""
    engines = _engines(project, judged, change)
    before = suites_at(project, change.base)
    found = {}
    for suite, what in touched.items():
        parts = _parts(project, judged, change, suite, what) if suite in before else [NEW]
        if parts or engines:
            key = _key(project, change, suite, code=bool(set(parts) & MEASURING))
            elsewhere = not Path(__file__).is_relative_to(project.root.resolve())
            held = (project.root / PACKAGE / SUITES).is_dir()
            found[suite] = TouchedMeasure(
                suite, change.base, tuple(parts), tuple(engines), key, held and elsewhere
            )
    return found


def _engines(project: Project, judged: Project, change: Change) -> list[str]:
    """The engines that differ from the base's, also where its file was put in the place of the change's."""
    if PurePosixPath(MARKER) not in change.undone:
        return changed_engines(judged.engines_file, project.engines_file)
    with engines_at(project, HEAD) as committed:
        return changed_engines(judged.engines_file, committed.engines_file)


def touched_measure(project: Project, suite: str, revision: str) -> TouchedMeasure | None:
    """What a change since a revision does to the measure of one suite; None where it does nothing."""
    change = change_since(project, revision)
    touched = touched_suites(project, change, [suite])
    with rules_at(project, change.base) as judged:
        return touched_measures(project, judged, change, touched).get(suite)


def _parts(project: Project, judged: Project, change: Change, suite: str, touched: Touched) -> list[str]:
    golden = PurePosixPath("golden") / suite
    named = [name for name in PARTS if golden / name in change.files]
    code = sorted(touched.reasons & MEASURING)
    if SUITE_FILE in named and not code:  # a comment, or a description
        named.remove(SUITE_FILE)
    if GATES_FILE in named and same_gates(
        judged.rules(suite) / GATES_FILE, project.golden(suite) / GATES_FILE
    ):
        named.remove(GATES_FILE)
    return named + code + sorted(touched.reasons & {FOLDER})


def _key(project: Project, change: Change, suite: str, code: bool) -> str:
    """The files of a measure that differ, as they were and as they are."""

    def counts(file: PurePosixPath) -> bool:
        parts = file.parts
        if parts[0] == "golden":
            return parts[1:2] == (suite,) and parts[2:3] not in {(name,) for name in RULED}
        return str(file) == MARKER or (code and may_be_code(project, file))

    files = sorted(filter(counts, change.files))
    return content_hash(
        [
            suite,
            *((str(file), blob_at(project, change.base, file), _now(project.root / file)) for file in files),
        ]
    )


def _now(path: Path) -> str:
    """What identifies the content of a file; blank where it is gone."""
    if path.is_symlink():
        return f"to {path.readlink()}"
    return files_hash([path]) if path.is_file() else ""


def suites_at(project: Project, commit: str) -> set[str]:
    """The names of the suites that a project had at a commit."""
    held = f"{PACKAGE}/{SUITES}"
    declared, own, shipped, data = set(), set(), set(shipped_names()), set()
    for file in all_files_at(project, commit, "golden", "prompts", SUITES, held):
        match file.parts:
            case ("golden", name, *rest):
                data.add(name)
                if rest == [SUITE_FILE]:
                    declared.add(name)
            case ("prompts", name, _, *_):
                data.add(name)
            case (folder, name, "__init__.py") if folder == SUITES and not name.startswith("_"):
                own.add(name)
            case (_, _, name, "__init__.py"):
                shipped.add(name)
    return declared | own | (shipped & data)


def lost_suites(project: Project, commit: str) -> list[str]:
    """The suites that a project had at a commit and has no more."""
    return sorted(suites_at(project, commit) - set(suite_names(project)))


def stray_prompts(project: Project) -> list[Path]:
    """Folders with versions of prompts for a suite that is not there: they would never be looked at."""
    folders: Iterable[Path] = (project.root / "prompts").glob("*/")
    known = set(suite_names(project))
    return sorted(each for each in folders if each.name not in known and versions_in(each))

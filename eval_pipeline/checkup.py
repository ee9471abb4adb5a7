"""What a project lacks, or has wrong, before a run would say so: for `eval-pipeline doctor`."""

from __future__ import annotations

import importlib.util
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import yaml

from eval_pipeline.engines import EnginesFile, MeteredEntry, read_engines, readiness
from eval_pipeline.files import is_there
from eval_pipeline.gates import GATES_FILE, Gate, read_gates
from eval_pipeline.golden import GoldenSet
from eval_pipeline.loading import all_suites, load_suites
from eval_pipeline.monitoring import check_production
from eval_pipeline.numbers import bare, counted, number
from eval_pipeline.problems import BadInput, Problems, shown_path
from eval_pipeline.project import MARKER, STATE_VARIABLE, Project
from eval_pipeline.prompts import active_versions, load_prompt
from eval_pipeline.statistics.power import POWER, cases_needed, detectable
from eval_pipeline.store import History, read_baseline, shared_database, shared_files
from eval_pipeline.suite import Suite
from eval_pipeline.timetable import check_automation

INSTANCE_FILE = "dagster.yaml"
COMPONENT_FILE, COMPONENT = "defs.yaml", "EvalSuiteComponent"
DROP = 0.05
"""A drop that a golden set ought to show, where its gates name none."""
ALPHA = 0.05
FEW = 3

HELPFUL = (
    (
        ("concurrency", "runs", "tag_concurrency_limits"),
        "two evaluations of one version may run at once",
        "concurrency: {runs: {tag_concurrency_limits: [{key: eval_pipeline/evaluation, "
        "value: {applyLimitPerUniqueValue: true}, limit: 1}]}}",
    ),
    (
        ("run_monitoring", "enabled"),
        "a run whose process was killed seems to go on for ever",
        "run_monitoring: {enabled: true, free_slots_after_run_end_seconds: 60}",
    ),
)
"""Settings of an instance: where they stand, what happens without them, and what to write."""

Level = Literal["fine", "note", "warning", "broken"]


class Finding(NamedTuple):
    """One thing that was looked at."""

    level: Level
    text: str


def examine(project: Project, call: bool) -> Iterator[Finding]:
    """Everything that can be known without a run; with `call`, whether engines answer one small question."""
    yield from _state(project)
    yield from _shared(project)
    yield from _dagster(project)
    yield from _broken(lambda problems: check_automation(project, problems))
    yield from _broken(lambda problems: check_production(project, problems))
    if not is_there(project.engines_file) and (hosted := [*_components(project.root)]):
        yield from hosted
        return
    problems = Problems()
    engines = read_engines(project.engines_file, problems)
    yield from (Finding("broken", str(each)) for each in problems)
    try:
        suites, broken = load_suites(project, all_suites(project))
    except BadInput as bad:
        yield from (Finding("broken", str(each)) for each in bad.problems)
        return
    yield from (Finding("broken", str(each)) for several in broken.values() for each in several)
    for suite in suites:
        yield from _suite(project, suite)
    if engines and suites:
        yield from _engines(project, suites, engines, call)


def _broken(read: Any) -> Iterator[Finding]:
    problems = Problems()
    read(problems)
    yield from (Finding("broken", str(each)) for each in problems)


def _state(project: Project) -> Iterator[Finding]:
    """Whether the state folder, or what it would be made in, can be written to."""
    folder = project.state
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            yield Finding("fine", f"state folder: {shown_path(project.state)} can be written to")
    except OSError as error:
        said = f"state folder: {shown_path(project.state)} cannot be written to: {error.strerror}"
        yield Finding("broken", f"{said}. Mend it, or let {STATE_VARIABLE} name another one.")


def _shared(project: Project) -> Iterator[Finding]:
    """Whether the database and the store that machines share can be used."""
    try:
        if url := shared_database():
            History(url).__exit__()
            yield Finding("fine", "database: the one that machines share can be used")
        if shared := shared_files(project.state):
            kept = "in it" if shared.keeps_pointers else "in the database"
            yield Finding("fine", f"store: the one that machines share can be used, with pointers {kept}")
    except BadInput as bad:
        yield from (Finding("broken", str(each)) for each in bad.problems)


def _dagster(project: Project) -> Iterator[Finding]:
    """What Dagster's UI needs, and what it does unasked."""
    if importlib.util.find_spec("dagster_webserver") is None:
        yield Finding(
            "note", "Dagster: without dagster-webserver no UI. Run: pip install 'eval-pipeline[ui]'."
        )
    file = next(
        (path for folder in (project.state, project.root) if (path := folder / INSTANCE_FILE).is_file()), None
    )
    try:
        settings = yaml.safe_load(file.read_bytes()) if file else {}
    except yaml.YAMLError as error:
        yield Finding(
            "broken", f"{shown_path(file or '')}: is not valid YAML: {' '.join(str(error).split())}"
        )
        return
    settings = settings if isinstance(settings, dict) else {}
    for name, unwanted in (("telemetry", "sends statistics to its makers"), ("nux", "opens with a pop-up")):
        if (settings.get(name) or {}).get("enabled", True):
            remedy = f"Write to {INSTANCE_FILE}: {name}: {{enabled: false}}."
            yield Finding("warning", f"Dagster: it {unwanted}. {remedy}")
    yield from _instance(settings)
    if not os.environ.get(STATE_VARIABLE) and not _names_home(project.root / ".env"):
        remedy = f"Write to .env: {STATE_VARIABLE}={project.state}."
        yield Finding("note", f"Dagster: plain `dagster dev` would forget its runs. {remedy}")


def _instance(settings: Mapping[str, Any]) -> Iterator[Finding]:
    """Which settings of an instance would help evaluations; none of them has to be there."""
    for path, effect, remedy in HELPFUL:
        value: Any = settings
        for name in path:
            value = value.get(name) if isinstance(value, Mapping) else None
        if not value:
            yield Finding("note", f"Dagster: {effect}. Write to {INSTANCE_FILE}: {remedy}.")


def _components(root: Path) -> Iterator[Finding]:
    """The components of somebody else's project, each of which is looked at where it lies."""
    if not (root / "pyproject.toml").is_file():
        return
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if not name.startswith("."))  # no environments
        file = Path(folder, COMPONENT_FILE)
        if file.name in files and COMPONENT in file.read_text(errors="replace"):
            remedy = f"For its suite, run in {shown_path(folder)}: eval-pipeline doctor."
            yield Finding("note", f"{shown_path(file)}: a component of this project. {remedy}")


def _names_home(file: Path) -> bool:
    text = file.read_text(errors="replace") if file.is_file() else ""
    return any(line.startswith(f"{STATE_VARIABLE}=") for line in text.splitlines())


def _suite(project: Project, suite: Suite) -> Iterator[Finding]:
    """Whether a suite's cases, gates and prompts can be used, and what they are good for."""
    folder, problems = project.golden(suite.name), Problems()
    golden = GoldenSet(suite, folder, problems)
    for _ in golden.read():
        pass
    gates = read_gates(suite, folder / GATES_FILE, problems)
    versions: list[str] = []
    try:
        versions = active_versions(suite, project.prompts(suite.name))
        for version in versions:
            load_prompt(suite, project.prompts(suite.name), version, problems)
    except BadInput as bad:
        problems.include(bad)
    if len(problems):
        yield from (Finding("broken", str(each)) for each in problems)
        return
    yield Finding(*_size(suite, len(golden), gates))
    unsigned = golden.unsigned_changes()
    if unsigned:
        said = ", ".join(unsigned.changes[:FEW])
        remedy = f"Once it is reviewed, run: eval-pipeline golden freeze {suite.name} --reason …"
        yield Finding("warning", f"{suite.name}: golden set: {said}. {remedy}")
    if not versions:
        yield Finding("warning", f"{suite.name}: no prompt version is active. Let one say: status: active.")
    for version in versions:
        yield from _baseline(suite, folder, version)


def _size(suite: Suite, cases: int, gates: dict[str, Gate]) -> Finding:
    """Which drop a golden set could show, counted in cases that passed and fail now.

    If these are a share d of n cases and none gets better, the mean of the differences is d and their
    variance d − d²; it shows where d ≥ k · √((d − d²) ÷ n), that is d = k² ÷ (n + k²).
    """
    gate = gates.get(suite.headline)
    wanted = gate.regression.block if gate and gate.regression else DROP
    if cases < FEW:
        return Finding(
            "warning", f"{suite.name}: {counted(cases, 'case')} can show no drop at all. Add cases."
        )
    errors = float(detectable(cases - 1, ALPHA, POWER))
    drop = errors**2 / (cases + errors**2)
    said = f"{suite.name}: {counted(cases, 'case')} show it where {_points(drop)} of them fail that passed"
    if drop <= wanted or not 0 < wanted < 1:
        return Finding("fine", said)
    needed = int(cases_needed((wanted - wanted**2) ** 0.5, wanted, alpha=ALPHA))
    return Finding("warning", f"{said}; for {_points(wanted)} it takes {needed:,}")


def _points(drop: float) -> str:
    return f"{bare(drop)} %"


def _baseline(suite: Suite, folder: Path, version: str) -> Iterator[Finding]:
    try:
        baseline = read_baseline(folder, version)
    except BadInput as bad:
        yield from (Finding("broken", str(each)) for each in bad.problems)
        return
    if baseline is None:
        command = f"eval-pipeline baseline promote {suite.name} {version} --reason …"
        yield Finding("warning", f"{suite.name}: {version} has no baseline. Once it was run: {command}")
        return
    shown = number(baseline.metrics.get(suite.headline), "fraction")
    yield Finding("fine", f"{suite.name}: baseline {baseline.version}, {suite.headline} {shown}")


def _engines(project: Project, suites: Sequence[Suite], file: EnginesFile, call: bool) -> Iterator[Finding]:
    """What answers: an engine that is in use must be ready; of the others it is only said."""
    used = {file.default, *_named(project, suites)}
    for name, entry in file.engines.items():
        in_use = name in used
        try:
            said = readiness(project, suites[0], name, entry, call=call and in_use)
        except BadInput as bad:
            yield from (Finding("broken" if in_use else "note", str(each)) for each in bad.problems)
            continue
        metered = isinstance(entry, MeteredEntry)
        if metered and not (call and in_use):
            said += "; --call asks it" if in_use else "; nothing uses it, so that --call does not ask it"
        yield Finding("fine" if metered or not in_use else "note", f"engine {name}: {said}")
    for name in sorted(used - file.engines.keys()):
        yield Finding("broken", f"a prompt names the engine {name!r}, which {MARKER} does not have")


def _named(project: Project, suites: Sequence[Suite]) -> Iterator[str]:
    """The engines that active versions name."""
    for suite in suites:
        folder = project.prompts(suite.name)
        try:
            prompts = [
                load_prompt(suite, folder, each, Problems()) for each in active_versions(suite, folder)
            ]
        except BadInput:  # said of the suite
            continue
        yield from (prompt.front.engine for prompt in prompts if prompt and prompt.front.engine)

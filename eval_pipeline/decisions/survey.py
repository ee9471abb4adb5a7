"""Where a whole project stands: every suite and version, as files, evaluations, history and incidents tell.

Nothing is asked or scored anew, and nothing is left out: what cannot be read is there with the reason.
"""

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

from eval_pipeline.decisions.incidents import Incident, Incidents
from eval_pipeline.decisions.objections import Objections, Standings
from eval_pipeline.decisions.proposals import live_proposals
from eval_pipeline.decisions.results import objections_to, standings_of
from eval_pipeline.decisions.served import Served, served_by
from eval_pipeline.engines import Journal, Usage
from eval_pipeline.gates import Gate
from eval_pipeline.golden import golden_hash, read_cases, resources_folder, unsigned_changes
from eval_pipeline.loading import load_suites, suite_names
from eval_pipeline.monitoring import read_production
from eval_pipeline.problems import BadInput, Problem, Problems
from eval_pipeline.project import Project
from eval_pipeline.prompts import Prompt, load_prompts, prompt_name, version_order, versions_in
from eval_pipeline.scoring import Evaluation, Point
from eval_pipeline.stages import Workbench
from eval_pipeline.store import Baseline, History, Proposal, Store, database_file, database_url, read_baseline
from eval_pipeline.suite import Suite

T = TypeVar("T")
MOST_INCIDENTS = 200


@dataclass(frozen=True)
class VersionSurvey:
    """A prompt version, its latest evaluation, and what speaks against it."""

    version: str
    status: str
    """Of its file; blank where that cannot be read."""
    evaluation: Evaluation | None = None
    standings: Standings = field(default_factory=Standings)
    against: Objections | None = None
    """None where it was not evaluated."""
    changed: tuple[str, ...] = ()
    """What is not as it was when it was evaluated."""
    answered_at: str = ""
    """When its answers were first scored; an evaluation of answers that were known is younger."""
    report: Path | None = None
    """The page of its report, or the text where there is no page."""

    @property
    def state(self) -> str:
        """In one word how it stands: `unknown` where it was never evaluated."""
        return self.against.state if self.against is not None else "unknown"


@dataclass(frozen=True)
class SuiteSurvey:
    """A suite with all its versions and everything that was ever evaluated."""

    name: str
    suite: Suite | None
    """None where it cannot be loaded."""
    problems: tuple[Problem, ...] = ()
    """What cannot be read, or not be used."""
    gates: Mapping[str, Gate] = field(default_factory=dict)
    cases: int = 0
    unsigned: tuple[str, ...] = ()
    """What of the golden set nobody signed off."""
    versions: tuple[VersionSurvey, ...] = ()
    points: tuple[Point, ...] = ()
    """Oldest first."""
    baselines: Mapping[str, Baseline] = field(default_factory=dict)
    """By the name of a prompt."""
    proposals: tuple[Proposal, ...] = ()

    @property
    def active(self) -> list[VersionSurvey]:
        """The versions in use."""
        return [each for each in self.versions if each.status == "active"]


@dataclass(frozen=True)
class Survey:
    """A project at a moment."""

    at: datetime.datetime
    suites: tuple[SuiteSurvey, ...]
    gone: tuple[str, ...]
    """Suites that left results, and are none any more."""
    incidents: tuple[Incident, ...]
    """The open ones first, then the latest."""
    usage: tuple[Usage, ...]
    """What metered calls cost, by suite, version, day and engine."""
    served: tuple[Served, ...] = ()
    """What users got of the suites that have events."""
    problems: tuple[Problem, ...] = ()
    """Why nobody can say what users got."""


def survey_of(project: Project, now: datetime.datetime | None = None) -> Survey:
    """Where a project stands."""
    names, url = suite_names(project), database_url(project)
    with History(url) as history:
        points = {name: history.points(name) for name in names}
    suites, broken = load_suites(project, names)
    loaded = {suite.name: suite for suite in suites}
    looked = tuple(
        _suite(Workbench(project, loaded[name]), points[name])
        if name in loaded
        else SuiteSurvey(name, None, tuple(broken[name]), points=tuple(points[name]))
        for name in names
    )
    with Incidents(url) as incidents:
        known = tuple(incidents.all(MOST_INCIDENTS))
    gone = tuple(name for name in Store(project.state).suites() if name not in names)
    attempts = _Attempts()
    served: tuple[Served, ...] = attempts.read(
        lambda: served_by(project, suites, read_production(project)), ()
    )
    moment = now or datetime.datetime.now(datetime.UTC)
    return Survey(moment, looked, gone, known, _usage(url), served, tuple(attempts.problems))


def _usage(url: str) -> tuple[Usage, ...]:
    file = database_file(url)
    if file is not None and not file.exists():
        return ()
    with Journal.open(url) as journal:
        return tuple(journal.stats())


class _Attempts:
    """Reads what can be read, and collects the problems with the rest."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def read(self, read: Callable[[], T], otherwise: T) -> T:
        """What was read; something else where that is not possible."""
        try:
            return read()
        except BadInput as bad:
            self.problems += bad.problems
            return otherwise


def _suite(bench: Workbench, points: list[Point]) -> SuiteSurvey:
    attempts, found = _Attempts(), Problems()
    suite, folder = bench.suite, bench.project.prompts(bench.suite.name)
    gates: dict[str, Gate] = attempts.read(lambda: bench.gates, {})
    golden = attempts.read(lambda: _Golden.read(bench), _Golden(unsigned=("it cannot be read",)))
    prompts = {prompt.version: prompt for prompt in load_prompts(suite, folder, found)}
    versions = sorted(versions_in(folder), key=version_order)
    baselines = {
        name: attempts.read(partial(read_baseline, bench.rules_folder, version), None)
        for name, version in {prompt_name(version): version for version in versions}.items()
    }
    looked = tuple(
        attempts.read(
            partial(_version, bench, version, prompts.get(version), golden, baselines, points),
            VersionSurvey(version, prompts[version].front.status if version in prompts else ""),
        )
        for version in versions
    )
    return SuiteSurvey(
        name=suite.name,
        suite=suite,
        problems=tuple(dict.fromkeys([*found, *attempts.problems])),
        gates=gates,
        cases=golden.cases,
        unsigned=golden.unsigned,
        versions=looked,
        points=tuple(points),
        baselines={name: baseline for name, baseline in baselines.items() if baseline},
        proposals=tuple(attempts.read(lambda: live_proposals(bench), [])),
    )


@dataclass(frozen=True)
class _Golden:
    """What a golden set is now; blank where it cannot be read."""

    hash: str = ""
    cases: int = 0
    unsigned: tuple[str, ...] = ()

    @classmethod
    def read(cls, bench: Workbench) -> "_Golden":
        problems, folder = Problems(), bench.golden_folder
        cases = {each.case.id: each.case_hash for each in read_cases(bench.suite, folder, problems)}
        problems.stop_if_any()
        present = golden_hash(cases.values(), resources_folder(folder))
        unsigned = unsigned_changes(folder, present, cases, problems, bench.rules_folder)
        problems.stop_if_any()
        return cls(present, len(cases), unsigned.changes)


def _version(
    bench: Workbench,
    version: str,
    prompt: Prompt | None,
    golden: _Golden,
    baselines: Mapping[str, Baseline | None],
    points: list[Point],
) -> VersionSurvey:
    status = prompt.front.status if prompt else ""
    store, suite = bench.store, bench.suite.name
    evaluation = store.evaluation(suite, version)
    if evaluation is None:
        return VersionSurvey(version, status)
    compared = store.compared(suite, version)
    own = compared is not None and compared.identity == evaluation.identity
    standings = standings_of(bench.rules_folder, compared) if compared and own else Standings()
    store.bring_report(suite, version, evaluation.id)
    paths = (store.page_path(evaluation.identity), store.report_path(evaluation.identity))
    outputs = evaluation.identity.outputs.id
    answered = [point.evaluated_at for point in points if point.outputs == outputs]
    return VersionSurvey(
        version,
        status,
        evaluation,
        standings,
        objections_to(bench, evaluation, standings),
        (
            *_changes(bench, evaluation, prompt, golden),
            *_baseline_changes(standings, baselines[prompt_name(version)]),
        ),
        min(answered, default=evaluation.created_at),
        next((path for path in paths if path.is_file()), None),
    )


def _changes(bench: Workbench, evaluation: Evaluation, prompt: Prompt | None, golden: _Golden) -> list[str]:
    """What is no longer as it was evaluated."""
    identity = evaluation.identity
    moved = [
        gate.metric
        for gate in evaluation.summary.gates
        if gate.value is not None
        and gate.zone is not None
        and gate.metric in bench.gates
        and bench.gates[gate.metric].zone(gate.value) != gate.zone
    ]
    return [
        *(["the prompt was edited"] if prompt and identity.outputs.prompt_hash != prompt.hash else ()),
        *(["the golden set changed"] if golden.hash and identity.golden_hash != golden.hash else ()),
        *([f"the gates of {', '.join(moved)} changed"] if moved else ()),
    ]


def _baseline_changes(standings: Standings, baseline: Baseline | None) -> list[str]:
    """Whether the baseline is another one than that of the comparison."""
    compared = standings.baseline
    identities = compared.comparison.identities if compared else None
    if identities is None:
        return ["a baseline was promoted"] if baseline and not compared else []
    if baseline is None:
        return ["the baseline was removed"]
    return [] if identities[0] == baseline.identity.outputs else ["another baseline was promoted"]

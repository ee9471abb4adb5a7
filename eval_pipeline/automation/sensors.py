"""Evaluations that a changed file starts: prompts, golden sets and gates."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg
import msgspec

from eval_pipeline.automation.evaluations import evaluation_request, not_loaded
from eval_pipeline.files import content_hash, files_hash
from eval_pipeline.golden import read_cases
from eval_pipeline.orchestration import Place
from eval_pipeline.problems import BadInput, Problem, Problems
from eval_pipeline.project import Project
from eval_pipeline.prompts import Prompt, active_versions, load_prompt, versions_in
from eval_pipeline.store import Store
from eval_pipeline.suite import Suite

SECONDS_BETWEEN_LOOKS = 10
MOST_TOLD = 5


class Seen(msgspec.Struct, frozen=True):
    """The content of something when it was last looked at, and how often it has changed.

    The number makes a run's key: content alone would lose an edit back and forth.
    """

    content: str
    changes: int = 0


Cursor = dict[str, Seen]


def _cursor(text: str | None) -> Cursor:
    try:
        return msgspec.json.decode(text or "{}", type=Cursor)
    except msgspec.MsgspecError:
        return {}


def _next(seen: Seen | None, content: str) -> Seen:
    if seen is None:
        return Seen(content)
    return seen if seen.content == content else Seen(content, seen.changes + 1)


def _sensor(name: str, jobs: Sequence[Any], description: str) -> Callable[..., dg.SensorDefinition]:
    return dg.sensor(
        name=name,
        jobs=jobs,
        minimum_interval_seconds=SECONDS_BETWEEN_LOOKS,
        description=description,
        default_status=dg.DefaultSensorStatus.RUNNING,
    )


def build_sensors(
    places: Sequence[Place], jobs: Sequence[Any], project: Project, name: str = ""
) -> list[dg.SensorDefinition]:
    """The sensors on the project's files, called after a name where there are several of them."""
    before = f"{name}_" if name else ""

    @_sensor(f"{before}prompt_files", jobs, "A new or changed prompt version is evaluated once.")
    def prompt_files(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        return look_at_prompts(places, project, context.cursor)

    @_sensor(
        f"{before}golden_sets",
        jobs,
        "A changed golden set, or changed gates, re-score the active versions; "
        "only new and changed inputs are asked.",
    )
    def golden_sets(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        return look_at_golden_sets(places, project, context.cursor)

    return [prompt_files, golden_sets]


def build_broken_sensor(
    broken: Mapping[str, Sequence[Problem]], jobs: Sequence[Any]
) -> list[dg.SensorDefinition]:
    """The sensor that lets suites that cannot be loaded show their failed check; none where all can."""
    if not broken:
        return []

    @_sensor("broken_suites", jobs, "A suite that cannot be loaded fails its check, once for each reason.")
    def broken_suites() -> list[dg.RunRequest]:
        return [
            dg.RunRequest(run_key=f"broken/{name}/{content_hash(list(problems))}", job_name=job.name)
            for (name, problems), job in zip(broken.items(), jobs, strict=True)
        ]

    return [broken_suites]


def look_at_prompts(places: Iterable[Place], project: Project, cursor: str | None) -> dg.SensorResult:
    """Which versions are new or changed since the cursor."""
    before, after = _cursor(cursor), Cursor()
    store = Store(project.state)
    requests: list[dg.RunRequest] = []
    partitions: list[Any] = []
    skipped: list[str] = []
    for place in places:
        suite, folder = place.suite, project.prompts(place.suite.name)
        fresh = []
        for version in versions_in(folder) if folder.is_dir() else ():
            name = f"{suite.name}/{version}"
            prompt = _readable(suite, folder, version, skipped)
            if prompt and not place.knows(version):
                skipped.append(not_loaded([version]))
                prompt = None
            if prompt is None:  # half-saved, invalid or to come: what was known of it stays known
                after.update({name: before[name]} if name in before else {})
                continue
            if prompt.front.status == "archived":
                continue
            after[name] = _next(before.get(name), prompt.hash)
            if name in before:
                changed = after[name] != before[name]
            else:
                changed = _evaluated(store, suite, version) != prompt.hash
            if changed:
                fresh.append(version)
                key = f"prompt/{name}/{after[name].changes}/{prompt.hash}"
                requests.append(evaluation_request(place, version, key, "prompt"))
        partitions += _additions(place, fresh)
    gone = sorted(before.keys() - after.keys())
    skipped += [f"{name} is archived or gone; its evaluations stay" for name in gone]
    return _result(requests, partitions, after, _told(skipped) or "No prompt version is new or changed.")


def look_at_golden_sets(places: Iterable[Place], project: Project, cursor: str | None) -> dg.SensorResult:
    """Which golden sets or gates changed since the cursor."""
    before, after = _cursor(cursor), Cursor()
    store = Store(project.state)
    requests: list[dg.RunRequest] = []
    partitions: list[Any] = []
    skipped: list[str] = []
    for place in places:
        suite = place.suite
        seen = _next(before.get(suite.name), _golden_content(project.golden(suite.name)))
        if seen == before.get(suite.name):
            after[suite.name] = seen
            continue
        try:
            versions = active_versions(suite, project.prompts(suite.name))
            _stop_if_unreadable(suite, project.golden(suite.name))
        except BadInput as bad:
            skipped.append(_told(bad.problems))
            after.update({suite.name: before[suite.name]} if suite.name in before else {})
            continue
        after[suite.name] = seen
        if suite.name not in before:
            # Prompts that were never evaluated are the other sensor's.
            continue
        evaluated = [
            version
            for version in versions
            if place.knows(version) and store.evaluation(suite.name, version) is not None
        ]
        for version in evaluated:
            key = f"golden/{suite.name}/{version}/{seen.changes}/{seen.content}"
            requests.append(evaluation_request(place, version, key, "golden"))
        partitions += _additions(place, evaluated)
    return _result(requests, partitions, after, _told(skipped) or "No golden set and no gates changed.")


def _additions(place: Place, versions: list[str]) -> list[Any]:
    """What makes versions partitions, where these do not follow from files."""
    if not versions or not isinstance(place.partitions, dg.DynamicPartitionsDefinition):
        return []
    return [place.partitions.build_add_request(versions)]


def _result(
    requests: list[dg.RunRequest], partitions: list[Any], cursor: Cursor, otherwise: str
) -> dg.SensorResult:
    return dg.SensorResult(
        run_requests=requests,
        dynamic_partitions_requests=partitions,
        cursor=msgspec.json.encode(cursor, order="sorted").decode(),
        skip_reason=None if requests else otherwise,
    )


def _readable(suite: Suite, folder: Path, version: str, skipped: list[str]) -> Prompt | None:
    problems = Problems()
    try:
        prompt = load_prompt(suite, folder, version, problems)
    except (BadInput, OSError) as vanished:  # between the list and the look
        skipped.append(f"{version}: {vanished}")
        return None
    if prompt is None:
        skipped.append(_told(list(problems)))
    return prompt


def _evaluated(store: Store, suite: Suite, version: str) -> str | None:
    """The hash of the prompt that a version was last evaluated with."""
    try:
        evaluation = store.evaluation(suite.name, version)
    except BadInput:
        return None
    return evaluation.identity.outputs.prompt_hash if evaluation else None


def _golden_content(folder: Path) -> str:
    """What a suite is measured by, in one word: all of its golden folder but the baseline and sign-off."""
    files = [
        file
        for file in folder.rglob("*")
        if file.is_file()
        and file.relative_to(folder).parts[0] not in ("baseline", "signoff.json")
        and not any(part.startswith(".") for part in file.relative_to(folder).parts)
    ]
    try:
        return content_hash([(str(file.relative_to(folder)), files_hash([file])) for file in sorted(files)])
    except OSError:  # a file went away meanwhile: the next look will tell
        return ""


def _stop_if_unreadable(suite: Suite, folder: Path) -> None:
    problems = Problems()
    for _ in read_cases(suite, folder, problems):
        pass
    problems.stop_if_any()


def _told(reasons: Sequence[str | Problem]) -> str:
    more = f"; and {len(reasons) - MOST_TOLD} more" if len(reasons) > MOST_TOLD else ""
    return "; ".join(map(str, reasons[:MOST_TOLD])) + more

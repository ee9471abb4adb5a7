"""From failures in production to suggested golden cases: one for each meaning, the strongest first."""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from eval_pipeline.answers import first_json
from eval_pipeline.files import file_bytes
from eval_pipeline.golden import read_cases
from eval_pipeline.improvement.canaries import suggest_canaries
from eval_pipeline.improvement.drafting import draft_of, drafting_of
from eval_pipeline.improvement.failures import (
    Failing,
    Failures,
    Measures,
    Ruling,
    find_failures,
    input_key,
    text_of,
)
from eval_pipeline.improvement.likeness import Likeness, likenesses
from eval_pipeline.improvement.requests import requests_of
from eval_pipeline.improvement.suggestions import (
    Suggestion,
    accepted_inputs,
    dropped_inputs,
    undecided,
    write_suggestion,
)
from eval_pipeline.language.embedder import Embedder, default_embedder
from eval_pipeline.metrics.text import normalize, words
from eval_pipeline.monitoring import EventStore
from eval_pipeline.problems import Problems, without_problems
from eval_pipeline.project import Project
from eval_pipeline.suite import Suite
from eval_pipeline.suite.drafting import Drafting

MOST = 30
ID_LENGTH = 10
LONGEST_ANSWER = 20_000
GROUP_WORDS = 8


class Known(NamedTuple):
    """What is a case or a suggestion already."""

    name: str
    text: str


@dataclass
class Outcome:
    """What became of the failures."""

    failures: Failures
    golden: dict[str, list[Failing]] = field(default_factory=lambda: defaultdict(list))
    """Failures that ask what a golden case asks, by that case."""
    waiting: int = 0
    """Failures that are suggested already."""
    dropped: int = 0
    """Failures that a person does not want as cases."""
    beyond: int = 0
    """Failures that are more than were asked for."""
    cases: list[tuple[str, Suggestion]] = field(default_factory=list)
    canaries: list[tuple[str, Suggestion]] = field(default_factory=list)


def suggest(
    project: Project,
    suite: Suite,
    start: datetime.datetime,
    end: datetime.datetime,
    closes_after: int,
    *,
    most: int = MOST,
    rulings: Mapping[str, Ruling] | None = None,
    measures: Measures | None = None,
    embedder: Embedder | None = None,
) -> Outcome:
    """What a stretch of production suggests. Nothing is written."""
    drafting = drafting_of(suite, project.golden(suite.name))
    with EventStore.of(project) as store:
        requests = requests_of(store, suite.name, start, end, closes_after)
        failures = find_failures(suite, drafting, requests, rulings, measures)
    outcome = Outcome(failures)
    unwanted = dropped_inputs(project, suite.name)
    suggested = {each.input: each for _, each in undecided(project, suite.name)}
    accepted = accepted_inputs(project, suite.name)
    outcome.dropped = len(failures.by_input.keys() & unwanted)
    for key in failures.by_input.keys() & accepted.keys():
        outcome.golden[accepted[key]].append(failures.by_input[key])
    outcome.waiting = len(failures.by_input.keys() & suggested.keys())
    decided = {*unwanted, *accepted, *suggested}
    wanted = [each for each in failures.ranked if input_key(each.fields) not in decided]
    golden = _golden(project, suite)
    waiting = [Known("", _text(each, drafting)) for each in suggested.values() if each.case]
    texts = [text_of(each.fields) for each in wanted]
    chosen_by = embedder or default_embedder()
    like = likenesses(texts, [each.text for each in (*golden, *waiting)], chosen_by)
    distinct = _distinct(wanted, like, golden, outcome)
    chosen = _spread(distinct, [like[index].group for index in distinct], most)
    outcome.beyond = len(distinct) - len(chosen)
    for index in chosen:
        outcome.cases.append(_suggestion(suite, drafting, wanted[index], like[index], golden, texts))
    if drafting.forbidden:
        forbidden = _forbidden(project, suite, drafting.forbidden)
        outcome.canaries = suggest_canaries(project, suite, failures, golden, decided, forbidden, chosen_by)
    return outcome


def write(project: Project, outcome: Outcome) -> list[Path]:
    """Write what is suggested, a file for each."""
    return [write_suggestion(project, name, each) for name, each in (*outcome.cases, *outcome.canaries)]


def _golden(project: Project, suite: Suite) -> list[Known]:
    cases = without_problems(lambda problems: list(read_cases(suite, project.golden(suite.name), problems)))
    return [Known(each.case.id, text_of(msgspec.to_builtins(each.case.input))) for each in cases]


def _forbidden(project: Project, suite: Suite, field: str) -> set[str]:
    """The names that golden cases forbid already."""
    files = {Path(each.file) for each in read_cases(suite, project.golden(suite.name), Problems())}
    entries = [msgspec.json.decode(file_bytes(file)) for file in sorted(files)]
    return {normalize(name) for entry in entries for name in entry.get(field) or ()}


def _text(suggestion: Suggestion, drafting: Drafting) -> str:
    """What the request of an undecided suggestion asked."""
    case = suggestion.case or {}
    return text_of({name: case.get(name) for name in drafting.given({}) if name not in drafting.expected})


def _distinct(
    failing: Sequence[Failing], like: Sequence[Likeness], golden: Sequence[Known], outcome: Outcome
) -> list[int]:
    """The failures that ask something new; the others are counted with what they repeat."""
    kept = []
    for index, (each, likeness) in enumerate(zip(failing, like, strict=True)):
        if likeness.known is not None and likeness.known < len(golden):
            outcome.golden[golden[likeness.known].name].append(each)
        elif likeness.known is not None:
            outcome.waiting += 1
        elif likeness.earlier is not None:
            failing[likeness.earlier].absorb(each)
        else:
            kept.append(index)
    return kept


def _spread(indices: Sequence[int], groups: Sequence[int], most: int) -> list[int]:
    """The first of every group, then the second, until there are enough: many subjects before many alike."""
    rank: dict[int, int] = defaultdict(int)
    rounds = []
    for index, group in zip(indices, groups, strict=True):
        rounds.append((rank[group], index))
        rank[group] += 1
    return sorted(index for _, index in sorted(rounds)[:most])


def _suggestion(
    suite: Suite,
    drafting: Drafting,
    failing: Failing,
    likeness: Likeness,
    golden: Sequence[Known],
    texts: Sequence[str],
) -> tuple[str, Suggestion]:
    key = input_key(failing.fields)
    name = f"production-{key[:ID_LENGTH]}"
    case = draft_of(drafting, name, failing.fields)
    blank = [field for field, value in case.items() if value is None and field not in drafting.optional]
    nearest = likeness.nearest
    near = (
        f"{golden[nearest].name} ({likeness.similarity:.2f})"
        if nearest is not None and nearest < len(golden)
        else ""
    )
    invented = [f"made up: {', '.join(failing.invented)}"] if failing.invented else []
    suggestion = Suggestion(
        suite=suite.name,
        about=_title(text_of(failing.fields)),
        to_do=f"Fill in {', '.join(blank) or 'what is right'}, then: eval-pipeline cases accept FILE",
        why=[*failing.reasons, *invented],
        times=failing.times,
        requests=failing.requests,
        versions=sorted(failing.versions),
        suggested=datetime.datetime.now(datetime.UTC).date().isoformat(),
        group=_title(texts[likeness.group]),
        near=near,
        simulated=failing.request.simulated,
        input=key,
        answer=_answer(failing),
        case=case,
    )
    return name, suggestion


def _title(text: str) -> str:
    return " ".join(word.text for word in words(text)[:GROUP_WORDS])


def _answer(failing: Failing) -> Any:
    """What was answered: as JSON where it is JSON, so that it reads well."""
    text = failing.request.output
    if text is None:
        return None
    if len(text) > LONGEST_ANSWER:
        return f"{text[:LONGEST_ANSWER]}…"
    found = first_json(text) if text.lstrip().startswith(("{", "[")) else None
    return text if found is None else found

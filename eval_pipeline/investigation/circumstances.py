"""Where failures lie: groups, lengths, files and trials that have more of them than chance explains."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from eval_pipeline.investigation.observations import CaseFacts, Observation
from eval_pipeline.investigation.records import GROUP, LENGTH, TRIAL
from eval_pipeline.numbers import NOTHING
from eval_pipeline.statistics.association import Stratum, excess_p
from eval_pipeline.statistics.multiplicity import holm

LEVEL = 0.05
"""The chance, over all circumstances that are looked at, of naming one that has nothing to do with it."""
MOST_VALUES = 30
"""An attribute with more values is no group."""
CUTS = (1 / 2, 3 / 4, 9 / 10)
"""Where the longest and the shortest texts are parted from the rest."""
FILE = "file"


class Circumstance(NamedTuple):
    """Some cases, or a trial."""

    cause: str
    words: str
    """Which answers these are: "where domain is technical"."""
    cases: frozenset[str]
    trial: int = 0
    """The trial, where it is one; 0 for all."""

    def holds(self, observation: Observation) -> bool:
        """Whether an answer is one of them."""
        return observation.case_id in self.cases and self.trial in (0, observation.trial)


class Found(NamedTuple):
    """A circumstance with more marked answers than chance explains."""

    circumstance: Circumstance
    inside: int
    """How many answers it has."""
    marked: int
    """How many of them are marked."""
    outside: int
    marked_outside: int
    adjusted_p: float

    @property
    def beyond(self) -> float:
        """How many marked answers it has beyond what its size leads one to expect."""
        return self.marked - self.inside * (self.marked_outside / self.outside if self.outside else 0.0)


def circumstances_of(
    facts: Mapping[str, CaseFacts], observations: Sequence[Observation]
) -> list[Circumstance]:
    """Everything that is looked at."""
    cases = sorted({each.case_id for each in observations})
    trials = sorted({each.trial for each in observations})
    known = [facts[case_id] for case_id in cases if case_id in facts]
    places = [*_groups(known), *_lengths(known)]
    if len(trials) > 1:
        places += [
            Circumstance(f"{TRIAL}{trial}", f"in trial {trial}", frozenset(cases), trial) for trial in trials
        ]
    return places


def _groups(facts: Sequence[CaseFacts]) -> Iterator[Circumstance]:
    axes: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for each in facts:
        for axis, value in (*each.attributes.items(), (FILE, each.file)):
            axes[axis][value].add(each.id)
    same: dict[frozenset[str], list[tuple[str, str]]] = defaultdict(list)
    for axis, values in sorted(axes.items(), key=lambda each: (each[0] == FILE, each[0])):
        for value, members in sorted(values.items()) if len(values) <= MOST_VALUES else ():
            if 2 <= len(members) < len(facts):
                same[frozenset(members)].append((axis, value))
    for cases, names in same.items():
        words = [f"{axis.replace('_', ' ')} is {value or NOTHING}" for axis, value in names]
        axis, value = names[0]
        yield Circumstance(f"{GROUP}{axis}={value}", f"where {' and '.join(words)}", cases)


def _lengths(facts: Sequence[CaseFacts]) -> Iterator[Circumstance]:
    """The longest and the shortest texts, cut at several places; equal lengths stay together."""
    lengths = sorted(each.length for each in facts)
    seen: set[frozenset[str]] = set()
    for name in ("long", "short"):
        for cut in CUTS:
            place = int(cut * len(lengths)) if name == "long" else int((1 - cut) * len(lengths))
            if not lengths or place >= len(lengths):
                continue
            bound = lengths[place]
            chosen = frozenset(each.id for each in facts if (each.length >= bound) == (name == "long"))
            if 2 <= len(chosen) < len(facts) and chosen not in seen:
                seen.add(chosen)
                side = f"at least {bound:,}" if name == "long" else f"less than {bound:,}"
                words = f"where the text has {side} characters"
                yield Circumstance(f"{LENGTH}{name}", words, chosen)


def concentrations(
    places: Sequence[Circumstance], observations: Sequence[Observation], marked: Collection[tuple[str, int]]
) -> list[Found]:
    """The circumstances in which marked answers are met more often than chance explains, the surest first.

    A case is one thing however often it was asked: it counts as marked where half of its answers are. A trial
    is judged by the cases that are marked in some trials and not in others.
    """
    answers: dict[str, list[Observation]] = defaultdict(list)
    for each in observations:
        answers[each.case_id].append(each)
    hits = Counter(case_id for case_id, _ in marked)
    marked_cases = {
        case_id for case_id, own in answers.items() if 2 * hits[case_id] >= len(own) > 0 < hits[case_id]
    }
    p_values = [_p_value(place, answers, hits, marked_cases, marked) for place in places]
    found = []
    for place, adjusted in zip(places, holm(p_values).tolist() if p_values else (), strict=True):
        inside = [each for each in observations if place.holds(each)]
        own = sum((each.case_id, each.trial) in marked for each in inside)
        outside = len(observations) - len(inside)
        if adjusted <= LEVEL:
            found.append(Found(place, len(inside), own, outside, len(marked) - own, adjusted))
    best: dict[str, Found] = {}
    for one in sorted(found, key=lambda one: (-one.beyond, one.adjusted_p, one.inside)):
        best.setdefault(_axis(one.circumstance.cause), one)
    return sorted(best.values(), key=lambda one: (-one.beyond, one.adjusted_p, one.circumstance.cause))


def _axis(cause: str) -> str:
    """What a circumstance is a value of: of nested cuts the best one speaks for all."""
    return cause if cause.startswith((GROUP, TRIAL)) else cause.partition(":")[0]


def _p_value(
    place: Circumstance,
    answers: Mapping[str, Sequence[Observation]],
    hits: Mapping[str, int],
    marked_cases: Collection[str],
    marked: Collection[tuple[str, int]],
) -> float:
    if not place.trial:
        inside = [case_id for case_id in answers if case_id in place.cases]
        both = sum(case_id in marked_cases for case_id in inside)
        return excess_p([Stratum(len(answers), len(inside), len(marked_cases), both)])
    return excess_p(
        Stratum(len(own), 1, hits[case_id], int((case_id, place.trial) in marked))
        for case_id, own in answers.items()
        if 0 < hits[case_id] < len(own) and any(each.trial == place.trial for each in own)
    )

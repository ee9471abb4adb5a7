"""Hypotheses: what failing answers show, where they lie, and whether the golden set is to blame, ranked."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from eval_pipeline.investigation.circumstances import Circumstance, Found, circumstances_of, concentrations
from eval_pipeline.investigation.observations import CaseFacts, Observation, Other
from eval_pipeline.investigation.records import (
    GOLDEN,
    KIND,
    POSITION,
    REPEATED,
    UNDIAGNOSED,
    UNKNOWN,
    Hypothesis,
)
from eval_pipeline.investigation.signs import Key, Sign, signs_of
from eval_pipeline.numbers import Unit, counted, probability
from eval_pipeline.suite import DiagnosisVocabulary

HALF = 0.5
"""So much of all failures a hypothesis explains, at least, for it to be more than a part of the story."""
NEARLY = 0.8
"""What explains so much of what the best hypothesis explains stands beside it; the more telling is first."""
FEWEST_OTHERS = 2
"""So many other evaluations must fail a case, at least, before it is suspect."""
MOST_SUSPECT = 0.25
"""Where more of the cases fail everywhere, it is not the cases."""
SMALLEST = 0.05
"""Where what fewer of the failures have lies, nobody asks."""
FEWEST_MADE = 5
"""So often a mistake must have been made elsewhere before one can say where it is ever made."""
MOST_CASES = 5


@dataclass(frozen=True)
class Material:
    """What hypotheses are made from."""

    observations: Sequence[Observation]
    others: Sequence[Other]
    facts: Mapping[str, CaseFacts]
    vocabulary: DiagnosisVocabulary
    engine: str = ""
    """Who answered."""
    varies: bool = True
    """Whether that engine may answer the same question in another way."""
    units: Mapping[str, Unit] = field(default_factory=lambda: defaultdict(lambda: "fraction"))
    """The unit of each metric."""

    @property
    def failing(self) -> list[Observation]:
        """The answers that fail."""
        return [each for each in self.observations if each.fails]

    @property
    def pool(self) -> list[Observation]:
        """The answers that pass, those of other evaluations included."""
        everything = (self.observations, *(other.observations for other in self.others))
        return [each for some in everything for each in some if not each.fails]


class _Ranked(NamedTuple):
    hypothesis: Hypothesis
    rank: int
    """Between hypotheses that explain about as much, the lower comes first."""
    lift: float = 0.0


def hypotheses_of(material: Material) -> list[Hypothesis]:
    """Every hypothesis, those that explain most first; where none is certain, the first one says so."""
    failing = material.failing
    if not failing:
        return []
    places = circumstances_of(material.facts, material.observations)
    signs = signs_of(
        material.observations, material.pool, material.facts, material.vocabulary, material.units
    )
    keys = frozenset((each.case_id, each.trial) for each in failing)
    ranked = [_of_sign(sign, places, material, len(failing)) for sign in signs]
    ranked += [_of_place(one, signs, keys) for one in concentrations(places, material.observations, keys)]
    ranked += _of_golden(material)
    ordered = _ordered(_without_followers(ranked, material.vocabulary))
    certain = [each for each in ordered if each.certain]
    rest = [each for each in ordered if not each.certain]
    return [*certain, *rest] if certain else [_cannot_tell(rest, len(failing)), *rest]


def _ordered(ranked: Sequence[_Ranked]) -> list[Hypothesis]:
    """By what they explain; among those that explain nearly as much as the best, the more telling first."""
    best = max((each.hypothesis.beyond for each in ranked if each.hypothesis.certain), default=0.0)

    def order(each: _Ranked) -> tuple[bool, int, float, float, str]:
        one = each.hypothesis
        near = one.certain and one.beyond >= NEARLY * best
        return not near, each.rank if near else 0, -each.lift if near else 0.0, -one.beyond, one.cause

    return [each.hypothesis for each in sorted(ranked, key=order)]


def _without_followers(ranked: Sequence[_Ranked], vocabulary: DiagnosisVocabulary) -> list[_Ranked]:
    """Kinds of mistakes that another one brings along, and explains as many answers of, come after it."""
    explained = {each.hypothesis.cause: each.hypothesis.beyond for each in ranked}
    brought = {
        KIND + follower: KIND + name
        for name, kind in vocabulary.kinds.items()
        for follower in kind.brings
        if explained.get(KIND + name, 0.0) >= NEARLY * explained.get(KIND + follower, 0.0) > 0
    }
    return [each._replace(rank=FOLLOWS) if each.hypothesis.cause in brought else each for each in ranked]


DECISIVE, SUSPECT, PLACE, PART, SILENT, MISTAKE, FOLLOWS = range(7)
"""The ranks: what alone makes an answer fail, the golden set, where, which part of a text, which mistake."""


def _of_sign(sign: Sign, places: Sequence[Circumstance], material: Material, failing: int) -> _Ranked:
    beyond = sign.strength * len(sign.keys) - failing * sign.usual
    shared = len(sign.keys) >= SMALLEST * failing
    where = concentrations(places, material.observations, sign.keys) if shared else []
    near = next(
        (
            one
            for one in where
            if one.beyond >= HALF * len(sign.keys) and not _by_nature(sign, one.circumstance, material.others)
        ),
        None,
    )
    evidence = [f"{len(sign.keys):,} of {counted(failing, 'failing answer')}", *sign.evidence]
    text = f"{sign.words}."
    if near:
        text = f"{sign.words}; above all in answers {near.circumstance.words}."
        evidence.append(counts_text(near))
    ranks = {UNDIAGNOSED: SILENT, REPEATED: PART}
    rank = (
        DECISIVE
        if sign.decisive
        else PART
        if sign.cause.startswith(POSITION)
        else ranks.get(sign.cause, MISTAKE)
    )
    return _Ranked(
        Hypothesis(
            sign.cause,
            text,
            len(sign.keys),
            beyond,
            beyond >= HALF * failing,
            tuple(evidence),
            near.circumstance.cause if near else "",
            _first_cases(sign.keys),
            sign.fix,
        ),
        rank,
        sign.lift,
    )


def _by_nature(sign: Sign, place: Circumstance, others: Sequence[Other]) -> bool:
    """Whether a mistake is met nowhere else in other evaluations either: it cannot be made elsewhere."""
    kind = sign.cause.removeprefix(KIND)
    made = [each for other in others for each in other.observations if each.kinds[kind]]
    return len(made) >= FEWEST_MADE and all(map(place.holds, made))


def _of_place(one: Found, signs: Sequence[Sign], failing: frozenset[Key]) -> _Ranked:
    place = one.circumstance
    inside = frozenset(key for key in failing if key[0] in place.cases and place.trial in (0, key[1]))

    def beyond(sign: Sign) -> float:
        return len(sign.keys & inside) - sign.usual * len(inside)

    what = max(signs, key=lambda sign: (beyond(sign), sign.lift), default=None)
    shared = what if what and beyond(what) >= HALF * len(inside) else None
    evidence = [
        f"{one.marked:,} of {counted(len(failing), 'failing answer')}",
        f"{counts_text(one)} (p {shown_p(one)}, corrected for everything that was looked at)",
    ]
    if shared:
        evidence.append(f"there: {_uncapitalized(shared.words)} ({len(shared.keys & inside):,} answers)")
    return _Ranked(
        Hypothesis(
            place.cause,
            f"Failures gather in answers {place.words}.",
            one.marked,
            one.beyond,
            one.beyond >= HALF * len(failing),
            tuple(evidence),
            shared.cause if shared else "",
            _first_cases(inside),
            f"Read some cases {place.words} beside others; see what the prompt says of them. "
            + (shared.fix if shared else ""),
        ),
        PLACE,
    )


def counts_text(one: Found) -> str:
    """How many answers fail in a circumstance and elsewhere."""
    return (
        f"{one.marked:,} of {counted(one.inside, 'answer')} {one.circumstance.words}, "
        f"{one.marked_outside:,} of {one.outside:,} elsewhere"
    )


def shown_p(one: Found) -> str:
    """How likely chance alone brings that about."""
    shown = probability(one.adjusted_p)
    return shown if shown.startswith("<") else f"= {shown}"


def _of_golden(material: Material) -> list[_Ranked]:
    """Cases that fail wherever they were asked: the golden set may be wrong, or they are very hard."""
    suspects = suspect_cases(material)
    if not suspects:
        return []
    keys = frozenset((each.case_id, each.trial) for each in material.failing if each.case_id in suspects)
    engines = {material.engine, *(other.engine for other in material.others)}
    beside = f"{counted(len(material.others), 'other evaluation')} ({counted(len(engines), 'engine')} in all)"
    alike = [case_id for case_id in sorted(suspects) if _same_mistakes(case_id, material)]
    evidence = [
        f"{len(keys):,} of {counted(len(material.failing), 'failing answer')}",
        f"{counted(len(suspects), 'case')} fail here and in {beside}",
        f"in {len(alike):,} of these cases all of them make a mistake in common",
    ]
    several = len(engines) > 1
    if not several:
        evidence.append("all were asked of one engine: nobody can tell a wrong golden case from a hard one")
    certain = several and len(keys) >= HALF * len(material.failing)
    text = (
        "The golden cases themselves are suspect: every version and engine fails them."
        if several
        else "Some cases fail in every version: they are hard for this engine, or the golden set is wrong."
    )
    return [
        _Ranked(
            Hypothesis(
                GOLDEN,
                text,
                len(keys),
                float(len(keys)),
                certain,
                tuple(evidence),
                "",
                _first_cases(keys),
                "Let somebody who knows the subject read these cases; mend the golden set where it is wrong.",
            ),
            SUSPECT,
        )
    ]


def suspect_cases(material: Material) -> set[str]:
    """The cases that fail everywhere, unless most cases do."""
    suspects = failing_everywhere(material)
    cases = {each.case_id for each in material.observations}
    return suspects if len(suspects) <= MOST_SUSPECT * len(cases) else set()


def failing_everywhere(material: Material) -> set[str]:
    """The cases that fail here and in every other evaluation, where there are enough of these."""
    if len(material.others) < FEWEST_OTHERS:
        return set()
    own = failing_cases(material.observations)
    return own.intersection(*(failing_cases(other.observations) for other in material.others))


def failing_cases(observations: Sequence[Observation]) -> set[str]:
    """The cases that fail in half of their trials or more."""
    results: dict[str, list[bool]] = defaultdict(list)
    for each in observations:
        results[each.case_id].append(each.fails)
    return {case_id for case_id, fails in results.items() if 2 * sum(fails) >= len(fails)}


def _same_mistakes(case_id: str, material: Material) -> bool:
    """Whether some mistake in a case was made in every evaluation."""
    everything = (material.observations, *(other.observations for other in material.others))
    mistakes = [
        {row for each in some if each.case_id == case_id for row in each.diagnoses} for some in everything
    ]
    return bool(set.intersection(*mistakes))


def _cannot_tell(rest: Sequence[Hypothesis], failing: int) -> Hypothesis:
    parts = f"; the largest part is explained by the next one ({rest[0].explained:,})" if rest else ""
    return Hypothesis(
        UNKNOWN,
        "Cannot tell: nothing that was looked at explains half of the failures.",
        0,
        0.0,
        False,
        (f"{counted(failing, 'failing answer')}{parts}",),
        fix="Read a few failing answers from several groups; with more trials or cases more can be told.",
    )


def _first_cases(keys: frozenset[Key]) -> tuple[str, ...]:
    return tuple(sorted({case_id for case_id, _ in keys})[:MOST_CASES])


def _uncapitalized(text: str) -> str:
    return text[:1].lower() + text[1:]

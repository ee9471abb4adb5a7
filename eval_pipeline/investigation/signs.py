"""What failing answers show by themselves: errors, breaking off, kinds of mistakes, parts of texts missed."""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from eval_pipeline.answers import REMEDIES, first_json
from eval_pipeline.golden import strings
from eval_pipeline.investigation.circumstances import LEVEL
from eval_pipeline.investigation.observations import CaseFacts, Observation
from eval_pipeline.investigation.records import (
    CUT_OFF,
    EMPTY,
    ERROR,
    KIND,
    LABEL,
    POSITION,
    REPEATED,
    UNDIAGNOSED,
)
from eval_pipeline.investigation.vocabulary import kind_of, role_of
from eval_pipeline.numbers import Unit, counted, number
from eval_pipeline.statistics.association import Stratum, excess_p
from eval_pipeline.suite import DiagnosisVocabulary, Wanted

Key = tuple[str, int]
"""Case and trial."""
USUAL = 0.95
"""What so many passing answers do not exceed is usual."""
REPEATS = 3
"""An answer that so many cases got, word for word, is repeated."""
THIRDS = ("beginning", "middle", "end")
MOST_METRICS = 3
FAR = 0.25
"""A metric is apart where it is lower, or higher, in three pairs of four than in those that pass."""
OWN_ERRORS = ("truncated",)
"""Errors that say that an answer was cut off."""


class Sign(NamedTuple):
    """Something that failing answers have in common."""

    cause: str
    words: str
    """What it is, as the beginning of a sentence."""
    keys: frozenset[Key]
    """The failing answers that have it."""
    usual: float
    """The share of passing answers that have it, too."""
    evidence: tuple[str, ...] = ()
    fix: str = ""
    lift: float = 0.0
    """How many times more of it there is in failing answers."""
    decisive: bool = False
    """Whether it alone makes an answer fail."""
    strength: float = 1.0
    """How much of it is more than what happens elsewhere anyway."""


def signs_of(
    observations: Sequence[Observation],
    pool: Sequence[Observation],
    facts: Mapping[str, CaseFacts],
    vocabulary: DiagnosisVocabulary,
    units: Mapping[str, Unit],
) -> list[Sign]:
    """Everything that failing answers show; `pool` are answers that pass, here and in other evaluations."""
    failing = [each for each in observations if each.fails]
    passing = [each for each in observations if not each.fails]
    return [
        *_errors(failing),
        *_texts(failing, passing),
        *_mistakes(failing, pool, vocabulary),
        *_parts(failing, facts, vocabulary),
        *_undiagnosed(failing, pool, units),
    ]


def _errors(failing: Sequence[Observation]) -> Iterator[Sign]:
    kinds: dict[str, list[Observation]] = defaultdict(list)
    for each in failing:
        if each.error:
            kinds[CUT_OFF if _is_cut_off(each) else ERROR + each.error].append(each)
    for cause, some in sorted(kinds.items()):
        error = some[0].error
        words = (
            "Answers break off before their end"
            if cause == CUT_OFF
            else f"Answers end in the error “{error}”"
        )
        example = f"for example {some[0].case_id}: {some[0].detail or 'no detail is known'}"
        fix = (
            REMEDIES["truncated" if cause == CUT_OFF else error]
            if cause == CUT_OFF or error in REMEDIES
            else ""
        )
        yield Sign(cause, words, _keys(some), 0.0, (example,), fix, decisive=True)


def _is_cut_off(each: Observation) -> bool:
    return each.error in OWN_ERRORS or (each.error == "not_json" and "truncated" in each.detail)


def _texts(failing: Sequence[Observation], passing: Sequence[Observation]) -> Iterator[Sign]:
    """Answers without content, and answers that many cases got word for word."""
    empty = [each for each in failing if _is_empty(each)]
    if empty:
        usual = _share(passing, [each for each in passing if _is_empty(each)])
        yield Sign(
            EMPTY, "Answers are empty: they hold nothing", _keys(empty), usual,
            fix="Look at the raw answers; say in the prompt that something is to be found.", decisive=True,
        )  # fmt: skip
    given: dict[str, set[str]] = defaultdict(set)
    for each in (*failing, *passing):
        if each.text and not each.error:
            given[each.text].add(each.case_id)

    def is_repeated(each: Observation) -> bool:
        return not each.error and len(given.get(each.text or "", ())) >= REPEATS and not _is_empty(each)

    repeated = [each for each in failing if is_repeated(each)]
    if repeated:
        usual = _share(passing, [each for each in passing if is_repeated(each)])
        yield Sign(
            REPEATED, "The same answer is given to different cases, word for word", _keys(repeated), usual,
            fix="See whether the input reaches the model: the template, and what is prepared for it.",
        )  # fmt: skip


def _is_empty(each: Observation) -> bool:
    """Whether an answer that can be read holds no text that is not blank."""
    if each.error or each.text is None:
        return False
    value = first_json(each.text)
    if value is None:
        return not each.text.strip()
    return not any(text.strip() for _, text in strings(value)) and not _holds_numbers(value)


def _holds_numbers(value: object) -> bool:
    if isinstance(value, dict | list):
        return any(map(_holds_numbers, value.values() if isinstance(value, dict) else value))
    return isinstance(value, int | float) and bool(value)


def _mistakes(
    failing: Sequence[Observation], pool: Sequence[Observation], vocabulary: DiagnosisVocabulary
) -> Iterator[Sign]:
    """Kinds of mistakes of which failing answers have more than is usual where answers pass."""
    usable = [each for each in failing if not each.error]
    kinds = sorted({kind for each in usable for kind in each.kinds})
    for kind in kinds:
        before = sorted(each.kinds[kind] for each in pool)
        most = before[min(len(before) - 1, int(USUAL * len(before)))] if before else 0
        having = [each for each in usable if each.kinds[kind] > most]
        if not having:
            continue
        mean = sum(each.kinds[kind] for each in usable) / len(usable)
        other = sum(before) / len(before) if before else 0.0
        known = kind_of(vocabulary, kind)
        times = sum(each.kinds[kind] for each in having)
        evidence = [f"{counted(times, 'time')} in these"] if times > len(having) else []
        if not before:
            evidence.append("no answer passes, so that nobody knows how many are usual")
        elif times > len(having) or any(before):
            evidence.append(
                f"{mean:.1f} in a failing answer on average, {other:.1f} in one that passes "
                f"({counted(len(before), 'answer')}, other evaluations included)"
            )
        yield Sign(
            KIND + kind,
            f"What goes wrong: {known.words}",
            _keys(having),
            len([count for count in before if count > most]) / len(before) if before else 0.0,
            tuple(evidence),
            known.fix,
            mean / (other + 1 / (len(before) + 1)),
        )


def _parts(
    failing: Sequence[Observation], facts: Mapping[str, CaseFacts], vocabulary: DiagnosisVocabulary
) -> Iterator[Sign]:
    """Thirds of the texts, and labels, of which more is missed than of the rest."""
    missed = {
        (each.case_id, each.trial): _sought(each, facts[each.case_id], vocabulary)
        for each in failing
        if not each.error and each.case_id in facts
    }
    for begins, look in ((POSITION, _third), (LABEL, _label)):
        tables = {key: _by_part(sought, look) for key, sought in missed.items()}
        names = sorted({name for table in tables.values() for name in table})
        for name in names:
            strata = {key: one for key, table in tables.items() if (one := _stratum(table, name))}
            if excess_p(strata.values()) * len(names) <= LEVEL:
                yield _overlooked(begins, name, strata)


def _overlooked(begins: str, name: str, strata: Mapping[Key, Stratum]) -> Sign:
    keys = frozenset(
        key
        for key, one in strata.items()
        if 2 * one.both >= one.marked and one.both * one.total > one.inside * one.marked
    )
    total, there, marked, both = (sum(each) for each in zip(*strata.values(), strict=True))
    subject = f"the {name} of the texts" if begins == POSITION else f"what has the label {name}"
    rest = f"{marked - both:,} of {total - there:,} of the rest"
    anyway = (marked - both) / (total - there) if total > there else 0.0
    strength = 1.0 - anyway / (both / there)
    evidence = f"of {subject}, {both:,} of {there:,} things are missed; {rest}"
    if begins == POSITION:
        fix = "See whether the input is cut, or too long for the model; ask for every paragraph in turn."
        words = f"The {name} of the texts is overlooked"
        return Sign(begins + name, words, keys, 0.0, (evidence,), fix, strength=strength)
    fix = f"Define {name}, with examples of what belongs to it."
    words = f"Things with the label {name} are overlooked"
    return Sign(begins + name, words, keys, 0.0, (evidence,), fix, strength=strength)


class _Sought(NamedTuple):
    """Something that was to be found in a text, where it begins (0 to 1), and whether it was missed."""

    wanted: Wanted
    place: float | None
    missed: bool


def _sought(each: Observation, case: CaseFacts, vocabulary: DiagnosisVocabulary) -> list[_Sought]:
    missed = {row.expected for row in each.diagnoses if role_of(vocabulary, row) == "missed"}
    text = case.text.casefold()
    found = []
    for wanted in case.wanted:
        places = [place for form in wanted.forms if form and (place := text.find(form.casefold())) >= 0]
        places = places if wanted.start is None else [wanted.start]
        share = min(places) / max(1, len(text)) if places else None
        found.append(_Sought(wanted, share, wanted.name in missed))
    return found


def _third(sought: _Sought) -> str:
    return "" if sought.place is None else THIRDS[min(2, int(3 * sought.place))]


def _label(sought: _Sought) -> str:
    return sought.wanted.label


def _by_part(sought: Sequence[_Sought], look: Callable[[_Sought], str]) -> dict[str, tuple[int, int]]:
    """By part, how many things were to be found, and how many of them were missed."""
    known = [(name, each.missed) for each in sought if (name := look(each))]
    gone = Counter(name for name, missed in known if missed)
    return {name: (times, gone[name]) for name, times in Counter(name for name, _ in known).items()}


def _stratum(table: Mapping[str, tuple[int, int]], name: str) -> Stratum | None:
    """One text as a set of things; None where all of them, or none, were missed."""
    total, marked = (sum(each) for each in zip(*table.values(), strict=True)) if table else (0, 0)
    inside, both = table.get(name, (0, 0))
    return Stratum(total, inside, marked, both) if 0 < marked < total else None


def _undiagnosed(
    failing: Sequence[Observation], pool: Sequence[Observation], units: Mapping[str, Unit]
) -> Iterator[Sign]:
    """Answers that fail though scoring names nothing that is wrong with them."""
    silent = [each for each in failing if not each.error and not each.diagnoses]
    if silent:
        apart = _apart(silent, pool, units)
        told = f"what sets them apart is {apart[0]}" if apart else "no metric sets them apart"
        yield Sign(
            UNDIAGNOSED,
            f"Answers fail and scoring does not say what is wrong with them; {told}",
            _keys(silent),
            0.0,
            tuple(f"also {each}" for each in apart[1:]),
            "Read some of the answers without a diagnosis beside answers that pass.",
        )


def _apart(
    silent: Sequence[Observation], pool: Sequence[Observation], units: Mapping[str, Unit]
) -> list[str]:
    """The metrics in which answers without a diagnosis differ most from those that pass."""
    names = sorted({name for each in silent for name in each.values})
    lines: list[tuple[float, str]] = []
    for name in names:
        own = sorted(each.values[name] for each in silent if name in each.values)
        others = sorted(each.values[name] for each in pool if name in each.values)
        if own and others:
            middle, usual = (number(each[len(each) // 2], units[name]) for each in (own, others))
            text = f"their {name}: {middle} in the middle, {usual} where answers pass"
            lines.append((abs(_share_below(own, others) - 0.5), text))
    far = sorted(lines, key=lambda each: -each[0])
    return [text for distance, text in far[:MOST_METRICS] if distance >= FAR]


def _share_below(first: Sequence[float], second: Sequence[float]) -> float:
    """How often a value of the first is below one of the second; ties count half."""
    total = sum(
        (len(second) - bisect_right(second, each))
        + (bisect_right(second, each) - bisect_left(second, each)) / 2
        for each in first
    )
    return total / (len(first) * len(second))


def _keys(observations: Sequence[Observation]) -> frozenset[Key]:
    return frozenset((each.case_id, each.trial) for each in observations)


def _share(all_: Sequence[Observation], some: Sequence[Observation]) -> float:
    return len(some) / len(all_) if all_ else 0.0

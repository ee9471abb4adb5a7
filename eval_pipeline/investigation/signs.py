"""What failing answers show by themselves: errors, breaking off, kinds of mistakes, parts of texts missed."""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from eval_pipeline.answers import REMEDIES, first_json
from eval_pipeline.golden import strings
from eval_pipeline.investigation.circumstances import LEVEL
from eval_pipeline.investigation.observations import CaseFacts, Observation
from eval_pipeline.investigation.records import CUT_OFF, EMPTY, ERROR, KIND, POSITION, REPEATED, UNDIAGNOSED
from eval_pipeline.investigation.vocabulary import kind_of, role_of
from eval_pipeline.numbers import Unit, counted, number
from eval_pipeline.statistics.association import Stratum, excess_p
from eval_pipeline.suite import DiagnosisVocabulary

Key = tuple[str, int]
"""Case and trial."""
USUAL = 0.95
"""What so many passing answers do not exceed is usual."""
REPEATS = 3
"""An answer that so many cases got, word for word, is repeated."""
THIRDS = ("beginning", "middle", "end")
FEWEST_PLACES = 2
"""Of texts with fewer things to find nobody can say which part was missed."""
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
        *_places(failing, facts, vocabulary),
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


def _places(
    failing: Sequence[Observation], facts: Mapping[str, CaseFacts], vocabulary: DiagnosisVocabulary
) -> Iterator[Sign]:
    """Thirds of the texts of which more is missed than of the rest."""
    tables = {
        (each.case_id, each.trial): table
        for each in failing
        if not each.error and (table := _missed_by_third(each, facts.get(each.case_id), vocabulary))
    }
    for third, name in enumerate(THIRDS):
        strata = {key: _stratum(table, third) for key, table in tables.items()}
        p_value = excess_p(strata.values()) if strata else 1.0
        if p_value * len(THIRDS) > LEVEL:
            continue
        keys = frozenset(
            key
            for key, one in strata.items()
            if 2 * one.both >= one.marked and one.both * one.total > one.inside * one.marked
        )
        missed, there = (sum(getattr(one, part) for one in strata.values()) for part in ("both", "inside"))
        marked, total = (sum(getattr(one, part) for one in strata.values()) for part in ("marked", "total"))
        rest = f"{marked - missed:,} of {total - there:,} elsewhere"
        yield Sign(
            f"{POSITION}{name}",
            f"The {name} of the texts is overlooked",
            keys,
            0.0,
            (f"of what stands in the {'last' if third == 2 else 'first' if not third else 'middle'} third, "
             f"{missed:,} of {there:,} are missed; {rest}",),
            "See whether the input is cut, or too long for the model; ask for every paragraph in turn.",
        )  # fmt: skip


def _stratum(table: Sequence[tuple[int, int]], third: int) -> Stratum:
    (there, missed) = table[third]
    return Stratum(sum(all_ for all_, _ in table), there, sum(some for _, some in table), missed)


def _missed_by_third(
    each: Observation, case: CaseFacts | None, vocabulary: DiagnosisVocabulary
) -> list[tuple[int, int]] | None:
    """How many things are to be found in each third of a text, and how many of them were missed."""
    if case is None or not case.wanted or not case.text:
        return None
    missed = {row.expected for row in each.diagnoses if role_of(vocabulary, row) == "missed"}
    text = case.text.casefold()
    counts: Counter[tuple[int, bool]] = Counter()
    for wanted in case.wanted:
        places = [place for form in wanted.forms if form and (place := text.find(form.casefold())) >= 0]
        start = wanted.start if wanted.start is not None else min(places, default=-1)
        if start >= 0:
            counts[min(2, 3 * start // max(1, len(text))), wanted.name in missed] += 1
    table = [(counts[third, True] + counts[third, False], counts[third, True]) for third in range(3)]
    total, gone = sum(all_ for all_, _ in table), sum(some for _, some in table)
    return table if total >= FEWEST_PLACES and 0 < gone < total else None


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

"""What makes a heritage golden set good: its size, its languages, and annotators who agree."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from eval_pipeline.files import files_below
from eval_pipeline.metrics.agreement import cohen_kappa
from eval_pipeline.metrics.text import normalize, word_spans
from eval_pipeline.numbers import counted, limit, number
from eval_pipeline.problems import Problems
from eval_pipeline.suite import Overview, Requirement, every_value
from eval_pipeline.suites._heritage.vocabulary import LANGUAGES

LOWEST_KAPPA = 0.85
SHARE_ANNOTATED_TWICE = 0.2
MOST_ALIKE = 0.9
"""More of their words in common, and two texts look made from one template."""
OPENING, MOST_SHOWN = 3, 12
ROUNDING = 1e-9

T = TypeVar("T")
Labels = Sequence[Hashable] | Mapping[Hashable, Hashable]
"""What an annotator said about a case: of everything, in order, or of what has a name."""

LANGUAGE_REQUIREMENT = every_value("language", LANGUAGES, "Cases in each of the four languages.", minimum=10)


def sizes(wanted: Mapping[str, int], count: Callable[[Overview], Mapping[str, int]]) -> Requirement:
    """How far a golden set is from the sizes that its document asks for; `count` tells what there is."""

    def shortfalls(overview: Overview) -> list[str]:
        result = count(overview)
        return [
            f"{name}: {result.get(name, 0):,} of {target:,} ({number(result.get(name, 0) / target)})"
            for name, target in wanted.items()
            if result.get(name, 0) < target
        ]

    return Requirement(
        "sizes",
        "As large as its document asks: " + ", ".join(f"{name} {target}" for name, target in wanted.items()),
        shortfalls,
    )


def variety() -> Requirement:
    """Texts that were written one by one: no two alike, and what they begin with and how long they are.

    `text` is the measure that it looks at.
    """

    def shortfalls(overview: Overview) -> list[str]:
        texts = dict(zip(overview.case_ids, overview.measures["text"], strict=True))
        return [
            f"{first} and {second} share {number(share)} of their words"
            for first, second, share in alike(texts, MOST_ALIKE)
        ]

    def facts(overview: Overview) -> list[str]:
        words = [_words(text) for text in overview.measures["text"]]
        lengths = sorted(map(len, words))
        openings = Counter(" ".join(each[:OPENING]) for each in words)
        repeated = {f"“{opening}”": times for opening, times in openings.most_common() if times > 1}
        hard = Counter(label for label in overview.attributes.get("hard", ()) if label)
        quarters = ", ".join(str(lengths[len(lengths) * part // 4]) for part in (1, 2, 3))
        return [
            f"{lengths[0]} to {lengths[-1]} words; quarters end at {quarters}",
            f"{counted(len(openings), 'opening')} of {OPENING} words in {counted(len(words), 'text')}"
            + _most_frequent(repeated),
            f"{hard.total():,} of {counted(len(words), 'text')} hard on purpose" + _most_frequent(hard),
        ]

    text = f"No two texts share more than {limit(MOST_ALIKE)} of their words."
    return Requirement("variety", text, shortfalls, facts=facts)


def _most_frequent(counts: Mapping[str, int]) -> str:
    most = sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:MOST_SHOWN]
    return f"; most often {', '.join(f'{name} {times}' for name, times in most)}" if most else ""


def _words(text: str) -> list[str]:
    plain = normalize(text)
    return [plain[start:end] for start, end in word_spans(plain)]


def alike(texts: Mapping[str, str], least: float) -> list[tuple[str, str, float]]:
    """Pairs of texts whose words, each as often as it stands there, are more alike than that (Dice).

    Such a pair shares a word among the rarest of each, so that few pairs are looked at: of n words the other
    text has at least n · least ÷ (2 − least).
    """
    words = {name: {*_numbered(_words(text))} for name, text in texts.items()}
    uses = Counter(word for each in words.values() for word in each)
    found: list[tuple[str, str, float]] = []
    holders: dict[tuple[str, int], list[str]] = {}
    for name, own in words.items():
        rarest = sorted(own, key=lambda word: (uses[word], word))
        rarest = rarest[: len(own) - math.ceil(len(own) * least / (2 - least) - ROUNDING) + 1]
        for other in dict.fromkeys(each for word in rarest for each in holders.get(word, ())):
            share = 2 * len(own & words[other]) / (len(own) + len(words[other]))
            if share > least:
                found.append((other, name, share))
        for word in rarest:
            holders.setdefault(word, []).append(name)
    return found


def _numbered(words: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Each word with how often it stood before, so that a set of them keeps how often each stands."""
    before: Counter[str] = Counter()
    for word in words:
        yield word, before[word]
        before[word] += 1


def second_annotation(
    folder: Path, suffixes: Collection[str], read: Callable[[Path, Problems], Iterable[T]]
) -> list[T]:
    """What `read` finds in the files of a second annotation; all that is wrong with them at once."""
    problems = Problems()
    files = [file for file in files_below(folder, problems) if file.suffix.lower() in suffixes]
    found = [each for file in files for each in read(file, problems)]
    problems.stop_if_any()
    return found


def agreement(measure: str) -> Requirement:
    """Two annotators agree: Cohen's κ over everything that a fifth of the cases or more label twice.

    `measure` names the labels of a case, in order or by key; `Overview.references` maps the ids of the cases
    that were annotated a second time to the labels that the second annotator gave.
    """

    def compared(overview: Overview) -> tuple[list[str], list[tuple[Hashable, Hashable]], int]:
        second: Mapping[str, Labels] = overview.references or {}
        first = dict(zip(overview.case_ids, overview.measures[measure], strict=True))
        odd = [f"{name} was annotated twice, but is no case" for name in sorted(second.keys() - first.keys())]
        pairs: list[tuple[Hashable, Hashable]] = []
        shared = sorted(second.keys() & first.keys())
        for name in shared:
            own, other = _keyed(first[name]), _keyed(second[name])
            if other.keys() - own.keys() or (len(own) > len(other) and not isinstance(second[name], Mapping)):
                odd.append(f"{name}: the second annotation is of another text")
            else:
                pairs += ((own[key], label) for key, label in other.items())
        return odd, pairs, len(shared)

    def facts(overview: Overview) -> list[str]:
        _, pairs, cases = compared(overview)
        kappa = cohen_kappa(pairs)
        value = "undefined" if kappa is None else f"{kappa:.3f}"
        share = cases / len(overview.case_ids)
        size = f"{counted(len(pairs), 'label')} of {counted(cases, 'case')} ({number(share)})"
        return [f"Cohen's κ {value} over {size}"]

    def shortfalls(overview: Overview) -> list[str]:
        odd, pairs, cases = compared(overview)
        kappa = cohen_kappa(pairs)
        if cases < SHARE_ANNOTATED_TWICE * len(overview.case_ids):
            size = counted(len(overview.case_ids), "case")
            odd.append(f"{cases:,} of {size} annotated twice, a fifth is needed")
        if kappa is None or kappa <= LOWEST_KAPPA:
            value = "undefined" if kappa is None else f"{kappa:.3f}"
            odd.append(f"Cohen's κ is {value}, more than {LOWEST_KAPPA} is needed")
        return odd

    text = f"A fifth of the cases were annotated twice, with Cohen's κ above {LOWEST_KAPPA}."
    return Requirement("annotator_agreement", text, shortfalls, facts=facts)


def _keyed(labels: Labels) -> Mapping[Hashable, Hashable]:
    return labels if isinstance(labels, Mapping) else dict(enumerate(labels))

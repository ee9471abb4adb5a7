"""The forms of common verbs."""

from collections.abc import Iterator
from typing import NamedTuple

from eval_pipeline.suites.decomposition.engine.lexicon import VERBS


class Inflection(NamedTuple):
    """A verb form: its base, and which form it is."""

    lemma: str
    form: str
    """One of "base", "present" (third person), "past" (tense or participle), "gerund"."""


def _inflections() -> Iterator[tuple[str, Inflection]]:
    for entry in sorted(VERBS):
        lemma, *irregular = entry.split("/")
        yield lemma, Inflection(lemma, "base")
        yield _with_s(lemma), Inflection(lemma, "present")
        for past in irregular or _with_suffix(lemma, "ed"):
            if past != lemma:
                yield past, Inflection(lemma, "past")
        for gerund in _with_suffix(lemma, "ing"):
            yield gerund, Inflection(lemma, "gerund")


def _with_s(lemma: str) -> str:
    if lemma.endswith("y") and lemma[-2] not in "aeiou":
        return lemma[:-1] + "ies"
    return lemma + ("es" if lemma.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


def _with_suffix(lemma: str, suffix: str) -> tuple[str, ...]:
    """The spellings with "ed" or "ing"; with the last consonant doubled too where it may be."""
    if lemma.endswith("ie") and suffix == "ing":
        return (lemma[:-2] + "ying",)
    if lemma.endswith("e"):
        return (lemma[:-1] + suffix,)
    if lemma.endswith("y") and lemma[-2] not in "aeiou" and suffix == "ed":
        return (lemma[:-1] + "ied",)
    if lemma[-1] not in "aeiouwxy" and lemma[-2] in "aeiou":
        return (lemma + suffix, lemma + lemma[-1] + suffix)
    return (lemma + suffix,)


VERB_FORMS: dict[str, Inflection] = dict(_inflections())

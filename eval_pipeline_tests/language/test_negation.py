"""What a "not", a "no" or an "it is false that" reaches, in four languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.language.negation import is_denied, negations


@pytest.mark.parametrize(
    ("language", "text", "denied"),
    [
        ("en", "the house was not *sold*", True),
        ("en", "the *house* was not sold", True),
        ("en", "the house wasn’t *sold*", True),
        ("en", "nobody has *sold* it", True),
        ("en", "a *house* without a garden", False),
        ("en", "a house without a *garden*", True),
        ("en", "no *garden* was there", True),
        ("en", "no, a *garden* was there", False),
        ("en", "no. 5, *corn lane*", False),
        ("en", "not only a house but a *garden*", False),
        ("en", "not later than *may*", False),
        ("en", "it was not sold, but it was *let*", False),
        ("en", "it was *let* because it was not sold", False),
        ("en", "it has *seven rooms* and is not sold", False),
        ("en", "it is false that the house, once let, was *sold*", True),
        ("en", "that the house was *sold* is untrue", True),
        ("en", "it is not untrue that the house was *sold*", False),
        ("en", "it has neither a garden nor *rooms*", True),
        ("en", "houses without a garden are never *sold*", True),
        ("en", "houses without a garden were soon *sold*", False),
        ("en", "that it was *sold* is false", True),
        ("en", "it is not true. it was *sold*", False),
        ("en", "it is not true that it was not *sold*", False),
        ("en", "not without a *garden*", False),
        ("nl", "het huis is niet *verkocht*", True),
        ("nl", "er is geen *tuin*", True),
        ("nl", "het is niet waar dat het huis, ooit verhuurd, is *verkocht*", True),
        ("nl", "niet alleen het *huis*", False),
        ("de", "das haus wurde nicht *verkauft*", True),
        ("de", "es stimmt nicht, dass das haus *verkauft* wurde", True),
        ("de", "kein *garten*", True),
        ("de", "nicht nur das *haus*", False),
        ("fr", "la maison n'est pas *vendue*", True),
        ("fr", "il est faux que la maison soit *vendue*", True),
        ("fr", "une *maison* sans jardin", False),
        ("fr", "non seulement la *maison*", False),
        # Answers come in English, too.
        ("fr", "it is not true that la maison est *vendue*", True),
        ("sv", "the house was not *sold*", True),
    ],
)
def test_what_is_denied(language: str, text: str, denied: bool) -> None:
    start, end = text.index("*"), text.rindex("*") - 1
    assert is_denied(negations(text.replace("*", ""), language), start, end) is denied


def test_what_denies_inside_of_it_is_part_of_it() -> None:
    found = negations("pods are not sold")
    assert is_denied(found, 0, 4)
    assert not is_denied(found, 0, len("pods are not sold"))


@given(
    st.text(alphabet="no t,.nev'r it is false that", max_size=80), st.sampled_from(["nl", "en", "de", "fr"])
)
def test_reaches_lie_in_the_text(text: str, language: str) -> None:
    for each in negations(text, language):
        assert 0 <= each.reaches_from <= each.reaches_to <= len(text)
        assert text[each.start : each.end].strip()

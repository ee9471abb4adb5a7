"""Where sentences end in four languages, and where a full stop ends none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.language.sentences import LONGEST_SENTENCE, split_sentences


@pytest.mark.parametrize(
    "sentences",
    [
        ["It opened in 1911.", "Visitors came."],
        ["Is it open?", "Yes!", "Come in."],
        ["Dr. A. J. de Vries led it, e.g. in 1911.", "He left."],
        ["The code is NL-XQ1.", "It is new."],
        ["Het werd o.a. door dhr. Kat beheerd.", "Zie blz. 12 voor meer."],
        ["Am 3. Mai 1902 und im 18. Jahrhundert.", "Es schloss ca. 1950."],
        ["Das Haus (bzw. Dr. Roths Haus) steht.", "Es ist alt."],
        ["Mme. Roux a écrit « oui ».", "Elle est partie."],
        ["It has no. 5 and vol. III.", "Good."],
        ["Die Bank steht in St. Veit.", "Älter ist keine."],
        ['He said "stop."', "They did."],
        ["One line\nbroken in two.", "Two."],
    ],
)
def test_sentences(sentences: list[str]) -> None:
    assert list(split_sentences(" ".join(sentences))) == sentences
    assert list(split_sentences("  " + "\n\n".join(sentences) + " \n")) == sentences


def test_a_blank_line_ends_what_no_mark_ends() -> None:
    assert list(split_sentences("A title\n \nthe text")) == ["A title", "the text"]


def test_a_small_letter_continues_the_sentence() -> None:
    assert list(split_sentences("It is... well. and é. ß")) == ["It is... well. and é. ß"]


@given(st.text(alphabet=st.sampled_from('aZé. !?\n"1)…'), max_size=80) | st.text(max_size=80))
def test_nothing_is_lost_and_nothing_is_added(text: str) -> None:
    found = list(split_sentences(text))
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(each in text and each == each.strip() and each for each in found)


def test_what_never_ends_is_cut() -> None:
    found = list(split_sentences("word " * LONGEST_SENTENCE))
    assert max(map(len, found)) <= LONGEST_SENTENCE
    assert len(list(split_sentences("." * 10**6))) > 1

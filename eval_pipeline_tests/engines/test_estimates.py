"""Estimates: tokens as real tokenizers count them, what earlier answers teach, and how it is said."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.answers import TrialRange
from eval_pipeline.engines import Estimate, Request
from eval_pipeline.engines.estimates import _Learned, batched, estimated_tokens
from eval_pipeline.engines.journal import Experience

TEXTS = {
    "instructions": (
        "Mark the visual control points of the video prompt below: every phrase that a directo"
        "r could change to get another video.\n\nCategories:\n- subject.identity: who or what it "
        'is about, with the words that say which ("elderly fisherman")\n- subject.appearance: b'
        'ody and surface ("silver hair", "rusted copper limbs")\n- subject.wardrobe: what is wo'
        'rn ("red dress", "round glasses")\n- subject.emotion: what is felt or shown ("tense bu'
        't determined")\n- action.movement: the subject moves ("walks", "climbs the stairs")\n- '
        'action.gesture: it does something on the spot ("pours milk into a cup", "looks up")\n-'
        " environment.location, environment.weather, time: where, under which sky, when\n- ligh"
        "ting: sources, direc",
        165,
        176,
    ),
    "german": (
        "Die Bibliothek der Stadt wurde im Jahre 1893 gegründet. Sie besitzt heute eine große "
        "Sammlung von Handschriften, alten Drucken und Karten der Stadt, die während der Öffnu"
        "ngszeiten gelesen werden können.",
        57,
        60,
    ),
    "dutch": (
        "Het Noord-Hollands Archief in Haarlem bewaart de archieven van de provincie en van ee"
        "n aantal gemeenten. De studiezaal is geopend van dinsdag tot en met vrijdag; reserver"
        "en is niet nodig.",
        58,
        63,
    ),
    "french": (
        "La bibliothèque municipale a été fondée en 1893 et conserve aujourd'hui une important"
        "e collection de manuscrits médiévaux et de vues de la ville qui peuvent être consulté"
        "s pendant les heures d'ouverture.",
        52,
        56,
    ),
    "russian": (
        "Городская библиотека была основана в 1893 году и сегодня хранит значительное собрание"
        " средневековых рукописей и видов города, которые можно посмотреть в часы работы.",
        74,
        80,
    ),
    "greek": (
        "Η δημοτική βιβλιοθήκη ιδρύθηκε το 1893 και σήμερα στεγάζει μια σημαντική συλλογή μεσα"
        "ιωνικών χειρογράφων.",
        95,
        109,
    ),
    "arabic": (
        "تأسست مكتبة المدينة عام 1893 وتضم اليوم مجموعة مهمة من المخطوطات التي تعود إلى العصور الوسطى.",
        60,
        74,
    ),
    "chinese": (
        "市立图书馆成立于1893年，如今收藏着大量重要的中世纪手稿、古籍和城市景观图，开放时间内均可查阅。",
        55,
        53,
    ),
    "japanese": (
        "市立図書館は1893年に設立され、現在は中世の写本や初期印刷本、都市景観図の重要なコレクションを所蔵しており、開館時間中に閲覧できます。",
        79,
        75,
    ),
    "json": (
        '[{"id": 0, "name": "case-0", "value": 0.0, "tags": ["a", "b"]}, {"id": 1, "name": "ca'
        'se-1", "value": 1.37, "tags": ["a", "b"]}, {"id": 2, "name": "case-2", "value": 2.74,'
        ' "tags": ["a", "b"]}, {"id": 3, "name": "case-3", "value": 4.11, "tags": ["a", "b"]},'
        ' {"id": 4, "name": "case-4", "value": 5.48, "tags": ["a", "b"]}, {"id": 5, "name": "c'
        'ase-5", "value": 6.85, "tags": ["a", "b"]}, {"id": 6, "name": "case-6", "value": 8.22'
        ', "tags": ["a", "b"]}, {"id": 7, "name": "case-7", "value": 9.59, "tags": ["a", "b"]}'
        "]",
        257,
        234,
    ),
}
"""Texts with the tokens that cl100k (GPT-4) and Claude's published tokenizer count in them."""


@pytest.mark.parametrize("name", TEXTS)
def test_tokens_are_about_what_tokenizers_count(name: str) -> None:
    text, *counts = TEXTS[name]
    most = (
        0.3 if name == "dutch" else 0.2
    )  # its words are longer in tokens than English ones, in the same script
    assert estimated_tokens(text) == pytest.approx(sum(counts) / len(counts), rel=most)


@given(st.text(), st.text())
def test_more_text_has_no_fewer_tokens(first: str, second: str) -> None:
    assert estimated_tokens(f"{first} {second}") >= estimated_tokens(first)
    assert estimated_tokens("") == 0


def experience(model: str, suite: str, counted: int, estimated: int, answers: int) -> Experience:
    return Experience(model, suite, counted, estimated, 7 * answers, answers)


def test_the_nearest_experience_counts() -> None:
    known = [
        experience("m", "other", 300, 100, 3),
        experience("old", "qa", 500, 100, 5),
        experience("m", "qa", 200, 100, 0),
    ]
    assert _Learned(known, "m", "qa").correction == 2
    assert _Learned(known[:2], "m", "qa").correction == 5  # the suite says more than the model
    assert _Learned(known[:1], "m", "qa").correction == 3
    assert _Learned(known, "new", "new").correction == pytest.approx(1000 / 300)
    assert _Learned([], "m", "qa").correction == 1
    assert _Learned(known, "m", "qa").answer_tokens == 7
    assert _Learned(known[:1], "m", "qa").answer_tokens is None  # of another suite


def test_an_estimate_says_trials_calls_tokens_and_dollars() -> None:
    plain = Estimate("gpt", 15, 3, metered=True, calls=45, input_tokens=32_000, output_tokens=9_000)
    assert plain.text == (
        "3 trials of 15 cases on gpt: 45 calls to make, about 32,000 input tokens, "
        "about 9,000 output tokens, about $0.0000"
    )
    most = Estimate(
        "gpt", 15, TrialRange(1, 3), True, 40, 10, 80_000, most_output=2_000, dollars=None, priced=False
    )
    assert most.text == (
        "1 to 3 trials of 15 cases on gpt: at most 40 calls to make, 5 answers known, about 10 input tokens, "
        "at most 2,000 × 40 = 80,000 output tokens, cost unknown (no prices in engines.yaml)"
    )
    assert Estimate("embedded", 1, 1).text == "1 trial of 1 case on embedded: no metered call to make"


@pytest.mark.parametrize(
    ("most", "sizes"), [(0, [2, 2, 2, 2, 2, 2, 1]), (1, [2, 2, 2, 2, 2, 2, 1]), (5, [2, 4, 5, 2])]
)
def test_batches_grow_up_to_the_most_and_none_is_lost(most: int, sizes: list[int]) -> None:
    async def requests() -> AsyncIterator[Request]:
        for number in range(13):
            yield Request(f"c{number}", 1, None)

    async def collect() -> list[list[str]]:
        return [[each.case_id for each in batch] async for batch in batched(requests(), 2, most)]

    batches = asyncio.run(collect())
    assert [len(batch) for batch in batches] == sizes
    assert [each for batch in batches for each in batch] == [f"c{number}" for number in range(13)]

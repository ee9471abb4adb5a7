"""What a prompt shows, and the vocabulary of camera and light."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.suites._video.cinematography import camera_terms, technical_terms
from eval_pipeline.suites._video.prompt_accuracy import element_accuracy, labelled_prompts
from eval_pipeline.suites._video.scene_elements import ELEMENTS, find_elements


@pytest.mark.parametrize(
    ("text", "core", "actions", "environments"),
    [
        ("dog running in park", ("dog",), ("running",), ("park",)),
        ("A skydiver in an orange suit tumbles.", ("skydiver",), ("tumbles",), ()),
        ("Close-up of a young witch whispering", ("young witch",), ("whispering",), ()),
        ("A father and his daughter fly a kite on a beach.", ("father", "daughter"), ("fly",), ("beach",)),
        ("Wide shot, a heron wading through a marsh", ("heron",), ("wading",), ("marsh",)),
        ("misty mountain valley", ("misty mountain valley",), (), ("misty mountain valley",)),
        ("The camera pans left, shallow depth of field", (), (), ()),
        ("make it cinematic", (), (), ()),
        ("", (), (), ()),
    ],
)
def test_what_is_found(
    text: str, core: tuple[str, ...], actions: tuple[str, ...], environments: tuple[str, ...]
) -> None:
    found = find_elements(text)
    assert (found.core, found.actions, found.environments) == (core, actions, environments)


def test_a_person_without_a_name_is_shown_but_cannot_be_looked_for() -> None:
    found = find_elements("She opens the letter and weeps.")
    assert found.present()["subject"]
    assert found.core == ()


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("panda company", []),
        ("an unsteady stool, a frying pan, a pandemic", []),
        ("pots and pans, a pan of rice, pan-fried fish in steady rain, with steady hands", []),
        ("tracking, pan, dolly", ["dolly", "pan", "tracking"]),
        ("Panning over the bay, steady, handheld", ["handheld", "pan", "steady"]),
        ("The view pans to the harbour; steady framing", ["pan", "steady"]),
        ("The camera pans left across the bay", ["camera pan"]),
        ("a steady camera on a dolly", ["dolly", "steady camera"]),
        ("Close up, then an extreme close-up", ["close up", "extreme close up"]),
        ("CLOSE-UPS in low-key light", ["close up", "low key"]),
        ("shallow depth of field", ["shallow depth of field"]),
        ("golden hour, bokeh and chiaroscuro", ["bokeh", "chiaroscuro", "golden hour"]),
        ("tracking tracking TRACKING", ["tracking"]),
    ],
)
def test_technical_terms_stand_on_word_boundaries(text: str, terms: list[str]) -> None:
    assert technical_terms(text) == terms


def test_a_panda_holds_no_camera_term() -> None:
    assert camera_terms("panda company") == []
    assert not find_elements("A panda waves at the company.").present()["camera"]


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    assert list(find_elements(text).present()) == list(ELEMENTS)
    technical_terms(text)


def test_the_measured_accuracy_does_not_fall() -> None:
    assert len(labelled_prompts()) == 40
    shares = element_accuracy()
    assert set(shares) == set(ELEMENTS)
    assert all(share.value >= 0.85 for share in shares.values())

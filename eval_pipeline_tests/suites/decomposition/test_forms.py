"""Forms of forbidden names, and quotes in other words: what counts as one, and what does not."""

import pytest

from eval_pipeline.metrics.text import normalize
from eval_pipeline.suites.decomposition.forms import Canaries, is_paraphrase, stands_in_some_form, stems_of

TEXT = "Reefs rest on corals. Corals lose their algae when the water warms. Fish graze."


@pytest.mark.parametrize(
    ("label", "named"),
    [
        ("proof of viscosity", "Proof of Viscosity"),
        ("viscosity proofs", "Proof of Viscosity"),
        ("proofs-of-viscosity protocol", "Proof of Viscosity"),
        ("proof of viscosities", "Proof of Viscosity"),
        ("reef crystallisation", "Reef Crystallization"),
        ("proof of work", None),
        ("viscosity", None),
        ("", None),
        # The text names it, so nobody made it up, whatever canary its words recall.
        ("corals lose their algae", None),
        ("algae of corals", "Coral Algae"),
    ],
)
def test_a_canary_is_recognised_by_all_of_its_words(label: str, named: str | None) -> None:
    canaries = Canaries(["Proof of Viscosity", "Coral Algae", "Reef Crystallization"], normalize(TEXT))
    assert canaries.named_by(label) == named


def test_a_name_stands_in_a_text_in_whatever_form_but_only_side_by_side() -> None:
    stems = stems_of(TEXT)
    assert stands_in_some_form("fish grazing", stems)
    assert not stands_in_some_form("coral fish", stems)
    assert not stands_in_some_form("the", stems)


@pytest.mark.parametrize(
    ("quote", "near"),
    [
        ("Algae are lost by corals in warm water.", True),
        ("Corals rest, and corals lose algae.", True),
        ("Sharks hunt seals in winter.", False),
        ("Sharks and corals hunt seals in the water.", False),
        ("", False),
    ],
)
def test_most_words_of_a_paraphrase_stand_in_neighbouring_sentences(quote: str, near: bool) -> None:
    assert is_paraphrase(quote, TEXT) is near

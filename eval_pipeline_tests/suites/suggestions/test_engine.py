"""The embedded engine of suggestions: forms, articles, spread, and what it does with odd input."""

from __future__ import annotations

from typing import Any

import pytest

from eval_pipeline.problems import BadInput
from eval_pipeline.suites.suggestions.cases import SuggestionInput
from eval_pipeline.suites.suggestions.engine import Parameters, form_of, suggest

LEXICON = {
    "subject.wardrobe": {
        "singular": ["emerald gown", "linen shirt", "velvet cape", "red coat"],
        "plural": ["leather boots", "wool mittens"],
    },
    "subject.emotion": {"singular": ["overjoyed"]},
    "action.movement": {"gerund": ["limping", "crawling"], "third": ["limps", "crawls"]},
}


def suggested(prompt: str, span: str, category: str, **chosen: Any) -> list[str]:
    given = SuggestionInput(prompt, span, prompt.index(span), category)
    return suggest(given, Parameters(**{"maximum_similarity": 1.0, **chosen}), LEXICON).suggestions


def test_an_article_before_the_span_is_respected() -> None:
    found = suggested("a blue dress", "blue dress", "subject.wardrobe")
    assert sorted(found) == ["linen shirt", "red coat", "velvet cape"]
    assert suggested("an old dress", "old dress", "subject.wardrobe") == ["emerald gown"]


def test_a_plural_gets_plurals_and_a_verb_gets_its_form() -> None:
    assert sorted(suggested("silver gowns", "silver gowns", "subject.wardrobe")) == [
        "leather boots",
        "wool mittens",
    ]
    assert sorted(suggested("a fox walking", "walking", "action.movement")) == ["crawling", "limping"]
    assert sorted(suggested("a fox leaps", "leaps", "action.movement")) == ["crawls", "limps"]


def test_words_of_the_original_are_not_repeated_and_capitals_are_kept() -> None:
    assert "red coat" not in suggested("in red dress", "red dress", "subject.wardrobe")
    assert suggested("Walking home", "Walking", "action.movement")[0][0].isupper()


def test_a_wider_scope_takes_what_the_parent_has() -> None:
    found = suggested("in blue dress", "blue dress", "subject.wardrobe", scope="parent", count=10)
    assert "overjoyed" in found
    everything = suggested(
        "in blue dress", "blue dress", "lighting", scope="everything", match_form=False, count=20
    )
    assert "limps" in everything


def test_a_category_without_phrases_gets_no_suggestion() -> None:
    assert suggested("soft light", "soft light", "lighting") == []


@pytest.mark.parametrize("span", ["", "🎬", "   "])
def test_odd_spans_have_a_form(span: str) -> None:
    assert form_of(span, "lighting") == "singular"


def test_without_a_lexicon_there_is_a_remedy() -> None:
    with pytest.raises(BadInput, match=r"lexicon\.yaml is missing"):
        suggest(SuggestionInput("a", "a", 0, "lighting"), Parameters(), None)

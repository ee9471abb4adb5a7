"""The embedded engine: alternatives to a span from a lexicon of its category, spread out by similarity.

No model writes anything. Phrases of the category that fit the span's grammatical form and article are
candidates; the first is the one most unlike the original among those that still resemble it enough, the next
ones are those most unlike what was chosen before. It is the floor that a model must beat.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from eval_pipeline.files import read_yaml
from eval_pipeline.language.embedder import default_embedder, similarity
from eval_pipeline.metrics.text import normalize, words
from eval_pipeline.problems import bad_value, without_problems
from eval_pipeline.suites._video.category_classifier import parent
from eval_pipeline.suites._video.words import Tag, tags_of, wants_an
from eval_pipeline.suites.suggestions.cases import SuggestionInput
from eval_pipeline.suites.suggestions.scoring import Suggestions, length_appropriateness

LEXICON_FILE = "lexicon.yaml"
Form = Literal["singular", "vowel", "plural", "gerund", "third"]
Lexicon = Mapping[str, Mapping[str, Sequence[str]]]


class Parameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a prompt version of this engine chooses."""

    count: Annotated[int, msgspec.Meta(ge=1, le=20)] = 4
    """How many suggestions."""
    scope: Literal["category", "parent", "everything"] = "category"
    """Where phrases come from: the span's category, its parent's, or any."""
    match_form: bool = True
    """Whether a phrase must have the span's grammatical form: a plural for a plural, "leaps" for "runs"."""
    match_article: bool = True
    """Whether a phrase must fit "a" or "an" before the span."""
    match_length: bool = True
    """Whether a phrase must be half to twice as long as the span."""
    maximum_similarity: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.6
    """A phrase that is more like the original repeats it."""
    spread: bool = True
    """Whether each next phrase is the one most unlike those before; else the one most like the original."""


def load_resources(folder: Path) -> Lexicon:
    """Phrases by category and form."""
    kind, file = dict[str, dict[Form, list[str]]], folder / LEXICON_FILE
    lexicon = without_problems(lambda problems: read_yaml(file, kind, problems))
    return {
        category: {str(form): phrases for form, phrases in forms.items()}
        for category, forms in lexicon.items()
    }


def suggest(given: SuggestionInput, parameters: Parameters, lexicon: Lexicon | None) -> Suggestions:
    """Alternatives to a span, the best first."""
    if lexicon is None:
        raise bad_value("resources", f"{LEXICON_FILE} is missing", "Add it to the suite's golden resources.")
    candidates = _candidates(given, parameters, lexicon)
    if not candidates:
        return Suggestions([])
    vectors = default_embedder().embed([given.span, *candidates])
    likeness = similarity(vectors[0], vectors[1:])
    fresh = [index for index in range(len(candidates)) if likeness[index] <= parameters.maximum_similarity]
    remaining = sorted(fresh, key=lambda index: (-likeness[index], candidates[index]))
    chosen: list[int] = []
    while remaining and len(chosen) < parameters.count:
        if parameters.spread and chosen:
            taken = vectors[[index + 1 for index in chosen]]
            nearest = {index: float(similarity(vectors[index + 1], taken).max()) for index in remaining}
            best = min(remaining, key=lambda index: (nearest[index], candidates[index]))
        else:
            best = remaining[0]
        chosen.append(best)
        remaining.remove(best)
    return Suggestions([_cased(candidates[index], given.span) for index in chosen])


def _candidates(given: SuggestionInput, parameters: Parameters, lexicon: Lexicon) -> list[str]:
    before = [word.text for word in words(given.prompt[: given.start])][-1:]
    article = before[0].casefold() if before and before[0].casefold() in ("a", "an") else ""
    form = form_of(given.span, given.category)
    results = {
        phrase
        for category, forms in lexicon.items()
        if _in_scope(category, given.category, parameters.scope)
        for name, phrases in forms.items()
        if not parameters.match_form or name == form or (name, form) == ("vowel", "singular")
        for phrase in phrases
    }
    return sorted(
        phrase
        for phrase in results
        if not (parameters.match_article and article and not _fits(article, phrase))
        and not (parameters.match_length and length_appropriateness(given.span, phrase) < 1.0)
        and not set(normalize(phrase).split()) & set(normalize(given.span).split())
    )


def form_of(span: str, category: str) -> Form:
    """The grammatical form of a span, coarsely."""
    results = [word.text.casefold() for word in words(span)]
    if not results:
        return "singular"
    first, last = tags_of(results[0]), tags_of(results[-1])
    if parent(category) == "action":
        return "gerund" if Tag.GERUND in first else "third"
    if parent(category) == "subject" and Tag.PLURAL in last and Tag.SINGULAR not in last:
        return "plural"
    return "singular"


def _in_scope(category: str, wanted: str, scope: str) -> bool:
    if scope == "category":
        return category == wanted
    return scope == "everything" or parent(category) == parent(wanted)


def _fits(article: str, phrase: str) -> bool:
    """Whether an article can stand before a phrase; one that brings its own cannot have another."""
    first = phrase.split(maxsplit=1)[0]
    return first.casefold() not in ("a", "an", "the") and wants_an(first) == (article == "an")


def _cased(phrase: str, span: str) -> str:
    """With a capital where the span has one."""
    return phrase[:1].upper() + phrase[1:] if span[:1].isupper() else phrase

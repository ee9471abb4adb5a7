"""What the suite keeps as data: the taxonomy of categories, and the words that the embedded engine knows."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from eval_pipeline.files import Violation, read_json
from eval_pipeline.metrics.text import normalize
from eval_pipeline.problems import Problems

TAXONOMY_FILE = "taxonomy.json"
LEXICON_FILE = "lexicon.json"

INVALID, MISSED, SPURIOUS, ERROR = "invalid", "missed", "spurious", "error"
RESERVED = frozenset({INVALID, MISSED, SPURIOUS, ERROR})
"""Rows and columns of the confusion matrix that are no categories."""


class Parent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A category, or a family of them."""

    description: str
    children: dict[str, str] = {}
    """Name → description; a parent without children is a category itself."""


class Lexicon(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Words and phrases by what they are; see the engine for how each list is used."""

    heads: dict[str, list[str]]
    """Category → words and phrases that a span of it may end in."""
    verbs: dict[str, list[str]]
    """Category of action → base forms of its verbs."""
    modifiers: list[str]
    """Adjectives and the like that may precede a noun."""
    sounds: list[str]
    """Verbs of sound, base forms: what does them is heard."""
    irregular: dict[str, list[str]]
    """Base form → forms that are not built by rule."""


@dataclass(frozen=True)
class Resources:
    """The taxonomy's categories, and the lexicon."""

    categories: frozenset[str]
    lexicon: Lexicon


def read_taxonomy(file: Path, problems: Problems) -> frozenset[str]:
    """The names of all categories: `parent.child`, or the parent where it has no children."""
    for parents, _ in read_json(file, dict[str, Parent], problems, _check_taxonomy):
        return frozenset(
            f"{name}.{child}" if child else name
            for name, parent in parents.items()
            for child in (parent.children or ("",))
        )
    return frozenset()


def _check_taxonomy(parents: dict[str, Parent]) -> Iterable[Violation]:
    for name, parent in parents.items():
        for part in (name, *parent.children):
            if part != normalize(part) or not part or "." in part or part in RESERVED:
                yield Violation(
                    (name,), f"{part!r} is not a name", "Use lower case, no dot, no reserved word."
                )


def load_resources(folder: Path) -> Resources:
    """The resources of a golden folder; every problem of every file at once."""
    problems = Problems()
    categories = read_taxonomy(folder / TAXONOMY_FILE, problems)

    def check(lexicon: Lexicon) -> Iterable[Violation]:
        for field in ("heads", "verbs"):
            for category in getattr(lexicon, field):
                if categories and category not in categories:
                    yield Violation((field, category), "is not a category", f"See {TAXONOMY_FILE}.")

    lexicon = next(iter(read_json(folder / LEXICON_FILE, Lexicon, problems, check)), None)
    problems.stop_if_any()
    assert lexicon is not None
    return Resources(categories, lexicon.record)

"""The golden format: a prompt to optimize, and what a good optimization of it is like."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from eval_pipeline.files import Violation, read_yaml
from eval_pipeline.golden import JsonCases
from eval_pipeline.language.patterns import BadPattern, compile_bounded
from eval_pipeline.metrics.minima import Minimum
from eval_pipeline.metrics.text import normalize
from eval_pipeline.problems import Problems
from eval_pipeline.suite import Case, Place
from eval_pipeline.suites._video.scene_elements import find_elements

MODELS_FILE = "models.yaml"
"""Rules by target model, in the golden folder's resources."""
SIZES = ("minimal", "partial", "complex")
MOST_WORDS = {"minimal": 7, "partial": 35}
"""How long an input of a size is at most; a longer one is complex."""


class Qualities(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What a case expects of its optimized prompt; a quality that is not named has no minimum."""

    intent_preservation: Minimum | None = None
    structural_completeness: Minimum | None = None
    word_count_compliance: Minimum | None = None
    technical_density: Minimum | None = None
    model_compliance: Minimum | None = None
    required_elements_present: Minimum | None = None


class GoldenEntry(msgspec.Struct, frozen=True, rename="camel"):
    """A golden entry, with the field names of its document."""

    id: str
    input: str
    expected_qualities: Qualities
    required_elements: list[str] = []
    forbidden_patterns: list[str] = []
    target_model: str | None = None


class OptimizationInput(msgspec.Struct, frozen=True):
    """What an engine sees."""

    input: str
    target_model: str


class OptimizationExpected(msgspec.Struct, frozen=True):
    """What only scoring sees."""

    qualities: Qualities
    required_elements: list[str]
    forbidden_patterns: list[str]


OptimizationCase = Case[OptimizationInput, OptimizationExpected]


def to_case(entry: GoldenEntry) -> OptimizationCase:
    """A golden entry as a case."""
    target = entry.target_model or ""
    return Case(
        entry.id,
        OptimizationInput(entry.input, target),
        OptimizationExpected(entry.expected_qualities, entry.required_elements, entry.forbidden_patterns),
        {"size": size_of(entry.input), "target_model": target},
    )


def word_count(text: str) -> int:
    """How many words a prompt has, split at white space as the document does; none where it is blank."""
    return len(text.split())


def size_of(text: str) -> str:
    """Whether an input is minimal, partial or complex, by its number of words."""
    count = word_count(text)
    return next((size for size, most in MOST_WORDS.items() if count <= most), "complex")


def has_subject(case: OptimizationCase) -> bool:
    """Whether the input has a subject that can be kept."""
    return bool(find_elements(case.input.input).core)


class OptimizationCases:
    """Reads cases from JSON and JSON Lines files.

    Where the golden folder has rules of target models, every target model must be one of them.
    """

    suffixes = JsonCases.suffixes

    def read(self, path: Path, problems: Problems) -> Iterator[tuple[Case[Any, Any], Place]]:
        """The cases of one file."""
        models = _models(path)

        def check(entry: GoldenEntry) -> Iterable[Violation]:
            yield from check_entry(entry)
            target = (entry.target_model or "").strip()
            if models and target and target not in models:
                remedy = f"Models with rules: {', '.join(sorted(models))}."
                yield Violation(("targetModel",), f"there are no rules for {target[:80]!r}", remedy)

        yield from JsonCases(GoldenEntry, to_case, check).read(path, problems)


def _models(path: Path) -> frozenset[str]:
    """The models with rules beside the golden files; what is wrong with the rules is told elsewhere."""
    for folder in (path.parent, path.parent.parent):
        file = folder / "resources" / MODELS_FILE
        if file.is_file():
            return frozenset(read_yaml(file, dict[str, Any], Problems()) or ())
    return frozenset()


def check_entry(entry: GoldenEntry) -> Iterator[Violation]:
    """What cannot be right in one golden entry."""
    if not normalize(entry.input):
        yield Violation(("input",), "is blank", "Give the prompt to optimize.")
    if entry.target_model is not None and not entry.target_model.strip():
        yield Violation(("targetModel",), "is blank", "Name a model, or leave the field out.")
    for index, element in enumerate(entry.required_elements):
        if not any(character.isalnum() for character in element):
            yield Violation(("requiredElements", index), "names nothing", "Fill it, or remove the entry.")
    for index, pattern in enumerate(entry.forbidden_patterns):
        try:
            compile_bounded(pattern)
        except BadPattern as bad:
            message, _, remedy = str(bad).partition(". ")
            yield Violation(("forbiddenPatterns", index), message, remedy)

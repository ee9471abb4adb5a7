"""The embedded engine: a prompt filled up from templates with what it lacks.

No model writes anything. What the prompt shows already is left as it is; a shot, an environment, an action,
a light and a lens are added where they are missing, and sentences of detail up to the length wanted. Which
of the templates is taken follows from the prompt itself, so that the same prompt always gives the same
answer. It is the floor that a model must beat.
"""

import zlib
from collections.abc import Iterator, Sequence
from typing import Annotated

import msgspec

from eval_pipeline.language.word_lists import line_lists
from eval_pipeline.metrics.text import normalize
from eval_pipeline.suites._video.cinematography import technical_terms
from eval_pipeline.suites._video.scene_elements import SceneElements, find_elements
from eval_pipeline.suites.optimization.cases import OptimizationInput, word_count
from eval_pipeline.suites.optimization.scoring import OptimizedPrompt

_TEMPLATES = line_lists(__package__, "data/templates.txt")


class Parameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a prompt version of this engine chooses."""

    least_words: Annotated[int, msgspec.Meta(ge=0, le=300)] = 80
    """Sentences of detail are added up to this length."""
    environment: bool = True
    """Whether a place is added where the prompt names none."""
    action: bool = True
    """Whether something happens where the prompt names no action."""
    lens: bool = True
    """Whether a sentence on the lens is added."""
    lavish: bool = False
    """Whether every known technique, a duration and words of praise are added too."""


def optimize(given: OptimizationInput, parameters: Parameters, resources: object) -> OptimizedPrompt:
    """The prompt, filled up."""
    elements = find_elements(given.input)
    sentences = list(_sentences(given.input, elements, parameters))
    details = _rotated(_TEMPLATES["DETAILS"], given.input)
    while details and word_count(" ".join(sentences)) < parameters.least_words:
        sentences.append(details.pop(0))
    return OptimizedPrompt(" ".join(sentences))


def _sentences(text: str, elements: SceneElements, parameters: Parameters) -> Iterator[str]:
    core = _sentence(text)
    yield core if elements.cameras else f"{_pick(_TEMPLATES['SHOTS'], text)}: {core}"
    if parameters.action and not elements.actions:
        yield _pick(_TEMPLATES["ACTIONS"], text)
    if parameters.environment and not elements.environments:
        yield _pick(_TEMPLATES["ENVIRONMENTS"], text)
    if not elements.lights:
        yield _pick(_TEMPLATES["LIGHTS"], text)
    if parameters.lens and len(technical_terms(text)) < 3:
        yield _pick(_TEMPLATES["LENSES"], text)
    if parameters.lavish:
        yield from _TEMPLATES["LAVISH"]


def _sentence(text: str) -> str:
    """The prompt as it stands, with a capital and a full stop."""
    stripped = text.strip()
    ended = stripped if stripped.endswith((".", "!", "?")) else f"{stripped}."
    return ended[:1].upper() + ended[1:]


def _pick(templates: Sequence[str], text: str) -> str:
    return templates[zlib.crc32(normalize(text).encode()) % len(templates)]


def _rotated(templates: Sequence[str], text: str) -> list[str]:
    first = zlib.crc32(normalize(text).encode()) % len(templates)
    return [*templates[first:], *templates[:first]]

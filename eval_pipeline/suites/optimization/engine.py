"""The embedded engine: a prompt filled up from templates with what it lacks.

No model writes anything. What the prompt shows already is left as it is; a shot, an environment, an action,
a light and a lens are added where they are missing, and sentences of detail up to the length wanted. Which
of the templates is taken follows from the prompt itself, so that the same prompt always gives the same
answer. It is the floor that a model must beat.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import Annotated

import msgspec

from eval_pipeline.metrics.text import normalize, word_count
from eval_pipeline.suites._video.cinematography import technical_terms
from eval_pipeline.suites._video.scene_elements import SceneElements, find_elements
from eval_pipeline.suites.optimization.cases import OptimizationInput
from eval_pipeline.suites.optimization.scoring import OptimizedPrompt

SHOTS = (
    "Medium shot that opens with a slow push-in",
    "Wide shot that settles into a gentle tracking move",
    "Low angle view on a steady tracking shot",
    "Handheld shot that keeps close to the action",
)
ENVIRONMENTS = (
    "The scene takes place in a quiet courtyard with weathered stone walls and a few scattered leaves.",
    "Around it lies an open field with tall grass, a line of distant hills and a wide pale sky.",
    "It happens in a lived-in room with worn wooden floors, old furniture and one tall window.",
    "Behind it stretches a narrow street with painted shutters, drying laundry and small puddles.",
)
ACTIONS = (
    "It turns slowly, pauses, and looks towards something just out of sight.",
    "It shifts, breathes in, and settles again in one unhurried movement.",
)
LIGHTS = (
    "Soft light from one side models every surface and leaves the far edge in shadow.",
    "Golden hour sun comes in low, warms the colours and draws long shadows over the ground.",
    "Diffused light from an overcast sky keeps the contrast gentle and the skin tones true.",
    "A single warm light source glows from within the scene while the rest falls into cool blue shade.",
)
LENSES = (
    "Shallow depth of field separates the foreground from a soft backdrop.",
    "A 35mm look with fine film grain gives the picture a calm, tactile feel.",
    "An anamorphic frame stretches the highlights and holds the edges in quiet blur.",
)
DETAILS = (
    "Small details hold the eye: the weave of cloth, a scratch in the paint, a strand of moving hair.",
    "Every gesture is given time, so that the moment builds before it resolves.",
    "Colours stay natural, with one stronger accent that leads the gaze to the centre of the frame.",
    "In the distance something moves now and then, enough to make the place feel inhabited.",
    "The mood is attentive and warm, closer to observation than to spectacle.",
    "At the end the movement comes to rest and the image lingers for a breath.",
)
LAVISH = (
    "Extreme close-up, rack focus, bokeh, lens flare, dolly zoom, crane up, whip pan and chiaroscuro.",
    "The clip runs for eight seconds in 8K at 60fps, award-winning, hyperrealistic, a masterpiece.",
)


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
    details = _rotated(DETAILS, given.input)
    while details and word_count(" ".join(sentences)) < parameters.least_words:
        sentences.append(details.pop(0))
    return OptimizedPrompt(" ".join(sentences))


def _sentences(text: str, elements: SceneElements, parameters: Parameters) -> Iterator[str]:
    core = _sentence(text)
    yield core if elements.cameras else f"{_pick(SHOTS, text)}: {core}"
    if parameters.action and not elements.actions:
        yield _pick(ACTIONS, text)
    if parameters.environment and not elements.environments:
        yield _pick(ENVIRONMENTS, text)
    if not elements.lights:
        yield _pick(LIGHTS, text)
    if parameters.lens and len(technical_terms(text)) < 3:
        yield _pick(LENSES, text)
    if parameters.lavish:
        yield from LAVISH


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

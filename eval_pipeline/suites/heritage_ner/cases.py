"""The golden cases: a text, the entities that an annotator marked in it, and the JSON that holds them."""

from collections.abc import Iterator, Sequence
from typing import Annotated

import msgspec

from eval_pipeline.files import FieldPath, Violation
from eval_pipeline.suite import Case
from eval_pipeline.suites._heritage.documents import CombinedEntry, made_id
from eval_pipeline.suites._heritage.vocabulary import ENTITY_TYPES, entity_type

Offset = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class Entity(msgspec.Struct, frozen=True):
    """A stretch of the text that names something: `start` counts code points, `end` is the one after it."""

    text: str
    type: str
    start: Offset
    end: Offset


class NerInput(msgspec.Struct, frozen=True):
    """What an engine sees."""

    text: str
    language: str = ""


class NerExpected(msgspec.Struct, frozen=True):
    """What only scoring sees."""

    entities: list[Entity]


NerCase = Case[NerInput, NerExpected]


class GoldenEntry(CombinedEntry, frozen=True, kw_only=True):
    """A golden entry as JSON; what belongs to other tasks is passed over."""

    ner_annotations: list[Entity]


def to_cases(entry: GoldenEntry, file: str) -> list[NerCase]:
    """The case of a golden entry."""
    name = entry.id or made_id(file, entry.text)
    return [ner_case(name, entry.text, entry.ner_annotations, entry.attributes)]


def ner_case(case_id: str, text: str, entities: Sequence[Entity], attributes: dict[str, str]) -> NerCase:
    """A case with its entities in the order of the text, their types as they are listed."""
    named = [msgspec.structs.replace(each, type=entity_type(each.type)) for each in entities]
    placed = sorted(named, key=lambda each: (each.start, each.end, each.type))
    return Case(case_id, NerInput(text, attributes.get("language", "")), NerExpected(placed), attributes)


def check_entry(entry: GoldenEntry) -> Iterator[Violation]:
    """What is wrong inside one entry."""
    if not entry.text.strip():
        yield Violation(("text",), "is blank", "Give the text to annotate.")
    seen: set[tuple[int, int, str]] = set()
    for index, entity in enumerate(entry.ner_annotations):
        yield from check_entity(entity, entry.text, ("ner_annotations", index))
        key = (entity.start, entity.end, entity_type(entity.type))
        if key in seen:
            yield Violation(("ner_annotations", index), "stands twice", "Keep one of them.")
        seen.add(key)


def check_entity(entity: Entity, text: str, path: FieldPath = ()) -> Iterator[Violation]:
    """Whether an annotation has a known type, and the text at its offsets is the annotated text."""
    if entity_type(entity.type) not in ENTITY_TYPES:
        known = ", ".join(ENTITY_TYPES)
        yield Violation((*path, "type"), f"{entity.type!r} is no entity type", f"Known: {known}.")
    if not entity.text.strip() or entity.text != entity.text.strip():
        yield Violation((*path, "text"), "is blank or has white space around it", "Mark the name alone.")
    elif text[entity.start : entity.end] != entity.text or entity.end > len(text):
        result = text[entity.start : entity.end]
        yield Violation(
            (*path, "start"),
            f"{entity.start}–{entity.end} is {result[:60]!r}, not {entity.text[:60]!r}",
            _where(entity, text),
        )


def _where(entity: Entity, text: str) -> str:
    """The place of an annotated text that is nearest to the offsets given for it."""
    places: list[int] = []
    start = text.find(entity.text)
    while start >= 0 and len(places) < 100:
        places.append(start)
        start = text.find(entity.text, start + 1)
    if not places:
        return "Annotate what stands in the text."
    nearest = min(places, key=lambda place: abs(place - entity.start))
    return f"It stands at {nearest}–{nearest + len(entity.text)}."

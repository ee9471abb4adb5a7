"""The golden format: a text with mentions of institutions, and what each stands for in the knowledge base."""

from collections.abc import Iterator
from typing import Annotated

import msgspec

from eval_pipeline.files import Violation
from eval_pipeline.suite import Case
from eval_pipeline.suites._heritage.attributes import Description
from eval_pipeline.suites._heritage.documents import (
    CombinedEntry,
    Shape,
    ShapedCases,
    first_place,
    made_id,
    misplaced,
)

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class GoldenMention(msgspec.Struct, frozen=True):
    """A mention as a golden file has it; `gold_wikidata: null` says that it is not in the knowledge base."""

    mention_id: Name
    mention: Name
    start: Annotated[int, msgspec.Meta(ge=0)]
    gold_wikidata: Name | None
    gold_viaf: Name | None = None
    gold_isil: Name | None = None
    gold_ghcid: Name | None = None
    phenomenon: str = ""
    """What makes it hard or easy, such as an abbreviation or a former name."""


class GoldenEntry(Description, frozen=True, kw_only=True):
    """A golden entry: a text and its mentions."""

    id: str
    context: str
    mentions: list[GoldenMention]


class FlatEntry(Description, frozen=True, kw_only=True):
    """A golden entry with one mention: the first of its text, which needs no offset."""

    id: str | None = None
    mention: Name
    context: str
    gold_wikidata: Name | None
    gold_viaf: Name | None = None
    gold_isil: Name | None = None
    gold_ghcid: Name | None = None
    phenomenon: str = ""


class Link(msgspec.Struct, frozen=True):
    """What a mention of an entry for several tasks stands for."""

    wikidata_id: Name | None
    viaf_id: Name | None = None
    isil_code: Name | None = None
    ghcid: Name | None = None


class LinkedEntry(CombinedEntry, frozen=True, kw_only=True):
    """An entry for several tasks with its part for this one: links by mention, `null` for NIL."""

    entity_linking: dict[Name, Link | None]


class Mention(msgspec.Struct, frozen=True):
    """A mention as an engine sees it: its id, its text, and where it begins, in code points."""

    mention_id: str
    mention: str
    start: int


class LinkingInput(msgspec.Struct, frozen=True):
    """What an engine sees."""

    context: str
    language: str
    mentions: list[Mention]


class GoldLink(msgspec.Struct, frozen=True):
    """What a mention stands for; without `kb_id` the knowledge base does not hold it."""

    mention: str
    kb_id: str | None
    viaf_id: str | None
    isil_code: str | None
    phenomenon: str = ""
    ghcid: str | None = None


class LinkingExpected(msgspec.Struct, frozen=True):
    """What only scoring sees: the link of every mention, by mention id."""

    links: dict[str, GoldLink]


LinkingCase = Case[LinkingInput, LinkingExpected]


def to_case(entry: GoldenEntry) -> LinkingCase:
    """A golden entry as a case: what engines may see, apart from what they may not."""
    return Case(
        entry.id,
        LinkingInput(
            entry.context,
            entry.language or "",
            [Mention(each.mention_id, each.mention, each.start) for each in entry.mentions],
        ),
        LinkingExpected(
            {
                each.mention_id: GoldLink(
                    each.mention,
                    each.gold_wikidata,
                    each.gold_viaf,
                    each.gold_isil,
                    each.phenomenon,
                    each.gold_ghcid,
                )
                for each in entry.mentions
            }
        ),
        entry.attributes,
    )


def of_flat(entry: FlatEntry, file: str = "") -> GoldenEntry:
    """A flat entry as one with offsets; its id follows from what it says, where it has none."""
    mention = GoldenMention(
        "m1",
        entry.mention,
        first_place(entry.mention, entry.context),
        entry.gold_wikidata,
        entry.gold_viaf,
        entry.gold_isil,
        entry.gold_ghcid,
        entry.phenomenon,
    )
    name = entry.id or made_id(file, entry.mention, entry.context)
    return msgspec.convert(
        {**entry.attributes, "id": name, "context": entry.context, "mentions": [mention]}, GoldenEntry
    )


def of_linked(entry: LinkedEntry, file: str = "") -> GoldenEntry:
    """An entry for several tasks as one for this; its mentions in the order of the text."""
    links = [
        (first_place(name, entry.text), name, link or Link(None))
        for name, link in entry.entity_linking.items()
    ]
    mentions = [
        GoldenMention(f"m{number}", name, start, link.wikidata_id, link.viaf_id, link.isil_code, link.ghcid)
        for number, (start, name, link) in enumerate(sorted(links, key=lambda each: each[:2]), 1)
    ]
    name = entry.id or made_id(file, entry.text)
    return msgspec.convert(
        {**entry.attributes, "id": name, "context": entry.text, "mentions": mentions}, GoldenEntry
    )


def check_flat(entry: FlatEntry) -> Iterator[Violation]:
    """What is wrong inside a flat entry."""
    yield from misplaced(entry.mention, entry.context, "mention")
    yield from _other_identifiers(of_flat(entry).mentions[0], "gold_wikidata")


def check_linked(entry: LinkedEntry) -> Iterator[Violation]:
    """What is wrong with the part of an entry that is for this task."""
    for name in entry.entity_linking:
        yield from misplaced(name, entry.text, "entity_linking", name)
    for each in of_linked(entry).mentions:
        yield from _other_identifiers(each, "entity_linking", each.mention, "wikidata_id")


def check_entry(entry: GoldenEntry) -> Iterator[Violation]:
    """Contradictions inside one golden entry."""
    if not entry.mentions:
        yield Violation(("mentions",), "is empty", "Mark at least one mention, or remove the entry.")
    seen: set[str] = set()
    for index, each in enumerate(entry.mentions):
        path = ("mentions", index)
        if each.mention_id in seen:
            message = f"{each.mention_id!r} stands twice"
            yield Violation((*path, "mention_id"), message, "Give every mention of a text an id of its own.")
        seen.add(each.mention_id)
        there = entry.context[each.start : each.start + len(each.mention)]
        if there != each.mention:
            message = f"{there!r} stands at {each.start}, not {each.mention!r}"
            yield Violation((*path, "start"), message, "Count code points from the start of the context.")
        yield from _other_identifiers(each, *path, "gold_wikidata")


def _other_identifiers(mention: GoldenMention, *path: str | int) -> Iterator[Violation]:
    if mention.gold_wikidata is None and (mention.gold_viaf or mention.gold_isil or mention.gold_ghcid):
        message = "is null, yet the mention has another identifier"
        yield Violation(path, message, "Link it, or remove the other identifiers.")


def _linked_cases(entry: LinkedEntry, file: str) -> list[LinkingCase]:
    return [to_case(of_linked(entry, file))] if entry.entity_linking else []


READER = ShapedCases(
    Shape("mentions", GoldenEntry, lambda entry, file: [to_case(entry)], check_entry),
    Shape("mention", FlatEntry, lambda entry, file: [to_case(of_flat(entry, file))], check_flat),
    Shape("entity_linking", LinkedEntry, _linked_cases, check_linked),
)

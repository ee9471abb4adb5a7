"""The golden format: a text with mentions of institutions, and what each stands for in the knowledge base."""

from collections.abc import Iterator
from typing import Annotated

import msgspec

from eval_pipeline.files import Violation
from eval_pipeline.suite import Case
from eval_pipeline.suites._heritage.attributes import Description

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
        if each.gold_wikidata is None and (each.gold_viaf or each.gold_isil or each.gold_ghcid):
            message = "is null, yet the mention has another identifier"
            yield Violation((*path, "gold_wikidata"), message, "Link it, or remove the other identifiers.")

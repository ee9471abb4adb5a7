"""The knowledge base that mentions are linked to."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec

from eval_pipeline.files import read_json_lines
from eval_pipeline.metrics.text import normalize
from eval_pipeline.problems import Problems
from eval_pipeline.suites._heritage.attributes import CustodianType

KNOWLEDGE_FILE = "knowledge_base.jsonl"

Text = Annotated[str, msgspec.Meta(min_length=1)]


class Institution(msgspec.Struct, frozen=True):
    """An entry of the knowledge base."""

    kb_id: Text
    label: Text
    type: CustodianType
    city: Text
    country: Annotated[str, msgspec.Meta(pattern="^[A-Z]{2}$")]
    aliases: list[Text] = []
    city_aliases: list[Text] = []
    """What the city is called in other languages."""
    viaf_id: str | None = None
    isil_code: str | None = None
    ghcid: str | None = None


class Name(NamedTuple):
    """A name, normalized, and the institution that bears it."""

    text: str
    owner: Institution


class KnowledgeBase:
    """Institutions by id, and every name that any of them bears."""

    def __init__(self, institutions: Sequence[Institution]) -> None:
        self.institutions = {each.kb_id: each for each in institutions}
        self.names = [
            Name(name, each)
            for each in institutions
            for name in dict.fromkeys(map(normalize, (each.label, *each.aliases)))
        ]


def load_knowledge_base(folder: Path) -> KnowledgeBase:
    """The knowledge base of a resources folder; every problem at once."""
    problems = Problems()
    path = folder / KNOWLEDGE_FILE
    lines: dict[tuple[str, str], int] = {}
    institutions = []
    for institution, line in read_json_lines(path, Institution, problems):
        for field, value in _identifiers(institution):
            first = lines.setdefault((field, value), line)
            if first != line:
                message = f"{value!r} also stands on line {first}"
                problems.add(path, message, "An identifier names one institution.", line=line, field=field)
        institutions.append(institution)
    problems.stop_if_any()
    return KnowledgeBase(institutions)


def _identifiers(institution: Institution) -> Iterator[tuple[str, str]]:
    yield "kb_id", institution.kb_id
    if institution.viaf_id:
        yield "viaf_id", institution.viaf_id
    if institution.isil_code:
        yield "isil_code", institution.isil_code
    if institution.ghcid:
        yield "ghcid", institution.ghcid

"""The gazetteer: institutions and places known by name, from the golden set's resources."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import msgspec

from eval_pipeline.files import read_tsv
from eval_pipeline.problems import Problems
from eval_pipeline.suites._heritage.attributes import CustodianType
from eval_pipeline.suites.heritage_ner.engine.patterns import Found

INSTITUTIONS_FILE = "institutions.tsv"
PLACES_FILE = "places.tsv"

ENTITY_TYPE_OF = {
    "M": "GRP.HER.MUS",
    "G": "GRP.HER.MUS",
    "A": "GRP.HER.ARC",
    "L": "GRP.HER.LIB",
    "S": "GRP.HER.SOC",
}
"""Custodian types that are entities of their own; the others are not annotated."""


class Institution(msgspec.Struct, frozen=True):
    """A row of the catalogue of institutions."""

    id: str
    name: str
    type: CustodianType
    aliases: str = ""
    """Other names, separated by semicolons."""


class PlaceName(msgspec.Struct, frozen=True):
    """A row of the list of places."""

    name: str


@dataclass(frozen=True)
class Resources:
    """Every known name and what it names."""

    names: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, folder: Path) -> Resources:
        """The names in a folder of resources."""
        problems = Problems()
        names: dict[str, str] = {}
        aliases: dict[str, str] = {}
        if (folder / PLACES_FILE).is_file():
            names |= {row.record.name: "TOP" for row in read_tsv(folder / PLACES_FILE, PlaceName, problems)}
        if (folder / INSTITUTIONS_FILE).is_file():
            for row in read_tsv(folder / INSTITUTIONS_FILE, Institution, problems):
                kind = ENTITY_TYPE_OF.get(row.record.type)
                if kind:
                    names[row.record.name] = kind
                    others = (name.strip() for name in row.record.aliases.split(";"))
                    aliases |= {name: kind for name in others if name}
        problems.stop_if_any()
        return cls(names, aliases)

    def find(self, text: str, with_aliases: bool) -> list[Found]:
        """Known names that stand in a text as whole words, the longer ones first."""
        known = self._all if with_aliases else self._names_alone
        if known is None:
            return []
        results = [
            Found(match.start(), match.end(), self.names.get(match.group()) or self.aliases[match.group()])
            for match in known.finditer(text)
        ]
        return sorted(results, key=lambda each: (each.start - each.end, each.start))

    @cached_property
    def _all(self) -> re.Pattern[str] | None:
        return _alternatives([*self.names, *self.aliases])

    @cached_property
    def _names_alone(self) -> re.Pattern[str] | None:
        return _alternatives(list(self.names))


def _alternatives(names: list[str]) -> re.Pattern[str] | None:
    if not names:
        return None
    longest_first = sorted(set(names), key=lambda name: (-len(name), name))
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")

"""BRAT standoff: a text in `NAME.txt`, and beside it `NAME.ann` with one annotation a line.

`T1<tab>TYPE START END<tab>TEXT` marks an entity. Lines of other kinds (relations, events, attributes,
notes) are passed over, except comments such as `# language = nl`, which tell about the case. Its id is
NAME.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eval_pipeline.files import read_text, text_lines, violations_of
from eval_pipeline.problems import Problems
from eval_pipeline.suite import Case, Place
from eval_pipeline.suites._heritage.attributes import ATTRIBUTES, Description
from eval_pipeline.suites._heritage.vocabulary import entity_type
from eval_pipeline.suites.heritage_ner.cases import Entity, NerCase, check_entity, ner_case

_ENTITY = re.compile(r"(T\d+)\t(\S+) (\d{1,15}) (\d{1,15})\t(.+)")
_COMMENT = re.compile(r"#\s*([^=\s]+)\s*=\s?(.*)")
_OTHER_KIND = re.compile(r"(?:[REAMN]\d+|\*|#\d+)\t.+|#.*")
_FLAT = str.maketrans("\n\r\t", "   ")


class BratCases:
    """Reads cases from pairs of `.ann` and `.txt` files."""

    suffixes: tuple[str, ...] = (".ann",)

    def read(self, path: Path, problems: Problems) -> Iterator[tuple[Case[Any, Any], Place]]:
        """The case of one pair of files; a pair with any problem yields none."""
        before = len(problems)
        text_file = path.with_suffix(".txt")
        if not text_file.is_file():
            problems.add(path, f"has no {text_file.name} beside it", "Put the annotated text there.")
        text = read_text(text_file, problems) if text_file.is_file() else None
        lines = read_text(path, problems, blank=True)
        if lines is None:
            return
        case = _case(path, text, text_lines(lines), problems)
        if len(problems) == before:
            yield case, Place(path, 1)


def _case(path: Path, text: str | None, lines: list[str], problems: Problems) -> NerCase:
    entities: dict[str, Entity] = {}
    attributes: dict[str, str] = {}
    places: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        comment = _COMMENT.fullmatch(line)
        if comment and comment[1] in ATTRIBUTES:
            attributes[comment[1]], places[comment[1]] = comment[2], number
        elif line.strip() and not _OTHER_KIND.fullmatch(line):
            places[_add(line, number, text, entities, path, problems)] = number
    marked: set[tuple[int, int, str]] = set()
    for key, entity in entities.items():
        place = (entity.start, entity.end, entity.type)
        if place in marked:
            message = f"{entity.text[:60]!r} is marked twice"
            problems.add(path, message, "Keep one of them.", line=places[key], field=key)
        marked.add(place)
    for violation in violations_of(attributes, Description):
        name = str(violation.path[0])
        problems.add(path, violation.message, violation.remedy, line=places.get(name, 1), field=name)
    return ner_case(path.stem, text or "", list(entities.values()), attributes)


def _add(
    line: str, number: int, text: str | None, entities: dict[str, Entity], path: Path, problems: Problems
) -> str:
    """Add the entity of a line; its key, which is blank where there is none."""
    match = _ENTITY.fullmatch(line)
    if match is None:
        remedy = "Write T1<tab>TYPE START END<tab>TEXT, in one stretch."
        problems.add(path, f"{line[:60]!r} is no annotation", remedy, line=number)
        return ""
    key, kind, start, end, marked = match.groups()
    if key in entities:
        problems.add(path, f"{key} stands twice", "Number annotations without repeating.", line=number)
    entity = Entity(marked, entity_type(kind), int(start), int(end))
    if text is not None:
        # The format keeps an annotation on one line: a line break inside it is written as a space.
        for violation in check_entity(entity, text.translate(_FLAT)):
            field = str(violation.path[0])
            problems.add(path, violation.message, violation.remedy, line=number, field=field)
        entity = Entity(text[entity.start : entity.end], entity.type, entity.start, entity.end)
    entities[key] = entity
    return key

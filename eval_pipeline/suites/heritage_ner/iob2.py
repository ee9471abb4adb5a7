"""IOB2 in CoNLL columns: one token a line with its tag, sentences apart by blank lines.

Lines such as `# id = …`, `# language = nl` and `# text = …` before the first token tell about a
sentence. With `# text`, offsets are those of the text as it was; without it, the text is the tokens
joined by spaces.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from eval_pipeline.files import content_hash, read_text, text_lines, violations_of
from eval_pipeline.problems import Problems
from eval_pipeline.suite import Case, Place
from eval_pipeline.suites._heritage.attributes import ATTRIBUTES, Description
from eval_pipeline.suites._heritage.vocabulary import ENTITY_TYPES, entity_type
from eval_pipeline.suites.heritage_ner.cases import Entity, NerCase, ner_case

OUTSIDE = "O"
_TAG = re.compile(r"([BI])-(\S+)")
_COMMENT = re.compile(r"#\s*([^=\s]+)\s*=\s?(.*)")
_PIECE = re.compile(r"\w+|[^\w\s]")
_IDS = ("id", "sent_id")
_DOCUMENT_START = "-DOCSTART-"


class _Token(NamedTuple):
    text: str
    tag: str
    columns: int
    line: int


@dataclass
class _Sentence:
    """A block of lines between blank ones."""

    line: int
    comments: dict[str, tuple[str, int]] = field(default_factory=dict)
    tokens: list[_Token] = field(default_factory=list)

    def comment(self, *names: str) -> str | None:
        return next((self.comments[name][0] for name in names if name in self.comments), None)


class Iob2Cases:
    """Reads cases from IOB2 files."""

    suffixes: tuple[str, ...] = (".iob2", ".iob", ".conll")

    def read(self, path: Path, problems: Problems) -> Iterator[tuple[Case[Any, Any], Place]]:
        """The sentences of one file; a file with any problem yields none."""
        before = len(problems)
        text = read_text(path, problems)
        sentences = list(_sentences(text_lines(text), path, problems)) if text is not None else []
        cases = [(_case(sentence, path, problems), Place(path, sentence.line)) for sentence in sentences]
        if len(problems) == before:
            yield from cases


def _sentences(lines: Sequence[str], path: Path, problems: Problems) -> Iterator[_Sentence]:
    sentence: _Sentence | None = None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            if sentence:
                yield sentence
            sentence = None
            continue
        if line.startswith(_DOCUMENT_START):
            continue
        sentence = sentence or _Sentence(number)
        if line.startswith("#") and "\t" not in line and not sentence.tokens:
            if match := _COMMENT.fullmatch(line):
                sentence.comments.setdefault(match[1], (match[2], number))
            continue
        columns = line.split("\t") if "\t" in line else line.split()
        if len(columns) < 2 or not columns[0].strip():
            problems.add(path, "needs a token and a tag", "Write both, separated by a tab.", line=number)
            continue
        sentence.tokens.append(_Token(columns[0].strip(), columns[-1].strip(), len(columns), number))
    if sentence:
        yield sentence


def _case(sentence: _Sentence, path: Path, problems: Problems) -> NerCase:
    text = _text_of(sentence, path, problems)
    places = _places(sentence, text, path, problems)
    widths = {token.columns for token in sentence.tokens}
    if len(widths) > 1:
        first = sentence.tokens[0].columns
        line = next(token.line for token in sentence.tokens if token.columns != first)
        problems.add(
            path, f"has other columns than the {first} before", "Give all lines the same columns.", line=line
        )
    attributes = {name: sentence.comments[name][0] for name in ATTRIBUTES if name in sentence.comments}
    for violation in violations_of(attributes, Description):
        name = str(violation.path[0])
        line = sentence.comments[name][1] if name in sentence.comments else sentence.line
        problems.add(path, violation.message, violation.remedy, line=line, field=name)
    case_id = sentence.comment(*_IDS) or f"{path.stem}-{content_hash(text)[:12]}"
    entities = _entities(sentence.tokens, places, text, path, problems)
    return ner_case(case_id, text, entities, attributes)


def _text_of(sentence: _Sentence, path: Path, problems: Problems) -> str:
    stated = sentence.comment("text")
    if stated is None:
        return " ".join(token.text for token in sentence.tokens)
    if not stated.startswith('"'):
        return stated
    try:
        return msgspec.json.decode(stated, type=str)
    except msgspec.MsgspecError:
        line = sentence.comments["text"][1]
        problems.add(path, "is no JSON string", "Close the quotes.", line=line, field="text")
        return stated


def _places(sentence: _Sentence, text: str, path: Path, problems: Problems) -> list[tuple[int, int]]:
    """Where each token stands in the text; nothing but white space may lie between them."""
    if not text.strip():
        problems.add(path, "the sentence is blank", "Give it tokens, or remove it.", line=sentence.line)
    places: list[tuple[int, int]] = []
    end = 0
    for token in sentence.tokens:
        start = text.find(token.text, end)
        if start < 0 or text[end:start].strip():
            message = (
                f"{token.text[:60]!r} is not what comes next in the text: {text[end : end + 40].strip()!r}"
            )
            problems.add(path, message, "Let tokens and text agree.", line=token.line)
            return places
        end = start + len(token.text)
        places.append((start, end))
    if text[end:].strip():
        message = f"the text goes on after its last token: {text[end : end + 40].strip()!r}"
        problems.add(path, message, "Add the missing tokens.", line=sentence.line)
    return places


def _entities(
    tokens: Sequence[_Token], places: Sequence[tuple[int, int]], text: str, path: Path, problems: Problems
) -> list[Entity]:
    spans: list[tuple[str, int, int]] = []
    inside = ""
    for number, token in enumerate(tokens):
        match = _TAG.fullmatch(token.tag)
        kind = entity_type(match[2]) if match else ""
        if match and kind not in ENTITY_TYPES:
            known = ", ".join(ENTITY_TYPES)
            problems.add(path, f"{kind[:60]!r} is no entity type", f"Known: {known}.", line=token.line)
        elif match is None and token.tag != OUTSIDE:
            remedy = "Write O, B-TYPE or I-TYPE."
            problems.add(path, f"{token.tag[:60]!r} is no tag", remedy, line=token.line)
        elif match and number < len(places):
            start, end = places[number]
            if match[1] == "I" and kind != inside:
                message = f"I-{kind} continues no {kind}: read as its beginning, as in IOB1"
                problems.note(path, message, f"In IOB2 it is B-{kind}.", line=token.line)
            if match[1] == "I" and kind == inside:
                spans[-1] = (kind, spans[-1][1], end)
            else:
                spans.append((kind, start, end))
        inside = kind
    return [Entity(text[start:end], kind, start, end) for kind, start, end in spans]

"""TREC's text formats: judgments (qrels), topics and runs. Every bad line is named; nothing is half read."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from eval_pipeline.answers import FIRST_TRIAL, RECORDED, Answer, AnswerFile, AnswerFormat, recorded_format
from eval_pipeline.files import BYTE_ORDER_MARK, json_lines, shown_field, violations_of, write_text
from eval_pipeline.golden import JSON_LINES
from eval_pipeline.metrics.ranking import ranked
from eval_pipeline.problems import Problems
from eval_pipeline.suites._heritage.attributes import Description

QRELS, TOPICS = ".qrels", ".topics"
HIGHEST_GRADE = 10
NO_SOURCE = "-"
"""The run tag of a result that names no source."""

_ASCII_WORD = re.compile(r"[^ \t\n\r\v\f]+")
_INTEGER = re.compile(r"[-+]?[0-9]{1,9}")
_NUMBER = re.compile(r"[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?")
_TAG = re.compile(r"<(/?)([A-Za-z_]+)>")
_LABEL = re.compile(r"(?:Number|Topic|Description|Narrative)\s*:\s*")
_TEXT_TAGS = ("num", "title", "desc", "narr")
_ATTRIBUTE_TAGS = tuple(each.name for each in msgspec.structs.fields(Description))


class Result(msgspec.Struct, frozen=True):
    """A document that was retrieved: how well it fits, and which retriever returned it."""

    doc_id: str
    score: float | None = None
    source: str | None = None


class Retrieval(msgspec.Struct, frozen=True):
    """The output contract."""

    results: list[Result]


@dataclass
class JudgedQuery:
    """The judged documents of a query, and the line of the first."""

    line: int
    grades: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Topic:
    """A query with what is said about it."""

    title: str
    line: int
    description: Description = field(default_factory=Description)


def _lines(path: Path, problems: Problems) -> Iterator[tuple[int, str]]:
    """The non-blank lines of a file with their numbers; what is not UTF-8 is a problem."""
    for number, data, _ in json_lines(path, problems):
        try:
            yield number, data.decode()
        except UnicodeDecodeError as error:
            message = f"byte {error.start} of the line is not UTF-8"
            problems.add(path, message, "Save the file as UTF-8.", line=number)


def _rows(path: Path, shape: str, problems: Problems) -> Iterator[tuple[int, list[str]]]:
    """The fields of every line that has as many of them as the shape; ASCII white space separates them."""
    wanted = len(shape.split())
    for number, text in _lines(path, problems):
        fields = _ASCII_WORD.findall(text)
        if len(fields) == wanted:
            yield number, fields
        else:
            problems.add(
                path, f"{len(fields)} fields, {wanted} are needed", f"A line is: {shape}.", line=number
            )


def read_qrels(path: Path, problems: Problems) -> dict[str, JudgedQuery]:
    """The judgments of a file, by query; none where any line is bad."""
    queries: dict[str, JudgedQuery] = {}
    before = len(problems)
    for line, (query, _, document, grade) in _rows(path, "QUERY 0 DOCUMENT GRADE", problems):
        judged = queries.setdefault(query, JudgedQuery(line))
        if not _INTEGER.fullmatch(grade) or abs(int(grade)) > HIGHEST_GRADE:
            message = f"{grade!r} is no grade"
            remedy = f"Write a whole number up to {HIGHEST_GRADE}; from 1 on it means relevant."
            problems.add(path, message, remedy, line=line, field="grade")
        elif document in judged.grades:
            message = f"{document!r} is judged twice for {query!r}"
            problems.add(path, message, "Keep one of the judgments.", line=line, field="document")
        else:
            judged.grades[document] = int(grade)
    if not queries and len(problems) == before:
        problems.add(path, "holds no judgment", "Add lines such as: q1 0 document-7 2.", line=1)
    return queries if len(problems) == before else {}


def write_qrels(path: Path, judgments: Mapping[str, Mapping[str, int]]) -> None:
    """Write judgments, query by query."""
    _check_words(
        [("query", query) for query in judgments]
        + [("document", document) for judged in judgments.values() for document in judged],
        path,
    )
    lines = [
        f"{query} 0 {document} {grade}\n"
        for query, judged in judgments.items()
        for document, grade in judged.items()
    ]
    write_text(path, "".join(lines))


def read_topics(path: Path, problems: Problems) -> dict[str, Topic]:
    """The topics of a file, by number; none where anything is wrong.

    A topic stands between `<top>` and `</top>`; each tag inside begins a line, and its text goes on until the
    next tag. Besides TREC's `num`, `title`, `desc` and `narr` there may be a tag for each case attribute.
    """
    topics: dict[str, Topic] = {}
    before = len(problems)
    for block in _blocks(path, problems):
        topic_id = block.text("num")
        for tag in ("num", "title"):
            if not block.text(tag):
                problems.add(path, "is missing", "Every topic has one.", line=block.line, field=tag)
        if topic_id in topics:
            remedy = "Give every topic a number of its own."
            message = f"{topic_id!r} is also the number of line {topics[topic_id].line}"
            problems.add(path, message, remedy, line=block.line, field="num")
        said = {tag: block.text(tag) for tag in _ATTRIBUTE_TAGS if tag in block.parts}
        wrong = list(violations_of(said, Description))
        for violation in wrong:
            line = block.parts[str(violation.path[0])][0]
            problems.add(
                path, violation.message, violation.remedy, line=line, field=shown_field(violation.path)
            )
        if not wrong:
            topics.setdefault(
                topic_id, Topic(block.text("title"), block.line, msgspec.convert(said, Description))
            )
    return topics if len(problems) == before else {}


@dataclass
class _Block:
    """A topic as it stands in its file: each tag with its line and the pieces of its text."""

    line: int
    parts: dict[str, tuple[int, list[str]]] = field(default_factory=dict)

    def text(self, tag: str) -> str:
        """The text after a tag, without the label that TREC puts before it."""
        _, pieces = self.parts.get(tag, (0, []))
        return _LABEL.sub("", " ".join(" ".join(pieces).split()), count=1).strip()


def _blocks(path: Path, problems: Problems) -> Iterator[_Block]:
    """The topics of a file; what does not belong into one is a problem."""
    block: _Block | None = None
    current: list[str] | None = None
    for line, raw in _lines(path, problems):
        text = raw.strip()
        match = _TAG.match(text)
        closing, tag = (match[1], match[2].lower()) if match else ("", "")
        rest = text[match.end() :] if match else text
        if tag == "top":
            if (block is not None) != bool(closing):
                message = "</top> without <top>" if closing else "<top> inside a topic"
                problems.add(path, message, "Put every topic between <top> and </top>.", line=line)
            if closing and block is not None:
                yield block
            block, current = (None, None) if closing else (_Block(line), None)
        elif block is None:
            problems.add(path, "stands outside a topic", "Put it between <top> and </top>.", line=line)
        elif tag in (*_TEXT_TAGS, *_ATTRIBUTE_TAGS) and not closing:
            if tag in block.parts:
                problems.add(path, "stands twice", "Keep one of them.", line=line, field=tag)
            current = [_without_end(rest, tag)]
            block.parts.setdefault(tag, (line, current))
        elif match and not closing:
            known = ", ".join((*_TEXT_TAGS, *_ATTRIBUTE_TAGS))
            problems.add(path, "is not a known tag", f"Tags: {known}.", line=line, field=tag)
        elif current is None:
            problems.add(path, "text before any tag", "Begin with <num>.", line=line)
        elif not closing:
            current.append(_without_end(rest, ""))
    if block is not None:
        problems.add(path, "<top> is never closed", "Add </top>.", line=block.line)


def _without_end(text: str, tag: str) -> str:
    """A text without the closing tag that some topic files have."""
    return re.sub(rf"</{tag or '[A-Za-z_]+'}>\s*$", "", text)


def read_run(path: Path, problems: Problems) -> dict[str, list[Result]]:
    """The results of a run, by query; none where any line is bad. The run tag is the source.

    As in trec_eval the order comes from the scores; the rank is there for people.
    """
    queries: dict[str, list[Result]] = {}
    before = len(problems)
    for line, (query, _, document, rank, score, tag) in _rows(
        path, "QUERY Q0 DOCUMENT RANK SCORE TAG", problems
    ):
        value = _number(score)
        if not _INTEGER.fullmatch(rank):
            remedy = "Write a whole number."
            problems.add(path, f"{rank!r} is no rank", remedy, line=line, field="rank")
        if value is None:
            message = f"{score!r} is no score"
            problems.add(path, message, "Write a finite number.", line=line, field="score")
        result = Result(document, value, None if tag == NO_SOURCE else tag)
        queries.setdefault(query, []).append(result)
    return queries if len(problems) == before else {}


def _number(text: str) -> float | None:
    try:
        value = float(text) if _NUMBER.fullmatch(text) else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def write_run(path: Path, queries: Mapping[str, Sequence[Result]]) -> None:
    """Write results as a run, ranked; the source becomes the run tag.

    Where a result has no score, all of its query get scores that fall with the rank: readers of runs order by
    score.
    """
    words = [("query", query) for query in queries]
    words += [("document", each.doc_id) for results in queries.values() for each in results]
    words += [("source", each.source) for results in queries.values() for each in results if each.source]
    _check_words(words, path)
    lines = [line for query, results in queries.items() for line in _run_lines(query, results)]
    write_text(path, "".join(lines))


def _run_lines(query: str, results: Sequence[Result]) -> Iterator[str]:
    order = ranked([each.doc_id for each in results], [each.score for each in results], "descending")
    best = best_results(results)
    scored = all(each.score is not None for each in results)
    for rank, document in enumerate(order, 1):
        score = best[document].score if scored else float(len(order) - rank + 1)
        yield f"{query} Q0 {document} {rank} {score!r} {best[document].source or NO_SOURCE}\n"


def best_results(results: Sequence[Result]) -> dict[str, Result]:
    """Of the results for each document the one that counts: the highest score, of equal ones the first."""
    best: dict[str, Result] = {}
    for each in results:
        known = best.setdefault(each.doc_id, each)
        if each.score is not None and (known.score is None or each.score > known.score):
            best[each.doc_id] = each
    return best


def _check_words(words: Sequence[tuple[str, str]], path: Path) -> None:
    """Refuse what would fall apart into several fields, or vanish, when it is read back."""
    problems = Problems()
    for name, word in dict.fromkeys(words):
        if not _ASCII_WORD.fullmatch(word) or word != word.strip():
            problems.add(
                path, f"{word!r} is not one word", "TREC's files separate fields by spaces.", field=name
            )
    problems.stop_if_any()


class RunAnswers(AnswerFile):
    """The queries of a run as answers; a run is one trial, and its lines may stand in any order."""

    def __init__(self, path: Path, queries: Mapping[str, Sequence[Result]]) -> None:
        super().__init__(path, RECORDED)
        self._texts = {
            query: msgspec.json.encode({"results": results}).decode() for query, results in queries.items()
        }
        self.remember(list(queries), FIRST_TRIAL, [0] * len(queries))

    def get(self, case_id: str, trial: int, input_hash: str = "") -> Answer | None:
        """The results of a query."""
        text = self._texts.get(case_id) if trial == FIRST_TRIAL else None
        return None if text is None else Answer(case_id, trial, text)


class RunFormat:
    """TREC runs as outputs files."""

    def open(self, path: Path, problems: Problems) -> AnswerFile:
        """Read a run."""
        return RunAnswers(path, read_run(path, problems))


def answer_format(path: Path) -> AnswerFormat:
    """A TREC run, or JSON Lines as in every suite."""
    if path.suffix.lower() in JSON_LINES or not path.is_file() or _begins_with_json(path):
        return recorded_format(Retrieval)
    return RunFormat()


def _begins_with_json(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4096).removeprefix(BYTE_ORDER_MARK).lstrip()[:1] in (b"{", b"")

"""The passages that questions are asked about, and finding those that a question needs."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from eval_pipeline.files import Violation, read_json_lines
from eval_pipeline.language.bm25 import Bm25, word_terms
from eval_pipeline.language.word_lists import word_sets
from eval_pipeline.problems import Problems
from eval_pipeline.suites.grounded_qa.cases import GroundedInput

PASSAGES_FILE = "passages.jsonl"
STOP_WORDS = word_sets(__package__, "data/words.txt")["STOP_WORDS"]
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9])")


class Passage(msgspec.Struct, frozen=True):
    """A short piece of text under an id that answers cite."""

    id: str
    title: str
    text: str


class Parameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a prompt version chooses: what is retrieved, and when the embedded engine dares to answer."""

    k: Annotated[int, msgspec.Meta(ge=1, le=50)] = 5
    """How many passages are retrieved."""
    stems: bool = True
    """Whether words are compared by their stems."""
    title_weight: Annotated[int, msgspec.Meta(ge=0, le=5)] = 1
    """How many times a passage's title counts."""
    threshold: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.5
    """The support below which a question is refused."""
    answer_types: bool = True
    """Whether a question for a number, a price or a time is answered only by a sentence that holds one."""
    subjects: bool = True
    """Whether a passage answers only where it mentions what the question is about."""
    citations: Literal["source", "all"] = "source"
    """Whether an answer cites the passage it comes from, or everything retrieved."""
    parts: bool = False
    """Whether each part of a question ("…, and how long …") gets a sentence of its own."""


class PreparedQuestion(msgspec.Struct, frozen=True):
    """A question with the passages retrieved for it, best first."""

    question: str
    passages: list[Passage]
    retrieved_ids: list[str]


class Corpus:
    """Passages with an index for each way of comparing words."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = passages
        self._indexes: dict[tuple[bool, int], Bm25] = {}

    @cached_property
    def ids(self) -> frozenset[str]:
        """The ids that can be cited."""
        return frozenset(passage.id for passage in self.passages)

    @cached_property
    def texts(self) -> dict[str, str]:
        """What each passage says, by id."""
        return {passage.id: passage.text for passage in self.passages}

    def search(self, question: str, parameters: Parameters) -> list[Passage]:
        """The passages that share most with a question."""
        return [self.passages[number] for number, _ in self._index(parameters).search(question, parameters.k)]

    def rarity(self, term: str, parameters: Parameters) -> float:
        """How much a term tells: its idf."""
        return self._index(parameters).idf(term)

    def _index(self, parameters: Parameters) -> Bm25:
        key = (parameters.stems, parameters.title_weight)
        if key not in self._indexes:
            texts = [f"{(each.title + ' ') * parameters.title_weight}{each.text}" for each in self.passages]
            self._indexes[key] = Bm25(texts, terms=content_terms(parameters.stems))
        return self._indexes[key]


@cache
def content_terms(stems: bool) -> Callable[[str], list[str]]:
    """How texts are split into the terms that are compared: words that say something, by stem if wanted."""
    if not stems:
        return lambda text: [word for word in word_terms(text) if word not in STOP_WORDS]
    import snowballstemmer

    stem = cache(snowballstemmer.stemmer("english").stemWord)

    def terms(text: str) -> list[str]:
        return [stem(word.removesuffix("'s")) for word in word_terms(text) if word not in STOP_WORDS]

    return terms


def sentences(text: str) -> list[str]:
    """The sentences of a passage."""
    return [part for part in _SENTENCE_END.split(text.strip()) if part]


def load_corpus(folder: Path) -> Corpus:
    """The passages of a golden set's resources; an id that stands twice is a problem."""
    problems = Problems()
    path = folder / PASSAGES_FILE
    seen: dict[str, int] = {}
    passages = []
    for passage, line in read_json_lines(path, Passage, problems, _check_passage):
        if passage.id in seen:
            message = f"{passage.id!r} is also the id of line {seen[passage.id]}"
            problems.add(path, message, "Give every passage an id of its own.", line=line, field="id")
        seen.setdefault(passage.id, line)
        passages.append(passage)
    problems.stop_if_any()
    return Corpus(passages)


def _check_passage(passage: Passage) -> Iterable[Violation]:
    for field in ("id", "text"):
        if not getattr(passage, field).strip():
            yield Violation((field,), "is blank", "Fill it, or remove the passage.")


def prepare(given: GroundedInput, parameters: Parameters, corpus: Corpus | None) -> PreparedQuestion:
    """Retrieve what a question needs; nothing where there is no corpus."""
    result = corpus.search(given.question, parameters) if corpus else []
    return PreparedQuestion(given.question, result, [passage.id for passage in result])

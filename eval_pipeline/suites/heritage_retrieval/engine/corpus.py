"""The passages that are searched, and the indexes over them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import msgspec
import numpy as np

from eval_pipeline.files import Located, read_json_lines
from eval_pipeline.language.bm25 import Bm25, word_terms
from eval_pipeline.language.embedder import Vectors, default_embedder, similarity
from eval_pipeline.language.stems import stem_in
from eval_pipeline.problems import Problems

PASSAGES_FILE = "passages.jsonl"

Words = Literal["words", "stems"]
Text = Annotated[str, msgspec.Meta(min_length=1)]


class Passage(msgspec.Struct, frozen=True):
    """A piece of text with an id, and the kind of source it comes from."""

    doc_id: Text
    language: Literal["nl", "en", "de", "fr"]
    source: Text
    text: Text


class Scored(NamedTuple):
    """A passage that a retriever found."""

    passage: Passage
    score: float


def load_corpus(folder: Path) -> Corpus:
    """The passages of a resources folder; every problem at once."""
    problems = Problems()
    path = folder / PASSAGES_FILE
    located = list(read_json_lines(path, Passage, problems))
    lines: dict[str, int] = {}
    for passage, line in located:
        first = lines.setdefault(passage.doc_id, line)
        if first != line:
            message = f"{passage.doc_id!r} is also the id of line {first}"
            problems.add(path, message, "Give every passage an id of its own.", line=line, field="doc_id")
    problems.stop_if_any()
    return Corpus(located)


class Corpus:
    """Passages by id, with indexes that are built when they are first asked for."""

    def __init__(self, located: Sequence[Located[Passage]]) -> None:
        self.passages = {each.record.doc_id: each.record for each in located}
        self._order = list(self.passages.values())

    @cached_property
    def _words(self) -> Bm25:
        return Bm25([passage.text for passage in self._order])

    @cached_property
    def _stems(self) -> Bm25:
        return Bm25([stemmed(passage.text, passage.language) for passage in self._order])

    @cached_property
    def _vectors(self) -> Vectors:
        return default_embedder().embed([passage.text for passage in self._order])

    def by_words(self, query: str, language: str, kind: Words, depth: int) -> list[Scored]:
        """The best passages by BM25, over words as they stand or over their stems."""
        if kind == "words":
            match = self._words.search(query, depth)
        else:
            match = self._stems.search(stemmed(query, language), depth)
        return [Scored(self._order[index], score) for index, score in match]

    def by_meaning(self, query: str, depth: int) -> list[Scored]:
        """The passages whose vectors lie nearest to the query's, in whatever language."""
        scores = similarity(default_embedder().embed([query]), self._vectors)
        best = np.argsort(-scores, kind="stable")[:depth]
        return [Scored(self._order[index], float(scores[index])) for index in best]


def stemmed(text: str, language: str) -> str:
    """The stems of a text's words, as a text; words of an unknown language stay as they are."""
    return " ".join(stem_in(language, word) for word in word_terms(text))

"""Replies as texts: their length, words, meaning, sources, and whether they refuse."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Literal

from eval_pipeline.declarative.cells import Row, as_flag, as_limit, as_list, as_text, shown
from eval_pipeline.declarative.kinds import Kind
from eval_pipeline.declarative.scorers.base import GOOD, Count, Fraction, Reply, Scorer, needed
from eval_pipeline.language.accuracy import default_accuracy, measure
from eval_pipeline.language.embedder import Embedder, default_embedder, similarity
from eval_pipeline.language.embedding_endpoint import USABLE, EmbeddingEndpoint
from eval_pipeline.language.sentences import split_sentences
from eval_pipeline.metrics.rouge import rouge
from eval_pipeline.metrics.text import normalize, word_count
from eval_pipeline.suite import Measured, Model, Values


class Length(Scorer, frozen=True, kw_only=True, rename={"of": "length"}):
    """The reply has so many words, characters or sentences."""

    of: Literal["words", "characters", "sentences"]
    min: Count | str = 0
    max: Count | str | None = None

    key = "length"
    about = "Replies that are neither too short nor too long ÷ replies"

    def __post_init__(self) -> None:
        if not self.min and self.max is None:
            raise ValueError("says neither `min` nor `max`")
        if isinstance(self.min, int) and isinstance(self.max, int) and self.max < self.min:
            raise ValueError("`max` is less than `min`")

    def wanted(self, row: Row, kind: Kind) -> tuple[float, float]:
        """The limits."""
        least = as_limit(needed(self.min, row)) if self.min else 0.0
        return least, math.inf if self.max is None else as_limit(needed(self.max, row))

    def value(self, reply: Reply, wanted: tuple[float, float]) -> float:
        """Whether the length is within the limits."""
        return float(wanted[0] <= self._length(reply.text) <= wanted[1])

    def _length(self, text: str) -> int:
        if self.of == "words":
            return word_count(text)
        return len(text.strip()) if self.of == "characters" else sum(1 for _ in split_sentences(text))

    def told(self, reply: Reply, wanted: tuple[float, float]) -> tuple[str, str]:
        """The limits and the length."""
        most = "or more" if wanted[1] == math.inf else f"to {wanted[1]:,g}"
        return f"{wanted[0]:,g} {most} {self.of}", f"{self._length(reply.text):,}: {shown(reply.text)}"


class Compared(Scorer, frozen=True, kw_only=True):
    """A scorer that compares the reply with an expected text by degrees."""

    of: str
    at_least: Fraction = GOOD

    holds_answer = True

    def wanted(self, row: Row, kind: Kind) -> str:
        """The expected text."""
        return as_text(needed(self.of, row))


class F1(Compared, frozen=True, kw_only=True, rename={"of": "f1"}):
    """The words that reply and expected text share: 2·P·R ÷ (P + R)."""

    of: str

    key = "f1"
    about = "F1 of the words that the reply shares with the expected text"

    def values(self, replies: Sequence[Reply], wanted: Sequence[str]) -> Values:
        """F1 of every reply."""
        return rouge([reply.text for reply in replies], wanted).rouge1


class Rouge(Compared, frozen=True, kw_only=True, rename={"of": "rouge"}):
    """ROUGE: the words, pairs of words or word order that reply and expected text share, as F1."""

    of: str
    variant: Literal["rouge1", "rouge2", "rougeL"] = "rougeL"

    key = "rouge"
    about = "ROUGE F1 of the reply against the expected text"

    @property
    def default_name(self) -> str:
        """The variant."""
        return self.variant

    def values(self, replies: Sequence[Reply], wanted: Sequence[str]) -> Values:
        """ROUGE of every reply."""
        measured: Values = getattr(rouge([reply.text for reply in replies], wanted), self.variant)
        return measured


class Similarity(Compared, frozen=True, kw_only=True, rename={"of": "similarity"}):
    """How alike reply and expected text are in meaning: the cosine by an embedder, offline or at a URL."""

    of: str
    endpoint: str = ""
    model: str = ""
    key_variable: str = ""

    key = "similarity"
    about = "Cosine of the reply's and the expected text's meaning"

    def __post_init__(self) -> None:
        if bool(self.endpoint) != bool(self.model) or (self.key_variable and not self.endpoint):
            raise ValueError("`endpoint` and `model` stand together, and `key_variable` only with them")
        if self.endpoint and not USABLE.fullmatch(self.endpoint):
            raise ValueError("`endpoint` is a URL such as https://host/v1, without credentials or query")

    def values(self, replies: Sequence[Reply], wanted: Sequence[str]) -> Values:
        """The cosine of every reply."""
        embed = self._embedder.embed
        return similarity(embed([reply.text for reply in replies]), embed(wanted))

    def models(self, name: str) -> tuple[Model, ...]:
        """The embedder."""
        return (Model(self._embedder.name, (name,), self._measure),)

    @property
    def _embedder(self) -> Embedder:
        if self.endpoint:
            return EmbeddingEndpoint(self.endpoint, self.model, self.key_variable)
        return default_embedder()

    def _measure(self) -> Measured:
        measured = measure(self._embedder) if self.endpoint else default_accuracy()
        told = f"{measured.accuracy:.1%} right on {measured.pairs} labelled pairs of texts"
        return Measured(measured.accuracy, told)


_CITED = re.compile(r"\[([^\[\]\n]{1,200})\](?!\()")


class Citations(Scorer, frozen=True, kw_only=True, rename={"of": "citations"}):
    """The sources that the reply cites as [id], against those that it should: F1 of the two sets."""

    of: str | tuple[str, ...]
    at_least: Fraction = 1.0

    key = "citations"
    about = "F1 of the sources that the reply cites as [id] against those expected"

    def wanted(self, row: Row, kind: Kind) -> list[str]:
        """The ids of the sources."""
        if isinstance(self.of, str):
            return as_list(needed(self.of, row))
        return [as_text(needed(each, row)) for each in self.of]

    def value(self, reply: Reply, wanted: list[str]) -> float:
        """2 · shared ÷ (cited + expected); nothing cited where nothing is expected is right."""
        cited, expected = self._cited(reply.text), set(map(normalize, wanted))
        total = len(cited) + len(expected)
        return 2 * len(cited & expected) / total if total else 1.0

    def _cited(self, text: str) -> set[str]:
        marks = (part for mark in _CITED.findall(text) for part in re.split(r"[,;]", mark))
        return {normalize(part) for part in marks if part.strip()}

    def told(self, reply: Reply, wanted: list[str]) -> tuple[str, str]:
        """The sources expected and cited."""
        return shown(
            sorted(wanted)
        ), f"{', '.join(sorted(self._cited(reply.text))) or 'none'}: {shown(reply.text)}"


_REFUSES = re.compile(
    r"\b(?:i|we) (?:can ?not|can['’]?t|could not|couldn['’]t|won['’]t|will not|am (?:not able|unable)|"
    r"['’]m (?:not able|unable)|are (?:not able|unable)|do not|don['’]t|must) "
    r"(?:to )?(?:answer|help|assist|provide|comply|do that|do this|discuss|share|fulfil|say|tell|give|"
    r"decline|know|have (?:enough |that |the |any )?information)"
    r"|\b(?:i|we)(?:['’]m| am| are) (?:sorry|afraid)\b.{0,40}\b(?:not|n['’]t|unable)\b"
    r"|\bunable to (?:answer|help|assist|provide|comply)\b|\bas an ai\b"
    r"|\b(?:i|we) (?:must )?(?:decline|refuse)\b"
    r"|\bich kann (?:ihnen |dir )?(?:das |dabei |damit |darauf |diese frage )?nicht\b|\btut mir leid\b"
    r"|\bje ne peux pas\b|\bje suis désolé|\bik kan (?:u |je )?(?:dat |deze vraag |daar )?(?:niet|geen)\b"
    r"|\bno puedo (?:ayudar|responder|proporcionar)\b"
)
_READ = 2_000
"""Characters at the beginning of a reply in which a refusal stands."""


class Refusal(Scorer, frozen=True, kw_only=True, rename={"of": "refusal"}):
    """The reply refuses where it should, and does not where it should not, by the phrases it uses."""

    of: bool | str

    key = "refusal"
    about = "Replies that refuse exactly where they should ÷ replies"

    def wanted(self, row: Row, kind: Kind) -> bool:
        """Whether it should refuse."""
        return as_flag(needed(self.of, row))

    def value(self, reply: Reply, wanted: bool) -> float:
        """Whether it does as it should."""
        return float(_refuses(reply.text) == wanted)

    def told(self, reply: Reply, wanted: bool) -> tuple[str, str]:
        """What it should do and does."""
        return ("a refusal" if wanted else "no refusal"), shown(reply.text)


def _refuses(text: str) -> bool:
    return bool(_REFUSES.search(normalize(text[:_READ])))

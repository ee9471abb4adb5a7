"""The golden format: a question, whether the corpus answers it, and what a right answer states and cites."""

from collections.abc import Iterator, Sequence

import msgspec
from msgspec import UNSET, UnsetType

from eval_pipeline.files import FieldPath, Violation
from eval_pipeline.metrics.text import normalize
from eval_pipeline.suite import Case

SHORTEST_SUBSTRING = 5
_LOOSE_SPACE = ("  ", "| ", " |")

NONE = {"answerability": "unanswerable", "evidence": "none"}
ONE = {"answerability": "answerable", "evidence": "one passage"}
SEVERAL = {"answerability": "answerable", "evidence": "several passages"}


class GroundedExpected(msgspec.Struct, frozen=True, gc=False):
    """What only scoring sees, with the field names of the document."""

    answerable: bool
    gold_claim_substr: list[str] | UnsetType = UNSET
    """A right claim holds one of them; none means that any claim will do."""
    all_of: list[list[str]] | UnsetType = UNSET
    """The parts of a question that has several: a right claim holds one of each."""
    gold_citations: list[str] | UnsetType = UNSET
    """The passages that hold the answer."""
    constraints: tuple[str, ...] = ()


class GoldEntry(GroundedExpected, frozen=True, gc=False, kw_only=True):
    """A line of the gold file."""

    qid: str
    question: str


class GroundedInput(msgspec.Struct, frozen=True, gc=False):
    """What an engine sees."""

    question: str


GroundedCase = Case[GroundedInput, GroundedExpected]


def to_case(entry: GoldEntry) -> GroundedCase:
    """A golden entry as a case: what engines may see, apart from what they may not."""
    attributes = NONE if not entry.answerable else ONE if len(entry.gold_citations or ()) == 1 else SEVERAL
    return Case(entry.qid, GroundedInput(entry.question), entry, attributes)


def are_sound(entries: Sequence[GoldEntry]) -> bool:
    """Whether a quick look shows that no entry contradicts itself."""
    substrings = [text for entry in entries for text in entry.gold_claim_substr or ()]
    parts = [part for entry in entries for part in entry.all_of or ()]
    substrings += [text for part in parts for text in part]
    texts = [citation for entry in entries for citation in entry.gold_citations or ()]
    texts += [entry.question for entry in entries]
    incomplete = [
        entry
        for entry in entries
        if (entry.answerable and (_says_nothing(entry) or not entry.gold_citations))
        or (entry.all_of and not entry.answerable)
    ]
    blank = not all(texts) or not all(parts) or any(map(str.isspace, texts))
    return not incomplete and not blank and _least_length(substrings) >= SHORTEST_SUBSTRING


def _says_nothing(entry: GoldEntry) -> bool:
    """Whether an entry does not say what a right claim holds."""
    return entry.gold_claim_substr is UNSET and not entry.all_of


def _least_length(texts: Sequence[str]) -> int:
    """The length of the shortest text, normalized; a look at all of them at once may spare that."""
    joined = f"|{'|'.join(texts)}|"
    plain = joined.isascii() and joined.isprintable() and not any(map(joined.__contains__, _LOOSE_SPACE))
    return min(map(len, texts if plain else map(normalize, texts)), default=SHORTEST_SUBSTRING)


def check_entry(entry: GoldEntry) -> Iterator[Violation]:
    """Contradictions inside one golden entry."""
    if not normalize(entry.question):
        yield Violation(("question",), "is blank", "Ask something.")
    if entry.answerable and _says_nothing(entry):
        remedy = "List what a right claim must hold; [] says that any claim will do."
        yield Violation(("gold_claim_substr",), "is missing", remedy)
    if entry.all_of and not entry.answerable:
        yield Violation(("all_of",), "asks for parts of no answer", "Remove it, or say answerable: true.")
    listed: list[tuple[FieldPath, list[str]]] = [(("gold_claim_substr",), entry.gold_claim_substr or [])]
    listed += [(("all_of", index), part) for index, part in enumerate(entry.all_of or ())]
    for path, texts in listed:
        if path[0] == "all_of" and not texts:
            yield Violation(path, "is empty and can never match", "List ways to say it, or remove the part.")
        for index, text in enumerate(texts):
            if len(normalize(text)) < SHORTEST_SUBSTRING:
                message = f"{text!r} has fewer than {SHORTEST_SUBSTRING} characters and can never match"
                yield Violation((*path, index), message, "Write a longer part of the claim.")
    if entry.answerable and not entry.gold_citations:
        remedy = "Name at least one passage that holds the answer, or say answerable: false."
        yield Violation(("gold_citations",), "is empty though the question is answerable", remedy)
    for index, citation in enumerate(entry.gold_citations or ()):
        if not citation.strip():
            yield Violation(("gold_citations", index), "is blank", "Name a passage, or remove the entry.")

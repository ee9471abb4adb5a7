"""The embedded engine: the sentences of the context that are nearest to the question, or a refusal.

Nearness is what BM25 finds in common words, or what the embedder finds in common meaning. With `focus`, the
names in the question choose the passages, its other words the sentence in them: a passage names what it is
about once, and then says "the museum".
"""

from typing import Annotated, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from eval_pipeline.language.bm25 import Bm25
from eval_pipeline.language.embedder import default_embedder, similarity
from eval_pipeline.language.sentences import split_sentences
from eval_pipeline.suites.heritage_qa.cases import QuestionInput
from eval_pipeline.suites.heritage_qa.claims import content_stems, stems_of_names
from eval_pipeline.suites.heritage_qa.lexicon import REFUSALS

LONGEST_QUESTION = 100
"""Words of a question in which a name is looked for."""

Fraction = Annotated[float, msgspec.Meta(ge=0, le=1)]
Scores = NDArray[np.float64]


class Parameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a prompt version tells the engine."""

    system: Literal["bm25", "dense"] = "dense"
    """What ranks sentences: common words, or common meaning."""
    sentences: Annotated[int, msgspec.Meta(ge=1, le=10)] = 1
    """How many sentences are taken from where one is looked for."""
    focus: bool = False
    """Whether names choose passages: each that alone holds a name of the question is looked into."""
    name_subject: bool = False
    """Whether a sentence that does not say what it is about gets the name from the question before it."""
    refuse_below: Fraction = 0.0
    """It refuses when no sentence is as near to the question, from 0 (not at all) to 1."""


class Answer(msgspec.Struct, frozen=True):
    """What the engine returns."""

    answer: str


def answer(prepared: QuestionInput, parameters: Parameters, resources: object) -> Answer:
    """The nearest sentences in the order in which they stand, or a refusal."""
    places = [list(split_sentences(passage)) for passage in prepared.context]
    sentences = [sentence for place in places for sentence in place]
    refusal = Answer(REFUSALS.get(prepared.language, REFUSALS["en"]))
    if not sentences:
        return refusal
    rank = _by_words if parameters.system == "bm25" else _by_meaning
    nearness = rank(prepared, sentences, parameters)
    owner = np.repeat(np.arange(len(places)), [len(place) for place in places])
    groups = _focused(prepared) if parameters.focus else []
    chosen = sorted(
        index
        for group in groups or [list(range(len(places)))]
        for index in _best(nearness, np.isin(owner, group), parameters.sentences)
    )
    if not chosen or max(nearness[chosen]) < parameters.refuse_below:
        return refusal
    message = [_told(prepared, sentences[index], int(owner[index]), parameters) for index in chosen]
    return Answer(" ".join(dict.fromkeys(message)))


def _told(prepared: QuestionInput, sentence: str, passage: int, parameters: Parameters) -> str:
    subject = _subject(prepared.question, prepared.context[passage]) if parameters.name_subject else ""
    return sentence if subject in sentence else f"{subject}: {sentence}"


def _subject(question: str, passage: str) -> str:
    """The longest name that question and passage share to the letter: words in a row, from a capital on."""
    asked = question.split()[:LONGEST_QUESTION]
    result = ""
    for start, word in enumerate(asked):
        for end in range(start + 1, len(asked) + 1):
            name = " ".join(asked[start:end]).rstrip("?,.:;")
            if not word[0].isupper() or name not in passage:
                break
            result = max(result, name, key=len)
    return result


def _best(nearness: Scores, among: NDArray[np.bool_], count: int) -> list[int]:
    order = np.argsort(-nearness, kind="stable")
    return [int(index) for index in order if among[index]][:count]


def _focused(prepared: QuestionInput) -> list[list[int]]:
    """The passages that hold a name of the question that no other passage holds, each by itself."""
    names = stems_of_names(prepared.question, prepared.language)
    held = [names & set(content_stems(passage, prepared.language)) for passage in prepared.context]
    return [
        [index]
        for index, own in enumerate(held)
        if own - set().union(*(other for place, other in enumerate(held) if place != index))
    ]


def _by_words(prepared: QuestionInput, sentences: list[str], parameters: Parameters) -> Scores:
    """BM25 ÷ the score of a sentence that would be the question itself, so that it lies in [0, 1]."""
    names = stems_of_names(prepared.question, prepared.language) if parameters.focus else set()

    def terms(text: str) -> list[str]:
        return [stem for stem in content_stems(text, prepared.language) if stem not in names]

    scores = Bm25([*sentences, prepared.question], terms=terms).scores(prepared.question)
    return scores[:-1] / max(float(scores.max()), 1e-9)


def _by_meaning(prepared: QuestionInput, sentences: list[str], parameters: Parameters) -> Scores:
    vectors = default_embedder().embed([prepared.question, *sentences])
    return similarity(vectors[:1], vectors[1:])

"""The golden set of heritage_rag, made from those of heritage_qa and heritage_retrieval.

    python -m eval_pipeline.suites.heritage_rag.building golden

The corpus is every passage that a question of heritage_qa comes with, and the passages of heritage_retrieval
beside them. A question is taken over with its attributes where it can be asked of a whole corpus: an
answerable one if a passage holds each of its facts, and a name in it leads to one of these passages; an
unanswerable one if its names lead to no passage but those that it comes with.
"""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from eval_pipeline.files import content_hash, write_text
from eval_pipeline.golden import read_cases
from eval_pipeline.metrics.text import normalize
from eval_pipeline.problems import Problems
from eval_pipeline.suites import heritage_qa
from eval_pipeline.suites.heritage_qa.cases import QuestionCase
from eval_pipeline.suites.heritage_qa.claims import Evidence, claims_in, content_stems, stems_of_names
from eval_pipeline.suites.heritage_retrieval.engine.corpus import PASSAGES_FILE, Passage, load_corpus

CASES_FILE = "cases/questions.jsonl"
RARE = 0.05
"""A name in a larger share of the passages, such as "museum", leads nowhere."""


def build(golden: Path) -> dict[str, str]:
    """The files of the golden set by their place in its folder, from the folder of all golden sets."""
    problems = Problems()
    questions = [each.case for each in read_cases(heritage_qa.SUITE, golden / "heritage_qa", problems)]
    problems.stop_if_any()
    own = {text: _passage(text, case) for case in reversed(questions) for text in case.input.context}
    others = load_corpus(golden / "heritage_retrieval" / "resources").passages.values()
    passages = sorted(own.values(), key=lambda each: each.doc_id)
    passages += [each for each in others if each.text not in own]
    places = {language: _places(passages, language) for language in {q.input.language for q in questions}}
    entries = [_entry(case, own, places[case.input.language], RARE * len(passages)) for case in questions]
    return {
        CASES_FILE: _lines(each for each in entries if each),
        f"resources/{PASSAGES_FILE}": _lines(passages),
    }


def _passage(text: str, case: QuestionCase) -> Passage:
    """A passage under an id that follows from its text, so that it stays when others are added."""
    said = case.attributes
    return msgspec.convert(
        {
            "doc_id": f"h{content_hash(text)[:10]}",
            "language": said.get("language"),
            "source": said.get("source_type", "web"),
            "text": text,
        },
        Passage,
    )


def _places(passages: Sequence[Passage], language: str) -> dict[str, set[str]]:
    """The passages in which each word stands, as a question in some language would look for it."""
    places: dict[str, set[str]] = {}
    for each in passages:
        for stem in content_stems(each.text, language):
            places.setdefault(stem, set()).add(each.doc_id)
    return places


def _entry(
    case: QuestionCase, own: dict[str, Passage], places: dict[str, set[str]], most: float
) -> dict[str, Any] | None:
    """A question as one over the corpus; none where it cannot be asked like that."""
    names = stems_of_names(case.input.question, case.input.language)
    led = [places[name] for name in sorted(names) if 0 < len(places.get(name, ())) <= most]
    reached = set().union(*led)
    given = {own[text].doc_id for text in case.input.context}
    holders = [_holders(fact, case, own) for fact in case.expected.facts]
    held = {each for some in holders for each in some}
    asked = bool(held & reached) and all(holders) if case.expected.answerable else led and reached <= given
    if not asked:
        return None
    said = {name: value for name, value in case.attributes.items() if name not in _OF_THE_ENTRY}
    return {
        "id": f"rag-{case.id.removeprefix('qa-')}",
        "question": case.input.question,
        "gold_answer": case.expected.answer,
        "supporting_facts": case.expected.facts,
        "supporting_passages": holders,
        "answer_type": case.attributes["question_type"],
        "answerable": case.expected.answerable,
        **said,
    }


_OF_THE_ENTRY = ("question_type", "answerable")


def _holders(fact: str, case: QuestionCase, own: dict[str, Passage]) -> list[str]:
    """The passages of a question that hold a fact: to the letter, or else by what it says."""
    language, context = case.input.language, case.input.context
    quoting = [text for text in context if normalize(fact) in normalize(text)]
    claims = claims_in(fact, language)
    bearing = [
        text for text in context if all(Evidence.of(text, language).supports(claim) for claim in claims)
    ]
    return list(dict.fromkeys(own[text].doc_id for text in quoting or bearing))


def _lines(records: Iterable[Any]) -> str:
    return "".join(f"{msgspec.json.encode(each).decode()}\n" for each in records)


def main(golden: Path) -> None:
    """Write the golden set."""
    for place, text in build(golden).items():
        write_text(golden / "heritage_rag" / place, text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

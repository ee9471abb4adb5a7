"""The cases that got worse the most, as people need them: what was asked and expected, and both answers."""

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, Protocol

import msgspec

from eval_pipeline.answers import Answer
from eval_pipeline.comparison.overlap import Side
from eval_pipeline.comparison.records import CaseChange, CaseExample
from eval_pipeline.golden import GoldenCase

MOST_EXAMPLES = 3
LONGEST_TEXT = 500


class Cases(Protocol):
    """Reads the cases of a golden set: all of them, or at least those of some ids."""

    def __call__(self, only: Set[str] | None = None) -> Iterable[GoldenCase]:
        """The cases, in the order of the golden set."""


def examples_of(
    changes: Sequence[CaseChange], cases: Cases, before: Side, after: Side
) -> tuple[CaseExample, ...]:
    """The first few of these cases."""
    wanted = [each.case_id for each in changes[:MOST_EXAMPLES]]
    read = cases(only=set(wanted)) if wanted else ()
    found = {each.case.id: _example(each, before, after) for each in read if each.case.id in wanted}
    return tuple(found[case_id] for case_id in wanted if case_id in found)


def _example(golden: GoldenCase, before: Side, after: Side) -> CaseExample:
    case = golden.case
    answers: Mapping[str, Answer | None] = {
        name: side.answers.get(case.id, side.answers.trials[0], golden.input_hash)
        for name, side in (("before", before), ("after", after))
    }
    return CaseExample(
        case.id,
        _bounded(case.input),
        _bounded(case.expected),
        **{name: _answer(answer) for name, answer in answers.items()},
    )


def _answer(answer: Answer | None) -> str:
    if answer is None:
        return "no answer"
    if answer.text is None:
        return _bounded(f"error: {answer.error} {answer.detail}".rstrip())
    return _bounded(answer.text)


def _bounded(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"

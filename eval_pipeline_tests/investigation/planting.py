"""Answers with a planted cause of failure: golden answers, of which some are spoilt in one way."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec

from eval_pipeline.answers import Answer
from eval_pipeline.gates import Gate
from eval_pipeline.golden import GoldenCase, make_probes, read_cases
from eval_pipeline.investigation import (
    CaseFacts,
    Hypothesis,
    Material,
    Observation,
    Other,
    facts_of,
    hypotheses_of,
    observe,
    vocabulary_of,
    with_texts,
)
from eval_pipeline.metrics.text import words
from eval_pipeline.problems import Problems
from eval_pipeline.project import Project
from eval_pipeline.scoring import score_cases, summarize
from eval_pipeline.stages import Workbench, probes
from eval_pipeline.suite import Context, DiagnosisVocabulary, Suite
from eval_pipeline.suites import find_suite
from eval_pipeline_tests.conftest import REPOSITORY

MOST_CASES = 150
"""More of them take longer to score, and tell no more of a cause from chance."""

Key = tuple[str, int]
Spoil = Callable[[random.Random, "Ground", str, Any], Answer | None]
"""(chance, ground, case id, golden answer) → what is answered instead; None where it cannot be spoilt."""


@dataclass(frozen=True)
class Ground:
    """A suite with its golden answers, ready to be spoilt."""

    suite: Suite
    context: Context
    gates: Mapping[str, Gate]
    vocabulary: DiagnosisVocabulary
    cases: Sequence[GoldenCase]
    facts: Mapping[str, CaseFacts]
    golden: Mapping[str, Any]
    """The golden answers that pass, by case."""

    def observations(self, answers: Mapping[Key, Answer], trials: int) -> list[Observation]:
        """How answers fare; where none is given, the golden one is."""
        scores = score_cases(self.suite, self.cases, _Answers(self, answers, trials), self.context)
        gates = summarize(self.suite, scores, self.gates).gates
        failing = {each.metric: self.gates[each.metric] for each in gates if each.status == "fail"}
        return observe(self.suite, scores, self.vocabulary, failing)

    def hypotheses(
        self, answers: Mapping[Key, Answer], trials: int = 1, others: Sequence[Other] = ()
    ) -> list[Hypothesis]:
        """What an investigation makes of answers."""
        source = _Answers(self, answers, trials)
        observations, _ = with_texts(
            self.observations(answers, trials), lambda case_id, trial: source.get(case_id, trial, "")
        )
        return hypotheses_of(Material(observations, others, self.facts, self.vocabulary))


class _Answers:
    def __init__(self, ground: Ground, given: Mapping[Key, Answer], trials: int) -> None:
        self._ground, self._given = ground, given
        self.trials = tuple(range(1, trials + 1))

    def get(self, case_id: str, trial: int, input_hash: str) -> Answer | None:
        given = self._given.get((case_id, trial))
        return given or text_answer(self._ground.golden[case_id], case_id, trial)


def text_answer(value: Any, case_id: str = "", trial: int = 1) -> Answer:
    """An answer as an engine would write it."""
    return Answer(case_id, trial, value if isinstance(value, str) else msgspec.json.encode(value).decode())


@cache
def ground_of(name: str) -> Ground:
    """A shipped suite, as far as its golden answers pass."""
    project = Project(REPOSITORY, REPOSITORY / ".eval")
    suite = find_suite(project, name)
    bench = Workbench(project, suite)
    cases = list(read_cases(suite, bench.golden_folder, Problems()))
    if len(cases) > MOST_CASES:
        cases = random.Random(name).sample(cases, MOST_CASES)
    written = probes._written_answers(bench, [each.case for each in cases], Problems())
    oracle = make_probes(suite, [each.case for each in cases], bench.context, written).oracle
    vocabulary = vocabulary_of(suite)
    whole = [each for each in cases if each.case.id in oracle]
    ground = Ground(suite, bench.context, bench.gates, vocabulary, whole, facts_of(whole, vocabulary), oracle)
    failing = {each.case_id for each in ground.observations({}, 1) if each.fails}
    kept = [each for each in whole if each.case.id not in failing]
    return Ground(suite, bench.context, bench.gates, vocabulary, kept, facts_of(kept, vocabulary), oracle)


def cut_off(chance: random.Random, ground: Ground, case_id: str, value: Any) -> Answer | None:
    """An answer that breaks off."""
    text = text_answer(value).text or ""
    return Answer(case_id, text=text[: int(len(text) * chance.uniform(0.3, 0.8))])


def timeout(chance: random.Random, ground: Ground, case_id: str, value: Any) -> Answer | None:
    """No answer in time."""
    return Answer(case_id, error="timeout", detail="no answer within 60 s")


def other_schema(chance: random.Random, ground: Ground, case_id: str, value: Any) -> Answer | None:
    """An answer in another form than the contract's."""
    return None if ground.suite.output is str else Answer(case_id, text='["see above"]')


def swapped(chance: random.Random, ground: Ground, case_id: str, value: Any) -> Answer | None:
    """The golden answer to another case."""
    other = chance.choice([each.case.id for each in ground.cases if each.case.id != case_id])
    return text_answer({**ground.golden[other], **_carried(ground, value)}, case_id)


def empty(chance: random.Random, ground: Ground, case_id: str, value: Any) -> Answer | None:
    """An answer whose lists are empty and whose texts are blank."""
    blank: dict[str, Any] = {
        name: [] if isinstance(each, list) else "" if isinstance(each, str) else each
        for name, each in value.items()
    }
    return text_answer({**blank, **_carried(ground, value)}, case_id)


def _carried(ground: Ground, value: Any) -> dict[str, Any]:
    return {name: value[name] for name in ground.suite.carried if name in value}


def reversed_links(chance: random.Random, ground: Ground, case_id: str, value: Any) -> Answer | None:
    """Every relationship the wrong way round."""
    if "relationships" not in value:
        return None
    turned = [{**each, "source": each["target"], "target": each["source"]} for each in value["relationships"]]
    return text_answer({**value, "relationships": turned}, case_id)


def paraphrased(chance: random.Random, ground: Ground, case_id: str, value: Any) -> Answer | None:
    """Quotes with the words of the text in another order."""
    if "concepts" not in value:
        return None
    concepts = [
        {**each, "source_quote": " ".join(reversed(_quote(ground, case_id, each).split()))}
        for each in value["concepts"]
    ]
    return text_answer({**value, "concepts": concepts}, case_id)


def _quote(ground: Ground, case_id: str, concept: Mapping[str, Any]) -> str:
    given = str(concept.get("source_quote") or "")
    if len(given.split()) > 4:
        return given
    text = ground.facts[case_id].text
    place = max(0, text.casefold().find(concept["label"].casefold()))
    start = text.rfind(".", 0, place) + 1
    return " ".join(text[start:].split()[:9])


def invented(chance: random.Random, ground: Ground, case_id: str, value: Any) -> Answer | None:
    """Things that nobody expects: concepts, entities, spans."""
    more = copy.deepcopy(value)
    text = ground.facts[case_id].text
    if "concepts" in more:
        quote = " ".join(text.split()[:8])
        more["concepts"] += [
            {"label": f"{chance.choice(_ODD)} {number}", "source_quote": quote} for number in range(25)
        ]
        return text_answer(more, case_id)
    field = next((name for name in ("entities", "spans") if more.get(name)), None)
    if field is None:
        return None
    taken = {place for each in more[field] for place in range(each["start"], each["end"])}
    free = [word for word in words(text) if not taken & set(range(word.start, word.end))]
    like = more[field][0]
    more[field] += [{**like, "text": word.text, "start": word.start, "end": word.end} for word in free]
    return text_answer(more, case_id) if len(free) >= 3 else None


_ODD = ("quantum ferry", "lunar tax", "paper whale", "glass opera", "salt engine")


def mislabelled(chance: random.Random, ground: Ground, case_id: str, value: Any) -> Answer | None:
    """Things with the label of another one."""
    more = copy.deepcopy(value)
    for field, label in (("relationships", "predicate"), ("entities", "type"), ("spans", "category")):
        labels = sorted({each[label] for golden in ground.golden.values() for each in golden.get(field, ())})
        for each in more.get(field, ()):
            each[label] = chance.choice([one for one in labels if one != each[label]])
        if more.get(field):
            return text_answer(more, case_id)
    return None


def without_end(chance: random.Random, ground: Ground, case_id: str, value: Any) -> Answer | None:
    """Nothing from the last third of the text."""
    facts = ground.facts[case_id]
    edge = 2 * len(facts.text) // 3

    def place(forms: Sequence[str]) -> int:
        found = [facts.text.casefold().find(form.casefold()) for form in forms]
        return min((each for each in found if each >= 0), default=-1)

    more = copy.deepcopy(value)
    if "concepts" in more:
        late = {wanted.name for wanted in facts.wanted if place(wanted.forms) >= edge}
        more["concepts"] = [each for each in more["concepts"] if each["label"] not in late]
        more["relationships"] = [
            each for each in more["relationships"] if not late & {each["source"], each["target"]}
        ]
        return text_answer(more, case_id) if late else None
    for field in ("entities", "spans"):
        if field in more:
            kept = [each for each in more[field] if each["start"] < edge]
            return text_answer({**more, field: kept}, case_id) if len(kept) < len(more[field]) else None
    if "findings" in more:
        kept = [each for each in more["findings"] if place([each.get("quote") or ""]) < edge]
        return text_answer({**more, "findings": kept}, case_id) if len(kept) < len(more["findings"]) else None
    return None


def spoil_some(
    chance: random.Random, ground: Ground, chosen: Sequence[Key], spoil: Spoil
) -> dict[Key, Answer]:
    """Some answers, each spoilt in the same way, as far as that can be done."""
    spoilt: dict[Key, Answer] = {}
    for case_id, trial in chosen:
        answer = spoil(chance, ground, case_id, ground.golden[case_id])
        if answer is not None:
            spoilt[case_id, trial] = msgspec.structs.replace(answer, case_id=case_id, trial=trial)
    return spoilt

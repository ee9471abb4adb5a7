"""Measures without golden answers: golden ones look good by them, and cheats do not."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from eval_pipeline.golden import Probes, make_probes, read_cases
from eval_pipeline.loading import find_suite, suite_names
from eval_pipeline.monitoring.measuring import (
    CONTRACT,
    OF_ALL,
    REFUSED,
    USABLE,
    WORDS,
    Measuring,
    canaries_of,
    every_measure,
    measures_of,
)
from eval_pipeline.problems import Problems
from eval_pipeline.project import Project
from eval_pipeline.suite import Case, Context, Suite
from eval_pipeline.suite.production import HALLUCINATION, PROVENANCE, is_echo, stands_in
from eval_pipeline_tests.conftest import REPOSITORY

PROJECT = Project(REPOSITORY, Path("nowhere"))
SUITES = suite_names(PROJECT)
MOST_CASES = 12
CLEARLY = 0.4
CHEATS = ("empty", "echo", "everything", "negated")


class Probed:
    """A suite with some cases and what probes answer to them."""

    def __init__(self, name: str) -> None:
        self.suite: Suite = find_suite(PROJECT, name)
        folder = PROJECT.golden(name)
        golden = read_cases(self.suite, folder, Problems())
        self.cases: list[Case[Any, Any]] = [each.case for each in golden][:MOST_CASES]
        self.resources: Any = self.suite.resources(folder / "resources") if self.suite.resources else None
        self.probes: Probes = make_probes(self.suite, self.cases, Context(resources=self.resources), {})
        passages = getattr(self.resources, "passages", ())
        known = passages.values() if isinstance(passages, dict) else passages
        self.texts = {getattr(each, "doc_id", None) or each.id: each.text for each in known}
        self.measuring = Measuring(self.suite, canaries_of(PROJECT, self.suite))

    def means(self, answers: Mapping[str, Any]) -> dict[str, float]:
        """Every measure of a probe's answers."""
        sums: dict[str, list[float]] = {}
        for case in self.cases:
            if case.id in answers:
                for each in self.measuring.measure(self.event(case, answers[case.id])):
                    total = sums.setdefault(each.measure, [0.0, 0.0])
                    total[0] += each.part
                    total[1] += each.whole
        return {name: part / whole for name, (part, whole) in sums.items()}

    def event(self, case: Case[Any, Any], output: Any) -> dict[str, Any]:
        text = output if isinstance(output, str) else msgspec.json.encode(output).decode()
        ids = output.get("retrieved_ids") or () if isinstance(output, dict) else ()
        return row(
            text,
            msgspec.json.encode(case.input).decode(),
            retrieved=[{"id": each, "text": self.texts.get(each)} for each in ids],
        )


def row(output: str | None, given: str = "", **fields: Any) -> dict[str, Any]:
    return {"output": output, "input": given, "error": None, "retrieved": None, **fields}


@functools.cache
def probed(name: str) -> Probed:
    return Probed(name)


@pytest.mark.parametrize("name", SUITES)
def test_every_shipped_suite_has_measures_of_its_own(name: str) -> None:
    measures = every_measure(find_suite(PROJECT, name))
    assert len(measures) > len(OF_ALL)
    assert all(measure.about.endswith(".") for measure in measures.values())


@pytest.mark.parametrize("name", SUITES)
def test_golden_answers_look_good(name: str) -> None:
    suite = probed(name)
    if not suite.probes.oracle:
        pytest.skip("the suite has no golden answers")
    means = suite.means(suite.probes.oracle)
    assert means[CONTRACT.name] == means[USABLE.name] == 1.0
    reworded = name in ("heritage_qa", "heritage_rag")  # some answers compute or translate what passages say
    assert means.get(PROVENANCE, 1.0) > (0.8 if reworded else 0.95)
    assert means.get(HALLUCINATION, 0.0) < (0.2 if reworded else 0.02)


@pytest.mark.parametrize("name", SUITES)
def test_cheats_are_not_rewarded(name: str) -> None:
    """Each is clearly worse than golden answers in something, and clearly better in nothing."""
    suite = probed(name)
    measures = every_measure(suite.suite)
    best = {each: 0.0 if measures[each].better == "lower" else 1.0 for each in measures}
    golden = best | suite.means(suite.probes.oracle) if suite.probes.oracle else best
    tried = 0
    for probe, answers in suite.probes.answers.items():
        if not probe.startswith(CHEATS):
            continue
        tried += 1
        worse = {
            each: (golden[each] - value) * (-1 if measures[each].better == "lower" else 1)
            for each, value in suite.means(answers).items()
            if measures[each].better != "neither"
        }
        assert max(worse.values()) >= CLEARLY, (probe, worse)
        assert min(worse.values()) > -CLEARLY, (probe, worse)
    assert tried


@pytest.mark.parametrize("name", SUITES)
def test_padding_is_not_rewarded(name: str) -> None:
    """The same thing again and again verifies no more, and too much of it nothing."""
    suite = probed(name)
    answers = suite.probes.oracle or suite.probes.answers["echo span" if name == "suggestions" else "echo"]
    once = suite.means(answers)
    padded = suite.means({case: _repeated(answer, 60) for case, answer in answers.items()})
    measures = every_measure(suite.suite)
    for each, value in padded.items():
        if measures[each].better == "higher":
            assert value <= once[each] + 1e-9, each


def _repeated(value: Any, times: int) -> Any:
    if isinstance(value, str):
        return " ".join([value] * times)
    if isinstance(value, dict):
        lists = {name: each * times if isinstance(each, list) else each for name, each in value.items()}
        return lists if lists != value else {name: _repeated(each, times) for name, each in value.items()}
    return value


def test_an_answer_that_satisfies_no_contract() -> None:
    measuring = probed("decomposition").measuring
    found = {each.measure: each.part for each in measuring.measure(row("I'm sorry, I cannot do that."))}
    assert found[CONTRACT.name] == found[USABLE.name] == found[PROVENANCE] == 0.0
    assert found[REFUSED.name] == 1.0
    assert HALLUCINATION not in found


@pytest.mark.parametrize("event", [row(None), row("{}", error="timeout")])
def test_what_was_not_recorded_or_failed_is_not_measured(event: dict[str, Any]) -> None:
    assert probed("decomposition").measuring.measure(event) == ()


SOURCE = "Coral reefs host algae. " + "The algae feed the coral with sugar from sunlight. " * 8
QUOTE = "Coral reefs host algae."


def decomposed(*concepts: tuple[str, str | None]) -> str:
    listed = [{"label": label, "source_quote": quote} for label, quote in concepts]
    filler = [{"label": "algae", "source_quote": "The algae feed the coral with sugar from sunlight."}]
    return msgspec.json.encode({"concepts": [*listed, *filler * 2], "relationships": []}).decode()


@pytest.mark.parametrize(
    ("concept", "verified", "made_up"),
    [
        (("Coral reefs", QUOTE), 2, 0),
        (("coral reef", QUOTE), 2, 0),
        (("Coral reefs", "Coral reefs host fish."), 1, 1),
        (("Coral reefs", None), 1, 0),
        (("kelp", QUOTE), 2, 1),
        (("not coral reefs", QUOTE), 2, 1),
        ((SOURCE, SOURCE), None, None),
        (("ocean acidification", QUOTE), 2, 1),
    ],
)
@pytest.mark.parametrize("as_text", [True, False])
def test_a_concept_stands_in_its_source_or_is_made_up(
    concept: tuple[str, str | None], verified: int | None, made_up: int | None, as_text: bool
) -> None:
    """The source is the input's text, or, where only messages were recorded, all that they say."""
    given = (
        msgspec.json.encode([{"role": "user", "content": f"Decompose this: {SOURCE}"}])
        if as_text
        else msgspec.json.encode({"topic": "coral", "source_text": SOURCE})
    )
    event = row(decomposed(concept), given.decode())
    found = {
        each.measure: (each.part, each.whole) for each in probed("decomposition").measuring.measure(event)
    }
    if verified is None:
        assert found[USABLE.name] == (0.0, 1.0)
        assert found[PROVENANCE] == (0.0, 1.0)
        return
    assert found[PROVENANCE] == (verified, 2)
    assert found[HALLUCINATION] == (made_up, 2)


def test_a_known_canary_is_made_up_though_its_words_stand_there() -> None:
    suite = find_suite(PROJECT, "decomposition")
    canaries = canaries_of(PROJECT, suite)
    assert canaries == tuple(sorted(set(canaries)))
    assert canaries
    measuring = Measuring(suite, ("sugar coral",))
    source = msgspec.json.encode({"topic": "coral", "source_text": SOURCE}).decode()
    event = row(decomposed(("coral of sugar", QUOTE)), source)
    found = {each.measure: each.part for each in measuring.measure(event)}
    assert found[HALLUCINATION] == 1.0


def test_a_suite_of_files_gets_what_every_suite_gets(text_toy: Project) -> None:
    (name,) = [each for each in suite_names(text_toy) if each not in SUITES]
    suite = find_suite(text_toy, name)
    assert list(every_measure(suite)) == [each.name for each in OF_ALL]
    assert measures_of(suite).measures == ()
    measuring = Measuring(suite)
    found = {each.measure: each.part for each in measuring.measure(row("Two words", '{"text": "a"}'))}
    assert found == {CONTRACT.name: 1.0, REFUSED.name: 0.0, USABLE.name: 1.0, WORDS.name: 2.0}
    refused = {each.measure: each.part for each in measuring.measure(row("I cannot answer that."))}
    assert refused[REFUSED.name] == 1.0
    blank = {each.measure: each.part for each in measuring.measure(row("  "))}
    assert blank[CONTRACT.name] == blank[USABLE.name] == 0.0


def test_quotes_and_echoes() -> None:
    assert stands_in("host ALGAE", SOURCE)
    assert not stands_in("lgae", SOURCE)
    assert stands_in("lgae", SOURCE, cut=True)
    assert not stands_in("", SOURCE)
    assert not stands_in(None, SOURCE)
    assert not stands_in(SOURCE[: len(SOURCE) // 2 + 20], SOURCE)
    assert is_echo(SOURCE, SOURCE)
    assert is_echo(f"Sure! {SOURCE}", SOURCE)
    assert not is_echo("a short one", "a short one")

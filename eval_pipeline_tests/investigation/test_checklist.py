"""The checklist: what stands in the text, what is reversed, what is confused, what cannot be told."""

from __future__ import annotations

from collections.abc import Mapping

from eval_pipeline.investigation import CaseFacts, Diagnosed, Material, Observation, Other, hypotheses_of
from eval_pipeline.investigation.checklist import checklist_of
from eval_pipeline.suite import DiagnosisVocabulary, Kind, Wanted

TEXT = "Soil holds carbon. Erosion follows where roots are gone."
VOCABULARY = DiagnosisVocabulary(
    {
        "gone": Kind("missed", "things that were missed"),
        "odd": Kind("invented", "things that nobody expects"),
        "turned": Kind("reversed", "links the wrong way round"),
        "label": Kind("mislabelled", "links with another label"),
        "other_words": Kind("paraphrased", "quotes in other words"),
        "made_up": Kind("made_up", "quotes that stand nowhere"),
    },
    lambda case: (),
    lambda given: TEXT,
)


def answers(*mistakes: Diagnosed, cases: int = 2, trials: int = 1) -> list[Observation]:
    return [
        Observation(f"c{case}", trial, bool(mistakes), "", "", mistakes)
        for case in range(cases)
        for trial in range(1, trials + 1)
    ]


def told(observations: list[Observation], *others: Other, varies: bool = True) -> Mapping[str, str]:
    """The answers by question."""
    wanted = (Wanted("carbon", ("carbon",)), Wanted("sediment", ("sediment", "silt")))
    facts = {f"c{number}": CaseFacts(f"c{number}", "f", {}, TEXT, wanted) for number in range(9)}
    material = Material(observations, others, facts, VOCABULARY, "one", varies)
    sections = checklist_of(material, hypotheses_of(material))
    return {
        question.question: " ".join((question.answer, *question.examples))
        for section in sections
        for question in section.questions
    }


def test_what_was_missed_and_whether_it_stands_in_the_text() -> None:
    found = told(answers(Diagnosed("gone", "carbon", ""), Diagnosed("gone", "sediment", "")))
    assert found["What was missed?"] == (
        "4 in 2 of 2 failing answers that can be read: 4 × things that were missed. "
        "carbon (2 cases) sediment (2 cases)"
    )
    assert found["Does it stand in the text, word for word?"] == "2 of 4 do. carbon (2 cases)"
    assert found["Is it implied, but not stated?"].startswith("2 do not stand there")
    assert found["Would an example in the prompt help?"].startswith("Perhaps: ")
    assert found["Is the prompt too narrow?"].startswith("Cannot tell: no other version")


def test_what_was_invented_and_how() -> None:
    found = told(
        answers(Diagnosed("odd", "", "roots"), Diagnosed("odd", "", "wild roots"), Diagnosed("odd", "", "x"))
    )
    assert found["Is it a plausible inference from the text?"] == (
        "Of 6: 2 use words of the text only, 2 in part, 2 none of them."
    )
    assert found["Is the temperature too high?"].startswith("Cannot tell from one trial")
    assert told(answers(Diagnosed("odd", "", "x")), varies=False)["Is the temperature too high?"].startswith(
        "No: "
    )


def test_reversed_and_mislabelled_are_told_apart() -> None:
    turned = Diagnosed("turned", "a CAUSES b", "b CAUSES a")
    label = Diagnosed("label", "a CAUSES b", "a IS_A b")
    found = told(answers(turned, label, label))
    assert found["Is the direction reversed?"].startswith("2 in 2 of 2 failing answers")
    assert found["Are the ends right, and only the label wrong?"].startswith("4 in 2 of 2 failing answers")
    assert found["Are the definitions of labels clear enough? Would examples help?"].endswith(
        "CAUSES → IS_A: 4 times"
    )


def test_quotes_are_paraphrased_or_made_up() -> None:
    found = told(answers(Diagnosed("other_words", "soil", "carbon in soil"), Diagnosed("made_up", "x", "y")))
    assert found["Are quotes shortened or put in other words?"].startswith("2 in 2 of 2")
    assert found["Are quotes made up?"].startswith("2 in 2 of 2")


def test_other_versions_say_whether_the_prompt_is_too_narrow() -> None:
    wrong = [Diagnosed("gone", "carbon", "")] * 3
    better = Other("v1", "one", answers())
    assert told(answers(*wrong), better)["Is the prompt too narrow?"] == (
        "Likely: others miss less. In an answer on average: 3.0 here; v1 0.0."
    )
    same = Other("v1", "one", answers(*wrong))
    assert told(answers(*wrong), same)["Is the prompt too narrow?"].startswith("No sign of it. ")


def test_cases_that_fail_everywhere() -> None:
    wrong = Diagnosed("label", "right", "other")
    beside = [Other(name, engine, answers(wrong)) for name, engine in (("v1", "one"), ("v2", "two"))]
    found = told(answers(wrong), *beside)
    assert found["Does every version and engine fail the same cases?"] == (
        "2 of 2 failing cases fail in all of 2 other evaluations, too (2 engines in all). c0 c1"
    )
    assert found["Is the text ambiguous, or the expectation wrong?"].endswith("c0: other c1: other")
    assert found["Should the golden set be changed?"] == "Let a person decide on the cases above."


def test_errors_are_counted_and_not_read() -> None:
    failed = [Observation(f"c{number}", 1, True, "timeout", "60 s") for number in range(3)]
    found = told([*failed, *answers()])
    assert found["Do failures share an error?"] == "3 × timeout."
    assert found["What was missed?"] == "None, in the answers that fail."

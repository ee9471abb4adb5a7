"""What an answer earns: corrections of the document's code, hand-worked claims, properties of any answer."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline.golden import GoldenCase, read_cases
from eval_pipeline.golden.probes import negated
from eval_pipeline.problems import Problems
from eval_pipeline.project import Project
from eval_pipeline.scoring import score_cases, summarize
from eval_pipeline.suite import Context, defined
from eval_pipeline.suites.heritage_qa import SUITE
from eval_pipeline.suites.heritage_qa.cases import GoldenEntry, to_case
from eval_pipeline.suites.heritage_qa.claims import MOST_SENTENCES, claims_in, names_in, numbers_in
from eval_pipeline.suites.heritage_qa.lexicon import REFUSALS, is_refusal
from eval_pipeline.suites.heritage_qa.probing import DENIALS
from eval_pipeline.suites.heritage_qa.scoring import METRICS, Answered, judge
from eval_pipeline_tests.sources import Recorded, golden, values

PASSAGE = (
    "Corn Lane Museum in Oldby was founded in 1800 by the miller Ada Thorne. "
    "It owns 4,000 maps and is not open on Sundays."
)
OTHER = "Mill Street Library opened on 3 May 1950. The library lends books to schools."
ENTRY: dict[str, Any] = {
    "id": "one",
    "question": "When was Corn Lane Museum founded?",
    "context": [PASSAGE, OTHER],
    "gold_answer": "Corn Lane Museum was founded in 1800.",
    "supporting_facts": ["Corn Lane Museum in Oldby was founded in 1800 by the miller Ada Thorne."],
    "answer_type": "temporal",
    "language": "en",
}
GATED = ("faithfulness", "relevance_index", "factual_accuracy")


def case(**changes: Any) -> GoldenCase:
    return golden(to_case(msgspec.convert({**ENTRY, **changes}, GoldenEntry)))


CASE = case()
CLOSED = case(
    question="Is Corn Lane Museum open on Sundays?",
    gold_answer="No, Corn Lane Museum is not open on Sundays.",
    supporting_facts=["Corn Lane Museum is not open on Sundays."],
)
UNANSWERABLE = case(
    id="two",
    question="What does a ticket cost?",
    gold_answer=REFUSALS["en"],
    supporting_facts=[],
    answerable=False,
)


def scored(answer: str, entry: GoldenCase = CASE, **more: Any) -> dict[str, float | None]:
    """The metrics of one answer."""
    return values(SUITE, [entry], {entry.case.id: {"answer": answer, **more}})


@pytest.fixture(scope="module")
def golden_set() -> list[GoldenCase]:
    return list(read_cases(SUITE, Project.find().golden("heritage_qa"), Problems()))


@pytest.mark.parametrize(
    ("answer", "faithfulness"),
    [
        ("Corn Lane Museum was founded in 1800.", 1.0),
        ("It was 1800.", 1.0),
        ("Corn Lane Museum was founded in 2050 by aliens.", 0.0),
        ("Corn Lane Museum was founded by Ada Wrong.", 0.0),
        ("It owns 4000 maps.", 1.0),
        ("It owns 4.000 maps. It owns 5,000 maps.", 0.5),
        ("The library opened on 3 May 1950.", 1.0),
        ("The library opened on 3 June 1950.", 0.0),
        ("It may be that Corn Lane Museum was founded in 1800.", 1.0),
        # Three of five content words are enough, two are not.
        ("The museum owns maps, gladly shown.", 1.0),
        ("The museum owns pictures, gladly shown.", 0.0),
        # The parts stand in different passages: no single one supports the sentence.
        ("Corn Lane Museum was founded in 1950.", 0.0),
        ("Yes.", 0.0),
        ("", 0.0),
        ("…", 0.0),
    ],
)
def test_faithfulness_needs_one_passage_with_every_number_date_and_name(
    answer: str, faithfulness: float
) -> None:
    """One shared word of five letters is enough for the document's rule, and "It was 1800" has none."""
    assert scored(answer)["faithfulness"] == faithfulness


def test_claims_are_counted_by_kind() -> None:
    """One is right, one is wrong, and nobody could tell about the last; a refusal claims nothing."""
    answers = {
        "one": {"answer": "It was founded in 1800. It was founded in 1801. Enjoy yourself!"},
        "two": {"answer": REFUSALS["en"]},
    }
    scores = score_cases(SUITE, [CASE, UNANSWERABLE], Recorded(answers), Context())
    assert summarize(SUITE, scores, {}).tables["claims"] == [
        {"question_type": name, "claims": 3, "correct": 1, "incorrect": 1, "unverifiable": 1, "supported": 1,
         "unsupported": 2}
        for name in ("temporal", "all")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "accuracy"),
    [
        ("Corn Lane Museum was founded in 1800.", 1.0),
        ("It was founded by the miller Ada Thorne.", 1.0),
        ("Corn Lane Museum was founded in 1801.", 0.0),
        ("Corn Lane Museum was founded in 1800. It was founded in 1801.", 0.5),
        ("Corn Lane Museum was not founded in 1800.", 0.0),
        ("Corn Lane Museum wasn't founded in 1800.", 0.0),
        # Nothing in it can be verified, and what cannot is neither right nor wrong.
        ("Corn Lane Museum was founded in 1800. Enjoy yourself!", 1.0),
        ("Enjoy yourself!", 0.0),
        ("", 0.0),
        (" ", 0.0),
    ],
)
def test_factual_accuracy_is_by_claim_and_polarity_and_an_empty_claim_never_counts(
    answer: str, accuracy: float
) -> None:
    """An empty claim is part of every fact for the document's substring rule, and so always right."""
    assert scored(answer)["factual_accuracy"] == accuracy


@pytest.mark.parametrize(
    ("answer", "accuracy"),
    [
        ("When was Corn Lane Museum founded?", 0.0),
        ("Corn Lane Museum was founded.", 0.0),
        ("Yes, Corn Lane Museum was founded.", 0.0),
        ("Gladly, surely, Corn Lane Museum was founded.", 0.0),
        ("A miller founded it in 1800.", 1.0),
        ("In 1800.", 1.0),
    ],
)
def test_words_of_the_question_alone_are_no_evidence(answer: str, accuracy: float) -> None:
    assert scored(answer)["factual_accuracy"] == accuracy


def test_what_adds_only_a_yes_a_no_or_a_name_of_known_words_is_right_where_it_is_the_answer() -> None:
    assert scored("Is Corn Lane Museum open on Sundays?", CLOSED)["factual_accuracy"] == 0.0
    fact = "Corn Lane Museum is open on Sundays."
    opened = case(
        question="Is Corn Lane Museum open on Sundays?", gold_answer=f"Yes, {fact}", supporting_facts=[fact]
    )
    assert scored(f"Yes, {fact}", opened)["factual_accuracy"] == 1.0
    assert scored(fact, opened)["factual_accuracy"] == 0.0
    trust = "Corn Lane Museum in Oldby is run by the Oldby Trust."
    run = case(
        question="Which trust runs Corn Lane Museum in Oldby?", gold_answer=trust, supporting_facts=[trust]
    )
    assert scored("The Oldby Trust runs it.", run)["factual_accuracy"] == 1.0
    assert scored("The trust in Oldby runs it.", run)["factual_accuracy"] == 0.0


def _shuffled(text: str) -> str:
    words = text.split()
    random.Random(text).shuffle(words)
    return " ".join(words)


@pytest.mark.parametrize(
    "cheat",
    [
        lambda case: case.input.question,
        lambda case: f"{case.input.question.rstrip('? ')}.",
        lambda case: _shuffled(case.expected.answer),
        lambda case: " ".join(case.input.context),
        lambda case: "",
    ],
    ids=["echo", "echo as a statement", "shuffled", "all passages", "empty"],
)
def test_cheats_pass_no_case_and_not_all_gates(golden_set: list[GoldenCase], cheat: Any) -> None:
    found = values(SUITE, golden_set, {each.case.id: {"answer": cheat(each.case)} for each in golden_set})
    assert (found["case_pass_rate"] or 0) <= 0.02
    assert min(found["faithfulness"] or 0, (found["relevance_index"] or 0) + 0.05) < 0.8
    assert (found["factual_accuracy"] or 0) < 0.8


@pytest.mark.parametrize("denial", ["It is not true: {}", "It is false that {}", "It isn't so that {}"])
def test_a_negated_golden_answer_is_wrong(denial: str, golden_set: list[GoldenCase]) -> None:
    """In every language, and where the golden answer itself denies."""
    answerable = [each for each in golden_set if each.case.expected.answerable]
    denied = {each.case.id: {"answer": denial.format(each.case.expected.answer)} for each in answerable}
    found = values(SUITE, answerable, denied)
    assert found["case_pass_rate"] == 0.0
    assert (found["faithfulness"] or 0) < 0.2


def test_a_right_short_answer_is_relevant() -> None:
    for answer in ("A king founded it in 1800.", "In 1800.", "1800"):
        assert scored(answer)["relevance_index"] == 1.0
    assert (scored("A king founded it.")["relevance_index"] or 0) < 0.75
    # Holding the answer among much else is not short.
    assert (scored(f"{OTHER} {PASSAGE} {OTHER}")["relevance_index"] or 0) < 1.0


def test_words_in_another_order_are_no_answer() -> None:
    assert scored("1800 in museum Lane founded Corn was.")["word_order"] == 0.0
    assert scored("Ada Thorne, a miller, founded Corn Lane Museum.")["word_order"] == pytest.approx(3 / 5)
    assert scored("Aliens did it.")["word_order"] is None


@pytest.mark.parametrize(
    ("answer", "entry", "right"),
    [
        ("No, the museum is not open on Sundays.", CLOSED, True),
        ("No, on Sundays Corn Lane Museum is never open.", CLOSED, True),
        ("Corn Lane Museum isn't open on Sundays.", CLOSED, True),
        ("It is false that Corn Lane Museum is open on Sundays.", CLOSED, True),
        ("Yes, the museum is open on Sundays.", CLOSED, False),
        ("It is not true that Corn Lane Museum is not open on Sundays.", CLOSED, False),
        ("Corn Lane Museum was founded in 1800.", CASE, True),
        ("Corn Lane Museum was founded no later than 1800.", CASE, True),
        ("Not only the maps: Corn Lane Museum was founded in 1800.", CASE, True),
        ("Corn Lane Museum, which is not open daily, was founded in 1800.", CASE, True),
        ("It is not false that Corn Lane Museum was founded in 1800.", CASE, True),
        ("Corn Lane Museum was not founded in 1800.", CASE, False),
        ("Corn Lane Museum wasn’t founded in 1800.", CASE, False),
        ("Corn Lane Museum was never founded in 1800.", CASE, False),
        ("Nobody founded Corn Lane Museum in 1800.", CASE, False),
        ("It is wrong that Corn Lane Museum, as they say, was founded in 1800.", CASE, False),
        ("That Corn Lane Museum was founded in 1800 is not true.", CASE, False),
    ],
)
def test_a_denial_is_right_where_the_passage_denies(answer: str, entry: GoldenCase, right: bool) -> None:
    found = scored(answer, entry)
    assert (found["faithfulness"], found["factual_accuracy"]) == (float(right), float(right))


def test_a_correct_refusal_has_no_faithfulness_and_a_wrong_one_earns_nothing() -> None:
    right = scored("The sources do not say", UNANSWERABLE)
    assert right["faithfulness"] is None
    assert right["factual_accuracy"] == right["refusal_accuracy"] == right["case_pass_rate"] == 1.0
    wrong = scored(REFUSALS["en"])
    assert [wrong[name] for name in (*GATED, "relevance", "refusal_accuracy")] == [0.0] * 5
    invented = scored("A ticket costs 12 pounds.", UNANSWERABLE)
    assert invented["faithfulness"] == invented["factual_accuracy"] == invented["refusal_accuracy"] == 0.0


def test_relevance_is_about_answerable_questions() -> None:
    assert scored("Anything at all.", UNANSWERABLE)["relevance"] is None
    assert scored("Corn Lane Museum was founded in 1800.")["relevance_index"] == 1.0
    off_topic = scored("Penguins swim well.")["relevance_index"]
    assert off_topic is not None
    assert off_topic < 0.3


def test_the_target_for_relevance_does_not_fit_the_bare_cosine(golden_set: list[GoldenCase]) -> None:
    """Golden answers are as relevant as can be, yet their mean cosine is below the target of 0.75."""
    perfect = {each.case.id: {"answer": each.case.expected.answer} for each in golden_set}
    found = values(SUITE, golden_set, perfect)
    assert found["relevance"] == pytest.approx(0.6, abs=0.01)
    assert found["relevance_index"] == 1.0


def test_every_golden_answer_scores_perfectly(golden_set: list[GoldenCase]) -> None:
    """Also what is computed, converted, translated or spelt anew, which words alone do not bear out."""
    answers = {each.case.id: {"answer": each.case.expected.answer} for each in golden_set}
    for row in score_cases(SUITE, golden_set, Recorded(answers), Context()).counts.to_pylist():
        assert row["passed"] == row["factual_accuracy"] == row["rougeL"] == 1.0, row["case_id"]
        assert row["faithfulness"] == row[defined("faithfulness")], row["case_id"]


COMPUTED = case(
    question="How much older is Corn Lane Museum than Mill Street Library?",
    gold_answer="Corn Lane Museum is 150 years older than Mill Street Library (1800 and 1950).",
    supporting_facts=[*ENTRY["supporting_facts"], "Mill Street Library opened on 3 May 1950."],
)


@pytest.mark.parametrize(
    ("answer", "faithfulness"),
    [
        (COMPUTED.case.expected.answer, 1.0),
        ("Corn Lane Museum is 150 years older than the Mill Street Library: 1800, 1950.", 1.0),
        ("Corn Lane Museum is 150 years older than Mill Street Library (1800 and 1950). It is free.", 0.5),
        # Other numbers, the same ones elsewhere, fewer of them.
        ("Corn Lane Museum is 151 years older than Mill Street Library (1800 and 1951).", 0.0),
        ("Corn Lane Museum is 150 years older than Mill Street Library (1950 and 1800).", 0.0),
        ("Corn Lane Museum is 150 years older than Mill Street Library.", 0.0),
        # Names changed about, the opposite, the bare question, the opposite beside it.
        ("Mill Street Library is 150 years older than Corn Lane Museum (1800 and 1950).", 0.0),
        ("Corn Lane Museum is not 150 years older than Mill Street Library (1800 and 1950).", 0.0),
        ("Corn Lane Museum is older than Mill Street Library.", 0.0),
        # Another word in the place of one.
        ("Corn Lane Museum is 150 years younger than Mill Street Library (1800 and 1950).", 0.0),
        ("Corn Lane Museum lies 150 metres from Mill Street Library (1800 and 1950).", 0.0),
        ("Corn Lane Museum lends 150 books to Mill Street Library (1800 and 1950).", 0.0),
        (f"{COMPUTED.case.expected.answer} It is not 150 years older.", 0.0),
    ],
)
def test_what_the_golden_answer_infers_from_its_passages_is_supported(
    answer: str, faithfulness: float
) -> None:
    assert scored(answer, COMPUTED)["faithfulness"] == faithfulness


def test_an_inference_needs_the_passages_that_it_was_drawn_from() -> None:
    answer = COMPUTED.case.expected.answer
    assert scored(answer, COMPUTED, context=[OTHER, PASSAGE])["faithfulness"] == 1.0
    assert scored(answer, COMPUTED, context=[f"Quoted: {PASSAGE}", OTHER])["faithfulness"] == 1.0
    for missing in ([], [PASSAGE], [OTHER], [OTHER, "Corn Lane Museum was founded in 1800."]):
        assert scored(answer, COMPUTED, context=missing)["faithfulness"] == 0.0


def _with_another_word(text: str) -> str:
    """In every sentence, a word that is no name is another one."""

    def changed(sentence: str) -> str:
        words = re.findall(r"\b[^\W\d_A-Z][^\W\d_A-Z]+\b", sentence)
        return re.sub(rf"\b{max(words, key=len)}\b", "vergnoemeld", sentence) if words else "Vergnoemeld"

    return ". ".join(map(changed, text.split(". ")))


def _with_numbers(text: str, change: Callable[[list[str]], list[str]]) -> str:
    numbers = iter(change(re.findall(r"\d+", text)))
    return re.sub(r"\d+", lambda _: next(numbers), text)


@pytest.mark.parametrize(
    "cheat",
    [
        lambda case: "",
        lambda case: case.input.question,
        lambda case: f"{case.input.question.rstrip('? ')}.",
        lambda case: " ".join(case.input.context),
        lambda case: f"It is not true: {case.expected.answer}",
        lambda case: f"{DENIALS[case.input.language]} {case.expected.answer}",
        lambda case: negated(case.expected.answer),
        lambda case: _shuffled(case.expected.answer),
        lambda case: _with_numbers(case.expected.answer, lambda numbers: [*numbers[1:], *numbers[:1]]),
        lambda case: _with_numbers(
            case.expected.answer, lambda numbers: [str(int(each) + 1) for each in numbers]
        ),
        lambda case: _with_another_word(case.expected.answer),
        lambda case: REFUSALS[case.input.language],
    ],
    ids=["empty", "echo", "echo as a statement", "all passages", "denied", "denied in its language",
         "negated", "shuffled", "numbers swapped", "other numbers", "another word", "refusal"],
)  # fmt: skip
def test_no_cheat_gains_by_what_the_golden_answer_infers(golden_set: list[GoldenCase], cheat: Any) -> None:
    for case in [each.case for each in golden_set]:
        answer = Answered(cheat(case))
        if answer.answer != case.expected.answer:
            inferring, alone = (judge(case, answer, founded).faithfulness for founded in (True, False))
            assert inferring == alone, (case.id, answer.answer)


def test_the_context_defaults_to_the_case_and_may_be_what_was_retrieved() -> None:
    answer = "Corn Lane Museum was founded in 1800."
    assert scored(answer, context=[OTHER])["faithfulness"] == 0.0
    assert scored(answer, context=[])["faithfulness"] == 0.0
    assert scored(answer, context=[PASSAGE])["faithfulness"] == 1.0
    assert scored(answer, context=None)["faithfulness"] == 1.0


def test_an_output_without_an_answer_is_an_error_and_takes_the_worst_values() -> None:
    unusable: list[Any] = [{}, {"answer": None}, {"answer": 7}, [], {"answer": "x", "context": "text"}]
    for output in unusable:
        found = values(SUITE, [CASE, UNANSWERABLE], {"one": output})
        assert found["error_rate"] == 1.0
        assert all(found[metric.name] == 0.0 for metric in METRICS)


KNOWN = ("It was 1800.", "It owns 4,000 maps.", "Founded in 2050.", "", "No.")
ANSWERS = st.sampled_from((ENTRY["gold_answer"], REFUSALS["en"], *KNOWN)) | st.text(max_size=60)


@settings(deadline=None, max_examples=20)
@given(ANSWERS, ANSWERS)
def test_values_are_in_range_or_null_and_an_error_never_pays(first: str, second: str) -> None:
    cases = [CASE, UNANSWERABLE]
    answered = values(SUITE, cases, {"one": {"answer": first}, "two": {"answer": second}})
    errors = [
        values(SUITE, cases, {"one": {"answer": first}}),
        values(SUITE, cases, {"two": {"answer": second}}),
    ]
    for metric in METRICS:
        value = answered[metric.name]
        assert value is None or 0.0 <= value <= 1.0
        for each in errors:
            other = each[metric.name]
            assert other is not None
            # Only a refusal that was right has no value; it leaves nothing to lose.
            assert value is None or other <= value + 1e-9


@settings(deadline=None, max_examples=20)
@given(st.randoms(use_true_random=False))
def test_order_never_matters(chance: random.Random) -> None:
    shuffled = {
        **ENTRY,
        "context": [PASSAGE, OTHER],
        "supporting_facts": [*ENTRY["supporting_facts"], PASSAGE],
    }
    answer = "It was 1800. It owns 4,000 maps. The library opened in 1950."
    plain = scored(answer, case(**shuffled))
    chance.shuffle(shuffled["context"])
    chance.shuffle(shuffled["supporting_facts"])
    assert scored(answer, case(**shuffled)) == plain
    both = {"one": {"answer": answer}, "two": {"answer": "Free."}}
    cases = [CASE, UNANSWERABLE]
    chance.shuffle(cases)
    assert values(SUITE, cases, both) == values(SUITE, [UNANSWERABLE, CASE], both)


@pytest.mark.parametrize(
    ("sentence", "language", "names"),
    [
        ("The museum in Oldby was built by Ada Thorne.", "en", {"oldby", "ada", "thorne"}),
        ("Het museum in Zwolle is van Jan de Wit.", "nl", {"zwolle", "jan", "wit"}),
        ("Le musée d'Orbeval est à Sainte-Odile.", "fr", {"orbeval", "sainte", "odile"}),
        ("Das Haus am See hat einen Garten.", "de", set()),
        ("Das Museum Erzklang liegt in Erfurt.", "de", {"museum", "erzklang", "erfurt"}),
        ("Visitors come often.", "en", set()),
    ],
)
def test_names_are_told_from_common_words(sentence: str, language: str, names: set[str]) -> None:
    assert names_in(sentence, language) == names


def test_a_name_at_the_beginning_is_known_from_elsewhere() -> None:
    assert "thorn" in claims_in("Thorne founded it.", "en", {"thorne"})[0].anchors
    assert not claims_in("Visitors founded it.", "en", {"thorne"})[0].anchors


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("4,000 or 4.000 or 4 000 or 4\u202f000", {"4000"}),
        ("12,5 and 12.5", {"12.5"}),
        ("the 18th century, 1690–1880", {"18", "1690", "1880"}),
        ("in 1911 200 books", {"1911", "200"}),
        ("no number", set()),
    ],
)
def test_numbers_are_read_as_people_write_them(text: str, numbers: set[str]) -> None:
    assert numbers_in(text) == numbers


@pytest.mark.parametrize("answer", [*REFUSALS.values(), "NOT_IN_CONTEXT", " «les sources ne le disent pas» "])
def test_refusals_are_recognized(answer: str) -> None:
    assert is_refusal(answer)


@pytest.mark.parametrize("answer", ["", "The sources do not say when, but it was 1800.", "Not"])
def test_anything_else_is_no_refusal(answer: str) -> None:
    assert not is_refusal(answer)


@pytest.mark.parametrize(
    "answer",
    ["{{7*7}}", "<script>alert(1)</script>", "\u202e2050", "1" * 100_000, "A. " * 50_000, "\x00", "Straße İ"],
)
def test_hostile_answers_are_only_text(answer: str) -> None:
    found = scored(answer)
    assert found["error_rate"] == 0.0
    assert found["factual_accuracy"] == 0.0


def test_what_has_hundreds_of_sentences_is_no_answer_however_true_they_are() -> None:
    assert scored("It was 1800. " * MOST_SENTENCES)["faithfulness"] == 1.0
    buried = scored("It was 1800. " * MOST_SENTENCES + "Aliens founded it in 2050.")
    assert buried["faithfulness"] == buried["factual_accuracy"] == 0.0


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"question": " "}, "is blank"),
        ({"context": []}, "is empty"),
        ({"context": ["", "x"]}, "is blank"),
        ({"supporting_facts": []}, "is empty"),
        ({"gold_answer": REFUSALS["en"]}, "refuses an answerable question"),
        ({"answerable": False}, "answers an unanswerable question"),
        ({"answer_type": "poetic"}, "answer_type"),
        ({"answerable": "no"}, "answerable"),
    ],
)
def test_contradictions_in_a_golden_file_are_named(tmp_path: Any, changes: dict[str, Any], told: str) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_bytes(b"\n" + msgspec.json.encode({**ENTRY, **changes}) + b"\n")
    problems = Problems()
    list(read_cases(SUITE, file, problems))
    lines = [str(problem) for problem in problems]
    assert any(told in line and "cases.jsonl:2" in line for line in lines), lines


@pytest.mark.parametrize("answer", ["", "  \n"])
@pytest.mark.parametrize("answerable", [True, False])
def test_a_blank_answer_is_neither_an_answer_nor_a_refusal(answer: str, answerable: bool) -> None:
    metrics = scored(answer, CASE if answerable else UNANSWERABLE)
    assert metrics["refusal_accuracy"] == 0.0
    assert metrics["factual_accuracy"] == 0.0
    assert metrics["faithfulness"] == 0.0


def test_contractions_are_no_content_words() -> None:
    """As words of their own, "didn" and "t" would outweigh what is really said."""
    fact = "The Harbour Museum opened in 1800."
    question = "When did the Harbour Museum open?"
    harbour = case(question=question, context=[fact], gold_answer=fact, supporting_facts=[fact])
    assert scored("They've opened it; it's 1800.", harbour)["faithfulness"] == 1.0
    short = scored("The Harbour Museum didn't open in 1800.", harbour)
    long = scored("The Harbour Museum did not open in 1800.", harbour)
    for found in (short, long):
        assert found["faithfulness"] == found["factual_accuracy"] == 0.0

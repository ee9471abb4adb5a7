"""Summaries of engines that learned from cases: everything rests on the cases that they did not see."""

from __future__ import annotations

from eval_pipeline.answers import Answer, OutputsIdentity
from eval_pipeline.comparison import Side, compare, summarize_held_out
from eval_pipeline.gates import Gate
from eval_pipeline.reports import metric_table, named_things, score_report, size_of
from eval_pipeline.scoring import Scores, score_cases, summarize
from eval_pipeline.suite import Case, Context, Suite
from eval_pipeline.suite.text import TextInput
from eval_pipeline_tests.sources import Recorded, golden

SUITE = Suite(name="learner", groups=("split",), held_out=("split", "test"))
GATES = {"exact_match": Gate(fail="< 0.6", passes=">= 0.7")}
SPLITS = {"train": 8, "dev": 3, "test": 4}
CASES = [
    Case(f"{split}-{number}", TextInput("q"), "yes", {"split": split})
    for split, size in SPLITS.items()
    for number in range(size)
]
RIGHT = {"train": 8, "dev": 2, "test": 2}
"""Of each split so many are right: 12 of 15 in all, 2 of 4 where it counts."""


def answers() -> Recorded:
    def text(case: Case[TextInput, str]) -> str:
        split, number = case.id.split("-")
        return "yes" if int(number) < RIGHT[split] else "no"

    return Recorded({case.id: Answer(case.id, 1, text(case)) for case in CASES})


def scores(cases: list[Case[TextInput, str]] = CASES) -> Scores:
    return score_cases(SUITE, map(golden, cases), answers(), Context())


def test_zones_numbers_and_cases_are_those_of_the_held_out_split() -> None:
    summary = summarize_held_out(SUITE, scores(), SUITE.held_out, GATES)
    assert (summary.cases, summary.metrics["exact_match"].value) == (4, 0.5)
    (gate,) = summary.gates
    assert (gate.status, gate.zone) == ("fail", "fail")
    assert "On split test, 4 cases, 95 % CI 15.0 % to 85.0 %" in gate.message
    assert (
        "−30.0 pp against all (80.0 %, 15 cases); −50.0 pp against train (100.0 %, 8 cases)" in gate.message
    )
    assert not summary.passed
    assert summary.held_out is not None
    others = {
        name: (part.cases, part.metrics["exact_match"]) for name, part in summary.held_out.beside.items()
    }
    assert others == {"all": (15, 0.8), "train": (8, 1.0), "dev": (3, 2 / 3)}
    assert {*summary.rests_on(scores()).case_ids} == {f"test-{number}" for number in range(4)}


def test_people_and_machines_read_the_same() -> None:
    summary = summarize_held_out(SUITE, scores(), SUITE.held_out, GATES)
    header, rows = metric_table(SUITE, summary)[:2]
    shown = dict(zip(header, rows[0], strict=True))
    assert shown["value"] == "50.0 %"
    assert shown["95 % CI"] == "15.0 % to 85.0 %"
    assert shown["all (15)"] == "80.0 % (−30.0 pp)"
    assert shown["train (8)"] == "100.0 % (−50.0 pp)"
    assert size_of(summary).startswith("4 of 15 cases (split test: ")
    report = score_report(SUITE, summary)
    assert report["metrics"]["exact_match"] == 0.5
    assert report["held_out"]["beside"]["train"] == {
        "cases": 8,
        "metrics": {"exact_match": 1.0, "error_rate": 0.0, "case_pass_rate": 1.0},
    }


def test_an_engine_that_learned_nothing_has_all_cases() -> None:
    summary = summarize_held_out(SUITE, scores(), None, GATES)
    assert summary == summarize(SUITE, scores(), GATES)
    assert (summary.metrics["exact_match"].value, summary.held_out) == (0.8, None)
    assert "held_out" not in score_report(SUITE, summary)


def test_where_nothing_is_held_out_the_summary_says_so() -> None:
    seen = [case for case in CASES if case.attributes["split"] != "test"]
    summary = summarize_held_out(SUITE, scores(seen), SUITE.held_out, GATES)
    assert summary.problems == (
        "the engine learned from such cases, and none is held out (no split is test)",
    )
    assert summary.cases == 11


def test_a_comparison_pairs_all_cases_and_shows_the_held_out_ones_beside() -> None:
    cases = list(map(golden, CASES))
    hashes = {each.case.id: each.input_hash for each in cases}
    learned = OutputsIdentity("learner", "v", "p", "i", "embedded", "m", "s", 1, held_out=("split", "test"))
    other = {case.id: "no" if case.id == "test-0" else "yes" for case in CASES}
    worse = Recorded({name: Answer(name, 1, text) for name, text in other.items()})
    sides = [
        Side(name, learned, given, hashes, "g") for name, given in (("before", answers()), ("after", worse))
    ]
    (comparison,) = compare(SUITE, hashes, lambda only=None: cases, sides[:1], sides[1], GATES, Context())
    assert comparison.shared == 15
    (note,) = (each for each in comparison.notes if "split" in each)
    assert note.startswith("All cases are paired. On split test alone, 4 cases: exact_match 50.0 % → 75.0 %")


def test_only_held_out_cases_are_named_as_causes() -> None:
    summary = summarize_held_out(SUITE, scores(), SUITE.held_out, GATES)
    assert named_things(SUITE, summary, scores()) == {"exact_match": ["test-2: no", "test-3: no"]}
    everything = summarize(SUITE, scores(), {"exact_match": Gate(fail="< 0.9", passes=">= 0.9")})
    assert len(named_things(SUITE, everything, scores())["exact_match"]) == 3

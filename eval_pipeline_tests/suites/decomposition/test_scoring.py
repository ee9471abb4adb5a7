"""Decomposition metrics: worked examples, what each rule means, and properties that hold for any output."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.answers import Answer
from eval_pipeline.gates import GATES_FILE, read_gates
from eval_pipeline.golden import GoldenCase
from eval_pipeline.metrics.rates import harmonic_mean
from eval_pipeline.problems import Problems
from eval_pipeline.scoring import score_cases
from eval_pipeline.suite import Context
from eval_pipeline.suites.decomposition import SUITE
from eval_pipeline.suites.decomposition.cases import GoldenEntry, to_case
from eval_pipeline.suites.decomposition.scoring import PASSING, overall_score
from eval_pipeline_tests.conftest import REPOSITORY
from eval_pipeline_tests.sources import Recorded, golden, values

TEXT = "Machine learning (ML) needs data. Overfitting harms generalization."
ENTRY: dict[str, Any] = {
    "id": "ml",
    "domain": "technical",
    "sourceText": TEXT,
    "expectedConcepts": [
        {"label": "Machine Learning", "aliases": ["ML"], "required": True},
        {"label": "Data", "required": True},
        {"label": "Overfitting", "required": False},
        {"label": "Generalization", "required": False},
    ],
    "expectedRelationships": [
        {"source": "Machine Learning", "target": "Data", "predicate": "REQUIRES", "required": True},
        {"source": "Overfitting", "target": "Generalization", "predicate": "RELATES_TO", "required": False},
    ],
    "forbiddenConcepts": ["Neural Osmosis"],
    "forbiddenRelationships": [{"source": "Data", "target": "ML", "predicate": "IS_A"}],
}
CASE = golden(to_case(msgspec.convert(ENTRY, GoldenEntry)))

ML = {"label": "Machine Learning", "source_quote": "Machine learning (ML) needs data."}
DATA = {"label": "data", "source_quote": "needs  DATA"}
OVERFITTING = {"label": "Overfitting"}
CANARY = {"label": "neural osmosis", "source_quote": "nowhere"}
NEEDS = {"source": "ml", "target": "Data", "predicate": "requires"}


def scored(
    concepts: list[Any], relationships: list[Any] | None = None, case: GoldenCase = CASE
) -> dict[str, float | None]:
    """The metrics of one output."""
    return values(SUITE, [case], {case.case.id: {"concepts": concepts, "relationships": relationships or []}})


def diagnosed(concepts: list[Any]) -> dict[str, list[str]]:
    """What is wrong with an output's concepts, by kind."""
    output = {"concepts": concepts, "relationships": []}
    kinds: dict[str, list[str]] = {}
    for row in score_cases(SUITE, [CASE], Recorded({"ml": output}), Context()).diagnoses.to_pylist():
        kinds.setdefault(row["kind"], []).append(row["got"] or row["expected"])
    return kinds


def test_worked_example_of_the_overall_score() -> None:
    overall = overall_score(0.72, 0.80, 0.70, 0.90, 0.05)
    assert overall == pytest.approx(0.6525)
    assert overall is not None
    assert overall + 0.15 == pytest.approx(0.8025)


@pytest.mark.parametrize(
    ("at", "score", "index"),
    [((0.70, 0.65, 0.60, 0.90, 0.02), 0.602, 0.752), ((0.85, 0.80, 0.75, 0.98, 0.0), 0.7185, 0.8685)],
)
def test_thresholds_fit_the_index_and_not_the_score(
    at: tuple[float, ...], score: float, index: float
) -> None:
    overall = overall_score(*at)
    assert overall == pytest.approx(score)
    assert overall is not None
    assert overall + 0.15 == pytest.approx(index)


def test_worked_examples_of_precision_recall_and_f1() -> None:
    """16 of 20 extracted are right; 18 of 25 expected are found; the two rates give F1 0.758."""
    expected = [{"label": f"c{n}"} for n in range(25)]
    case = golden(to_case(msgspec.convert({**ENTRY, "expectedConcepts": expected}, GoldenEntry)))
    sixteen_of_twenty = [{"label": f"c{n}"} for n in range(16)] + [{"label": f"x{n}"} for n in range(4)]
    assert scored(sixteen_of_twenty, case=case)["concept_precision"] == pytest.approx(0.80)
    assert scored([{"label": f"c{n}"} for n in range(18)], case=case)["concept_recall"] == pytest.approx(0.72)
    assert harmonic_mean(0.80, 0.72) == pytest.approx(0.758, abs=5e-4)


def test_a_label_and_its_alias_are_one_concept() -> None:
    found = scored([{"label": "Machine Learning"}, {"label": "ML"}])
    assert found["concept_recall"] == pytest.approx(1 / 4)
    assert found["concept_precision"] == 1.0
    assert found["duplicate_rate"] == 0.0


@pytest.mark.parametrize(
    ("concepts", "relationships", "expected"),
    [
        (
            [ML, DATA],
            [NEEDS],
            {"required_recall": 1.0, "relationship_accuracy": 1.0, "required_relationship_recall": 1.0},
        ),
        (
            [ML, DATA],
            [],
            {"relationship_accuracy": 0.0, "relationship_recall": 0.0, "forbidden_relationship_rate": None},
        ),
        (
            [],
            [],
            {
                "concept_precision": 0.0,
                "provenance_coverage": 0.0,
                "provenance_verified": 0.0,
                "hallucination_rate": None,
                "overall_score": 0.0,
            },
        ),
        ([ML, CANARY], [], {"hallucination_rate": 0.5, "concept_precision": 0.5, "provenance_verified": 0.5}),
        ([ML, OVERFITTING], [], {"provenance_coverage": 0.5, "provenance_verified": 1.0}),
        (
            [{"label": "ML", "source_quote": " \u00a0"}],
            [],
            {"provenance_coverage": 0.0, "provenance_verified": None},
        ),
        (
            [ML],
            [{"source": "Data", "target": "machine learning", "predicate": "is_a"}],
            {"forbidden_relationship_rate": 1.0},
        ),
        (
            [ML, ML, ML, DATA],
            [NEEDS, NEEDS],
            {"duplicate_rate": 0.5, "concept_precision": 1.0, "relationship_accuracy": 1.0},
        ),
    ],
)
def test_small_outputs(
    concepts: list[Any], relationships: list[Any], expected: dict[str, float | None]
) -> None:
    found = scored(concepts, relationships)
    assert {name: found[name] for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize(
    ("relationship", "kind"),
    [
        (("Data", "ML", "REQUIRES"), "reversed"),
        (("ML", "Data", "CAUSES"), "wrong_predicate"),
        (("ML", "Big Data", "REQUIRES"), "unknown_endpoint"),
        (("Overfitting", "Data", "REQUIRES"), "spurious"),
        (("Data", "ML", "IS_A"), "forbidden_relationship"),
    ],
)
def test_every_wrong_relationship_is_diagnosed(relationship: tuple[str, str, str], kind: str) -> None:
    source, target, predicate = relationship
    output = {"concepts": [], "relationships": [{"source": source, "target": target, "predicate": predicate}]}
    scores = score_cases(SUITE, [CASE], Recorded({"ml": output}), Context())
    kinds = [row["kind"] for row in scores.diagnoses.to_pylist() if row["got"]]
    assert kinds == [kind]


def test_near_misses_are_alias_candidates_and_never_count() -> None:
    output = {"concepts": [{"label": "Generalisation"}], "relationships": []}
    scores = score_cases(SUITE, [CASE], Recorded({"ml": output}), Context())
    candidates = [row for row in scores.diagnoses.to_pylist() if row["kind"] == "alias_candidate"]
    assert [(row["expected"], row["got"]) for row in candidates] == [("Generalization", "generalisation")]
    assert scored([{"label": "Generalisation"}])["concept_precision"] == 0.0


@pytest.mark.parametrize(
    ("label", "hallucination"),
    [
        ("neural osmosis", 0.5),
        ("Neural Osmoses", 0.5),
        ("neural-osmosis", 0.5),
        ("osmosis, neural", 0.5),
        ("the neural osmosis learnings", 0.5),
        ("osmosis", 0.0),
        ("neural networks", 0.0),
    ],
)
def test_a_canary_in_another_form_is_a_canary(label: str, hallucination: float) -> None:
    assert scored([ML, {"label": label}])["hallucination_rate"] == hallucination


def test_a_form_of_a_canary_is_named_with_the_canary() -> None:
    kinds = diagnosed([{"label": "neural osmosis learnings"}, {"label": "Neural Osmosis"}])
    assert kinds["forbidden_concept"] == [
        "neural osmosis",
        "neural osmosis learnings (a form of Neural Osmosis)",
    ]
    assert "invented_concept" not in kinds


def test_a_missing_a_paraphrased_and_an_invented_quote_are_three_things() -> None:
    kinds = diagnosed(
        [
            {"label": "ML"},
            {"label": "Data", "source_quote": "Data is what machine learning needs."},
            {"label": "Overfitting", "source_quote": "Networks memorize noise in many layers."},
            {"label": "Generalization", "source_quote": "overfitting harms"},
        ]
    )
    assert kinds["unquoted_concept"] == ["Machine Learning"]
    assert kinds["paraphrased_quote"] == ["data is what machine learning needs."]
    assert kinds["invented_quote"] == ["networks memorize noise in many layers."]


def test_letters_of_a_word_are_no_quote() -> None:
    assert scored([{"label": "ML", "source_quote": "achine learnin"}])["provenance_verified"] == 0.0


def test_confidence_is_averaged_over_the_concepts_that_state_one() -> None:
    found = scored(
        [
            {"label": "ML", "confidence": 0.4},
            {"label": "Machine Learning", "confidence": 0.8},
            {"label": "data", "confidence": 0.6},
            {"label": "Overfitting"},
            {"label": "x", "confidence": 95.0},
        ]
    )
    assert found["mean_confidence"] == pytest.approx(0.7)
    assert scored([ML])["mean_confidence"] is None


FOUR_RIGHT = [
    {"label": label, "source_quote": TEXT} for label in ("ML", "Data", "Overfitting", "Generalization")
]


@pytest.mark.parametrize(
    ("concepts", "relationships", "passes"),
    [
        (FOUR_RIGHT, [NEEDS], True),
        (FOUR_RIGHT, [], False),
        (FOUR_RIGHT, [NEEDS, {**NEEDS, "predicate": "CAUSES"}], False),
        (FOUR_RIGHT, [NEEDS, {"source": "Data", "target": "ML", "predicate": "IS_A"}], False),
        (FOUR_RIGHT[:3], [NEEDS], True),
        (FOUR_RIGHT[:2], [NEEDS], False),
        (FOUR_RIGHT[1:], [NEEDS], False),
        ([*FOUR_RIGHT, {**ML, "label": "x"}, {**ML, "label": "y"}], [NEEDS], True),
        ([*FOUR_RIGHT, {**ML, "label": "neural osmoses"}], [NEEDS], False),
        ([*FOUR_RIGHT[:3], {"label": "Generalization"}], [NEEDS], False),
        ([*FOUR_RIGHT[:3], {"label": "Generalization", "source_quote": "made up"}], [NEEDS], False),
    ],
)
def test_a_case_passes_where_its_own_values_do_and_nothing_is_forbidden(
    concepts: list[Any], relationships: list[Any], passes: bool
) -> None:
    assert scored(concepts, relationships)["case_pass_rate"] == float(passes)


def test_what_passes_a_case_is_the_documents_and_not_fitted_to_an_engine() -> None:
    """Pass values of its table for everything, excellent ones for what is required."""
    gates = read_gates(SUITE, REPOSITORY / "golden" / "decomposition" / GATES_FILE, Problems())
    excellent = {"required_recall": "concept_recall", "required_relationship_recall": "relationship_accuracy"}
    for name, least in PASSING.items():
        zone, metric = ("excellent", excellent[name]) if name in excellent else ("pass", name)
        assert gates[metric].bounds[zone].limit == least


@pytest.mark.parametrize(("found", "passes"), [(4, True), (3, True), (2, False)])
def test_three_of_four_required_relationships_pass_a_case(found: int, passes: bool) -> None:
    links = [{"source": "A", "target": target, "predicate": "REQUIRES"} for target in "BCDE"]
    entry = {
        "id": "links",
        "domain": "technical",
        "sourceText": "A B C D E",
        "expectedConcepts": [{"label": label, "required": True} for label in "ABCDE"],
        "expectedRelationships": [{**link, "required": True} for link in links],
    }
    case = golden(to_case(msgspec.convert(entry, GoldenEntry)))
    concepts = [{"label": label, "source_quote": label} for label in "ABCDE"]
    assert scored(concepts, links[:found], case=case)["case_pass_rate"] == float(passes)


def test_suite_values_are_means_of_cases() -> None:
    """One case, one vote: a large case weighs no more than a small one."""
    big = {**ENTRY, "id": "big", "expectedConcepts": [{"label": f"c{n}"} for n in range(10)]}
    cases = [CASE, golden(to_case(msgspec.convert(big, GoldenEntry)))]
    outputs = {name: {"concepts": [ML], "relationships": []} for name in ("ml", "big")}
    found = values(SUITE, cases, outputs)
    assert found["concept_recall"] == pytest.approx((1 / 4 + 0 / 10) / 2)
    assert found["concept_f1"] == pytest.approx((2 * 1 * 0.25 / 1.25 + 0) / 2)


def test_what_the_golden_set_does_not_ask_for_is_not_applicable() -> None:
    bare = {name: ENTRY[name] for name in ("id", "domain", "sourceText", "expectedConcepts")}
    case = golden(to_case(msgspec.convert(bare, GoldenEntry)))
    found = scored([ML], case=case)
    assert found["relationship_accuracy"] is None
    assert found["required_relationship_recall"] is None
    assert found["overall_index"] is None


labels = st.sampled_from(
    ["Machine Learning", "ML", "data", "Overfitting", "GENERALIZATION", "Neural Osmosis", "x", "ﬁ", ""]
)
concepts = st.builds(
    lambda label, quote: {"label": label, "source_quote": quote},
    labels,
    st.sampled_from([None, "", "needs data", "invented"]),
)
relationships = st.builds(
    lambda source, target, predicate: {"source": source, "target": target, "predicate": predicate},
    labels,
    labels,
    st.sampled_from(["REQUIRES", "CAUSES", "IS_A", "PART_OF"]),
)
outputs = st.tuples(st.lists(concepts, max_size=8), st.lists(relationships, max_size=8))


@given(outputs)
def test_every_value_is_in_range_or_null(output: tuple[list[Any], list[Any]]) -> None:
    for name, value in scored(*output).items():
        low, high = {"overall_score": (-0.15, 0.85)}.get(name, (0.0, 1.0))
        assert value is None or low - 1e-9 <= value <= high + 1e-9, name


@given(outputs, st.randoms(use_true_random=False))
def test_order_case_and_spacing_change_nothing(
    output: tuple[list[Any], list[Any]], chance: random.Random
) -> None:
    found_concepts, found_relationships = output

    def disguise(entry: dict[str, Any]) -> dict[str, Any]:
        return {
            name: None
            if text is None
            else f" {text.swapcase() if text != 'ﬁ' else text}\u00a0\t".replace(" ", "  ")
            for name, text in entry.items()
        }

    shuffled = [disguise(each) for each in found_concepts], [disguise(each) for each in found_relationships]
    for part in shuffled:
        chance.shuffle(part)
    assert scored(*shuffled) == scored(*output)


@given(outputs)
def test_repeating_an_output_changes_only_the_duplicate_rate(output: tuple[list[Any], list[Any]]) -> None:
    once, twice = scored(*output), scored(output[0] * 2, output[1] * 2)
    once.pop("duplicate_rate")
    twice.pop("duplicate_rate")
    assert twice == once


PERFECT = {
    "concepts": [
        ML,
        DATA,
        {"label": "Overfitting", "source_quote": TEXT},
        {"label": "Generalization", "source_quote": TEXT},
    ],
    "relationships": [
        NEEDS,
        {"source": "Overfitting", "target": "Generalization", "predicate": "RELATES_TO"},
    ],
}


@given(outputs, st.sampled_from(["timeout", "not_json", "schema", "missing"]))
def test_an_error_never_pays(output: tuple[list[Any], list[Any]], kind: str) -> None:
    """Beside any other case, replacing an output by an error improves no metric."""
    other = golden(to_case(msgspec.convert({**ENTRY, "id": "other"}, GoldenEntry)))
    rest = {"other": {"concepts": output[0], "relationships": output[1]}}
    for good in (PERFECT, {"concepts": output[0], "relationships": output[1]}):
        with_answer = values(SUITE, [CASE, other], {**rest, "ml": good})
        with_error = values(SUITE, [CASE, other], {**rest, "ml": Answer("ml", error=kind)})
        for metric in SUITE.metrics:
            before, after = with_answer[metric.name], with_error[metric.name]
            assert after is not None
            if before is not None:
                gain = after - before if metric.direction == "higher" else before - after
                assert gain <= 1e-9, metric.name


def test_a_run_of_errors_has_the_worst_value_everywhere() -> None:
    found = values(SUITE, [CASE], {})
    assert found["error_rate"] == 1.0
    worst = {metric.name: metric.on_error for metric in SUITE.metrics}
    assert {name: found[name] for name in worst} == worst


@given(
    st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=1),
    st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=1),
)
def test_precision_and_recall_agree_with_scikit_learn(expected: list[str], extracted: list[str]) -> None:
    from sklearn.metrics import precision_score, recall_score

    entry = {**ENTRY, "expectedConcepts": [{"label": label} for label in expected]}
    case = golden(to_case(msgspec.convert(entry, GoldenEntry)))
    found = scored([{"label": label} for label in extracted], case=case)
    truth = [letter in expected for letter in "abcdefgh"]
    guess = [letter in extracted for letter in "abcdefgh"]
    assert found["concept_precision"] == pytest.approx(precision_score(truth, guess, zero_division=0))
    assert found["concept_recall"] == pytest.approx(recall_score(truth, guess, zero_division=0))

"""The heritage document's own files: flat links, questions of four fields, and one entry for all tasks."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from eval_pipeline.golden import read_cases
from eval_pipeline.problems import Problems
from eval_pipeline.project import Project
from eval_pipeline.suite import Case, Suite
from eval_pipeline.suites import heritage_linking, heritage_ner, heritage_qa, heritage_typing
from eval_pipeline_tests.conftest import REPOSITORY
from eval_pipeline_tests.running import invoke

SAMPLE: dict[str, Any] = {
    "id": "eval_001",
    "text": "Het Huis Oosterzon Delft (ISIL: ZZ-AmRM) werd opgericht in 1800 "
    "en beheert de grootste collectie Nederlandse kunst.",
    "ner_annotations": [
        {"text": "Huis Oosterzon Delft", "type": "GRP.HER.MUS", "start": 4, "end": 24},
        {"text": "ZZ-AmRM", "type": "IDENTIFIER", "start": 32, "end": 39},
        {"text": "1800", "type": "TMP", "start": 59, "end": 63},
        {"text": "Nederlandse", "type": "TOP", "start": 97, "end": 108},
    ],
    "type_classification": {
        "primary_type": "M",
        "secondary_types": [],
        "rationale": "Art museum with cultural heritage collections",
    },
    "entity_linking": {
        "Huis Oosterzon Delft": {
            "wikidata_id": "QX190804",
            "viaf_id": "V0-148691498",
            "isil_code": "ZZ-AmRM",
            "ghcid": "NL-ZH-DEL-M-HO",
        }
    },
    "qa_pairs": [
        {
            "question": "Wanneer is het Huis Oosterzon Delft opgericht?",
            "answer": "Het Huis Oosterzon Delft werd opgericht in 1800.",
            "answer_type": "factual",
            "supporting_facts": ["opgericht in 1800"],
        }
    ],
}
"""The sample entry of the document, with an invented museum and offsets that fit the text."""
FLAT = {
    "mention": "Zoutmuseum",
    "context": "Het Zoutmuseum leent aan het Zoutmuseum.",
    "gold_wikidata": "QX1",
    "gold_viaf": None,
    "gold_isil": "ZZ-1",
}
NIL = {**FLAT, "context": "Het oude Zoutmuseum.", "gold_wikidata": None, "gold_isil": None}
QUESTION = {
    "question": "When was Corn Lane Museum founded?",
    "gold_answer": "Corn Lane Museum was founded in 1800.",
    "supporting_facts": ["Corn Lane Museum was founded in 1800 by a miller."],
    "answer_type": "temporal",
}
TASKS = (heritage_ner.SUITE, heritage_typing.SUITE, heritage_linking.SUITE, heritage_qa.SUITE)
ANSWERS: dict[str, Any] = {
    "heritage_ner": {"entities": SAMPLE["ner_annotations"]},
    "heritage_typing": {"type": "M"},
    "heritage_linking": {
        "mentions": [{"mention_id": "m1", "candidates": [{"kb_id": "QX190804"}], "is_nil": False}]
    },
    "heritage_qa": {"answer": SAMPLE["qa_pairs"][0]["answer"]},
}


def read(suite: Suite, folder: Path, content: Any) -> tuple[list[Case[Any, Any]], list[Any]]:
    path = folder / "sample.json"
    path.write_text(json.dumps(content))
    problems = Problems()
    return [each.case for each in read_cases(suite, path, problems)], list(problems)


@pytest.mark.parametrize("content", [SAMPLE, [SAMPLE]])
def test_each_task_takes_its_part_of_one_entry(content: Any, tmp_path: Path) -> None:
    cases = {}
    for suite in TASKS:
        (cases[suite.name],), problems = read(suite, tmp_path, content)
        assert not problems
        assert cases[suite.name].attributes["custodian_type"] == "M"
    assert [each.text for each in cases["heritage_ner"].expected.entities] == [
        each["text"] for each in SAMPLE["ner_annotations"]
    ]
    assert cases["heritage_typing"].expected.type == "M"
    link = cases["heritage_linking"].expected.links["m1"]
    assert (link.mention, link.kb_id, link.ghcid) == ("Huis Oosterzon Delft", "QX190804", "NL-ZH-DEL-M-HO")
    assert cases["heritage_linking"].input.mentions[0].start == 4
    assert cases["heritage_qa"].id == "eval_001-q1"
    assert cases["heritage_qa"].input.context == [SAMPLE["text"]]


def test_json_lines_hold_the_same_entries(tmp_path: Path) -> None:
    path = tmp_path / "sample.jsonl"
    path.write_text("".join(f"{json.dumps({**SAMPLE, 'id': name})}\n" for name in ("a", "b")))
    for suite in TASKS:
        problems = Problems()
        assert len(list(read_cases(suite, path, problems))) == 2
        assert not problems


def test_an_entry_without_an_id_gets_one_that_never_moves(tmp_path: Path) -> None:
    nameless = {name: value for name, value in SAMPLE.items() if name != "id"}
    other = {**nameless, "text": f"{SAMPLE['text']} Nu."}
    for suite in TASKS:
        (alone,), _ = read(suite, tmp_path, nameless)
        found, problems = read(suite, tmp_path, [other, nameless])
        assert not problems
        assert alone.id.startswith("sample-")
        assert [each.id for each in found][1] == alone.id != found[0].id


def test_flat_links_are_the_first_of_their_text(tmp_path: Path) -> None:
    (linked, missing), problems = read(heritage_linking.SUITE, tmp_path, [FLAT, NIL])
    assert not problems
    assert [(each.mention, each.start) for each in linked.input.mentions] == [("Zoutmuseum", 4)]
    assert linked.expected.links["m1"].isil_code == "ZZ-1"
    assert missing.expected.links["m1"].kb_id is None
    assert linked.id != missing.id


def test_the_facts_of_a_question_stand_for_its_passages(tmp_path: Path) -> None:
    (case,), problems = read(heritage_qa.SUITE, tmp_path, [QUESTION])
    assert not problems
    assert case.input.context == QUESTION["supporting_facts"]
    assert case.id.startswith("sample-")


def test_every_problem_of_flat_links_is_named(tmp_path: Path) -> None:
    content = [
        {**FLAT, "mention": "Zeemuseum"},
        {name: value for name, value in FLAT.items() if name != "gold_wikidata"},
        {**NIL, "gold_isil": "ZZ-1"},
        {**FLAT, "country": "nl"},
    ]
    cases, problems = read(heritage_linking.SUITE, tmp_path, content)
    assert not cases
    assert [each.field for each in problems] == [
        "[0].mention",
        "[1].gold_wikidata",
        "[2].gold_wikidata",
        "[3].country",
    ]
    assert all(each.line for each in problems)


@pytest.mark.parametrize(
    ("suite", "changes", "fields"),
    [
        (heritage_ner, {"ner_annotations": [{**SAMPLE["ner_annotations"][2], "start": 58, "end": 62}]},
         ["ner_annotations[0].start"]),
        (heritage_typing, {"type_classification": {"primary_type": "M", "secondary_types": ["M", "?"]}},
         ["type_classification.secondary_types[1]"]),
        (heritage_typing, {"type_classification": {"primary_type": "M", "secondary_types": ["M"]}},
         ["type_classification.secondary_types"]),
        (heritage_typing, {"custodian_type": "A"}, ["custodian_type"]),
        (heritage_linking, {"entity_linking": {"Huis Westerzon": None,
                                               "Delft": {"wikidata_id": None, "viaf_id": "V"}}},
         ["entity_linking.Huis Westerzon", "entity_linking.Delft.wikidata_id"]),
        (heritage_qa, {"qa_pairs": [{**SAMPLE["qa_pairs"][0], "answer": " ", "supporting_facts": []}]},
         ["qa_pairs[0].answer", "qa_pairs[0].supporting_facts"]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_part_is_named(
    suite: Any, changes: dict[str, Any], fields: list[str], tmp_path: Path
) -> None:
    cases, problems = read(suite.SUITE, tmp_path, {**SAMPLE, **changes})
    assert not cases
    assert sorted(each.field for each in problems) == sorted(fields)


@pytest.mark.parametrize("suite", TASKS, ids=lambda suite: suite.name)
def test_a_golden_folder_of_one_such_file_is_scored(suite: Suite, tmp_path: Path) -> None:
    """From the command line, in a project that has nothing else but gates."""
    project = Project(tmp_path, tmp_path / ".eval")
    folder = project.golden(suite.name)
    folder.mkdir(parents=True)
    shutil.copy(REPOSITORY / "golden" / suite.name / "gates.yaml", folder)
    (case,), _ = read(suite, folder, SAMPLE)
    outputs = tmp_path / "outputs.jsonl"
    outputs.write_text(json.dumps({"case_id": case.id, "output": ANSWERS[suite.name]}))
    done = invoke(project, "score", suite.name, "--golden", folder, "--outputs", outputs, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["metrics"][suite.headline] == 1.0
    assert report["metrics"]["error_rate"] == 0.0


def test_a_mention_stands_for_words_of_their_own_first(tmp_path: Path) -> None:
    inside = {**FLAT, "mention": "museum", "context": "Het Zoutmuseum is een museum."}
    (case,), problems = read(heritage_linking.SUITE, tmp_path, [inside])
    assert not problems
    assert case.input.mentions[0].start == 22
    (case,), _ = read(heritage_linking.SUITE, tmp_path, [{**inside, "context": "Het Zoutmuseum."}])
    assert case.input.mentions[0].start == 8


def test_a_link_without_an_entry_is_nil_only_where_it_says_so(tmp_path: Path) -> None:
    silent = {**SAMPLE, "entity_linking": {"Delft": {}, "1800": {"wikidata_id": None}, "kunst": None}}
    cases, problems = read(heritage_linking.SUITE, tmp_path, silent)
    assert not cases
    assert [(each.field, each.message) for each in problems] == [
        ("entity_linking.Delft.wikidata_id", "is missing")
    ]


@pytest.mark.parametrize(
    ("suite", "part"), [(heritage_linking.SUITE, "entity_linking"), (heritage_qa.SUITE, "qa_pairs")]
)
def test_a_file_that_says_nothing_for_a_suite_does_not_pass(suite: Suite, part: str, tmp_path: Path) -> None:
    empty = {**SAMPLE, "id": "eval_002", part: type(SAMPLE[part])()}
    cases, problems = read(suite, tmp_path, [empty])
    assert not cases
    assert [(each.field, each.message) for each in problems] == [
        (part, "no entry says anything for this suite")
    ]
    cases, problems = read(suite, tmp_path, [empty, SAMPLE])
    assert (len(cases), problems) == (1, [])


def test_entries_of_another_form_than_the_first_are_told_apart(tmp_path: Path) -> None:
    for content, field in (([FLAT, SAMPLE], "entity_linking"), ([SAMPLE, FLAT], "mention")):
        cases, problems = read(heritage_linking.SUITE, tmp_path, content)
        assert len(cases) == 1
        (told,) = [each for each in problems if "another form" in each.message]
        assert (told.field, told.remedy) == (field, "Give each form a file of its own.")


def test_a_blank_text_cannot_be_classified(tmp_path: Path) -> None:
    cases, problems = read(heritage_typing.SUITE, tmp_path, {**SAMPLE, "text": " "})
    assert not cases
    assert [(each.field, each.message) for each in problems] == [("text", "is blank")]

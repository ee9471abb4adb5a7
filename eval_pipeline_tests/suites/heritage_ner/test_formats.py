"""The golden formats: what is written is read back, and every fault is named at once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eval_pipeline.golden import read_cases
from eval_pipeline.problems import Problems
from eval_pipeline.suites._heritage.vocabulary import ENTITY_TYPES
from eval_pipeline.suites.heritage_ner import SUITE
from eval_pipeline.suites.heritage_ner.cases import Entity, NerCase, ner_case

SAMPLE: dict[str, Any] = {
    "id": "eval_001",
    "text": "Het Huis Oosterzon Delft (ISIL: ZZ-AmRM) ging open in 1800 en beheert Nederlandse kunst.",
    "ner_annotations": [
        {"text": "Huis Oosterzon Delft", "type": "GRP.HER.MUS", "start": 4, "end": 24},
        {"text": "1800", "type": "TMP", "start": 54, "end": 58},
        {"text": "Nederlandse", "type": "TOP", "start": 70, "end": 81},
    ],
    "type_classification": {"primary_type": "M", "secondary_types": [], "rationale": "a museum"},
    "entity_linking": {},
    "qa_pairs": [],
}


def read(folder: Path) -> tuple[list[NerCase], list[str]]:
    problems = Problems()
    cases = [each.case for each in read_cases(SUITE, folder, problems)]
    return cases, [str(each).removeprefix(f"{folder}/") for each in problems]


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        stem, _, suffix = name.rpartition("_")
        (folder / f"{stem}.{suffix}").write_text(text, newline="")
    return folder


def test_the_sample_entry_is_read(tmp_path: Path) -> None:
    cases, problems = read(write(tmp_path, sample_json=msgspec.json.encode(SAMPLE).decode()))
    assert not problems
    assert cases[0].attributes == {"custodian_type": "M"}
    assert [each.text for each in cases[0].expected.entities] == [
        "Huis Oosterzon Delft",
        "1800",
        "Nederlandse",
    ]


def test_wrong_offsets_are_named_with_the_right_ones(tmp_path: Path) -> None:
    """The document's own sample has offsets that miss the year and the adjective by a few characters."""
    annotations = [
        dict(SAMPLE["ner_annotations"][1], start=52, end=56),
        dict(SAMPLE["ner_annotations"][2], start=65, end=76),
    ]
    wrong = {**SAMPLE, "ner_annotations": annotations}
    cases, problems = read(write(tmp_path, sample_json=msgspec.json.encode(wrong).decode()))
    assert not cases
    assert len(problems) == 2
    assert "It stands at 54–58." in problems[0]
    assert "It stands at 70–81." in problems[1]


IOB2 = """# id = one
# language = nl
# text = Museum Oost, in Delft.
Museum\tNN\tB-GRP.HER.MUS
Oost\tNN\tI-GRP.HER.MUS
,\t,\tO
in\tIN\tO
Delft\tNN\tB-TOP
.\t.\tO

Anno B-TMP
1800 I-TMP
"""


def test_iob2_is_read_with_and_without_its_text(tmp_path: Path) -> None:
    cases, problems = read(write(tmp_path, file_iob2=IOB2.replace("\n", "\r\n")))
    assert not problems
    first, second = cases
    assert (first.id, first.attributes, first.input.text) == (
        "one",
        {"language": "nl"},
        "Museum Oost, in Delft.",
    )
    assert first.expected.entities == [
        Entity("Museum Oost", "GRP.HER.MUS", 0, 11),
        Entity("Delft", "TOP", 16, 21),
    ]
    assert second.expected.entities == [Entity("Anno 1800", "TMP", 0, 9)]
    assert second.id.startswith("file-")


def test_every_fault_of_an_iob2_file_is_named_and_nothing_is_loaded(tmp_path: Path) -> None:
    text = """# id = one
# language = klingon
# text = Museum Oost in Delft
Museum\tB-GRP.HER.MUSEUM
Oost\tI-GRP.HER.MUS
of\tO
Delft\tX-TOP

alone

B\tB-TOP\tB-TOP
C\tB-TOP

good\tO
"""
    cases, problems = read(write(tmp_path, bad_conll=text))
    assert not cases
    assert [problem.split(":")[1] for problem in problems] == ["2", "4", "6", "7", "9", "9", "12"]
    told = "\n".join(problems)
    for part in ("language", "is no entity type", "not what comes next", "is no tag"):
        assert part in told


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_iob1_is_read_with_a_note_whatever_its_line_ends(tmp_path: Path, end: str) -> None:
    lines = ["In\tO", "Den\tI-TOP", "Haag\tI-TOP", "1800\tI-TMP", "", "Delft\tI-TOP", "Leiden\tB-TOP", ""]
    (tmp_path / "old.iob").write_bytes(end.join(lines).encode())
    problems = Problems()
    first, second = (each.case for each in read_cases(SUITE, tmp_path, problems))
    assert len(problems) == 0
    assert first.expected.entities == [Entity("Den Haag", "TOP", 3, 11), Entity("1800", "TMP", 12, 16)]
    assert second.expected.entities == [Entity("Delft", "TOP", 0, 5), Entity("Leiden", "TOP", 6, 12)]
    assert [note.line for note in problems.notes] == [2, 4, 6]


def test_every_fault_of_a_brat_pair_is_named_and_nothing_is_loaded(tmp_path: Path) -> None:
    annotations = """# country = Netherlands
T1\tTOP 0 5\tDelft
T1\tTOP 9 13\tGent
T3\tPLACE 0 5\tDelft
T4\tTOP 0 5;9 13\tDelft Gent
T5\tTOP 50 55\tDelft
T6 TOP 0 5 Delft
R1\tNear Arg1:T1 Arg2:T3
"""
    folder = write(tmp_path, a_txt="Delft en Gent", a_ann=annotations, alone_ann="T1\tTOP 0 5\tDelft\n")
    cases, problems = read(folder)
    assert not cases
    assert [problem.split(": ")[0] for problem in problems] == [
        "a.ann:1",
        "a.ann:3",
        "a.ann:4",
        "a.ann:5",
        "a.ann:6",
        "a.ann:7",
        "alone.ann",
    ]
    assert "It stands at 0–5." in problems[4]


@pytest.mark.parametrize("name", ["x_iob2", "x_json", "x_ann"])
def test_hostile_bytes_are_a_problem_not_a_traceback(tmp_path: Path, name: str) -> None:
    stem, _, suffix = name.partition("_")
    (tmp_path / f"{stem}.{suffix}").write_bytes(b"\xff\xfe\x00\x01")
    (tmp_path / "x.txt").write_text("text")
    cases, problems = read(tmp_path)
    assert not cases
    assert problems


def test_a_file_in_no_known_format_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "sentences.docx").write_text("text")
    cases, problems = read(tmp_path / "sentences.docx")
    assert not cases
    assert "is in no known format" in problems[0]


_characters = st.characters(codec="utf-8", exclude_categories=["Cs"])
_texts = st.text(st.one_of(st.sampled_from("aB é.,\n\t \u00a0#\"'\u2028🏛"), _characters), max_size=30)


@st.composite
def _cases(draw: Any, nested: bool) -> NerCase:
    text = draw(_texts.filter(lambda each: each.strip()))
    entities: dict[tuple[int, int, str], Entity] = {}
    end = 0
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0 if nested else end, len(text)))
        stop = draw(st.integers(start, len(text)))
        marked, kind = text[start:stop], draw(st.sampled_from(list(ENTITY_TYPES)))
        if marked.strip() and marked == marked.strip():
            entities[start, stop, kind] = Entity(marked, kind, start, stop)
            end = stop
    attributes = draw(st.sampled_from([{}, {"language": "nl", "split": "dev"}, {"data_tier": "4"}]))
    return ner_case("some id", text, list(entities.values()), attributes)


def to_iob2(case: NerCase) -> str:
    text = case.input.text
    lines = [f"# id = {case.id}", *(f"# {name} = {value}" for name, value in case.attributes.items())]
    lines.append(f"# text = {msgspec.json.encode(text).decode()}")
    position = 0
    for entity in case.expected.entities:
        lines += tagged(text, position, entity.start, "O", "O")
        lines += tagged(text, entity.start, entity.end, f"B-{entity.type}", f"I-{entity.type}")
        position = entity.end
    lines += tagged(text, position, len(text), "O", "O")
    return "\n".join(lines) + "\n"


def tagged(text: str, start: int, end: int, first: str, others: str) -> list[str]:
    pieces = re.compile(r"\w+|[^\w\s]").finditer(text, start, end)
    return [f"{piece.group()}\t{others if number else first}" for number, piece in enumerate(pieces)]


def to_brat(case: NerCase) -> str:
    """The annotations; a line break inside one is written as a space."""
    lines = [f"# {name} = {value}" for name, value in case.attributes.items()]
    for number, entity in enumerate(case.expected.entities, 1):
        marked = entity.text.translate(str.maketrans("\n\r\t", "   "))
        lines.append(f"T{number}\t{entity.type} {entity.start} {entity.end}\t{marked}")
    return "".join(f"{line}\n" for line in lines)


def to_json(case: NerCase) -> str:
    entry = {"id": case.id, "text": case.input.text, "ner_annotations": case.expected.entities}
    return msgspec.json.encode({**entry, **case.attributes}).decode()


_quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@_quick
@given(case=_cases(nested=False))
def test_iob2_holds_everything(tmp_path: Path, case: NerCase) -> None:
    cases, problems = read(write(tmp_path, file_iob2=to_iob2(case)))
    assert problems == []
    assert cases == [case]


@_quick
@given(case=_cases(nested=True))
def test_brat_holds_everything(tmp_path: Path, case: NerCase) -> None:
    files = {"some id_txt": case.input.text, "some id_ann": to_brat(case)}
    cases, problems = read(write(tmp_path, **files))
    assert problems == []
    assert cases == [case]


@_quick
@given(case=_cases(nested=True))
def test_json_holds_everything(tmp_path: Path, case: NerCase) -> None:
    cases, problems = read(write(tmp_path, file_json=to_json(case)))
    assert problems == []
    assert cases == [case]

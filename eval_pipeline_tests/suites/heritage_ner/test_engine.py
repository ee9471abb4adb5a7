"""What the embedded engine finds, by system, and that it answers every golden case."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline.golden import read_cases
from eval_pipeline.problems import Problems
from eval_pipeline.project import Project
from eval_pipeline.suites.heritage_ner import SUITE
from eval_pipeline.suites.heritage_ner.cases import NerInput
from eval_pipeline.suites.heritage_ner.engine import Parameters, Resources, extract

KNOWN = Resources({"Museum Oost": "GRP.HER.MUS", "Delft": "TOP"}, {"MO": "GRP.HER.MUS"})


def found(text: str, language: str = "nl", **chosen: Any) -> list[str]:
    output = extract(NerInput(text, language), Parameters(**chosen), KNOWN)
    assert all(text[each.start : each.end] == each.text for each in output.entities)
    return [f"{each.type} {each.text}" for each in output.entities]


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        (
            "Het Streekarchief Drie Meren uit 1923.",
            "nl",
            ["GRP.HER.ARC Streekarchief Drie Meren", "TMP 1923"],
        ),
        ("The Brandy Fold Museum opened.", "en", ["GRP.HER.MUS Brandy Fold Museum"]),
        ("Das Museum am Tor.", "de", ["GRP.HER.MUS Museum am Tor"]),
        (
            "La Société d'histoire du Pays de Brie.",
            "fr",
            ["GRP.HER.SOC Société d'histoire du Pays de Brie"],
        ),
        ("The museum and our archive.", "en", []),
        ("On 12 May 1934 and in the 1950s.", "en", ["TMP 12 May 1934", "TMP 1950s"]),
        ("Im 18. Jahrhundert, am 9. September 1984.", "de", ["TMP 18. Jahrhundert", "TMP 9. September 1984"]),
        ("au XIXe siècle, de 1914–1918", "fr", ["TMP XIXe siècle", "TMP 1914–1918"]),
        ("ISIL ZZ-NL-0101, record QX1001.", "nl", ["IDENTIFIER ZZ-NL-0101", "IDENTIFIER QX1001"]),
    ],
)
def test_patterns(text: str, language: str, expected: list[str]) -> None:
    assert found(text, language, system="regex") == expected


def test_systems_differ() -> None:
    text = "Museum Oost (MO) in Delft, sinds 1800, bij Museum West."
    assert found(text, system="gazetteer") == ["GRP.HER.MUS Museum Oost", "GRP.HER.MUS MO", "TOP Delft"]
    assert found(text, system="gazetteer", aliases=False) == ["GRP.HER.MUS Museum Oost", "TOP Delft"]
    assert found(text, system="combined")[-2:] == ["TMP 1800", "GRP.HER.MUS Museum West"]
    assert "TOP Delft" not in found(text, system="regex")
    assert "TOP Delft" in found(text, system="regex", guess_places=True)


@settings(deadline=None, max_examples=60)
@given(
    st.text(max_size=80),
    st.sampled_from(["nl", "de", ""]),
    st.sampled_from(["regex", "gazetteer", "combined"]),
)
def test_any_text_gives_entities_that_do_not_overlap(text: str, language: str, system: Any) -> None:
    output = extract(NerInput(text, language), Parameters(system, guess_places=True), KNOWN)
    ends = 0
    for each in output.entities:
        assert ends <= each.start < each.end
        assert text[each.start : each.end] == each.text
        ends = each.end


def test_every_golden_case_is_answered() -> None:
    folder = Project.find().golden("heritage_ner")
    problems = Problems()
    cases = list(read_cases(SUITE, folder, problems))
    resources = Resources.load(folder / "resources")
    problems.stop_if_any()
    assert len(cases) >= 150
    for each in cases:
        extract(each.case.input, Parameters(), resources)

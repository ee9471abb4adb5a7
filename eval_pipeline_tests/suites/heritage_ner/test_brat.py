"""BRAT files: lines that are no annotation."""

from __future__ import annotations

from pathlib import Path

from eval_pipeline.problems import Problems
from eval_pipeline.suites.heritage_ner.brat import BratCases

TEXT = "Het Museum 😀 in Delft."


def test_lines_that_only_begin_like_another_kind_of_annotation_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXT)
    (tmp_path / "a.ann").write_text(
        "# a remark\n#1\tAnnotatorNotes T1\tsure\nR1\tIn Arg1:T1 Arg2:T2\n*\tEquiv T1 T2\n"
        "Rubbish\nAmsterdam\nT1\tTOP 16 21\tDelft\nT2\tTOP 16 21\tDelft\nN\n"
    )
    problems = Problems()
    assert not list(BratCases().read(tmp_path / "a.ann", problems))
    messages = [str(problem).rpartition("a.ann:")[2] for problem in problems]
    assert [each.partition(". ")[0] for each in messages] == [
        "5: 'Rubbish' is no annotation",
        "6: 'Amsterdam' is no annotation",
        "8: T2: 'Delft' is marked twice",
        "9: 'N' is no annotation",
    ]

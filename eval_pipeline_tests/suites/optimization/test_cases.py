"""Golden entries: what is wrong with them, and where."""

from __future__ import annotations

from pathlib import Path

from eval_pipeline.golden import read_cases
from eval_pipeline.problems import Problems
from eval_pipeline.suites.optimization import SUITE


def test_every_unknown_target_model_is_named_where_it_stands(tmp_path: Path) -> None:
    """Known only from scoring, it was named without its line, and not at all where every answer failed."""
    (tmp_path / "resources").mkdir()
    (tmp_path / "resources" / "models.yaml").write_text("sora: []\n")
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "a.jsonl").write_text(
        "".join(
            f'{{"id": "{name}", "input": "a dog", "expectedQualities": {{}}, "targetModel": {model}}}\n'
            for name, model in (("a", '"sora"'), ("b", '"sorra"'), ("c", "null"), ("d", '"veo 3"'))
        )
    )
    problems = Problems()
    assert [each.case.id for each in read_cases(SUITE, tmp_path, problems)] == ["a", "c"]
    messages = [str(problem).rpartition("a.jsonl:")[2] for problem in problems]
    assert messages == [
        "2: targetModel: there are no rules for 'sorra'. Models with rules: sora.",
        "4: targetModel: there are no rules for 'veo 3'. Models with rules: sora.",
    ]

"""Two files of results, compared for the command line: what is chosen of them, and every problem at once."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import NamedTuple

from eval_pipeline.comparison import ChosenTest
from eval_pipeline.decisions import Standing
from eval_pipeline.numbers import moment
from eval_pipeline.problems import Problems, shown_path
from eval_pipeline.results import (
    Results,
    check_rows,
    choose_metric,
    choose_part,
    compare_results,
    read_results,
)
from eval_pipeline.suite import Direction, Suite


class Choice(NamedTuple):
    """What somebody chose of two files."""

    metric: str | None = None
    lower_is_better: bool = False
    id_field: str | None = None
    part_before: str | None = None
    part_after: str | None = None


class ComparedFiles(NamedTuple):
    """The suite that was made for the files, and when each was evaluated; blank where nobody knows."""

    suite: Suite
    moments: list[str]


def compare_files(
    before: Path, after: Path, choice: Choice, test: ChosenTest | None
) -> tuple[ComparedFiles, Standing]:
    """Read both files, pair them by case, and say how the second stands against the first."""
    problems = Problems()
    _stop_unless_files(before, after)
    parts = [read_results(path, choice.id_field, problems) for path in (before, after)]
    problems.stop_if_any()
    asked = (("--before", choice.part_before), ("--after", choice.part_after))
    chosen = [
        choose_part(each, name, option, problems) for each, (option, name) in zip(parts, asked, strict=True)
    ]
    sides = [each for each in chosen if each]
    metric = choose_metric(sides, choice.metric, problems) if len(sides) == len(parts) else None
    for each in sides if metric else ():
        check_rows(each, str(metric), problems)
    problems.stop_if_any()
    assert metric is not None
    direction: Direction = "lower" if choice.lower_is_better else "higher"
    compared = compare_results(sides[0], sides[1], metric, direction, test)
    return ComparedFiles(compared.suite, [_moment(each) for each in sides]), Standing(compared.comparison)


def _stop_unless_files(*paths: Path) -> None:
    problems = Problems()
    for path in paths:
        if not path.is_file():
            remedy = "Name two files of results; versions of a suite are compared by --prompt and --against."
            problems.add("input", f"{shown_path(path)} is not a file", remedy, field="compare")
    problems.stop_if_any()


def _moment(results: Results) -> str:
    try:
        when = datetime.datetime.fromisoformat(results.created)
    except ValueError:
        return ""
    known = when if when.tzinfo else when.replace(tzinfo=datetime.UTC)
    return f"evaluated {moment(known.astimezone(datetime.UTC).isoformat())}"

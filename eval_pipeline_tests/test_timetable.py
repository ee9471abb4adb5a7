"""`automation.yaml`: every problem at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval_pipeline.problems import Problems
from eval_pipeline.project import Project
from eval_pipeline.timetable import Automation, check_automation

CRON = "Write minute, hour, day, month and weekday: 0 2 * * *."


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("timezone: Europe/Amsterdam\nnightly: '@daily'\n", []),
        (
            "timezone: Middle-earth\nnightly: at dawn\nwekly: '* * * * *'\nprune: 5\nui: [x]\n",
            [
                "1: timezone: 'Middle-earth' is not a time zone. Write it as in Europe/Amsterdam.",
                f"2: nightly: 'at dawn' is not a cron expression. {CRON}",
                "3: wekly: is not a known field. Did you mean weekly?",
                "4: prune: is a whole number, not a text. Put it in quotes.",
                "5: ui: is a list, not a text. Write a text.",
            ],
        ),
        ("- nightly\n", ["1: is a list, not a set of fields. Write name: value on lines below it."]),
        (
            "hourly: x\n",
            [f"1: hourly: is not a known field. Known: {', '.join(Automation.model_fields)}."],
        ),
        ("nightly: '61 * * * *'\n", [f"1: nightly: '61 * * * *' is not a cron expression. {CRON}"]),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, text: str, problems: list[str]) -> None:
    path, found = tmp_path / "automation.yaml", Problems()
    path.write_text(text)
    assert (check_automation(Project(tmp_path, tmp_path / ".eval"), found) is None) == bool(problems)
    assert [str(each).removeprefix(f"{path}:") for each in found] == problems


def test_without_a_file_the_usual_times_hold(tmp_path: Path) -> None:
    assert check_automation(Project(tmp_path, tmp_path / ".eval"), Problems()) == Automation()

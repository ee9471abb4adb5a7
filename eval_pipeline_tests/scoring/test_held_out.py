"""What numbers of held-out cases say of themselves."""

from __future__ import annotations

from eval_pipeline.scoring import HeldOut, Interval, Part

TYPING = HeldOut(
    "split",
    "test",
    28,
    {"accuracy": Interval(28, 0.566, 0.873), "alone": Interval(1, None, None)},
    {"all": Part(190, {"accuracy": 0.895}), "train": Part(133, {"accuracy": 0.977})},
)


def test_a_value_is_told_with_cases_interval_and_what_others_gave() -> None:
    assert TYPING.text("accuracy", 0.75, "fraction") == (
        "On split test, 28 cases, 95 % CI 56.6 % to 87.3 %; −14.5 pp against all (89.5 %, 190 cases); "
        "−22.7 pp against train (97.7 %, 133 cases)"
    )
    assert TYPING.size == "28 of 190 cases (split test: those that the engine did not learn from)"


def test_what_is_not_known_is_left_out() -> None:
    assert TYPING.text("alone", 0.5, "fraction") == "On split test, 1 case"
    assert TYPING.text("accuracy", None, "fraction") == "On split test, 28 cases, 95 % CI 56.6 % to 87.3 %"

"""What quarantine keeps of a line: the same request of the same person, and nothing that says who it is."""

from __future__ import annotations

import json

import pytest

from eval_pipeline.monitoring.people import MARK, pseudonym, without_people

KEY = "k" * 64
WHO = MARK + pseudonym("jan@example.com", KEY)


def test_names_of_attributes_stay_and_their_people_go() -> None:
    given = {"user.id": "jan@example.com", "eval_pipeline.request_id": "r1", "x": "jan@example.com"}
    kept = {"user.id": WHO, "eval_pipeline.request_id": "r1", "x": "[e-mail]"}

    def line(values: dict[str, str]) -> str:
        pairs = [{"key": name, "value": {"stringValue": value}} for name, value in values.items()]
        return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": pairs}]}]}]})

    assert json.loads(without_people(line(given), KEY)) == json.loads(line(kept))


def test_names_in_what_somebody_wrote_mean_nothing() -> None:
    text = {"user": "4111111111111111", "id": "4111111111111111", "key": "request_id", "value": "a@b.co"}
    line = {"request_id": "jan@example.com", "user": "jan@example.com", "input": text, "at": None}
    assert json.loads(without_people(json.dumps(line), KEY)) == {
        "request_id": WHO,
        "user": WHO,
        "input": {"user": "[card]", "id": "[card]", "key": "request_id", "value": "[e-mail]"},
        "at": None,
    }


def test_what_was_kept_is_kept_as_the_same() -> None:
    once = without_people(json.dumps({"user": "jan", "feedback": {"id": "a@b.co"}}), KEY)
    assert without_people(once, KEY) == once


@pytest.mark.parametrize(
    ("line", "kept"),
    [("[]", "[]"), ("5", "5"), ("null", "null"), ('"a@b.co"', '"[e-mail]"'), ("{ a@b.co", "{ [e-mail]")],
)
def test_lines_of_nothing_in_particular(line: str, kept: str) -> None:
    assert without_people(line, KEY) == kept

"""A sheet of answers to rate as one page: offline, keyboard first, and blind to who answered."""

from __future__ import annotations

from typing import Any

import msgspec

from eval_pipeline.improvement import Sheet
from eval_pipeline.numbers import counted
from eval_pipeline.reports.page.html import Html, element, joined
from eval_pipeline.reports.page.shell import document, main, masthead
from eval_pipeline.suite import Suite

LONGEST = 60_000
"""Characters of a text that are shown."""
MOST_ROWS, MOST_COLUMNS = 300, 12
KEYS = (
    ("a", "acceptable"), ("u", "unacceptable"), ("s", "cannot say"), ("j", "next"), ("k", "previous"),
    ("n", "note"), ("w", "save the file"),
)  # fmt: skip


def rating_page(suite: Suite, sheet: Sheet) -> str:
    """The whole page. It knows no version, no model and no feedback."""
    title = f"Rate answers of {suite.name}"
    count = element("span", counted(len(sheet.items), "answer"), class_="muted")
    content = (
        element("p", suite.description) if suite.description else "",
        element(
            "p",
            "Say of each answer whether you would let it go out to a user. Texts are as they were kept. "
            "Nothing leaves this page until you save the file; hand that file back.",
        ),
        _tools(),
        element("p", "", id="progress", role="status"),
        element("noscript", "This page needs its script."),
        element("div", id="sheet"),
        element("details", element("summary", "Keys"), _keys()),
    )
    data = {
        "queue": sheet.queue.queue,
        "suite": suite.name,
        "sheet": sheet.number,
        "items": [_data(msgspec.to_builtins(each)) for each in sheet.items],
    }
    body = joined([masthead(title, count), main(*content)])
    return document(title, body, ["rating.js"], {"sheet": data})


def _tools() -> Html:
    name = element(
        "label", "Your name", element("input", type="text", id="rater", autocomplete="name", maxlength="80")
    )
    save = element("button", "Save the file", type="button", id="save")
    return element("div", name, save, class_="tools")


def _keys() -> Html:
    rows = [element("div", element("kbd", key), f" {what}") for key, what in KEYS]
    return element("div", *rows, class_="keys")


def _data(item: dict[str, Any]) -> dict[str, Any]:
    """An item as the page shows it: JSON is laid out by its fields, anything else is text."""
    return {
        "item": item["item"],
        "input": _parts(item["input"]),
        "answer": _parts(item["answer"]),
        "passages": [text[:LONGEST] for text in item.get("passages", ())],
    }


def _parts(text: str) -> list[tuple[str, Any]]:
    """Names and texts or tables: the fields of an object, else one text without a name."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return [("", text[:LONGEST])]
    if not isinstance(value, dict):
        return [("", text[:LONGEST])]
    return [(str(name), _shown(each)) for name, each in value.items()]


def _shown(value: Any) -> Any:
    """A text; of a list of objects a table."""
    if isinstance(value, str):
        return value[:LONGEST]
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        names = list(dict.fromkeys(name for row in value[:MOST_ROWS] for name in row))[:MOST_COLUMNS]
        rows = [[_cell(row.get(name)) for name in names] for row in value[:MOST_ROWS]]
        return {"names": names, "rows": rows, "more": max(0, len(value) - MOST_ROWS)}
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return "\n".join(value)[:LONGEST]
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()[:LONGEST]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value[:LONGEST] if isinstance(value, str) else msgspec.json.encode(value).decode()

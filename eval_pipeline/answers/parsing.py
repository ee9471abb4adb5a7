"""From the text of an answer to an output, or to the reason why there is none."""

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import msgspec

from eval_pipeline.answers.record import MISSING, Answer

LARGEST_OUTPUT = 4 * 2**20
_FENCED = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL | re.IGNORECASE)
TOO_LARGE = "too_large"
NOT_JSON = "not_json"
SCHEMA = "schema"
BLANK = "blank"


class Usable(msgspec.Struct, frozen=True):
    """An output that satisfies its suite's contract."""

    output: object


class Failure(msgspec.Struct, frozen=True):
    """Why a case has no usable output."""

    kind: str
    detail: str


def parse(answer: Answer | None, output_type: type) -> Usable | Failure:
    """The output in an answer, or the reason why it cannot be used.

    Plain text is the output as it stands; what is blank is no answer.
    """
    if answer is None:
        return Failure(MISSING, "there is no output for this case and trial")
    if answer.error is not None:
        return Failure(answer.error, answer.detail)
    if answer.text is None:
        return Failure(MISSING, "the output is null")
    if len(answer.text) > LARGEST_OUTPUT:
        return Failure(TOO_LARGE, f"{len(answer.text):,} characters; the limit is {LARGEST_OUTPUT:,}")
    if output_type is str:
        return Usable(answer.text) if answer.text.strip() else Failure(BLANK, "the answer is blank")
    carried = msgspec.json.decode(answer.carried)
    reason = ""
    for text in _json_in(answer.text):
        try:
            if carried is None:
                return Usable(msgspec.json.decode(text, type=output_type))
            value = msgspec.json.decode(text)
            merged = {**value, **carried} if isinstance(value, dict) else value
            return Usable(msgspec.convert(merged, output_type))
        except msgspec.ValidationError as error:
            return Failure(SCHEMA, str(error))
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            reason = reason or str(error)
    return Failure(NOT_JSON, reason)


def failure_of(answer: Answer, output_type: type) -> Failure | None:
    """Why an answer has no usable output; None where it has one."""
    result = parse(answer, output_type)
    return result if isinstance(result, Failure) else None


def without_own(carried: msgspec.Raw, answer: Answer) -> msgspec.Raw:
    """What was carried, as far as the answer does not say it itself."""
    own = first_json(answer.text)
    known = msgspec.json.decode(carried)
    if not isinstance(own, dict) or known is None:
        return carried
    left = {name: value for name, value in known.items() if name not in own}
    return msgspec.Raw(msgspec.json.encode(left))


def first_json(text: str | None) -> Any:
    """The JSON of an answer, wherever it stands in the text; None without any."""
    return next(filter(None, map(decoded, _json_in(text or ""))), None)


def decoded(text: str | None) -> Any:
    """A text as JSON; None where it is none."""
    with suppress(msgspec.DecodeError, UnicodeError, RecursionError):
        return None if text is None else msgspec.json.decode(text)
    return None


def _json_in(text: str) -> Iterator[str]:
    """Where the JSON of an answer may stand: all of it, a fenced block, or between the outermost braces."""
    yield text
    if fenced := _FENCED.search(text):
        yield fenced[1]
    start, end = text.find("{"), text.rfind("}")
    if 0 <= start < end:
        yield text[start : end + 1]

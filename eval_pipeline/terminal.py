"""What the command line says: the one place where text of others is made safe for a terminal."""

import json
import re
import sys

import click

from eval_pipeline.secrets import masked

_ACTING = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f"  # all control characters but tabs and line ends
    r"\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"  # what turns the direction of text, or ends a line
    r"\ud800-\udfff]"  # bytes of a file's name that are no text, and halves of characters
)


def safe(text: object) -> str:
    """Text without secrets and what a terminal would act on; JSON stays JSON with the same values."""
    return _ACTING.sub(lambda match: _escaped(match[0]), masked(str(text)))


def say(message: object = "", *, err: bool = False) -> None:
    """Write a line to standard output, or to standard error."""
    write(f"{safe(message)}\n", err=err)


def write(text: str, *, err: bool = False) -> None:
    """Write text that is safe already; what the stream cannot encode is written as in JSON."""
    encoding = (sys.stderr if err else sys.stdout).encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = "".join(each if each.isascii() else _escaped(each) for each in text)
    click.echo(text, err=err, nl=False)


def _escaped(character: str) -> str:
    return f"\\u{ord(character):04x}" if character < "\x80" else json.dumps(character)[1:-1]

"""Renders a template in a process of its own, with little memory and no environment.

Started by `rendering.Renderer`, as a plain script: it imports nothing of this package. It reads
the template and then one context per line from standard input, and answers each with a line. Answers
may be held back for a moment, or until an empty line asks for them.
"""

import json
import re
import resource
import sys
import time
import traceback

from jinja2 import StrictUndefined, TemplateRuntimeError
from jinja2.sandbox import ImmutableSandboxedEnvironment

MEMORY = 2**30
HELD_BACK_SECONDS = 0.1
ADDRESS = re.compile(" at 0x[0-9a-f]+>")


class LoudUndefined(StrictUndefined):
    """Never shown by mistake, not even inside a list."""

    __repr__ = StrictUndefined.__str__


class TooLong(Exception):
    """The rendered text exceeds its limit."""


def render(template, variables, longest):
    """The rendered text; stops as soon as it grows too long."""
    parts, size = [], 0
    for part in template.generate(variables):
        parts.append(part)
        size += len(part)
        if size > longest:
            raise TooLong(f"renders to more than {longest:,} characters")
    text = "".join(parts)
    text.encode()  # half a surrogate pair is no text
    return text


def stop_if_it_shows_an_address(text, *given):
    """Where a function or a generator lies in memory is never the same again; what was given may say so."""
    for match in ADDRESS.finditer(text):
        if not any(match[0] in each for each in given):
            raise TemplateRuntimeError("shows a function or a generator instead of a value")


def template_line(error):
    """The line of the template on which an error arose."""
    frames = [
        frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "<template>"
    ]
    return frames[-1] if frames else getattr(error, "lineno", 1)


def main():
    """Answer contexts until standard input ends."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    first = json.loads(sys.stdin.readline())
    environment = ImmutableSandboxedEnvironment(undefined=LoudUndefined)
    del environment.filters["random"], environment.globals["lipsum"]  # they give something else each time
    template = None
    print("ready", flush=True)
    sent_at = time.monotonic()
    for line in sys.stdin:
        if line == "\n":
            sys.stdout.flush()
            continue
        try:
            template = template or environment.from_string(first["template"])
            text = render(template, json.loads(line), first["longest"])
            stop_if_it_shows_an_address(text, first["template"], line)
            answer = {"text": text}
        except MemoryError:
            answer = {"error": "needs too much memory", "line": 1}
        except Exception as error:
            answer = {"error": (str(error) or type(error).__name__)[:500], "line": template_line(error)}
        now = time.monotonic()
        is_due = now - sent_at > HELD_BACK_SECONDS
        print(json.dumps(answer), flush=is_due)
        sent_at = now if is_due else sent_at


if __name__ == "__main__":
    main()

"""Renders the templates of a prompt in a process of its own, with little memory and no environment.

Started by `rendering.Renderer`, as a plain script: it imports nothing of this package. It reads
the templates and then one context per line from standard input, and answers each with a line. Answers
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
    """The rendered texts exceed their limit."""


class Version:
    """The templates of a prompt version."""

    def __init__(self, sources, longest):
        self._environment = ImmutableSandboxedEnvironment(undefined=LoudUndefined)
        # They give something else each time.
        del self._environment.filters["random"], self._environment.globals["lipsum"]
        self._sources = sources
        self._templates = []
        self._longest = longest
        self.place = 0
        """The template that is being rendered."""

    def texts(self, line):
        """The rendered texts for a context; stops as soon as they grow too long."""
        variables, left, texts = json.loads(line), self._longest, []
        for place, source in enumerate(self._sources):
            self.place = place
            if place == len(self._templates):
                self._templates.append(self._environment.from_string(source))
            parts = []
            for part in self._templates[place].generate(variables):
                parts.append(part)
                left -= len(part)
                if left < 0:
                    raise TooLong(f"renders to more than {self._longest:,} characters")
            text = "".join(parts)
            text.encode()  # half a surrogate pair is no text
            stop_if_it_shows_an_address(text, source, line)
            texts.append(text)
        return texts


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
    version = Version(first["templates"], first["longest"])
    print("ready", flush=True)
    sent_at = time.monotonic()
    for line in sys.stdin:
        if line == "\n":
            sys.stdout.flush()
            continue
        try:
            answer = {"texts": version.texts(line)}
        except MemoryError:
            answer = {"error": "needs too much memory", "line": 1, "place": version.place}
        except Exception as error:
            reason = (str(error) or type(error).__name__)[:500]
            answer = {"error": reason, "line": template_line(error), "place": version.place}
        now = time.monotonic()
        is_due = now - sent_at > HELD_BACK_SECONDS
        print(json.dumps(answer), flush=is_due)
        sent_at = now if is_due else sent_at


if __name__ == "__main__":
    main()

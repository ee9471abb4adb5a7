"""What asking would take, said before anything is asked: calls, tokens and dollars."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from eval_pipeline.answers import TrialRange, Trials, most_trials
from eval_pipeline.engines.interface import Request
from eval_pipeline.engines.journal import Experience, Journal
from eval_pipeline.numbers import counted, number

if TYPE_CHECKING:
    from eval_pipeline.engines.metered import MeteredEngine

REQUESTS_AT_ONCE = 1000
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_TOKENS = [
    (re.compile(pattern), tokens)
    for pattern, tokens in (
        ("[A-Z]?[a-z]{1,8}|[A-Z]+", 1.0),
        ("[A-Z]", 0.5),  # names are rarer than words
        ("[0-9]{1,3}", 1.5),
        (r"[^\w\s]+|_+", 1.0),
        (r"\n+", 0.6),
    )
]
"""What a piece of text takes on average: measured with the tokenizers of GPT-4 and Claude on all prompts."""
_LETTER_TOKENS = [
    (re.compile(pattern), tokens)
    for pattern, tokens in (
        ("[\u00c0-\u024f]", 1.1),  # letters with accents
        ("[\u0400-\u052f]", 0.5),  # Cyrillic
        ("[\u0370-\u03ff\u0530-\u1fff]", 1.0),  # Greek, and from Armenian to Khmer
        ("[\u2e80-\U0010ffff]", 1.1),  # Chinese, Japanese, Korean, emoji
    )
]
"""The same of a single letter, where that is not ASCII; most texts have few such letters, or none."""


class Estimate(msgspec.Struct, frozen=True):
    """What a run would take, known answers considered."""

    engine: str
    cases: int
    trials: Trials
    metered: bool = False
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int | None = 0
    """As many as earlier answers had, or at most; None where nobody knows."""
    most_output: int | None = None
    """The limit of an answer's tokens, where that is all that is known of their number."""
    dollars: float | None = 0.0
    """None where nobody knows."""
    priced: bool = True
    """Whether `engines.yaml` has prices."""

    @property
    def answers(self) -> int:
        """How many answers are wanted, at most."""
        return self.cases * most_trials(self.trials)

    @property
    def text(self) -> str:
        """Trials, calls, tokens and dollars in a line."""
        trials = self.trials
        some = f"{trials.min} to " if isinstance(trials, TrialRange) else ""
        size = f"{some}{counted(most_trials(trials), 'trial')} of {counted(self.cases, 'case')}"
        return f"{size} on {self.engine}: {', '.join(self._needs())}"

    def _needs(self) -> list[str]:
        if not self.metered:
            return ["no metered call to make"]
        if not self.calls:
            return ["no call to make, every answer is known"]
        known = self.answers - self.calls
        most = "at most " if isinstance(self.trials, TrialRange) else ""
        return [
            f"{most}{counted(self.calls, 'call')} to make",
            *([f"{counted(known, 'answer')} known"] if known else []),
            f"about {counted(self.input_tokens, 'input token')}",
            self._output,
            self._cost,
        ]

    @property
    def _output(self) -> str:
        if self.output_tokens is None:
            return "output tokens unknown (no max_tokens, no earlier answer)"
        if self.most_output is not None:
            product = f"{self.most_output:,} × {self.calls:,} = {self.output_tokens:,}"
            return f"at most {product} output tokens"
        return f"about {counted(self.output_tokens, 'output token')}"

    @property
    def _cost(self) -> str:
        if self.dollars is None:
            return f"cost unknown{'' if self.priced else ' (no prices in engines.yaml)'}"
        return f"{'at most' if self.most_output is not None else 'about'} {number(self.dollars, 'dollars')}"


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has, whichever model reads it: by its words, digits and scripts."""
    found = sum([tokens * len(pattern.findall(text)) for pattern, tokens in _TOKENS])
    if not text.isascii():
        letters = "".join(_BEYOND_ASCII.findall(text))
        found = sum([tokens * len(pattern.findall(letters)) for pattern, tokens in _LETTER_TOKENS], found)
    return round(found)


async def estimate(
    engine: MeteredEngine, journal: Journal, requests: AsyncIterator[Request], trials: Trials
) -> Estimate:
    """What asking every request in every trial would take; `requests` are those of one trial."""
    cases = calls = 0
    tokens = 0
    async for batch in batched(requests, REQUESTS_AT_ONCE):
        cases += len(batch)
        sizes = {}
        for request in batch:
            body, size = engine.client.body(request), engine.estimated_tokens(request)
            for trial in range(1, most_trials(trials) + 1):
                sizes[engine.call(msgspec.structs.replace(request, trial=trial), body).key] = size
        known = journal.answered(sizes)
        calls += len(sizes) - len(known)
        tokens += sum(size for key, size in sizes.items() if key not in known)
    learned = _Learned(journal.experience(engine.name), engine.model, engine.suite)
    prompt_tokens = round(tokens * learned.correction)
    earlier, most = learned.answer_tokens, engine.client.most_tokens
    each = earlier if earlier is not None else most
    completion_tokens = None if each is None else round(calls * each)
    return Estimate(
        engine.name,
        cases,
        trials,
        metered=True,
        calls=calls,
        input_tokens=prompt_tokens,
        output_tokens=completion_tokens if calls else 0,
        most_output=most if earlier is None else None,
        dollars=engine.cost(prompt_tokens, completion_tokens) if calls else 0.0,
        priced=engine.limits.prices is not None,
    )


class _Learned:
    """What an engine's earlier answers say of its next ones: those of the same model and suite first."""

    def __init__(self, experience: Sequence[Experience], model: str, suite: str) -> None:
        def chosen(fits: Callable[[Experience], bool]) -> list[Experience]:
            return [each for each in experience if fits(each)]

        same = chosen(lambda each: (each.model, each.suite) == (model, suite))
        self._of_suite = [same, chosen(lambda each: each.suite == suite)]
        self._of_engine = [*self._of_suite, chosen(lambda each: each.model == model), list(experience)]

    @property
    def correction(self) -> float:
        """How many tokens the endpoint counts for each one that was estimated."""
        for some in self._of_engine:
            counted_, estimated = (
                sum(getattr(each, name) for each in some) for name in ("prompt_tokens", "estimated_tokens")
            )
            if counted_ and estimated:
                return float(counted_ / estimated)
        return 1.0

    @property
    def answer_tokens(self) -> float | None:
        """How many tokens an answer to the suite's questions has on average; None where none was given."""
        for some in self._of_suite:
            if answers := sum(each.answers for each in some):
                return float(sum(each.completion_tokens for each in some) / answers)
        return None


async def batched(requests: AsyncIterator[Request], size: int, most: int = 0) -> AsyncIterator[list[Request]]:
    """Requests, some at a time: at first so many, then twice as many each time, up to the most."""
    batch: list[Request] = []
    async for request in requests:
        batch.append(request)
        if len(batch) == size:
            yield batch
            batch = []
            size = max(size, min(2 * size, most))
    if batch:
        yield batch

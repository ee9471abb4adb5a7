"""What answers cost: errors by kind, an outage, latency, tokens and dollars."""

from array import array
from collections.abc import Iterable

import msgspec
import numpy as np

from eval_pipeline.answers.parsing import Failure
from eval_pipeline.answers.record import TIMEOUT, Answer
from eval_pipeline.numbers import counted, number

LONGEST_RAW = 150
MOST_KINDS = 5

TRANSPORT = ("connection", "denied", "rate_limited", "server", "budget", TIMEOUT)
"""The kinds of failure that say nothing of the question; of a timeout, the other answers tell."""

REMEDIES = {
    "rate_limited": "Lower the engine's limits, or ask for a higher quota.",
    "timeout": "Raise the engine's timeouts, or ask fewer at once.",
    "connection": "Check the engine's URL and whether the endpoint is up.",
    "server": "The endpoint fails; try again later.",
    "denied": "Check the engine's URL, its key and the model's name.",
    "rejected": "Check the engine's options, and what the endpoint has against the question.",
    "refused": "The model would not answer; look at the case and the prompt.",
    "truncated": "Raise max_tokens, or ask for less.",
    "malformed": "The endpoint does not speak the chat completions protocol.",
    "blank": "The model answered with nothing; look at the case and the prompt.",
    "not_json": "Ask for JSON and nothing else, or turn on structured output.",
    "schema": "Say in the prompt which fields an answer has, or turn on structured output.",
    "too_large": "The answer is absurdly long; look at the prompt.",
    "budget": "Run again to go on, or raise the budget.",
    "missing": "The recorded file has no such output.",
    "engine": "The engine raised an error; see the example.",
}


def error_lines(errors: dict[str, int], examples: dict[str, str]) -> list[str]:
    """Errors by kind, the most frequent first: how many, the first of them, and what to do about it."""
    ranked = sorted(errors.items(), key=lambda each: -each[1])
    lines = [
        f"{count:,} × {kind} ({examples[kind]}). {REMEDIES.get(kind, '')}".rstrip()
        for kind, count in ranked[:MOST_KINDS]
    ]
    rest = sum(count for _, count in ranked[MOST_KINDS:])
    return [*lines, *([f"{counted(rest, 'error')} of other kinds."] if rest else [])]


class Outage(msgspec.Struct, frozen=True):
    """So many answers that never arrived that the others say nothing about quality."""

    answers: int
    errors: dict[str, int]
    examples: dict[str, str]
    what: str = "answer"
    """Of what there should have been so many."""

    @property
    def text(self) -> str:
        """How many, why, and what to do."""
        first, *rest = self.what.split(" ", 1)
        all_ = " ".join((counted(self.answers, first), *rest))
        lost = f"{sum(self.errors.values()):,} of {all_} never arrived"
        causes = " ".join(error_lines(self.errors, self.examples))
        return (
            f"incomplete: {lost}, so there is no verdict on quality. {causes} "
            "Then run again: what was answered is not asked again."
        )


class Costs(msgspec.Struct, frozen=True):
    """What a set of answers cost. Null where nothing was measured."""

    answers: int
    errors: dict[str, int]
    examples: dict[str, str]
    """For each kind of error, the first case that had it and what happened."""
    latency_p50_ms: float | None
    latency_p95_ms: float | None
    cost_usd: float | None
    tokens: int | None
    transport: dict[str, int] = {}
    """The errors of transport among them: what an engine of ours failed to get, by kind."""

    @property
    def lost(self) -> Outage:
        """The answers that never arrived, for whatever reason but the question itself.

        A timeout may be the question's own doing, unless no question was answered at all.
        """
        nothing_arrived = sum(self.transport.values()) == self.answers
        errors = {kind: count for kind, count in self.transport.items() if kind != TIMEOUT or nothing_arrived}
        return Outage(self.answers, errors, {kind: self.examples[kind] for kind in errors})

    @property
    def error_count(self) -> int:
        """How many answers are errors."""
        return sum(self.errors.values())

    @property
    def spent(self) -> str:
        """Dollars and tokens in words; blank for engines that take neither."""
        if not self.cost_usd and self.tokens is None:
            return ""
        dollars = "unknown" if self.cost_usd is None else number(self.cost_usd, "dollars")
        tokens = f", {counted(self.tokens, 'token')}" if self.tokens is not None else ""
        return f"{dollars}{tokens} for {counted(self.answers, 'answer')}"

    @property
    def measures(self) -> dict[str, float | None]:
        """What `operations` in `gates.yaml` may limit."""
        per_answer = self.cost_usd / self.answers if self.cost_usd is not None and self.answers else None
        return {"latency_p95_ms": self.latency_p95_ms, "cost_usd_per_answer": per_answer}


class CostCounter:
    """Adds up what answers cost, one by one."""

    def __init__(self) -> None:
        self._answers = 0
        self._errors: dict[str, int] = {}
        self._examples: dict[str, str] = {}
        self._transport: dict[str, int] = {}
        self._latencies = array("d")
        self._cost_usd: float | None = None
        self._tokens: int | None = None

    def add(self, answer: Answer, failure: Failure | None) -> None:
        """Count an answer; `failure` says why it has no usable output."""
        self._answers += 1
        if failure is not None:
            kind = failure.kind
            self._errors[kind] = self._errors.get(kind, 0) + 1
            if kind not in self._examples:
                self._examples[kind] = example_of(answer, failure)
            if answer.transport:
                self._transport[kind] = self._transport.get(kind, 0) + 1
        if answer.latency_ms is not None:
            self._latencies.append(answer.latency_ms)
        if answer.cost_usd is not None:
            self._cost_usd = (self._cost_usd or 0.0) + answer.cost_usd
        if (count := answer.token_count) is not None:
            self._tokens = (self._tokens or 0) + count

    def include(
        self, costs: Costs, latencies: Iterable[float | None], dollars: Iterable[float | None]
    ) -> None:
        """Count answers that come next: what was counted of them, and what cannot be had from their sums."""
        self._answers += costs.answers
        for kind, count in costs.errors.items():
            self._errors[kind] = self._errors.get(kind, 0) + count
            self._examples.setdefault(kind, costs.examples[kind])
        for kind, count in costs.transport.items():
            self._transport[kind] = self._transport.get(kind, 0) + count
        self._latencies.extend(each for each in latencies if each is not None)
        for each in dollars:
            if each is not None:
                self._cost_usd = (self._cost_usd or 0.0) + each
        if costs.tokens is not None:
            self._tokens = (self._tokens or 0) + costs.tokens

    @property
    def costs(self) -> Costs:
        """Everything that was counted."""
        p50, p95 = (
            float(np.percentile(self._latencies, percentile)) if self._latencies else None
            for percentile in (50, 95)
        )
        return Costs(
            self._answers,
            self._errors,
            self._examples,
            p50,
            p95,
            self._cost_usd,
            self._tokens,
            self._transport,
        )


def example_of(answer: Answer, failure: Failure) -> str:
    """Which case failed and how, with the beginning of what the engine wrote."""
    raw = "" if answer.error is not None else " ".join((answer.text or "").split())[:LONGEST_RAW]
    return f"{answer.case_id}: {failure.detail}" + (f": {raw}" if raw else "")


def costs_of(answers: Iterable[Answer]) -> Costs:
    """What answers cost."""
    counter = CostCounter()
    for answer in answers:
        counter.add(answer, None if answer.error is None else Failure(answer.error, answer.detail))
    return counter.costs

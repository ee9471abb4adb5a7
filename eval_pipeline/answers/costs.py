"""What answers cost: errors by kind, latency, tokens and dollars."""

from collections.abc import Iterable

import msgspec
import numpy as np

from eval_pipeline.answers.record import Answer

REMEDIES = {
    "rate_limited": "Lower the engine's limits, or ask for a higher quota.",
    "timeout": "Raise the engine's timeouts, or ask fewer at once.",
    "connection": "Check the engine's URL and whether the endpoint is up.",
    "server": "The endpoint fails; try again later.",
    "rejected": "Check the key, the model's name and the engine's options.",
    "refused": "The model would not answer; look at the case and the prompt.",
    "truncated": "Raise max_tokens, or ask for less.",
    "malformed": "The endpoint does not speak the chat completions protocol.",
    "blank": "The model answered with nothing; look at the case and the prompt.",
    "too_large": "The answer is absurdly long; look at the prompt.",
    "budget": "Run again to go on, or raise the budget.",
    "missing": "The recorded file has no such output.",
    "engine": "The engine raised an error; see the example.",
}


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

    @property
    def error_count(self) -> int:
        """How many answers are errors."""
        return sum(self.errors.values())

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
        self._latencies: list[float] = []
        self._cost_usd: float | None = None
        self._tokens: int | None = None

    def add(self, answer: Answer) -> None:
        """Count an answer."""
        self._answers += 1
        if answer.error is not None:
            self._errors[answer.error] = self._errors.get(answer.error, 0) + 1
            self._examples.setdefault(answer.error, f"{answer.case_id}: {answer.detail}")
        if answer.latency_ms is not None:
            self._latencies.append(answer.latency_ms)
        if answer.cost_usd is not None:
            self._cost_usd = (self._cost_usd or 0.0) + answer.cost_usd
        if answer.tokens is not None:
            count = answer.tokens if isinstance(answer.tokens, int) else sum(answer.tokens.values())
            self._tokens = (self._tokens or 0) + count

    @property
    def costs(self) -> Costs:
        """Everything that was counted."""
        p50, p95 = (
            float(np.percentile(self._latencies, percentile)) if self._latencies else None
            for percentile in (50, 95)
        )
        return Costs(self._answers, self._errors, self._examples, p50, p95, self._cost_usd, self._tokens)


def costs_of(answers: Iterable[Answer]) -> Costs:
    """What answers cost."""
    counter = CostCounter()
    for answer in answers:
        counter.add(answer)
    return counter.costs

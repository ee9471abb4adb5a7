"""What asking was like: errors by kind, latency, tokens and cost of a run's answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from eval_pipeline.answers.recorded import Answer

REMEDIES = {
    "rate_limited": "Lower the engine's limits, or ask for a higher quota.",
    "timeout": "Raise the engine's timeouts, or ask fewer at once.",
    "connection": "Check the engine's URL and whether the endpoint is up.",
    "server": "The endpoint fails; try again later.",
    "rejected": "Check the key, the model's name and the engine's options.",
    "refused": "The model would not answer; look at the case and the prompt.",
    "truncated": "Raise max_tokens, or ask for less.",
    "malformed": "The endpoint does not speak the chat completions protocol.",
    "too_large": "The answer is absurdly long; look at the prompt.",
    "budget": "Run again to go on, or raise the budget.",
    "missing": "The recorded file has no such output.",
    "engine": "The engine raised an error; see the example.",
}


@dataclass
class Operations:
    """Additive facts about answers."""

    answers: int = 0
    errors: dict[str, int] = field(default_factory=dict)
    examples: dict[str, str] = field(default_factory=dict)
    """For each kind of error, the first case that had it and what happened."""
    latencies: list[float] = field(default_factory=list)
    cost_usd: float | None = None
    tokens: int | None = None

    @classmethod
    def of(cls, answers: Iterable[Answer]) -> Operations:
        """The operations behind answers."""
        found = cls()
        for answer in answers:
            found._add(answer)
        return found

    def _add(self, answer: Answer) -> None:
        self.answers += 1
        if answer.error is not None:
            self.errors[answer.error] = self.errors.get(answer.error, 0) + 1
            self.examples.setdefault(answer.error, f"{answer.case_id}: {answer.detail}")
        if answer.latency_ms is not None:
            self.latencies.append(answer.latency_ms)
        if answer.cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + answer.cost_usd
        if answer.tokens is not None:
            count = answer.tokens if isinstance(answer.tokens, int) else sum(answer.tokens.values())
            self.tokens = (self.tokens or 0) + count

    @property
    def error_count(self) -> int:
        """How many answers are errors."""
        return sum(self.errors.values())

    def latency(self, percentile: float) -> float | None:
        """A percentile of the latencies, in milliseconds."""
        return float(np.percentile(self.latencies, percentile)) if self.latencies else None

    @property
    def cost_per_answer(self) -> float | None:
        """Dollars per answer."""
        return self.cost_usd / self.answers if self.cost_usd is not None and self.answers else None

    def measures(self) -> dict[str, float | None]:
        """What `operations` in `gates.yaml` may limit."""
        return {"latency_p95_ms": self.latency(95), "cost_usd_per_answer": self.cost_per_answer}

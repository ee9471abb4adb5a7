"""The output contract: what a workflow found, by which concern and method, and what it spent on it."""

from typing import Annotated, Literal, get_args

import msgspec

from eval_pipeline.files import content_hash
from eval_pipeline.metrics.text import normalize
from eval_pipeline.suites.review.cases import Category
from eval_pipeline.suites.review.places import bare_location, bare_quote

MOST_FINDINGS = 1000
Depth = Literal["SYMPTOM", "CAUSE", "STRUCTURE", "ASSUMPTION", "ROOT_CAUSE"]
DEPTHS: tuple[str, ...] = get_args(Depth)
Concern = Annotated[str, msgspec.Meta(pattern="^[ABC][1-9][0-9]?$")]
Tokens = Annotated[int, msgspec.Meta(ge=0, le=2**40)]


class Finding(msgspec.Struct, frozen=True):
    """One thing that a workflow says is wrong."""

    id: str
    concern: Concern
    method: str
    category: Category
    depth: Depth
    text: str
    quote: str | None = None
    location: str | None = None

    @property
    def depth_score(self) -> int:
        """1 for a symptom to 5 for a root cause."""
        return DEPTHS.index(self.depth) + 1

    @property
    def place(self) -> str:
        """What it is about, in one word: quote and location, or the text where it has neither."""
        quote, location = bare_quote(self.quote), bare_location(self.location)
        return content_hash([quote, location, "" if quote or location else normalize(self.text)])

    @property
    def spot(self) -> str:
        """The same in words that people can read."""
        quote, location = bare_quote(self.quote), bare_location(self.location)
        words = quote or ("" if location else normalize(self.text))
        return f"line {location}: {words}" if location else words

    @property
    def key(self) -> str:
        """What identifies it in every trial of a task: its place and its category."""
        return content_hash([self.place, self.category])


class Spent(msgspec.Struct, frozen=True):
    """Tokens that the agents and the workflow around them took."""

    agent: Tokens
    workflow: Tokens = 0


class Findings(msgspec.Struct, frozen=True):
    """The output of a workflow on one task."""

    findings: Annotated[list[Finding], msgspec.Meta(max_length=MOST_FINDINGS)]
    methods_applied: dict[Concern, list[str]] = {}
    """Every method that was used for a concern, whether or not it found anything."""
    tokens: Spent | None = None
    """Where it is missing, what the engine measured counts."""


def distinct(findings: list[Finding]) -> list[Finding]:
    """Findings without repetitions, in an order of their own.

    Of several with one key the shallowest stands for all, so that repeating one with a deeper label
    earns nothing.
    """
    kept: dict[str, Finding] = {}
    for finding in sorted(findings, key=_order):
        kept.setdefault(finding.key, finding)
    return list(kept.values())


def _order(finding: Finding) -> tuple[object, ...]:
    return (
        finding.key,
        finding.depth_score,
        finding.concern,
        normalize(finding.method),
        normalize(finding.text),
        finding.id,
    )

"""What identifies a set of answers."""

import msgspec

from eval_pipeline.answers.trials import TrialRange
from eval_pipeline.files import content_hash


class CaseSample(msgspec.Struct, frozen=True, omit_defaults=True):
    """Some cases of a golden set, drawn by chance: enough for a look, never for a decision."""

    cases: int
    of: int
    """How many cases the golden set has."""
    stratify: str = ""
    """The attribute whose values are drawn from in proportion; blank where all cases are one."""
    seed: int = 0

    @property
    def text(self) -> str:
        """What people read wherever its numbers stand."""
        by = f", by {self.stratify}" if self.stratify else ""
        return f"a sample of {self.cases:,} of {self.of:,} cases{by} (seed {self.seed})"


class OutputsIdentity(msgspec.Struct, frozen=True, omit_defaults=True):
    """What decides which answers there are: change any of it, and the engine is asked again."""

    suite: str
    version: str
    prompt_hash: str
    inputs_hash: str
    engine: str
    model: str
    sample: str
    trials: int
    """How many trials there are."""
    held_out: tuple[str, str] | None = None
    """The attribute and value of the cases that the engine did not learn from; None where it learned from
    none."""
    plan: TrialRange | None = None
    """The range in which evidence decided on the number of trials; None where it was fixed."""
    case_sample: CaseSample | None = None
    """The cases that were asked; None where that is all of them."""

    @property
    def subject(self) -> str:
        """The version, and that only a sample of the cases was asked where that is so."""
        return f"{self.version} on {self.case_sample.text}" if self.case_sample else self.version

    @property
    def id(self) -> str:
        """The identity in one word."""
        return content_hash(self)

"""What identifies a set of answers."""

import msgspec

from eval_pipeline.answers.trials import TrialRange
from eval_pipeline.files import content_hash


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

    @property
    def id(self) -> str:
        """The identity in one word."""
        return content_hash(self)

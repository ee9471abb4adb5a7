"""What every heritage case tells about itself besides its text, and the settings that choose among cases."""

from typing import Annotated, Any, Literal

import msgspec

from eval_pipeline.suite import Case

CustodianType = Literal[
    "G", "L", "A", "M", "O", "R", "C", "U", "B", "E", "S", "F", "I", "X", "P", "H", "D", "N", "T"
]
Split = Literal["train", "dev", "test"]


class Description(msgspec.Struct, frozen=True, kw_only=True):
    """The attributes of a heritage case, all of them texts so that every format can hold them.

    Golden entries inherit from it; what a case does not say is left out of its attributes.
    """

    language: Literal["nl", "en", "de", "fr"] | None = None
    country: Annotated[str, msgspec.Meta(pattern="^[A-Z]{2}$")] | None = None
    custodian_type: CustodianType | None = None
    data_tier: Literal["1", "2", "3", "4"] | None = None
    source_type: Literal["conversation", "web", "csv"] | None = None
    hard: Annotated[str, msgspec.Meta(pattern="^[a-z][a-z0-9_]*$", max_length=40)] | None = None
    """What makes the case hard, as a label of the suite's guidelines; easy cases leave it out."""
    split: Split | None = None

    @property
    def attributes(self) -> dict[str, str]:
        """What is said, by name."""
        said = {name: getattr(self, name) for name in ATTRIBUTES}
        return {name: value for name, value in said.items() if value is not None}


ATTRIBUTES = tuple(each.name for each in msgspec.structs.fields(Description))
GROUPS = ATTRIBUTES
"""By each of them every metric is also shown."""

HELD_OUT = ("split", "test")
"""The embedded engines' word lists and parameters were made with the other cases in view."""


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of a heritage suite: which split is scored; by default every case."""

    split: Literal["all", "train", "dev", "test"] = "all"


def in_split(case: Case[Any, Any], settings: Settings | None) -> bool:
    """Whether a case belongs to the split that is asked for."""
    return settings is None or settings.split in ("all", case.attributes.get("split"))

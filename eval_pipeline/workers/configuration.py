"""`shards:` of a project: whether large golden sets are cut, and where the pieces are worked on."""

from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, ValidatorFunctionWrapHandler, WrapValidator, field_validator

from eval_pipeline.files import Violation
from eval_pipeline.files.models import Model, refusal

NONE = "none"
CASES = 5000
_REMEDY = "Write none, {processes: 4}, or {dask: tcp://host:8786}."
_SCHEMES = ("tcp://", "tls://", "ws://", "wss://", "ucx://")

AtLeastOne = Annotated[int, Field(ge=1)]


class Shards(Model):
    """How a golden set is cut, and who works on the pieces: processes of this machine, or a Dask cluster."""

    processes: AtLeastOne | None = None
    """So many processes of this machine."""
    dask: str | None = None
    """The address of a Dask scheduler, such as tcp://10.0.0.5:8786."""
    cases: AtLeastOne = CASES
    """How many cases a shard has. A golden set that has no more is not cut."""

    @field_validator("dask")
    @classmethod
    def _one_of_them(cls, dask: str | None, info: ValidationInfo) -> str | None:
        if dask is not None and info.data.get("processes") is not None:
            raise refusal(Violation((), "stands beside processes", "Keep one of them."))
        if dask is not None and not dask.startswith(_SCHEMES):
            remedy = "Write the address that the scheduler prints: tcp://host:8786."
            raise refusal(Violation((), f"{dask!r} is not the address of a scheduler", remedy))
        return dask


def _none_or_where(value: Any, other: ValidatorFunctionWrapHandler) -> Shards | None:
    if value is None or value == NONE or isinstance(value, Shards):
        return value if isinstance(value, Shards) else None
    if not isinstance(value, dict):
        raise refusal(Violation((), f"{value!r} says nowhere", _REMEDY))
    given = Shards.model_validate(value)
    if given.processes is None and given.dask is None:
        raise refusal(Violation((), "names neither processes nor a cluster", _REMEDY))
    return given


ShardsSetting = Annotated[
    Shards | Literal["none"] | None,
    WrapValidator(_none_or_where),
]
"""What `shards:` may say; None once it is read, where nothing is cut."""

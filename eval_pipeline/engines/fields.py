"""Fields that several kinds of engines have in `engines.yaml`."""

from typing import Annotated, Any

from pydantic import (
    Field,
    GetPydanticSchema,
    TypeAdapter,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
)

from eval_pipeline.answers import TrialRange
from eval_pipeline.files import Violation
from eval_pipeline.files.models import Model, refusal

Amount = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]
AtLeastOne = Annotated[int, Field(ge=1)]


class Timeouts(Model):
    """How long a call may take, in seconds."""

    connect: Positive = 10.0
    """Until there is a connection."""
    read: Positive = 60.0
    """Between two pieces of an answer, or before the first."""
    total: Positive = 120.0
    """All of it."""


class Prices(Model):
    """Dollars per million tokens."""

    prompt: Amount
    completion: Amount


class Budget(Model):
    """What a run may spend at most; the next run goes on where it stopped."""

    calls: Count | None = None
    tokens: Count | None = None
    dollars: Amount | None = None


class SuiteLimits(Model):
    """How fast one suite may ask, within the limits of the engine."""

    concurrency: AtLeastOne | None = None
    requests_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None


class Range(Model):
    """From so many trials on, another one is asked only where it may settle something."""

    min: AtLeastOne
    """So many trials are asked in any case."""
    max: AtLeastOne
    """So many trials are asked at most."""

    @field_validator("max")
    @classmethod
    def _not_less(cls, most: int, info: ValidationInfo) -> int:
        if most < info.data.get("min", 1):
            raise refusal(Violation((), "is less than min", "Let min be the smaller number."))
        return most


_NUMBER: TypeAdapter[int] = TypeAdapter(Annotated[AtLeastOne, Field(strict=True)])


def _one_or_the_other(value: Any, other: ValidatorFunctionWrapHandler) -> int | TrialRange:
    if isinstance(value, TrialRange):
        return value
    if not isinstance(value, dict):
        return _NUMBER.validate_python(value)
    given = Range.model_validate(value)
    return TrialRange(given.min, given.max)


_WRITTEN = Annotated[AtLeastOne | Range, WrapValidator(_one_or_the_other)]

Trials = Annotated[int | TrialRange, GetPydanticSchema(lambda source, handler: handler(_WRITTEN))]
"""A number of trials, or a range within which evidence decides."""

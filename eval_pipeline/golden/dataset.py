"""`dataset.yaml`: what a golden set is called, when it was made, what it covers. No number rests on it."""

import datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from eval_pipeline.files import Violation, is_there
from eval_pipeline.files.models import Model, read_model, refusal
from eval_pipeline.problems import Problems

DATASET_FILE = "dataset.yaml"
LONGEST = 200

Text = Annotated[str, Field(min_length=1, max_length=LONGEST)]


def _day(value: Any) -> Any:
    """A day, whether or not it is in quotes."""
    if not isinstance(value, str):
        return value
    try:
        return datetime.date.fromisoformat(value)
    except ValueError:
        raise refusal(Violation((), f"{value[:LONGEST]!r} is no day", "Write it as in 2025-12-01.")) from None


class Dataset(Model):
    """What a golden set says about itself."""

    name: Text
    """What it is called, with its version."""
    created_date: Annotated[datetime.date, BeforeValidator(_day)]
    """The day it was made."""
    languages: list[Annotated[str, Field(pattern="^[a-z]{2,3}$")]] = Field(min_length=1)
    """The languages of its texts, as codes."""
    domains: list[Text] = Field(min_length=1)
    """What its texts are about."""
    description: Annotated[str, Field(max_length=1000)] = ""
    """Anything else that somebody who takes it over should know."""

    @property
    def text(self) -> str:
        """All of it in a line."""
        parts = (
            f"{self.name}, {self.created_date.isoformat()}",
            f"languages: {', '.join(self.languages)}",
            f"domains: {', '.join(self.domains)}",
            self.description,
        )
        return "; ".join(filter(None, parts))


def read_dataset(folder: Path, problems: Problems) -> Dataset | None:
    """What the golden set in a folder says about itself; None where it says nothing, or has problems."""
    file = folder / DATASET_FILE
    return read_model(file, Dataset, problems) if is_there(file) else None

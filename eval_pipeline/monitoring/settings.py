"""`production.yaml`: where events come from, what is kept of them, and what is aimed at."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any

from pydantic import Field, ValidationInfo, field_validator

from eval_pipeline.files import Violation, is_there
from eval_pipeline.files.models import Model, field_at, read_model, refusal
from eval_pipeline.monitoring.strata import Sampling
from eval_pipeline.problems import BadInput, Problems, without_problems
from eval_pipeline.project import Project

FILE = "production.yaml"

Seconds = Annotated[float, Field(ge=0, le=86_400)]
Days = Annotated[int, Field(ge=1, le=366)]


class Target(Model):
    """What a figure should be, over a window of days."""

    above: float | None = None
    """It should be greater than this."""
    below: float | None = None
    """It should be less than this."""


class Scale(Model):
    """Between which values people rate."""

    lowest: float = 1.0
    highest: float = Field(default=5.0, validate_default=True)

    @field_validator("highest")
    @classmethod
    def _above_lowest(cls, highest: float, info: ValidationInfo) -> float:
        if highest <= info.data.get("lowest", -math.inf):
            raise refusal(Violation((), "is not above lowest", "Let lowest be the smaller number."))
        return highest


USUAL_FEEDBACK = ("user_feedback", "user-feedback", "feedback", "thumbs", "rating")


class SuiteProduction(Model):
    """What holds for the events of one suite."""

    raw_text: bool = False
    """Keep texts as they are, unmasked. Think twice: reports and pages for raters show them."""
    mask_names: bool = False
    """Mask names as well, by what stands before them: best effort."""
    targets: dict[str, Target] = Field(default_factory=dict)
    """Figures by name, each with what it should be."""
    quality: dict[str, Target] = Field(default_factory=dict)
    """Measures of sampled answers by name, each with what it should be."""
    alerts: dict[str, float] = Field(default_factory=dict)
    """Limits of alerts by name, where others than the usual ones hold."""


class Production(Model):
    """Where events come from, what is kept of them, and what is aimed at."""

    drop: str = "production/drop"
    """The folder whose files are taken: a path in the project, or any URL that fsspec knows."""
    settled_seconds: Seconds = 30.0
    """How long a file must not have changed before it is taken; the last one of a collector still grows."""
    default_suite: str | None = None
    """The suite of events that name none, and whose prompt belongs to none."""
    closes_after_days: Days = 7
    """After so many days feedback no longer changes a day's figures."""
    window_days: Days = 1
    """Targets are for the figures of so many days together, the last one included."""
    sampling: Sampling = Field(default_factory=Sampling)
    """How many requests are drawn to be looked at closely."""
    feedback: dict[str, Scale] = Field(default_factory=lambda: dict.fromkeys(USUAL_FEEDBACK, Scale()))
    """The names of scores that are people's feedback, each with its scale; other scores are left aside."""
    suites: dict[str, SuiteProduction] = Field(default_factory=dict)
    """What holds for single suites."""

    def of(self, suite: str) -> SuiteProduction:
        """What holds for a suite."""
        return self.suites.get(suite, SuiteProduction())

    def folder(self, project: Project) -> str:
        """The drop folder as fsspec takes it."""
        return self.drop if "://" in self.drop else str(project.root / self.drop)


def read_production(project: Project) -> Production:
    """What a project says of production; the defaults where there is no such file."""
    return without_problems(lambda problems: check_production(project, problems))


def check_production(project: Project, problems: Problems) -> Production | None:
    """The same, or None where the file has problems."""
    path = project.root / FILE
    check = partial(_unknown_names, project)
    return read_model(path, Production, problems, check) if is_there(path) else Production()


def _unknown_names(project: Project, file: Any) -> Iterator[Violation]:
    """Figures, measures and alerts that there are not."""
    from eval_pipeline.monitoring.alerts import ALERT_NAMES
    from eval_pipeline.monitoring.figures import FIGURES

    suites = field_at(file, "suites")
    for suite, content in suites.items() if isinstance(suites, dict) else ():
        quality = field_at(content, "quality")
        kinds = (
            ("targets", "a figure", "Figures", FIGURES),
            ("alerts", "an alert", "Alerts", ALERT_NAMES),
            ("quality", "a measure of this suite", "Measures", _measures(project, suite) if quality else ()),
        )
        for field, what, several, known in kinds:
            given = field_at(content, field)
            for name in given if isinstance(given, dict) else ():
                if name not in known:
                    remedy = f"{several}: {', '.join(known)}."
                    yield Violation(("suites", suite, field, name), f"is not {what}", remedy)


def _measures(project: Project, suite: str) -> tuple[str, ...]:
    """What is measured of a suite's answers; nothing of one that is not there."""
    from eval_pipeline.loading import find_suite
    from eval_pipeline.monitoring.measuring import ACCEPTED, every_measure

    try:
        return (*every_measure(find_suite(project, suite)), ACCEPTED)
    except BadInput:
        return ()

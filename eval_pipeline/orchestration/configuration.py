"""What a person may choose for an evaluation, as Dagster's launchpad offers it."""

from collections.abc import Mapping
from typing import Any

import dagster as dg
from pydantic import Field

from eval_pipeline.engines import engines_for
from eval_pipeline.orchestration.places import Place
from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline.revisions import HEAD
from eval_pipeline.stages import DEFAULT_SAMPLE

AS_CONFIGURED = "as_configured"
"""What the launchpad shows where nothing is chosen; Dagster would leave out what has no value."""


def evaluation_schema(place: Place, project: Project) -> dict[str, dg.Field]:
    """How a version is evaluated; every field has a sensible default."""
    try:
        engines: Mapping[str, str] = engines_for(project, place.suite)
    except BadInput:  # every run will say so
        engines = {}
    own = f"{AS_CONFIGURED}: the prompt's own, else the default of {project.engines_file.name}"
    choices = [own, *(f"{name}: {text}" if text else name for name, text in engines.items())]
    values = [dg.EnumValue(name) for name in dict.fromkeys((AS_CONFIGURED, *engines))]
    kind: Any = dg.Enum(f"{place.name}_engines", values) if engines else str
    return {
        "engine": dg.Field(
            kind,
            default_value=place.engine or AS_CONFIGURED,
            description="Who answers. " + " | ".join(choices),
        ),
        "trials": dg.Field(
            dg.Any,
            default_value=AS_CONFIGURED,
            description="How often every case is asked: a number from 1 on, or a range such as "
            f"{{min: 1, max: 5}}, within which evidence decides. {AS_CONFIGURED}: the engine's own.",
        ),
        "sample": dg.Field(
            str,
            default_value=DEFAULT_SAMPLE,
            description="Answers of metered engines are reused within a sample; a new label asks afresh.",
        ),
        "cases": dg.Field(
            dg.Noneable(int),
            default_value=None,
            description="So many cases, drawn by chance, for a look; null: all of them.",
        ),
        "stratify": dg.Field(
            str,
            default_value=AS_CONFIGURED,
            description="An attribute of the cases whose values are drawn from in proportion. "
            f"{AS_CONFIGURED}: by chance alone.",
        ),
        "seed": dg.Field(int, default_value=0, description="What the draw of cases starts from."),
    }


def chosen(context: dg.AssetExecutionContext) -> dict[str, Any]:
    """What was chosen for this evaluation; None where nothing was."""
    given: Mapping[str, Any] = context.op_execution_context.op_config
    open_ = [name for name in ("engine", "trials", "stratify") if given[name] == AS_CONFIGURED]
    return {**given, **dict.fromkeys(open_)}


class ComparisonConfig(dg.Config):
    """What an evaluation is compared with besides the baseline."""

    since: str = Field(default=HEAD, description="A revision of Git: what was in use there is replaced.")

"""Asking Dagster for an evaluation: one run of a suite's chain on one prompt version."""

from collections.abc import Iterable

import dagster as dg

from eval_pipeline import stages
from eval_pipeline.orchestration import Place

EVALUATION_TAG = "eval_pipeline/evaluation"
"""Runs with the same value wait for each other (see `dagster.yaml`)."""
CAUSE_TAG = "eval_pipeline/cause"


def evaluation_request(
    place: Place, version: str, run_key: str, cause: str, sample: str = stages.DEFAULT_SAMPLE
) -> dg.RunRequest:
    """A run of the whole chain; the same key is run once, however often it is asked for."""
    return dg.RunRequest(
        run_key=run_key,
        job_name=place.job,
        partition_key=version,
        run_config={"ops": {place.step("model_outputs"): {"config": {"sample": sample}}}},
        tags={EVALUATION_TAG: f"{place.name}/{version}", CAUSE_TAG: cause},
    )


def not_loaded(versions: Iterable[str]) -> str:
    """Why versions cannot be evaluated whose files came after the code was loaded, and what to do."""
    return f"{', '.join(versions)}: no partition yet. Reload the code location."


def register(instance: dg.DagsterInstance, place: Place, versions: list[str]) -> None:
    """Make versions partitions, where they are none yet and do not follow from files."""
    if not isinstance(place.partitions, dg.DynamicPartitionsDefinition):
        return
    name = str(place.partitions.name)
    known = set(instance.get_dynamic_partitions(name))
    if missing := [version for version in versions if version not in known]:
        instance.add_dynamic_partitions(name, missing)

"""Asking Dagster for an evaluation: one run of a suite's chain on one prompt version."""

import dagster as dg

from eval_pipeline import stages
from eval_pipeline.orchestration import evaluation_job, partitions_of
from eval_pipeline.suite import Suite

EVALUATION_TAG = "eval_pipeline/evaluation"
"""Runs with the same value wait for each other (see `dagster.yaml`)."""
CAUSE_TAG = "eval_pipeline/cause"


def evaluation_request(
    suite: Suite, version: str, run_key: str, cause: str, sample: str = stages.DEFAULT_SAMPLE
) -> dg.RunRequest:
    """A run of the whole chain; the same key is run once, however often it is asked for."""
    return dg.RunRequest(
        run_key=run_key,
        job_name=evaluation_job(suite.name),
        partition_key=version,
        run_config={"ops": {f"{suite.name}__model_outputs": {"config": {"sample": sample}}}},
        tags={EVALUATION_TAG: f"{suite.name}/{version}", CAUSE_TAG: cause},
    )


def register(instance: dg.DagsterInstance, suite: Suite, versions: list[str]) -> None:
    """Make versions partitions, where they are none yet."""
    name = str(partitions_of(suite.name).name)
    known = set(instance.get_dynamic_partitions(name))
    if missing := [version for version in versions if version not in known]:
        instance.add_dynamic_partitions(name, missing)

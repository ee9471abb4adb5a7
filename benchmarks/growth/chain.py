"""What a whole chain in Dagster leaves to be read: events with their metadata, and reports."""

from __future__ import annotations

import dagster as dg

from benchmarks.growth.project import AFTER, SUITE
from eval_pipeline.definitions import build_definitions
from eval_pipeline.orchestration import evaluation_job, partitions_of
from eval_pipeline.project import Project
from eval_pipeline.store import Store

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def left_by_chain(project: Project) -> dict[str, int]:
    """Evaluate the later version, which asks the one before as well, and say how many bytes are left."""
    with dg.DagsterInstance.local_temp(str(project.state)) as instance:
        instance.add_dynamic_partitions(str(partitions_of(SUITE).name), [AFTER])
        job = build_definitions(project).resolve_job_def(evaluation_job(SUITE))
        result = job.execute_in_process(instance=instance, partition_key=AFTER, run_config=QUIET)
        events = [dg.serialize_value(each) for each in instance.all_logs(result.run_id)]
    store = Store(project.state)
    texts = {"report": store.report(SUITE, AFTER), "page": store.page(SUITE, AFTER)}
    return {
        "events": sum(map(len, events)),
        **{name: len((text or "").encode()) for name, text in texts.items()},
    }

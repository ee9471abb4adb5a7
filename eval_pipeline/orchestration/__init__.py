"""Dagster: assets, checks, resources, and launching runs."""

from eval_pipeline.orchestration.assets import build_chain, build_job, evaluation_job
from eval_pipeline.orchestration.broken import build_broken, build_broken_job
from eval_pipeline.orchestration.checks import ACTIVE_PASSES, COMPLETE, partitions_of
from eval_pipeline.orchestration.heritage_summary import build_summary
from eval_pipeline.orchestration.pruning import build_prune_job
from eval_pipeline.orchestration.resources import build_resources

# fmt: off
__all__ = [
    "ACTIVE_PASSES", "COMPLETE", "build_broken", "build_broken_job", "build_chain", "build_job",
    "build_prune_job", "build_resources", "build_summary", "evaluation_job", "partitions_of",
]
# fmt: on

"""Dagster: assets, checks, resources, and launching runs."""

from eval_pipeline.orchestration.assets import build_chain, build_job
from eval_pipeline.orchestration.briefs import BRIEF_JOB, brief_key, build_brief_job, build_briefs
from eval_pipeline.orchestration.broken import build_broken, build_broken_job
from eval_pipeline.orchestration.checks import ACTIVE_PASSES
from eval_pipeline.orchestration.code_references import declared_at, described, suite_file
from eval_pipeline.orchestration.dashboard import build_pages, refresh_pages
from eval_pipeline.orchestration.heritage_summary import build_summaries, refresh_summary_events
from eval_pipeline.orchestration.places import Place, evaluation_job, partitions_of, suite_of_job
from eval_pipeline.orchestration.production import (
    FIGURES_JOB,
    INGEST_JOB,
    build_production,
    build_production_jobs,
    figures_key,
)
from eval_pipeline.orchestration.pruning import build_prune_job
from eval_pipeline.orchestration.quality import (
    QUALITY_JOB,
    build_quality,
    build_quality_job,
    quality_key,
    sample_key,
)
from eval_pipeline.orchestration.resources import build_resources
from eval_pipeline.orchestration.upstream import Context, Upstream, host_asset
from eval_pipeline.orchestration.upstream_gate import build_gate, gate_name

# fmt: off
__all__ = [
    "ACTIVE_PASSES", "BRIEF_JOB", "FIGURES_JOB", "INGEST_JOB", "QUALITY_JOB", "Context", "Place",
    "Upstream", "brief_key", "build_brief_job", "build_briefs", "build_broken", "build_broken_job",
    "build_chain", "build_gate", "build_job", "build_pages", "build_production", "build_production_jobs",
    "build_prune_job", "build_quality", "build_quality_job", "build_resources", "build_summaries",
    "declared_at", "described", "evaluation_job", "figures_key", "gate_name", "host_asset", "partitions_of",
    "quality_key", "refresh_pages", "refresh_summary_events", "sample_key", "suite_file", "suite_of_job",
]
# fmt: on

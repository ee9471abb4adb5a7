"""Evaluations in somebody else's Dagster project: a factory, a component, and scores for upstream assets."""

from eval_pipeline.hosting.component import EvalSuiteComponent
from eval_pipeline.hosting.factory import Rows, build_eval_assets
from eval_pipeline.hosting.holding import require_gate
from eval_pipeline.hosting.times import Times
from eval_pipeline.stages import RowColumns

__all__ = ["EvalSuiteComponent", "RowColumns", "Rows", "Times", "build_eval_assets", "require_gate"]

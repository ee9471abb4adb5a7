"""Evaluations in somebody else's Dagster project: a factory, a component, and scores for upstream assets."""

from eval_pipeline.hosting.component import EvalSuiteComponent
from eval_pipeline.hosting.factory import Rows, Times, build_eval_assets

__all__ = ["EvalSuiteComponent", "Rows", "Times", "build_eval_assets"]

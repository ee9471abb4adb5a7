"""Regression testing of prompts, models and retrieval pipelines on Dagster."""

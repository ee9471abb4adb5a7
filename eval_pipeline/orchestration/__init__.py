"""Dagster: assets, checks, resources, and launching runs."""

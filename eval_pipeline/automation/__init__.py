"""Runs that start themselves, and alerts that arrive."""

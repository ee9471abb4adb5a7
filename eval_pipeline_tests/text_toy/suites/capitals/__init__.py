"""The capital of a country: the whole reply must be its name."""

from eval_pipeline.suite import Suite

SUITE = Suite(name="capitals", description="The capital of a country.")

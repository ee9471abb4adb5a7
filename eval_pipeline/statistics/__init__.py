"""Intervals, tests, verdicts, stopping rules and slides: pure functions of arrays.

Nothing here knows suites, files or Dagster. Cases are the first axis of every array, trials the second;
metrics come last. SciPy is imported where it is used.
"""

# fmt: off
__all__ = [
    "arrays", "association", "correlation", "estimates", "flips", "looks", "multiplicity", "pairs", "power",
    "sampled", "significance", "slides", "stopping", "values", "variation", "verdicts",
]
# fmt: on

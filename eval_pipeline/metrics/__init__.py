"""Pure functions that suites share. Nothing here knows files, Dagster or pandas."""

# fmt: off
__all__ = [
    "agreement", "matching", "minima", "ranking", "rates", "rouge", "text",
]
# fmt: on

"""Everything that Dagster loads: what lies in `defs`."""

from pathlib import Path

import dagster as dg


@dg.definitions
def defs() -> dg.Definitions:
    """The assets of the pipeline, and the evaluation of its answers."""
    return dg.load_from_defs_folder(path_within_project=Path(__file__).parent)

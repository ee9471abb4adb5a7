"""Everything that Dagster loads: what lies in `defs`."""

from pathlib import Path

import dagster as dg


@dg.definitions
def defs() -> dg.Definitions:
    """The table, and its evaluation."""
    return dg.load_from_defs_folder(path_within_project=Path(__file__).parent)

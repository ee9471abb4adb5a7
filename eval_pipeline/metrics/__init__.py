"""Pure functions that suites share. Nothing here knows files, Dagster or pandas."""

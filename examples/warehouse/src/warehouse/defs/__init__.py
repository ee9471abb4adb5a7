"""What Dagster loads."""

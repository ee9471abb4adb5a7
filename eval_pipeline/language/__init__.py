"""What the project knows about language. Nothing here knows a project's files, or Dagster."""

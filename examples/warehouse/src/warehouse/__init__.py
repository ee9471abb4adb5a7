"""A warehouse with a table of what a model answered."""

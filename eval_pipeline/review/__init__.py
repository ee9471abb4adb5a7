"""The blind protocol: people judge findings in an order that cannot be cheated."""

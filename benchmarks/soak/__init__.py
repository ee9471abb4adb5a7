"""Months of nights with kills, outages and a clock that is moved, and what is left of them."""

"""Two evaluations side by side: what moved, by how much, and whether that is noise."""

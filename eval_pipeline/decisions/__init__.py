"""What the numbers allow: gates, objections, approvals, and what a change touches."""

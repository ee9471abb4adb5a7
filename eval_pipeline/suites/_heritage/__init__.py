"""What the heritage suites share: vocabulary, case attributes, splits, and what makes a golden set good."""

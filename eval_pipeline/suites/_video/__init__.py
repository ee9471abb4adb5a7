"""What the suites on video prompts share: word lists, a classifier, patterns and models of scenes."""

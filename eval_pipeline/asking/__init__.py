"""Asking engines: questions, trials, what it cost, and the judge."""

"""A hostile test of the command line: damaged files, odd file systems, kills, injected text, echoed keys."""

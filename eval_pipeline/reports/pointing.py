"""Where in a case's texts the things stand that its diagnoses name."""

import importlib
import importlib.util

from eval_pipeline import suites
from eval_pipeline.suite import Suite
from eval_pipeline.suite.pointing import Pointing, the_words


def pointing_of(suite: Suite) -> Pointing:
    """How a suite's diagnoses are found in texts: its module `pointing` says so, where it has one.

    The suite itself does not refer to that module, so that it is no part of what scores.
    """
    package = f"{suites.__name__}.{suite.name}"
    if not importlib.util.find_spec(package) or not importlib.util.find_spec(f"{package}.pointing"):
        return the_words
    pointers: Pointing = importlib.import_module(f"{package}.pointing").pointers
    return pointers

"""What optimized prompts show without golden ones: their length, and that something was changed."""

from eval_pipeline.metrics.text import normalize, word_count
from eval_pipeline.suite.production import Measure, ProductionMeasures, Served, Share
from eval_pipeline.suites.optimization.scoring import word_count_compliance


def rewritten(served: Served) -> Share | None:
    """Whether the prompt is another one than what was given."""
    given = served.input.input if served.input else served.source
    return Share(float(normalize(served.output.prompt) != normalize(given)))


def well_sized(served: Served) -> Share:
    """How well its number of words suits."""
    return Share(word_count_compliance(word_count(served.output.prompt)))


MEASURES = ProductionMeasures(
    measures=(
        Measure("rewritten", "Prompts that differ from what was given ÷ prompts.", rewritten),
        Measure("word_count_compliance", "The suite's own measure of length: its mean.", well_sized),
    ),
    words=(10, 400),
    source=lambda given: str(given.input),
)

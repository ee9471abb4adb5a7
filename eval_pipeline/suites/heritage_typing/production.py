"""What types show without golden ones: that they are one of the list."""

from eval_pipeline.metrics.text import normalize
from eval_pipeline.suite.production import Measure, ProductionMeasures, Served, Share
from eval_pipeline.suites.heritage_typing.scoring import LETTERS

UNKNOWN = "U"
_KNOWN = frozenset(normalize(letter) for letter in LETTERS)


def known_type(served: Served) -> Share:
    """Whether the type is one of the list."""
    return Share(float(normalize(served.output.type) in _KNOWN))


def undecided(served: Served) -> Share:
    """Whether the type is that of what is unknown."""
    return Share(float(normalize(served.output.type) == normalize(UNKNOWN)))


MEASURES = ProductionMeasures(
    measures=(
        Measure("known_types", "Answers with a listed type ÷ answers.", known_type),
        Measure("undecided", "Answers of the type “unknown” ÷ answers.", undecided, better="lower"),
    ),
    words=(1, 5),
    source=lambda given: str(given.text),
)

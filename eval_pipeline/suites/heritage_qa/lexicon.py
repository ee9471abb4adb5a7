"""Words of the four languages that claims are read with: function words, months, refusals."""

from eval_pipeline.language.word_lists import line_lists, word_sets
from eval_pipeline.metrics.text import normalize

FUNCTION_WORDS = word_sets(__package__, "data/function_words.txt")
MONTHS = word_sets(__package__, "data/months.txt")
YES = {"nl": "ja", "en": "yes", "de": "ja", "fr": "oui"}
NAMES_AFTER = frozenset(["in", "aus", "nach", "von", "bei"])
"""German writes every noun with a capital; after these words, without an article, it is mostly a name."""

_REFUSALS = line_lists(__package__, "data/refusals.txt")
REFUSALS = {language: texts[0] for language, texts in _REFUSALS.items()}
"""How an answer says that the context does not hold it."""


def _bare(text: str) -> str:
    return normalize(text).strip(" .!\"'«»“”")


_KNOWN_REFUSALS = frozenset(_bare(text) for texts in _REFUSALS.values() for text in texts)


def is_refusal(answer: str) -> bool:
    """Whether an answer says that the context does not hold it, and nothing else."""
    return _bare(answer) in _KNOWN_REFUSALS

"""What a text affirms: the text without what it denies, so that "No dog is in the park" shows no dog."""

import re

from eval_pipeline.language.sentences import split_sentences
from eval_pipeline.language.word_lists import line_lists
from eval_pipeline.metrics.text import normalize

_LISTS = {name: "|".join(lines) for name, lines in line_lists(__package__, "data/negations.txt").items()}
_SENTENCE = re.compile(rf"\b(?:{_LISTS['SENTENCE']})\b")
"""Denies all that its sentence says, before and after it."""
_CLAUSE = rf"(?:^|\b(?:{_LISTS['BEFORE_NO']}) )no\b[^,;.!?—–]*"
"""`No dog is in the park`, `there is no dog in the park`: up to the end of the clause."""
_PHRASE = rf"(?:\b(?:{_LISTS['PHRASE']})|n['’]t)\b(?! only\b)(?:(?! (?:{_LISTS['ENDS']})\b)[^,;.!?—–])*"
"""`without a leash through the park`, `not a cat but a dog`: up to what begins another phrase."""
_ALTERNATIVES = r"(?:,[^,;.!?—–]{1,60}){0,20},? (?:or|nor)\b[^,;.!?—–]*"
_IN_CLAUSE, _IN_PHRASE = (re.compile(f"(?:{each})(?:{_ALTERNATIVES})?") for each in (_CLAUSE, _PHRASE))


def affirmed(text: str) -> str:
    """A normalized text without the stretches that it denies; a full stop stands in their place."""
    sentences = (each for each in map(normalize, split_sentences(text)) if not _SENTENCE.search(each))
    return " ".join(_IN_PHRASE.sub(" . ", _IN_CLAUSE.sub(" . ", sentence)) for sentence in sentences)

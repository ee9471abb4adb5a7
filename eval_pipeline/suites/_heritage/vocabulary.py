"""The words of the heritage domain, as data: entity types, custodian types and their hierarchy."""

from eval_pipeline.language.word_lists import line_lists

LANGUAGES = ("nl", "en", "de", "fr")

ENTITY_TYPES = {name: text for name, (text,) in line_lists(__package__, "data/entity_types.txt").items()}
_FOLDED_TYPES = {name.casefold(): name for name in ENTITY_TYPES}
CUSTODIAN_TYPES = {
    name: text for name, (text,) in line_lists(__package__, "data/custodian_types.txt").items()
}
"""The 19 letters of GLAMORCUBESFIXPHDNT."""

CATEGORIES = {
    "CULTURAL": "GLAM",
    "INSTITUTIONAL": "ORE",
    "COMMUNITY": "SIN",
    "SPECIALIZED": "BHTF",
    "DIGITAL": "D",
    "PRIVATE": "CP",
    "UNKNOWN": "UX",
}

_CATEGORY_OF = {letter: category for category, letters in CATEGORIES.items() for letter in letters}


def category_of(letter: str) -> str | None:
    """The category of a custodian type; none for what is no custodian type, which so never equals `U`."""
    return _CATEGORY_OF.get(letter)


def entity_type(name: str) -> str:
    """An entity type as it is listed, whatever its case; any other name as it is given."""
    return _FOLDED_TYPES.get(name.casefold(), name)

"""The words of the heritage domain, as data: entity types, custodian types and their hierarchy."""

from __future__ import annotations

LANGUAGES = ("nl", "en", "de", "fr")

ENTITY_TYPES = {
    "GRP.HER.MUS": "a museum or gallery, by name",
    "GRP.HER.ARC": "an archive, by name",
    "GRP.HER.LIB": "a library, by name",
    "GRP.HER.SOC": "a heritage or historical society, by name",
    "TOP": "a place: town, region, country, or the adjective made of it",
    "TMP": "a point or span of time: year, date, century, period",
    "IDENTIFIER": "a code that identifies an institution or record, such as an ISIL code",
}

CUSTODIAN_TYPES = {
    "G": "gallery",
    "L": "library",
    "A": "archive",
    "M": "museum",
    "O": "official institution",
    "R": "research centre",
    "C": "corporation",
    "U": "unknown",
    "B": "botanical garden or zoo",
    "E": "education provider",
    "S": "collecting society",
    "F": "feature in the landscape, such as a monument",
    "I": "intangible heritage group",
    "X": "mixed: several types in one institution",
    "P": "personal collection",
    "H": "holy site",
    "D": "digital platform",
    "N": "non-governmental organisation",
    "T": "taste and smell heritage",
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

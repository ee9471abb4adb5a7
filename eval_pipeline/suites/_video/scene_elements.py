"""What a video prompt shows: its subjects, actions, environment, camera and lighting.

The grammatical reading of a prompt gives noun phrases and verbs; word lists say which of them are places,
light, camera work or times. What stands where a subject stands and is none of those is a subject.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from eval_pipeline.language.word_lists import word_sets
from eval_pipeline.suites._video.cinematography import CAMERA_TERMS, camera_terms
from eval_pipeline.suites._video.syntax import Reading, Token, read
from eval_pipeline.suites._video.words import Tag

LONGEST_TEXT = 20_000
"""Characters of a prompt that are read."""

_LISTS = word_sets(__package__, "data/scene_elements.txt")
PLACES = _LISTS["PLACES"]
SURFACES = _LISTS["SURFACES"]
PLACE_PREPOSITIONS = _LISTS["PLACE_PREPOSITIONS"]
LIGHT_WORDS = _LISTS["LIGHT_WORDS"]
TIMES = _LISTS["TIMES"]
CAMERA_WORDS = _LISTS["CAMERA_WORDS"]
STYLE_WORDS = _LISTS["STYLE_WORDS"]
WEARS = _LISTS["WEARS"]
BODY = _LISTS["BODY"]
SPATIAL = _LISTS["SPATIAL"]
CAMERA_VERBS = _LISTS["CAMERA_VERBS"]
NOT_ACTIONS = _LISTS["NOT_ACTIONS"]
MODIFYING = _LISTS["MODIFYING"]
FRAMINGS = _LISTS["FRAMINGS"]
PERSONS = _LISTS["PERSONS"]
NOT_SUBJECTS = CAMERA_WORDS | STYLE_WORDS | TIMES | BODY | WEARS
LIGHT_PHRASES = ("golden hour", "blue hour", "magic hour", "god rays", "high key", "low key")
NOUNS = (Tag.SINGULAR, Tag.PLURAL)
INSIDE = (Tag.DETERMINER, Tag.NUMBER, Tag.ADJECTIVE, Tag.ADVERB, Tag.PARTICIPLE, Tag.GERUND, *NOUNS)
DESCRIBED = (*NOUNS, Tag.ADJECTIVE, Tag.NUMBER, Tag.PARTICIPLE, Tag.GERUND)
VERBS = (Tag.BASE, Tag.THIRD, Tag.PAST, Tag.GERUND)
_LINE_INSIDE = re.compile(r"(?<=[^\s.!?:;])[^\S\n]*\n[^\S\n]*(?=[a-z])")
"""A line break inside a sentence: what follows goes on in lower case."""


class SceneElements(NamedTuple):
    """What a prompt shows, each as it stands there, in order."""

    subjects: tuple[str, ...]
    actions: tuple[str, ...]
    environments: tuple[str, ...]
    cameras: tuple[str, ...]
    lights: tuple[str, ...]

    def present(self) -> dict[str, bool]:
        """Which of the elements a prompt has."""
        return {name: bool(each) for name, each in zip(ELEMENTS, self, strict=True)}

    @property
    def core(self) -> tuple[str, ...]:
        """What a prompt is about: its subjects by name, or the place where nothing else is shown."""
        named = tuple(each for each in self.subjects if each.casefold() not in PERSONS)
        return named or ((self.environments[:1]) if not self.subjects else ())


ELEMENTS = ("subject", "action", "environment", "camera", "lighting")


class NounPhrase(NamedTuple):
    """A noun phrase: its nouns, its head, and what stands around it."""

    text: str
    head: str
    before: str
    """The word before it, lower case; a mark or nothing at the start."""
    first: int
    end: int


def find_elements(text: str) -> SceneElements:
    """The elements of a prompt."""
    text = _LINE_INSIDE.sub(" ", text[:LONGEST_TEXT])
    reading = read(text)
    phrases = list(_noun_phrases(reading))
    lowered = [token.text.casefold() for token in reading.tokens]
    return SceneElements(
        _subjects(reading, phrases, lowered),
        _actions(reading, lowered),
        tuple(phrase.text for phrase in phrases if _is_environment(phrase)),
        tuple(camera_terms(text)) or tuple(word for word in lowered if word in ("camera", "lens")),
        _lights(text, lowered),
    )


def _noun_phrases(reading: Reading) -> Iterator[NounPhrase]:
    """Runs of words up to their last noun; a gerund after a noun is a verb, not part of the phrase."""
    tokens, tags = reading.tokens, reading.tags
    index = 0
    while index < len(tokens):
        if tags[index] not in INSIDE:
            index += 1
            continue
        start = index
        while index < len(tokens) and _continues(tags, start, index):
            index += 1
        nouns = [place for place in range(start, index) if tags[place] in NOUNS]
        if nouns:
            yield _phrase(tokens, tags, start, nouns)
        index = max(index, start + 1)


def _continues(tags: Sequence[Tag | None], start: int, index: int) -> bool:
    tag = tags[index]
    if tag not in INSIDE:
        return False
    if index == start:
        return True
    after_noun = tags[index - 1] in NOUNS
    if tag in (Tag.DETERMINER, Tag.ADVERB, Tag.GERUND, Tag.PARTICIPLE, Tag.ADJECTIVE):
        return not after_noun
    return True


def _phrase(
    tokens: Sequence[Token], tags: Sequence[Tag | None], start: int, nouns: Sequence[int]
) -> NounPhrase:
    first = last = nouns[-1]
    while first - 1 >= start and tags[first - 1] in DESCRIBED:
        first -= 1
    return NounPhrase(
        " ".join(token.text for token in tokens[first : last + 1]),
        tokens[last].text.casefold(),
        tokens[start - 1].text.casefold() if start else "",
        start,
        last + 1,
    )


def _is_environment(phrase: NounPhrase) -> bool:
    if phrase.head in PLACES:
        return (phrase.before, phrase.head) != ("of", "field")
    if phrase.head in SURFACES:
        return phrase.before in PLACE_PREPOSITIONS
    if phrase.before in SPATIAL and phrase.head not in BODY | WEARS | LIGHT_WORDS | TIMES | CAMERA_WORDS:
        return True
    return phrase.before in PLACE_PREPOSITIONS and any(
        part in PLACES for word in phrase.text.casefold().split() for part in word.split("-")
    )


def _is_thing(phrase: NounPhrase) -> bool:
    """Whether a phrase can be who or what a video is about."""
    words = set(phrase.text.casefold().split())
    if (phrase.before, phrase.head) == ("of", "field"):
        return False  # depth of field
    if phrase.text.casefold() in CAMERA_TERMS or phrase.head in NOT_SUBJECTS:
        return False
    return not (phrase.head[:1].isdigit() or words & (LIGHT_WORDS | {"camera"}))


def _subjects(reading: Reading, phrases: Sequence[NounPhrase], lowered: Sequence[str]) -> tuple[str, ...]:
    """Things that act, that a camera shows, that open a part of the text, or that "and" joins to one."""
    results: list[NounPhrase] = []
    previous: NounPhrase | None = None
    end = -1
    for phrase in phrases:
        # "A skydiver in an orange suit tumbles": what acts is not the suit.
        modifies = previous is not None and _is_thing(previous) and phrase.before in MODIFYING
        belongs = modifies and phrase.first - end == 1
        actor = previous if belongs and previous is not None else phrase
        if _is_subject(actor) and (
            _acts(reading, phrase)
            or (actor is phrase and phrase.before in ("and", "or") and previous in results)
            or (actor is phrase and (_is_shown(phrase, previous) or _opens(reading, phrase, lowered)))
        ):
            results.append(actor)
        if not belongs:
            previous = phrase
        end = phrase.end
    pronouns = [
        word
        for word, tag in zip(lowered, reading.tags, strict=True)
        if tag is Tag.SUBJECT and word in PERSONS
    ]
    return tuple(dict.fromkeys([*(phrase.text for phrase in results), *pronouns]))


def _is_subject(phrase: NounPhrase) -> bool:
    return _is_thing(phrase) and not _is_environment(phrase)


def _acts(reading: Reading, phrase: NounPhrase) -> bool:
    """Whether a verb follows, be it after an adverb."""
    after = phrase.end
    while after < len(reading.tags) and reading.tags[after] is Tag.ADVERB:
        after += 1
    return after < len(reading.tags) and (reading.tags[after] in VERBS or reading.tags[after] is Tag.BE)


def _is_shown(phrase: NounPhrase, previous: NounPhrase | None) -> bool:
    """Whether a phrase is what a shot is of."""
    if previous is None:
        return False
    if phrase.before == "of":
        return previous.head in CAMERA_WORDS | STYLE_WORDS | BODY
    return phrase.before in ("on", "behind", "beside", "following", "to") and previous.head in CAMERA_WORDS


def _opens(reading: Reading, phrase: NounPhrase, lowered: Sequence[str]) -> bool:
    """Whether a phrase opens the text or a clause, with nothing but camera work and light before it."""
    if phrase.before in PLACE_PREPOSITIONS:
        return False
    if phrase.first == 0 or reading.tags[phrase.first - 1] is Tag.SUBORDINATOR:
        return True
    if reading.tags[phrase.first - 1] is not None:
        return False
    return all(
        word in CAMERA_WORDS | LIGHT_WORDS or not word[:1].isalpha() or "-" in word or word in FRAMINGS
        for word in lowered[: phrase.first]
    )


def _actions(reading: Reading, lowered: Sequence[str]) -> tuple[str, ...]:
    """Verbs that something does; what the camera does is none."""
    results = []
    for index, (word, tag) in enumerate(zip(lowered, reading.tags, strict=True)):
        if tag not in VERBS or word in NOT_ACTIONS or word in CAMERA_WORDS:
            continue
        before = lowered[max(0, index - 2) : index]
        if word in CAMERA_VERBS and (
            index == 0 or "camera" in before or "shot" in before or not before[-1][0].isalnum()
        ):
            continue
        if tag is Tag.BASE and index == 0:
            continue  # an instruction to the camera: "Pan across", "Show"
        results.append(word)
    return tuple(dict.fromkeys(results))


def _lights(text: str, lowered: Sequence[str]) -> tuple[str, ...]:
    spaced = text.casefold().replace("-", " ")
    phrases = [phrase for phrase in LIGHT_PHRASES if phrase in spaced]
    parts = [part for word in lowered for part in (word, *word.split("-"))]
    return tuple(dict.fromkeys([*phrases, *(word for word in parts if word in LIGHT_WORDS)]))

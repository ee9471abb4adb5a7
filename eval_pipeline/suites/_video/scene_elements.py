"""What a video prompt shows: its subjects, actions, environment, camera and lighting.

The grammatical reading of a prompt gives noun phrases and verbs; word lists say which of them are places,
light, camera work or times. What stands where a subject stands and is none of those is a subject.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from eval_pipeline.suites._video.cinematography import CAMERA_TERMS, camera_terms
from eval_pipeline.suites._video.syntax import Reading, Token, read
from eval_pipeline.suites._video.words import Tag

LONGEST_TEXT = 20_000
"""Characters of a prompt that are read."""


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


PLACES = _listed(
    """
    airfield airport aisle alley alleyway apartment arcade arena attic auditorium backstreet backyard
    bakery balcony bar barn basement bathhouse battlefield bay bazaar beach bedroom boardwalk boulevard
    bridge cabin cafe café canal canyon casino castle cathedral cave cavern cellar cemetery chapel church
    city cityscape classroom clearing cliff club coast coastline cockpit corridor cottage countryside
    courtyard cove crater creek crossroads dam deck desert diner district dock dockyard dune dunes
    environment estuary factory farm farmhouse farmland field fields fjord forest fort fountain gallery
    garage garden gardens glacier gorge grassland graveyard greenhouse grove gym hall hallway hangar
    harbor harbour highlands highway hill hills hillside hilltop horizon hospital hotel house interior
    island jungle junkyard kitchen lab laboratory lagoon lake lakeshore landscape lane library lighthouse
    lobby loft mall mansion market marketplace marsh meadow meadows metropolis mine monastery moor
    moorland mountain mountains mountainside museum neighborhood neighbourhood newsroom oasis observatory
    ocean office orbit orchard outback palace park pasture path pathway pavement pier plain plains planet
    planetarium plateau plaza pond pool porch port prairie promenade quarry quay rainforest ranch ravine
    reef restaurant ridge rink river riverbank riverside road roof rooftop rooftops room ruins runway
    savanna savannah school sea seabed seafloor seaside shop shore shoreline shrine sidewalk sky skyline
    space spaceport square stable stadium stage staircase stall station steppe store street streets studio
    suburb subway summit swamp taproom teahouse temple terminal terrace theater theatre tower town track
    trail trench tundra tunnel tunnels underground university valley viaduct village vineyard volcano
    warehouse wasteland waterfall waterfront wetland wilderness woodland woods workshop yard zoo
    """
)
SURFACES = _listed(
    """
    asphalt clouds cobblestones fog grass ice lawn leaves mist mud rain rubble sand snow storm water waves
    """
)
"""What stands for a place after "through", "across", "on": across green grass."""
PLACE_PREPOSITIONS = _listed(
    """
    above across against along alongside amid among around at atop behind below beneath beside between
    beyond by down from in inside into near off on onto outside over past through throughout toward
    towards under underneath up upon within
    """
)
LIGHT_WORDS = _listed(
    """
    backlight backlighting backlit beams candlelight candlelit chiaroscuro dappled daylight firelight
    floodlights glare gleam glow glowing glows headlights high-key highlights illuminated illumination
    lamplight lamplit lantern-light light lighting lights lit low-key moonlight moonlit neon overcast rays
    shade shadow shadows shimmer silhouette silhouetted skylight spotlight spotlights starlight
    streetlight streetlights sun sunbeam sunbeams sunlight sunlit sunshine torchlight twilight
    """
)
LIGHT_PHRASES = ("golden hour", "blue hour", "magic hour", "god rays", "high key", "low key")
TIMES = _listed(
    """
    afternoon autumn century dawn day daytime dusk era evening hour midday midnight morning night
    nighttime noon season spring summer sunrise sunset today tonight weekend winter
    """
)
CAMERA_WORDS = _listed(
    """
    anamorphic angle angles aspect background blur bokeh camera close-up closeup composition crane-shot
    cut cutaway depth dolly drone-shot fisheye flare focus footage foreground fps frame framing gimbal
    grain handheld lens lenses montage motion orbit pan perspective point-of-view pov pull-back push-in
    ratio resolution shot shots steadicam take telephoto time-lapse timelapse tracking tripod view zoom
    """
)
STYLE_WORDS = _listed(
    """
    aesthetic ambiance ambience animation anime atmosphere audio cinematic clip color colors colour
    colours contrast detail details documentary feel film footage format grade grading look minutes mood
    movie music noir palette portrait prompt quality render scene score seconds sound sounds soundtrack
    specs style texture textures tone video
    """
)
WEARS = _listed(
    """
    apron armor armour boots cloak coat dress gown hat hoodie jacket jeans jersey robe scarf shirt suit
    uniform
    """
)
BODY = _listed(
    """
    arm arms back beard breath cheeks ears expression eye eyes face feet finger fingers forearms fur hair
    hand hands head knees legs lips mane mouth neck paws shoulder shoulders skin smile tail tears tongue
    voice wings
    """
)
SPATIAL = _listed("inside outside atop amid throughout across along aboard")
"""Prepositions after which nearly anything is a place."""
CAMERA_VERBS = _listed(
    """
    circles cranes cuts cutting dollies following follows glides orbiting orbits panning pans pulls pushes
    tilting tilts tracking tracks zooming zooms
    """
)
NOT_ACTIONS = _listed(
    """
    depicting dressed featuring including lighting setting showing shows wearing wears
    """
)
"""Verbs that describe or present, and so are no action."""
MODIFYING = _listed("in with of at on from inside under")
FRAMINGS = _listed(
    """
    aerial blue extreme full golden high hour long low medium overhead slow static wide
    """
)
PERSONS = _listed("he she they we i you someone everyone")
NOUNS = (Tag.SINGULAR, Tag.PLURAL)
INSIDE = (Tag.DETERMINER, Tag.NUMBER, Tag.ADJECTIVE, Tag.ADVERB, Tag.PARTICIPLE, Tag.GERUND, *NOUNS)
VERBS = (Tag.BASE, Tag.THIRD, Tag.PAST, Tag.GERUND)


class SceneElements(NamedTuple):
    """What a prompt shows, each as it stands there, in order."""

    subjects: tuple[str, ...]
    actions: tuple[str, ...]
    environments: tuple[str, ...]
    cameras: tuple[str, ...]
    lights: tuple[str, ...]

    def present(self) -> dict[str, bool]:
        """Which of the elements a prompt has."""
        return {name: bool(found) for name, found in zip(ELEMENTS, self, strict=True)}

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
    text = text[:LONGEST_TEXT]
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
    last = nouns[-1]
    first = last
    while first - 1 >= start and tags[first - 1] in (
        *NOUNS,
        Tag.ADJECTIVE,
        Tag.NUMBER,
        Tag.PARTICIPLE,
        Tag.GERUND,
    ):
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
    if (
        phrase.text.casefold() in CAMERA_TERMS
        or phrase.head in CAMERA_WORDS | STYLE_WORDS | TIMES | BODY | WEARS
    ):
        return False
    return not (phrase.head[:1].isdigit() or words & (LIGHT_WORDS | {"camera"}))


def _subjects(reading: Reading, phrases: Sequence[NounPhrase], lowered: Sequence[str]) -> tuple[str, ...]:
    """Things that act, that a camera shows, that open a part of the text, or that "and" joins to one."""
    found: list[NounPhrase] = []
    previous: NounPhrase | None = None
    end = -1
    for phrase in phrases:
        # "A skydiver in an orange suit tumbles": what acts is not the suit.
        modifies = previous is not None and _is_thing(previous) and phrase.before in MODIFYING
        belongs = modifies and phrase.first - end == 1
        actor = previous if belongs and previous is not None else phrase
        if _is_subject(actor) and (
            _acts(reading, phrase)
            or (actor is phrase and phrase.before in ("and", "or") and previous in found)
            or (actor is phrase and (_is_shown(phrase, previous) or _opens(reading, phrase, lowered)))
        ):
            found.append(actor)
        if not belongs:
            previous = phrase
        end = phrase.end
    pronouns = [
        word
        for word, tag in zip(lowered, reading.tags, strict=True)
        if tag is Tag.SUBJECT and word in PERSONS
    ]
    return tuple(dict.fromkeys([*(phrase.text for phrase in found), *pronouns]))


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
    found = []
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
        found.append(word)
    return tuple(dict.fromkeys(found))


def _lights(text: str, lowered: Sequence[str]) -> tuple[str, ...]:
    spaced = text.casefold().replace("-", " ")
    phrases = [phrase for phrase in LIGHT_PHRASES if phrase in spaced]
    parts = [part for word in lowered for part in (word, *word.split("-"))]
    return tuple(dict.fromkeys([*phrases, *(word for word in parts if word in LIGHT_WORDS)]))

"""Word classes of English as video prompts use it: closed classes, common words, and endings.

A word has every class that it may have; which of them it has in a text is for a reader of texts to say.
Words that are not listed are told by their endings, and by default may be nouns or adjectives.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from functools import lru_cache


class Tag(Enum):
    """What a word can be."""

    DETERMINER = "determiner"
    NUMBER = "number"
    ADJECTIVE = "adjective"
    SINGULAR = "singular noun"
    PLURAL = "plural noun"
    ADVERB = "adverb"
    BASE = "verb, base form"
    THIRD = "verb, third person"
    PAST = "verb, past tense"
    GERUND = "verb, -ing form"
    PARTICIPLE = "verb, past participle"
    BE = "form of be"
    HAVE = "have or do"
    MODAL = "modal"
    PREPOSITION = "preposition"
    TO = "to"
    CONJUNCTION = "conjunction"
    SUBORDINATOR = "subordinator"
    RELATIVE = "relative"
    SUBJECT = "subject pronoun"
    OBJECT = "object pronoun"


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


SINGULAR_DETERMINERS = _listed("a an another each every this one")
DETERMINERS = SINGULAR_DETERMINERS | _listed(
    """
    all any both either few her his its many my neither no our several some such that the their these
    those what whose your
    """
)
AMOUNTS = _listed("few couple dozen hundred thousand million handful lot great")
"""After "a" these make a plural: a few boots, a dozen eggs."""
NUMBERS = _listed(
    """
    dozen eight eleven few fifty five forty four half hundred million nine seven six ten thirty thousand three
    twelve twenty two
    """
)
PREPOSITIONS = _listed(
    """
    about above across against along alongside amid amidst among around at atop before behind below
    beneath beside between beyond by despite down during for from in inside into like near of off on onto
    opposite out outside over past per round since through throughout toward towards under underneath
    until up upon via with within without
    """
)
PARTICLES = _listed(
    """
    above ahead along apart around aside away back behind below by down downward downwards forth forward
    home in inside nearby off on out outside over overhead past through together under up upward upwards
    """
)
"""Words that may follow a verb without an object of their own: look up, walk past."""
OPENS_PREPOSITION = _listed("from until since like except")
"""Prepositions before which another may stand: from behind, since before."""
BEFORE_OF = _listed(
    """
    ahead back dreaming dreams inside made off out outside smelling smells speaking speaks thinking thinks top
    """
)
"""Verbs and particles after which "of" may stand: out of, dreams of."""
CONJUNCTIONS = _listed("and but or nor yet plus then")
SUBORDINATORS = _listed(
    """
    after although as because before if once since so than though unless until when whenever where while
    """
)
RELATIVES = _listed("that where which who whom whose what how why")
SUBJECT_PRONOUNS = _listed(
    """
    everyone everything he i it nobody nothing she someone something they we you
    """
)
OBJECT_PRONOUNS = _listed(
    """
    another anything each everyone everything her hers herself him himself his it itself me nothing one
    other others someone something theirs them themselves us you
    """
)
BE = _listed(
    """
    am appears are aren't be becomes been being feels is isn't looks remains seems stays was were
    """
)
HAVE = _listed("has have had having does do did doesn't don't")
MODALS = _listed("can could will would may might must shall should cannot can't won't")
ADVERBS = _listed(
    """
    afar again all almost alone already also always anew barely close completely deep else even ever
    everywhere far fast forever fully gently half halfway hard hardly here high however indoors inward
    just late low mid-air midair midway more most much nearly never not now nowhere often once only
    outdoors outward overhead perhaps quite rarely rather sideways slightly slow so sometimes somewhere
    soon still straight suddenly there throughout today together tonight too twice underwater upside very
    well
    """
)
LY_ADJECTIVES = _listed(
    """
    portly bubbly burly chilly costly curly daily deadly early earthly elderly fatherly friendly
    ghostly hilly holy lively lonely lovely motherly oily pearly scholarly silly smelly sparkly surly ugly
    unearthly weekly woolly wooly wrinkly
    """
)
LY_NOUNS = _listed(
    """
    ally assembly belly bully butterfly dragonfly family firefly fly holly italy jelly lily rally tally
    """
)
ADJECTIVES = _listed(
    """
    able abstract aerial aged ambient ancient angry asleep awake backlit bare big black blank bleak blue
    bold bright brisk broad brown busy calm candlelit clean clear cold cool cozy crimson crisp cruel damp
    dark dead dense dim dirty distant dry dull dusty eager early elegant empty endless entire faint fair
    fierce final fine firm first flat fluid foggy foreign fragile free fresh frozen full gentle giant
    golden good grand gray green grey grim happy harsh hazy heavy hidden high hollow hot huge humble icy
    idle immense intimate lamplit large last late little lone long loose loud low lush massive mild misty
    modern moonlit muddy muted naked narrow neat new next nimble noble old open orange overcast own pale
    pink plain pleased polite poor proud pure purple quick quiet rapid rare raw rear red remote rich ripe
    rough round royal rustic sad same scarce second shallow sharp sheer short shy silent silver simple
    single sleek slender slim slow small smooth snowy soft solemn solid sore spare sparse sports stark
    steady steep stern stiff still strange stray strict strong subtle sudden sunlit sunny sweet swift tall
    tame tan teal tender tense thick thin third tight tiny tired torn tough true turquoise upper vast
    violet vivid warm weak weary wet white whole wide wild windy wise worn worthy yellow young
    """
)
SINGULAR_NOUNS = _listed(
    """
    actress address archive atlas awning bass bed beginning being bokeh bonus boss brass bread breed
    brightness building bus cable cactus campus canvas ceiling chaos chess christmas circus cladding class
    clearing close-up clothing cold compass cosmos creed cross crossing dark darkness deed deep detective
    diary dish drawing dress editing embed emptiness end ending evening feeling filming first fish flare
    flooring flyover focus fortress framing gas gathering genius glass goddess grading grass greed ground
    happiness harness hourglass housing hundred iris kindred king kiss landing last lens library lighting
    lightning loss mattress meaning meeting mess morning moss oasis octopus offering olive one opening
    painting panning parking past point-of-view press princes princess pull-back push-in railing red reed
    rest ring sadness sanctuary secretary seed series setting shed shooting siding sled sling species
    speed spring spyglass stable status steed stillness stirring string swing table tennis thing thread
    time-lapse topping tracking vegetable virus waitress walrus warning wedding weed wilderness wing
    zooming
    """
)
PLURAL_NOUNS = _listed(
    """
    alleys angles bees bicycles birds boats boots boys braids branches bricks bridges brothers buildings
    buses calves candles cars cats cattle cheeks children cliffs clothes clouds coats colors colours
    credits crew deer details dogs doors dresses drones dunes earrings eyebrows eyeglasses eyes feathers
    feet ferns fingers fireflies fish flowers forearms foxes freckles friends gardens geese girls glasses
    gloves gowns gulls halves hats hills hooves horses hours houses islands jackets jeans jerseys kings
    knees knights knives lakes lamps lanterns leaves lenses lips lives loaves lovers meadows men mice
    minutes mittens monks mountains nuns oceans overalls oxen people petals pigeons planes police puddles
    queens rivers robes robots rocks roofs rooftops roots sandals scarves scissors seas seconds sheep
    shelves ships shirts shoes shorts shoulders sisters skies sleeves socks soldiers stars stones
    strangers streets suits sunglasses sweaters teeth textures thieves tights tiles tones trams trees
    trousers tunics tuxedos uniforms valleys vents walls windows wives wolves women wrinkles
    """
)
VERB_NOUNS = _listed(
    """
    age arc attack back balance bark beat bend bite blanket blast blaze blend blink bloom blow blur bounce
    bow break breath breeze brush burn burst call cast catch chant chase check cheer chop circle climb
    cloak cloud cluster collapse cook cover crackle crane crash crawl creep crest cross crowd cry curl
    curve cushion cut dance dash dawn dive dolly dot drag draw dream dress drift drink drip drive drop
    drum echo edge face fade fall feed ferry fight fill film find finish fire fix flame flap flare flash
    flicker flight float flood flow flutter fly focus fog fold form frame frost gaze gesture glance glare
    gleam glide glimmer glint glitter glow grin grind grip growl guard hammer hand harvest haze head help
    hike hit hold hop hover hug hum hunt jog journey jump kick kiss land laugh lean leap lift light line
    load lock look march mark melt mist mix mount move murmur nap nod orbit pack paddle paint pan pass
    patrol pause peel perch pivot place plant plate play plough plow plunge point polish pose pour
    practice press pull pulse push race rain reach record release repair rest ride ring ripple rise roar
    rock roll rope row run rush rustle sail saw scent scream screen search seat shade shadow shake shape
    shed shelter shift shimmer shine shiver shot shout show shudder sigh silhouette sip skate sketch ski
    skip sleep slice slide slip smell smile smoke snap snow spark sparkle spill spin spiral splash spray
    spread sprint stack stand stare start step stir stop storm streak stream stretch stride strike string
    stroke stroll study surf survey sway sweat sweep swim swing swirl take talk tap thread throw thunder
    tie tilt toss touch tour tower trace track trail train travel tread trek trot truck try tug tumble
    turn twirl twist type use view visit wait wake walk wander wash watch wave welcome whip whirl whisper
    whistle wind wipe work wrap yawn yell zoom
    """
)
"""Verbs whose base form and -s form are common nouns too."""
VERBS = VERB_NOUNS | _listed(
    """
    abandon adjust admire adorn advance age answer appear approach arise/arose/arisen arrive ask assemble
    bake balance bathe beat/beat/beaten become/became/become begin/began/begun bend/bent/bent
    bite/bit/bitten blanket blend blow/blew/blown bounce bound bow break/broke/broken breathe
    bring/brought/brought brush build/built/built burn/burnt/burnt burst/burst/burst bury buzz call
    capture caress carry carve cascade cast/cast/cast catch/caught/caught celebrate change chant check
    chew chop cling/clung/clung cloak close clothe cluster collapse collect come/came/come compose
    contemplate cook cover cradle create creep/crept/crept crouch crumble crush cut/cut/cut dapple
    decorate deliver descend dig/dug/dug dim disappear discover dissolve document dot drape
    draw/drew/drawn drench dribble drink/drank/drunk drip drive/drove/driven drown eat/ate/eaten emerge
    engulf enter equip erupt etch examine exhale explode explore face fall/fell/fallen feed/fed/fed
    feel/felt/felt fight/fought/fought fill find/found/found finish fix flank flee/fled/fled
    fly/flew/flown follow forge form frame gallop gather get/got/got give/gave/given go/went/gone grasp
    graze greet grin grind/ground/ground grow/grew/grown hammer hang/hung/hung harvest hear/heard/heard
    hide/hid/hidden hit/hit/hit hold/held/held hug hunt hurry illuminate inhale inspect inspire jolt
    juggle keep/kept/kept knead kneel/knelt/knelt knit know/knew/known lay/laid/laid lead/led/led
    leap/leapt/leapt learn leave/left/left let/let/let lie/lay/lain light/lit/lit line linger listen live
    lock lose/lost/lost lower make/made/made meander meditate meet/met/met mend mingle morph mount
    navigate notice observe open orbit overgrow/overgrew/overgrown overlook pack pass patrol peek peel
    peer perform pick pivot place plate pluck poke polish practice prance pray prepare press prowl
    put/put/put raise read/read/read rear recede record reel reflect release repair reveal revolve
    ride/rode/ridden ring/rang/rung rise/rose/risen rotate rummage run/ran/run saturate savor savour saw
    say/said/said scatter scent scurry search seat see/saw/seen sell/sold/sold send/sent/sent separate
    settle sew shake/shook/shaken shatter shave shelter shine/shone/shone shiver shoot/shot/shot shout
    shudder sing/sang/sung sink/sank/sunk sit/sat/sat skate ski sleep/slept/slept slide/slid/slid smash
    smell sniff soak soar speak/spoke/spoken spill spin/spun/spun spiral spread/spread/spread squat squint
    stalk stand/stood/stood stoop streak stream strew/strewed/strewn stride/strode/stridden
    strike/struck/struck stumble submerge surf surround survey suspend sweat sweep/swept/swept
    swim/swam/swum swing/swung/swung take/took/taken teach/taught/taught tear/tore/torn tell/told/told
    think/thought/thought thrash throw/threw/thrown thunder tie tighten toss tower trace transform tremble
    try tuck tug type unfold unfurl unravel use vanish wade wake/woke/woken warm wear/wore/worn
    weave/wove/woven weep/wept/wept welcome whip whirl whistle win/won/won wind/wound/wound wipe
    write/wrote/written yawn yell
    """
)
"""Verbs by base form; irregular ones with past tense and participle."""
CAUSATIVES = _listed(
    """
    hear feel feels has have hearing hears help helping helps let lets letting made make makes making
    reveal reveals saw see seeing sees show shows watch watches watching
    """
)
"""Verbs after whose object a bare verb may stand: lets the lantern rise."""
TIMES = _listed(
    """
    afternoon dawn day dusk evening minute moment morning night second summer time way week winter year
    """
)
VOWEL_SOUND = _listed("hour hourglass honest honor honour heir heirloom")
CONSONANT_STARTS = ("uni", "use", "usu", "uti", "eu", "ewe", "one", "once", "ubiq", "ukul", "u-", "ura")
VOWEL_UNI = ("unim", "unin", "unidentified", "unimp")
LETTERS_WITH_VOWEL_SOUND = "aefhilmnorsx"

_ADJECTIVE_ENDINGS = ("ous", "less", "esque", "lit", "ible")
_EITHER_ENDINGS = (
    "able",
    "ive",
    "ful",
    "ary",
    "ish",
    "some",
    "ical",
    "al",
    "ic",
    "y",
    "ent",
    "ant",
    "en",
    "ern",
    "er",
    "est",
    "ian",
    "ese",
    "ar",
)
_NOUN_ENDINGS = (
    "ness",
    "ment",
    "tion",
    "sion",
    "ship",
    "hood",
    "ity",
    "ism",
    "ist",
    "ance",
    "ence",
    "scape",
    "graphy",
)


def _inflections() -> Iterator[tuple[str, Tag]]:
    for entry in VERBS:
        base, *irregular = entry.split("/")
        yield base, Tag.BASE
        yield _with_s(base), Tag.THIRD
        for ending in _with_ending(base, "ing"):
            yield ending, Tag.GERUND
        past, participle = irregular or (None, None)
        for form in (past,) if past else _with_ending(base, "ed"):
            yield form, Tag.PAST
        for form in (participle,) if participle else _with_ending(base, "ed"):
            yield form, Tag.PARTICIPLE
        if base in VERB_NOUNS:
            yield base, Tag.SINGULAR
            yield _with_s(base), Tag.PLURAL


def _with_s(base: str) -> str:
    if base.endswith("y") and base[-2:-1] not in "aeiou":
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


def _with_ending(base: str, ending: str) -> tuple[str, ...]:
    """The spellings with "ed" or "ing"; with the last consonant doubled too where it may be."""
    if base.endswith("ie") and ending == "ing":
        return (base[:-2] + "ying",)
    if base.endswith("e") and not base.endswith(("ee", "ye", "oe")):
        return (base[:-1] + ending,)
    if base.endswith("e"):
        return (base + ending.removeprefix("e"),)
    if base.endswith("y") and base[-2:-1] not in "aeiou" and ending == "ed":
        return (base[:-1] + "ied",)
    if base[-1] not in "aeiouwxy" and base[-2:-1] in "aeiou":
        return (base + ending, base + base[-1] + ending)
    return (base + ending,)


def _collect() -> dict[str, frozenset[Tag]]:
    found: dict[str, set[Tag]] = {}
    classes = (
        (DETERMINERS, Tag.DETERMINER),
        (NUMBERS, Tag.NUMBER),
        (PREPOSITIONS, Tag.PREPOSITION),
        (PARTICLES, Tag.ADVERB),
        (CONJUNCTIONS, Tag.CONJUNCTION),
        (SUBORDINATORS, Tag.SUBORDINATOR),
        (RELATIVES, Tag.RELATIVE),
        (SUBJECT_PRONOUNS, Tag.SUBJECT),
        (OBJECT_PRONOUNS, Tag.OBJECT),
        (BE, Tag.BE),
        (HAVE, Tag.HAVE),
        (MODALS, Tag.MODAL),
        (ADVERBS, Tag.ADVERB),
        (ADJECTIVES | LY_ADJECTIVES, Tag.ADJECTIVE),
        (SINGULAR_NOUNS | LY_NOUNS, Tag.SINGULAR),
        (PLURAL_NOUNS, Tag.PLURAL),
    )
    for words, tag in classes:
        for word in words:
            found.setdefault(word, set()).add(tag)
    for word, tag in _inflections():
        found.setdefault(word, set()).add(tag)
    found["to"] = {Tag.TO, Tag.PREPOSITION}
    for word in ("looks", "feels", "appears", "stays", "remains"):
        found[word].add(Tag.THIRD)
    return {word: frozenset(tags) for word, tags in found.items()}


LONGEST_ABBREVIATION = 6
LEXICON = _collect()
"""Every listed word and verb form with its classes."""
CLOSED = (
    DETERMINERS
    | PREPOSITIONS
    | CONJUNCTIONS
    | SUBORDINATORS
    | RELATIVES
    | SUBJECT_PRONOUNS
    | OBJECT_PRONOUNS
    | BE
    | HAVE
    | MODALS
    | {"to"}
)
"""Words that only have grammar, no picture."""


@lru_cache(maxsize=2**14)
def tags_of(word: str) -> frozenset[Tag]:
    """What a word (lower case) can be."""
    if word in LEXICON:
        tags = LEXICON[word]
        if Tag.PARTICIPLE in tags or Tag.GERUND in tags:
            return tags
        nouns_too = Tag.ADJECTIVE in tags and word in {
            "light",
            "red",
            "silver",
            "gray",
            "orange",
            "giant",
            "open",
        }
        return tags | {Tag.SINGULAR} if nouns_too else tags
    if any(character.isdigit() for character in word):
        return frozenset((Tag.NUMBER, Tag.SINGULAR, Tag.ADJECTIVE, Tag.PLURAL))
    if "-" in word:
        return tags_of(word.rsplit("-", 1)[1]) - {Tag.BASE, Tag.THIRD, Tag.PREPOSITION} | {
            Tag.ADJECTIVE,
            Tag.SINGULAR,
        }
    if word.endswith(("'s", "’s")):
        return frozenset((Tag.DETERMINER, Tag.ADJECTIVE))
    return _by_ending(word)


def _by_ending(word: str) -> frozenset[Tag]:
    if word.endswith("ly") and len(word) > 4:
        return frozenset((Tag.ADVERB,))
    if word.endswith("ing") and len(word) > 5:
        return frozenset((Tag.GERUND, Tag.SINGULAR))
    if word.endswith("ed") and len(word) > 4:
        return frozenset((Tag.PAST, Tag.PARTICIPLE, Tag.ADJECTIVE))
    if word.endswith(_ADJECTIVE_ENDINGS):
        return frozenset((Tag.ADJECTIVE,))
    if word.endswith(("ers", "ors", "ists", "men")) and len(word) > 4:
        return frozenset((Tag.PLURAL,))
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        return frozenset((Tag.PLURAL, Tag.THIRD))
    if word.endswith(_NOUN_ENDINGS):
        return frozenset((Tag.SINGULAR,))
    if word.endswith(_EITHER_ENDINGS):
        return frozenset((Tag.ADJECTIVE, Tag.SINGULAR))
    return frozenset((Tag.SINGULAR, Tag.ADJECTIVE, Tag.BASE))


def wants_an(word: str) -> bool:
    """Whether "an" stands before a word, by how it begins to sound.

    Capitals are spelt out ("an LED", "a UFO"), unless they are a word that somebody shouts ("a RED dress").
    """
    lowered = word.casefold()
    head = lowered.split("-")[0]
    if head[:1].isdigit():
        return head.startswith("8") or head in {"11", "18"} or (head[:2] in {"11", "18"} and len(head) == 2)
    spelt_out = head == "led" or (head not in LEXICON and len(head) < LONGEST_ABBREVIATION)
    if len(word) > 1 and word.split("-", maxsplit=1)[0].isupper() and spelt_out:
        return lowered[0] in LETTERS_WITH_VOWEL_SOUND
    if head in VOWEL_SOUND:
        return True
    if lowered.startswith(VOWEL_UNI):
        return True
    if lowered.startswith(CONSONANT_STARTS):
        return False
    return bool(lowered) and lowered[0] in "aeiouàáâäèéêëìíîïòóôöùúûü"

"""Phrases and actions: runs of content words named by their last known word, and verbs with their objects."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence

import msgspec

from eval_pipeline.suites.span_labeling.engine import words
from eval_pipeline.suites.span_labeling.engine.technical import Found

AUDIO, CAMERA_MOVEMENT, IDENTITY = "audio", "camera.movement", "subject.identity"
SCENERY = ("time", "lighting", "environment.weather", AUDIO)
SETTINGS = ("environment.location", "environment.weather", "time")
WORN = ("subject.wardrobe", "subject.appearance", "environment.location")
CLAUSES = ("and", "while", "as")
MANY = ("both", "they", "all")
"""Words that may be followed by a verb without an ending."""
OBJECT_PREPOSITIONS = ("at", "on", "into", "with", "in")
MOVEMENT, GESTURE = "action.movement", "action.gesture"
LINKS = {
    "and": ("subject.emotion", "style.aesthetic", "subject.appearance"),
    "but": ("subject.emotion", "style.aesthetic"),
    "yet": ("subject.emotion", "style.aesthetic"),
    "of": ("environment.location",),
}
"""Words that make one span of two phrases of these categories."""
LONGEST_CAMERA_MOVE = 5


class Parameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a prompt version of this engine chooses."""

    whole_phrases: bool = True
    """Whether a span takes the words along that describe its last one."""
    objects: bool = True
    """Whether an action takes its object along."""
    joined: bool = True
    """Whether "tense but determined" and "edge of a cliff" are one span."""
    first_mentions: bool = True
    """Whether a subject that is only named again ("the boy") is left alone."""
    leftovers: bool = False
    """Whether phrases that the lexicon does not know are taken for subjects."""


def find_phrases(
    prompt: str, vocabulary: words.Vocabulary, figures: Sequence[Found], parameters: Parameters
) -> list[Found]:
    """Every phrase and action of a prompt, in order, clear of the figures that were found before."""
    phrases = list(_Reader(words.tokens_of(prompt), vocabulary, figures, parameters).read())
    return _join(phrases, prompt) if parameters.joined else phrases


class _Reader:
    """Reads a prompt from left to right, one phrase or action at a time."""

    def __init__(
        self,
        tokens: Sequence[words.Token],
        vocabulary: words.Vocabulary,
        figures: Sequence[Found],
        parameters: Parameters,
    ) -> None:
        self._tokens = tokens
        self._vocabulary = vocabulary
        self._parameters = parameters
        starts = [figure.start for figure in figures]
        places = [bisect_right(starts, token.start) - 1 for token in tokens]
        self._free = [
            not token.names_field and (at < 0 or figures[at].end <= token.start)
            for token, at in zip(tokens, places, strict=True)
        ]

    def read(self) -> Iterator[Found]:
        """The spans, none overlapping another."""
        at = 0
        last = Found(0, 0, "")
        while at < len(self._tokens):
            token = self._tokens[at]
            result: Found | None
            if not self._free[at] or token.is_function:
                at += 1
                continue
            if token.text == "camera" and (end := self._camera_move(at)) > at + 1:
                result = self._span(at, end, CAMERA_MOVEMENT)
            elif action := self._action_at(at):
                end = self._action_end(at, action)
                # Rain that falls and light that dances are no subjects.
                follows = token.joined and self._tokens[at - 1].end == last.end
                result = None if follows and last.category in SCENERY else self._span(at, end, action)
            else:
                end = self._phrase_end(at)
                result = self._phrase(at, end, last.category)
                end = max(end, self._sound_end(end)) if result and result.category == AUDIO else end
            if result:
                yield result
                last = result
            at = end

    def _span(self, first: int, end: int, category: str) -> Found:
        return Found(self._tokens[first].start, self._tokens[end - 1].end, category)

    def _follows(self, at: int) -> bool:
        """Whether a word goes on where the one before it stopped, outside any figure."""
        return at < len(self._tokens) and self._tokens[at].joined and self._free[at]

    def _text(self, at: int) -> str:
        return self._tokens[at].text if 0 <= at < len(self._tokens) else ""

    def _next(self, at: int) -> str:
        """The next word of the run, blank where there is none."""
        return self._text(at + 1) if self._follows(at + 1) else ""

    def _before(self, at: int) -> str:
        return self._text(at - 1) if self._tokens[at].joined else ""

    def _is_content(self, at: int) -> bool:
        return self._follows(at) and not self._tokens[at].is_function

    def _camera_move(self, at: int) -> int:
        """Where "camera pans left to right" ends: at punctuation, another clause, or a place."""
        end = at + 1
        if not self._next(at).endswith(("s", "ing")):
            return end
        while self._follows(end) and end - at <= LONGEST_CAMERA_MOVE:
            names_place = self._next(end) in words.DETERMINERS and self._follows(end + 2)
            if self._text(end) in CLAUSES or (self._text(end) in words.PREPOSITIONS and names_place):
                break
            end += 1
        return end

    def _action_at(self, at: int) -> str:
        """The category of the action that a word begins; blank where it begins none."""
        word, after = self._text(at), self._next(at)
        category = self._vocabulary.verbs.get(f"{word} {after}") or self._vocabulary.verbs.get(word, "")
        if not category:
            return ""
        before = self._before(at)
        described = (
            before in words.DETERMINERS
            or before in words.PREPOSITIONS
            or before in self._vocabulary.modifiers
        )
        takes_object = after in words.DETERMINERS
        if described or (self._head(at, at + 1) and not takes_object):
            return ""
        if word.endswith("ing"):
            return "" if self._tokens[at].opens and self._is_content(at + 1) else category
        if word not in self._vocabulary.bases or takes_object or before in MANY:
            return category
        return category if before and before not in words.FUNCTION_WORDS else ""

    def _action_end(self, at: int, category: str) -> int:
        """Where an action ends: behind its particle or adverb, and behind its object."""
        end = at + 1
        while self._follows(end) and (self._is_particle(end) or self._tokens[end].is_adverb):
            end += 1
        if not self._parameters.objects or not self._follows(end):
            return end
        first = end
        if category == GESTURE and self._text(end) in OBJECT_PREPOSITIONS:
            first = end + 1
        first += self._text(first) in words.DETERMINERS
        if (category == MOVEMENT and first == end) or not self._is_content(first) or self._action_at(first):
            return end
        last = self._phrase_end(first)
        return end if self._category(first, last) in SETTINGS else last

    def _is_particle(self, at: int) -> bool:
        """Whether "up" belongs to the verb before it, rather than to a place behind it."""
        leads_on = self._next(at) in words.DETERMINERS or self._is_content(at + 1)
        return self._text(at) in words.PARTICLES and not leads_on

    def _phrase_end(self, at: int) -> int:
        """Where a run of content words ends."""
        end = self._fixed_end(at) or at + 1
        while self._is_content(end):
            if self._action_at(end) or (self._is_sound(end) and not self._head(end, end + 1)):
                break
            end = self._fixed_end(end) or end + 1
        return end

    def _fixed_end(self, at: int) -> int:
        """Where a head that holds a function word ends, if one begins here."""
        for parts in self._vocabulary.fixed.get(self._text(at), ()):
            places = range(at, at + len(parts))
            if all(self._text(place) == part for place, part in zip(places, parts, strict=True)) and all(
                self._follows(place) for place in places[1:]
            ):
                return at + len(parts)
        return 0

    def _head(self, first: int, end: int) -> str:
        """The category of some words that are a head, blank where they are none."""
        key = " ".join(part for at in range(first, end) for part in words.split(self._text(at)))
        return self._vocabulary.heads.get(key, "")

    def _last_head(self, at: int, end: int) -> tuple[int, int]:
        """Where the last known head of a phrase begins and ends; an empty range where there is none."""
        for last in range(end, at, -1):
            for size in range(min(self._vocabulary.longest, last - at), 0, -1):
                if self._head(last - size, last):
                    return last - size, last
        return end, end

    def _category(self, at: int, end: int) -> str:
        first, last = self._last_head(at, end)
        return self._head(first, last) if first < last else ""

    def _is_sound(self, at: int) -> bool:
        return self._follows(at) and self._text(at) in self._vocabulary.sounds

    def _sound_end(self, end: int) -> int:
        """Where a verb of sound that follows a phrase ends, with the word that says how or where."""
        if not self._is_sound(end):
            return end
        end += 1
        while self._follows(end) and (self._is_particle(end) or self._tokens[end].is_adverb):
            end += 1
        return end

    def _phrase(self, at: int, end: int, last_category: str) -> Found | None:
        """The span that a run of content words holds, if any: its last known head says what it is."""
        first, last = self._last_head(at, end)
        category = self._head(first, last) if first < last else ""
        if self._is_denied(at):
            return None
        acts = self._text(end) in self._vocabulary.verbs and category == IDENTITY
        if self._is_sound(end) and category not in WORN and not acts:
            return self._span(at, self._sound_end(end), AUDIO)
        known_already = self._before(at) == "the" and last - at == 1 and last_category
        if category == IDENTITY and known_already and self._parameters.first_mentions:
            return None
        if category:
            return self._span(at if self._parameters.whole_phrases else first, last, category)
        return self._span(at, end, IDENTITY) if self._parameters.leftovers else None

    def _is_denied(self, at: int) -> bool:
        """Whether the prompt rules a phrase out: "no people", "not a close-up"."""
        before = self._before(at)
        if before in ("a", "an", "any", "the"):
            before = self._before(at - 1)
        return before in ("no", "not", "without")


def _join(found: Sequence[Found], prompt: str) -> list[Found]:
    """Make one span of neighbours of one category that a linking word joins."""
    joined: list[Found] = []
    for each in found:
        last = joined[-1] if joined else None
        if (
            last
            and last.category == each.category
            and _are_linked(prompt[last.end : each.start], each.category)
        ):
            joined[-1] = Found(last.start, each.end, each.category)
        else:
            joined.append(each)
    return joined


def _are_linked(between: str, category: str) -> bool:
    parts = between.casefold().split()
    link = LINKS.get(parts[0], ()) if parts else ()
    return category in link and all(part in words.DETERMINERS for part in parts[1:])

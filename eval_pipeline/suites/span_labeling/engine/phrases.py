"""Phrases and actions: runs of content words named by their last known word, and verbs with their objects."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from eval_pipeline.suites.span_labeling.engine.technical import Found
from eval_pipeline.suites.span_labeling.engine.words import (
    DETERMINERS,
    PARTICLES,
    PREPOSITIONS,
    Token,
    Vocabulary,
    split,
    tokens_of,
)

AUDIO, CAMERA_MOVEMENT, IDENTITY = "audio", "camera.movement", "subject.identity"
MOVEMENT, GESTURE = "action.movement", "action.gesture"
LINKS = {
    "and": ("subject.emotion", "style.aesthetic", "subject.appearance"),
    "but": ("subject.emotion", "style.aesthetic"),
    "yet": ("subject.emotion", "style.aesthetic"),
    "of": ("environment.location",),
}
"""Words that make one span of two phrases of these categories."""
LONGEST_CAMERA_MOVE = 5


def find_phrases(
    prompt: str,
    vocabulary: Vocabulary,
    figures: Sequence[Found],
    *,
    whole_phrases: bool,
    objects: bool,
    joined: bool,
    leftovers: bool,
) -> list[Found]:
    """Every phrase and action of a prompt, in order, clear of the figures that were found before."""
    reader = _Reader(tokens_of(prompt), vocabulary, figures, whole_phrases, objects, leftovers)
    found = list(reader.read())
    return _join(found, prompt) if joined else found


class _Reader:
    """Reads a prompt from left to right, one phrase or action at a time."""

    def __init__(
        self,
        tokens: Sequence[Token],
        vocabulary: Vocabulary,
        figures: Sequence[Found],
        whole_phrases: bool,
        objects: bool,
        leftovers: bool,
    ) -> None:
        self._vocabulary = vocabulary
        self._whole_phrases = whole_phrases
        self._objects = objects
        self._leftovers = leftovers
        starts = [figure.start for figure in figures]

        def is_free(token: Token) -> bool:
            at = bisect_right(starts, token.start) - 1
            return at < 0 or figures[at].end <= token.start

        self._tokens = tokens
        self._free = [is_free(token) for token in tokens]

    def read(self) -> Iterator[Found]:
        """The spans, none overlapping another."""
        at = 0
        while at < len(self._tokens):
            token = self._tokens[at]
            if not self._free[at] or token.is_function:
                at += 1
            elif token.text == "camera" and (end := self._camera_move(at)) > at + 1:
                yield self._span(at, end, CAMERA_MOVEMENT)
                at = end
            elif action := self._action_at(at):
                end = self._action_end(at, action)
                yield self._span(at, end, action)
                at = end
            else:
                end = self._phrase_end(at)
                yield from self._phrase(at, end)
                at = max(end, self._sound_end(end))

    def _span(self, first: int, end: int, category: str) -> Found:
        return Found(self._tokens[first].start, self._tokens[end - 1].end, category)

    def _follows(self, at: int) -> bool:
        """Whether a word goes on where the one before it stopped, outside any figure."""
        return at < len(self._tokens) and self._tokens[at].joined and self._free[at]

    def _text(self, at: int) -> str:
        return self._tokens[at].text if 0 <= at < len(self._tokens) else ""

    def _camera_move(self, at: int) -> int:
        """Where "camera pans left to right" ends: at punctuation, or after a few words."""
        end = at + 1
        if not self._follows(end) or not self._text(end).endswith(("s", "ing")):
            return end
        while (
            end - at <= LONGEST_CAMERA_MOVE
            and self._follows(end)
            and self._text(end) not in ("and", "while", "as")
        ):
            end += 1
        return end

    def _action_at(self, at: int) -> str:
        """The category of the action that a word begins; blank where it begins none."""
        word = self._text(at)
        pair = f"{word} {self._text(at + 1)}" if self._follows(at + 1) else ""
        category = self._vocabulary.verbs.get(pair) or self._vocabulary.verbs.get(word, "")
        if not category:
            return ""
        before = self._text(at - 1) if at and self._tokens[at].joined else ""
        content_follows = self._follows(at + 1) and not self._tokens[at + 1].is_function
        described = before in DETERMINERS or before in PREPOSITIONS or before in self._vocabulary.modifiers
        if described or (not before and word.endswith("ed") and content_follows):
            return ""
        known = " ".join(split(word)) in self._vocabulary.heads
        is_verb = word.endswith("ing") or self._text(at + 1) in DETERMINERS | PREPOSITIONS
        if known and not (is_verb and self._follows(at + 1)):
            return ""
        return category

    def _action_end(self, at: int, category: str) -> int:
        """Where an action ends: behind its particle or adverb, and behind its object."""
        end = at + 1
        while self._follows(end) and (self._text(end) in PARTICLES or self._tokens[end].is_adverb):
            end += 1
        if not self._objects or not self._follows(end):
            return end
        if self._text(end) in DETERMINERS:
            return self._object_end(end + 1)
        if category == GESTURE and not self._tokens[end].is_function and not self._action_at(end):
            return self._object_end(end)
        if category == GESTURE and self._text(end) in ("at", "on", "into", "with", "in"):
            after = end + 2 if self._text(end + 1) in DETERMINERS else end + 1
            return self._object_end(after) if self._follows(end + 1) and self._follows(after) else end
        return end

    def _object_end(self, at: int) -> int:
        end = at
        while self._follows(end) and not self._tokens[end].is_function and not self._action_at(end):
            end += 1
        return end

    def _phrase_end(self, at: int) -> int:
        """Where a run of content words ends."""
        end = at + 1
        while self._follows(end) and not self._tokens[end].is_function:
            word = self._tokens[end]
            if self._action_at(end) or (word.text in self._vocabulary.sounds and not self._is_head_at(end)):
                break
            end += 1
        return end

    def _is_head_at(self, at: int) -> bool:
        return " ".join(split(self._text(at))) in self._vocabulary.heads

    def _sound_end(self, end: int) -> int:
        """Where a verb of sound that follows a phrase ends, with the word that says how or where."""
        if not (self._follows(end) and self._text(end) in self._vocabulary.sounds):
            return end
        end += 1
        while self._follows(end) and (self._text(end) in PARTICLES or self._tokens[end].is_adverb):
            end += 1
        return end

    def _phrase(self, at: int, end: int) -> Iterator[Found]:
        """The span that a run of content words holds, if any: its last known head says what it is."""
        heard = self._sound_end(end)
        if heard > end:
            yield self._span(at, heard, AUDIO)
            return
        for last in range(end, at, -1):
            for size in range(min(self._vocabulary.longest, last - at), 0, -1):
                key = " ".join(part for each in range(last - size, last) for part in split(self._text(each)))
                if category := self._vocabulary.heads.get(key):
                    yield self._span(at if self._whole_phrases else last - size, last, category)
                    return
        if self._leftovers:
            yield self._span(at, end, IDENTITY)


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
    return category in link and all(part in DETERMINERS for part in parts[1:])

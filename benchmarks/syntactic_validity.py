"""Which way of checking syntax is best on sixty labelled texts that none was made or trained on.

Three ways: the automaton of word classes; the likelihood of a text under a trigram model of word classes,
with a threshold learned from sound prompts and scrambled versions of them; and both together. The sound
prompts are the golden prompts of span_labeling.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from eval_pipeline.suites._video.prompt_accuracy import soundness_by_kind
from eval_pipeline.suites._video.syntax import faults, is_sound, tokenize
from eval_pipeline.suites._video.words import CLOSED

PROMPTS = Path(__file__).resolve().parent.parent / "golden" / "span_labeling" / "cases"
KINDS = ("core", "technical", "complex")
SEED = 20261116
SCRAMBLES = 3
EDGE = "|"

Features = NDArray[np.float64]


def sound_texts() -> list[str]:
    """The sentences of the golden prompts."""
    prompts = [
        str(entry["prompt"])
        for kind in KINDS
        for entry in msgspec.json.decode((PROMPTS / f"{kind}.json").read_bytes())
    ]
    return [part for prompt in prompts for part in re.split(r"(?<=[.;!?])\s+", prompt) if part.count(" ") > 3]


def scrambled(text: str, chance: random.Random) -> str:
    """A text with a few words shuffled, one dropped, one doubled elsewhere, or a small word put in."""
    words = text.split()
    place = chance.randrange(len(words) - 3)
    kind = chance.randrange(4)
    if kind == 0:
        window = words[place : place + 5]
        shuffled = window[:]
        while shuffled == window and len(set(window)) > 1:
            chance.shuffle(shuffled)
        words[place : place + 5] = shuffled
    elif kind == 1:
        nouns = [
            index for index in range(1, len(words)) if words[index - 1].lower() in ("a", "an", "the", "of")
        ]
        del words[chance.choice(nouns) if nouns else place]
    elif kind == 2:
        words.insert(place + 1, chance.choice(words))
    else:
        words.insert(place + 1, chance.choice(["the", "of", "a", "in", "with", "runs", "and a"]))
    return " ".join(words)


def classes(text: str) -> list[str]:
    """Words with grammar only as they are, others by the classes they may have, marks as they are."""
    found = [EDGE, EDGE]
    for token in tokenize(text):
        word = token.text.casefold()
        known = word in CLOSED or not token.tags
        found.append(word if known else "/".join(sorted(tag.value for tag in token.tags)))
    return [*found, EDGE]


class Trigrams:
    """A trigram model with interpolated lower orders."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._counts: list[Counter[tuple[str, ...]]] = [Counter(), Counter(), Counter()]
        for text in texts:
            sequence = classes(text)
            for size in (1, 2, 3):
                self._counts[size - 1].update(
                    tuple(sequence[index - size + 1 : index + 1]) for index in range(2, len(sequence))
                )
        self._total = sum(self._counts[0].values())
        self._contexts = [self._by_context(counts) for counts in self._counts]

    @staticmethod
    def _by_context(counts: Counter[tuple[str, ...]]) -> Counter[tuple[str, ...]]:
        found: Counter[tuple[str, ...]] = Counter()
        for gram, count in counts.items():
            found[gram[:-1]] += count
        return found

    def surprises(self, text: str) -> list[float]:
        """−log p of each class, given the two before."""
        sequence = classes(text)
        return [self._surprise(tuple(sequence[index - 2 : index + 1])) for index in range(2, len(sequence))]

    def _surprise(self, gram: tuple[str, ...]) -> float:
        value = (self._counts[0][gram[-1:]] + 0.5) / (self._total + 500)
        for size in (2, 3):
            part = gram[-size:]
            context = self._contexts[size - 1][part[:-1]]
            weight = context / (context + 5.0)
            if context:
                value = weight * self._counts[size - 1][part] / context + (1 - weight) * value
        return -math.log(value)


def likelihood(model: Trigrams, text: str) -> list[float]:
    """What a text looks like to the model: its greatest surprises and their mean."""
    found = sorted(model.surprises(text), reverse=True)
    return [found[0], found[1], sum(found) / len(found), sum(each > 5.0 for each in found)]


def both(model: Trigrams, text: str) -> list[float]:
    """The same with what the automaton stumbles over."""
    stumbles = len(faults(text))
    return [*likelihood(model, text), float(stumbles > 0), float(stumbles)]


def learn(rows: Features, sound: NDArray[np.float64]) -> Callable[[Sequence[float]], bool]:
    """Logistic regression by Newton's method, with a little ridge."""
    centre, scale = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    design = np.hstack([(rows - centre) / scale, np.ones((len(rows), 1))])
    weights = np.zeros(design.shape[1])
    for _ in range(30):
        chances = 1 / (1 + np.exp(-design @ weights))
        curvature = design.T @ (design * (chances * (1 - chances))[:, None]) + 0.1 * np.eye(len(weights))
        weights += np.linalg.solve(curvature, design.T @ (sound - chances) - 0.1 * weights)

    def judge(features: Sequence[float]) -> bool:
        row = (np.asarray(features) - centre) / scale
        return bool(row @ weights[:-1] + weights[-1] > 0)

    return judge


def trained(features: Callable[[Trigrams, str], list[float]]) -> Callable[[str], bool]:
    """A judge trained on prompts: half for the model of classes, half for the threshold, and vice versa."""
    chance = random.Random(SEED)
    texts = sound_texts()
    halves = (texts[::2], texts[1::2])
    rows, labels = [], []
    for model_half, judged_half in (halves, halves[::-1]):
        model = Trigrams(model_half)
        for text in judged_half:
            rows.append(features(model, text))
            labels.append(1.0)
            for _ in range(SCRAMBLES):
                rows.append(features(model, scrambled(text, chance)))
                labels.append(0.0)
    # As many sound as scrambled ones count, so that the threshold favours neither.
    sound = [row for row, label in zip(rows, labels, strict=True) if label]
    balanced = np.array([*rows, *(sound * (SCRAMBLES - 1))])
    judge = learn(balanced, np.array([*labels, *([1.0] * len(sound) * (SCRAMBLES - 1))]))
    model = Trigrams(texts)
    return lambda text: judge(features(model, text))


def main() -> None:
    """Print the comparison."""
    ways: dict[str, Callable[[str], bool]] = {
        "automaton of word classes": is_sound,
        "likelihood, trained": trained(likelihood),
        "both, trained": trained(both),
        "everything is sound": lambda text: True,
    }
    chance = random.Random(SEED + 1)
    prompts = sound_texts()
    broken = [scrambled(text, chance) for text in prompts]
    for name, judge in ways.items():
        shares = soundness_by_kind(judge)
        right = sum(share.right for share in shares.values())
        print(f"{name:28} {right}/60  " + "  ".join(f"{kind} {share}" for kind, share in shares.items()))
        accepted = sum(judge(text) for text in prompts) / len(prompts)
        refused = sum(not judge(text) for text in broken) / len(broken)
        print(f"{'':28} golden sentences accepted {accepted:.0%}, scrambled ones refused {refused:.0%}")


if __name__ == "__main__":
    main()

"""How well the readers of prompts do, on texts labelled by hand that nothing was made or tuned on.

`data/soundness.tsv` says of sixty sentences and fragments whether they hold together; `data/elements.tsv`
says of forty prompts which of subject, action, environment, camera and lighting they show.
"""

import csv
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from eval_pipeline.suite import Measured, Model
from eval_pipeline.suites._video.scene_elements import ELEMENTS, find_elements
from eval_pipeline.suites._video.syntax import is_sound


class LabelledText(NamedTuple):
    """A sentence or fragment, and whether it holds together."""

    kind: str
    sound: bool
    text: str


class LabelledPrompt(NamedTuple):
    """A prompt, and which elements it shows."""

    elements: frozenset[str]
    text: str


class Share(NamedTuple):
    """How many of how many were judged rightly."""

    right: int
    of: int

    @property
    def value(self) -> float:
        """Right ÷ of."""
        return self.right / self.of

    def __str__(self) -> str:
        return f"{self.right}/{self.of}"


def labelled_texts() -> list[LabelledText]:
    """The labelled sentences and fragments."""
    return [LabelledText(row["kind"], row["sound"] == "1", row["text"]) for row in _rows("soundness.tsv")]


def labelled_prompts() -> list[LabelledPrompt]:
    """The labelled prompts."""
    return [LabelledPrompt(frozenset(row["elements"].split()), row["text"]) for row in _rows("elements.tsv")]


def soundness_by_kind(judge: Callable[[str], bool]) -> dict[str, Share]:
    """How often a judge of soundness is right, on sentences and on fragments, sound and broken."""
    right: Counter[str] = Counter()
    all_of: Counter[str] = Counter()
    for each in labelled_texts():
        key = f"{'sound' if each.sound else 'broken'} {each.kind}s"
        all_of[key] += 1
        right[key] += judge(each.text) == each.sound
    return {key: Share(right[key], all_of[key]) for key in sorted(all_of)}


@lru_cache(maxsize=1)
def soundness_accuracy() -> Share:
    """How often the check of soundness is right."""
    shares = soundness_by_kind(is_sound).values()
    return Share(sum(share.right for share in shares), sum(share.of for share in shares))


def syntax_model(metric: str) -> Model:
    """The check of soundness as the model behind a metric."""

    def measure() -> Measured:
        share = soundness_accuracy()
        return Measured(share.value, f"{share} labelled sentences and fragments right")

    return Model("syntax automaton", (metric,), measure)


@lru_cache(maxsize=1)
def element_accuracy() -> dict[str, Share]:
    """For each element, how often the detector is right about its being there."""
    prompts = labelled_prompts()
    results = [find_elements(each.text).present() for each in prompts]
    return {
        name: Share(
            sum(here[name] == (name in each.elements) for here, each in zip(results, prompts, strict=True)),
            len(prompts),
        )
        for name in ELEMENTS
    }


def _rows(name: str) -> list[dict[str, str]]:
    text = files("eval_pipeline.suites._video").joinpath(f"data/{name}").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))

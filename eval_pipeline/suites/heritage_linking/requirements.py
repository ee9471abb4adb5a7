"""What a good golden set for linking contains."""

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

from eval_pipeline.files import read_tsv
from eval_pipeline.metrics.text import normalize
from eval_pipeline.numbers import counted, limit, number
from eval_pipeline.suite import Overview, Requirement
from eval_pipeline.suites._heritage.requirements import (
    LANGUAGE_REQUIREMENT,
    agreement,
    second_annotation,
    sizes,
    variety,
)
from eval_pipeline.suites._heritage.splits import SPLIT_REQUIREMENTS
from eval_pipeline.suites.heritage_linking.cases import LinkingCase

MENTIONS = 500
NIL_SHARE = 0.15
WIDEST = 0.03
"""How far the share of NIL mentions may lie from the one that is asked for."""
AMBIGUOUS = 10
NIL = ""


class SecondLink(msgspec.Struct, frozen=True):
    """What a second annotator linked a mention to; nothing is NIL."""

    id: str
    mention_id: str
    gold_wikidata: str = NIL


def second_annotations(folder: Path) -> dict[str, dict[str, str]]:
    """What a second annotator linked, by case and mention."""
    results: dict[str, dict[str, str]] = {}
    for row in second_annotation(
        folder, [".tsv"], lambda file, problems: read_tsv(file, SecondLink, problems)
    ):
        results.setdefault(row.record.id, {})[row.record.mention_id] = row.record.gold_wikidata
    return results


def measure(case: LinkingCase) -> dict[str, Any]:
    """What the requirements look at."""
    links = case.expected.links.values()
    return {
        "text": case.input.context,
        "mentions": len(links),
        "nil": sum(gold.kb_id is None for gold in links),
        "meanings": [(normalize(gold.mention), gold.kb_id or NIL) for gold in links],
        "links": {name: gold.kb_id or NIL for name, gold in case.expected.links.items()},
    }


def _nil_share(overview: Overview) -> float:
    return float(sum(overview.measures["nil"]) / sum(overview.measures["mentions"]))


def _told(overview: Overview) -> list[str]:
    return [f"{number(_nil_share(overview))} of the mentions are NIL, {limit(NIL_SHARE)} are asked for"]


def _ambiguous(overview: Overview) -> int:
    """How many mentions bear a name that means something else in another place."""
    meanings = {pair for each in overview.measures["meanings"] for pair in each}
    names = Counter(name for name, _ in meanings)
    return sum(names[name] > 1 for each in overview.measures["meanings"] for name, _ in each)


REQUIREMENTS: tuple[Requirement, ...] = (
    sizes({"mentions": MENTIONS}, lambda overview: {"mentions": sum(overview.measures["mentions"])}),
    Requirement(
        "nil_share",
        f"{limit(NIL_SHARE)} of the mentions are NIL, within {limit(WIDEST)}.",
        lambda overview: _told(overview) if abs(_nil_share(overview) - NIL_SHARE) > WIDEST else [],
        facts=_told,
    ),
    Requirement(
        "ambiguous_names",
        f"At least {AMBIGUOUS} mentions bear a name that means something else elsewhere in the set.",
        lambda overview: (
            [f"{counted(_ambiguous(overview), 'ambiguous mention')}, at least {AMBIGUOUS} needed"]
            if _ambiguous(overview) < AMBIGUOUS
            else []
        ),
    ),
    LANGUAGE_REQUIREMENT,
    *SPLIT_REQUIREMENTS,
    variety(),
    agreement("links"),
)

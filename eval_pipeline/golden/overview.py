"""A golden set at a glance, and what falls short in it."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from eval_pipeline.golden.reading import GoldenCase
from eval_pipeline.suite import Case, Overview, Requirement, Suite, suite_code


class OverviewBuilder:
    """Collects what requirements look at, without keeping the cases."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._case_ids: list[str] = []
        self._files: list[str] = []
        self._attributes: dict[str, list[Any]] = {}
        self._measures: dict[str, list[Any]] = {}

    def add(self, golden: GoldenCase) -> None:
        """Measure one case."""
        self.add_block([golden.case], golden.file)

    def add_block(self, cases: Sequence[Case[Any, Any]], file: str) -> None:
        """Measure some cases of a file."""
        count = len(self._case_ids)
        self._case_ids += [case.id for case in cases]
        self._files += [file] * len(cases)
        _extend(self._attributes, [case.attributes for case in cases], count)
        if self._suite.measure:
            with suite_code(self._suite.name):
                _extend(self._measures, list(map(self._suite.measure, cases)), count)

    def build(self, references: Any = None) -> Overview:
        """The overview of everything added."""
        attributes, measures = (
            {name: columns[name] for name in sorted(columns)}
            for columns in (self._attributes, self._measures)
        )
        return Overview(self._case_ids, self._files, attributes, measures, references)


def joined(overviews: Sequence[Overview]) -> Overview:
    """One overview of several parts of a golden set."""
    sizes = [len(each.case_ids) for each in overviews]

    def columns(parts: Sequence[Mapping[str, Sequence[Any]]]) -> dict[str, Sequence[Any]]:
        pieces = list(zip(parts, sizes, strict=True))
        return {
            name: [value for part, size in pieces for value in part.get(name, [""] * size)]
            for name in sorted(set(chain.from_iterable(parts)))
        }

    return Overview(
        list(chain.from_iterable(each.case_ids for each in overviews)),
        list(chain.from_iterable(each.files for each in overviews)),
        columns([each.attributes for each in overviews]),
        columns([each.measures for each in overviews]),
        overviews[0].references,
    )


def _extend(columns: dict[str, list[Any]], rows: Sequence[Mapping[str, Any]], count: int) -> None:
    """Add rows to columns of that many rows; blank where a row or a column lacks something."""
    names = dict.fromkeys(rows[0] if rows else ())
    distinct = dict(zip(map(id, rows), rows, strict=True)).values()
    if all(row.keys() == names.keys() for row in distinct) and (names.keys() == columns.keys() or not count):
        for name in names:
            columns.setdefault(name, []).extend([row[name] for row in rows])
        return
    for name in dict.fromkeys(chain.from_iterable(rows)):
        columns.setdefault(name, [""] * count)
    for name, column in columns.items():
        column += [row.get(name, "") for row in rows]


def shortfalls(suite: Suite, overview: Overview) -> list[tuple[Requirement, list[str]]]:
    """Each requirement of the suite with what falls short of it."""
    if not overview.case_ids:
        return [(each, ["the golden set is empty"]) for each in suite.requirements]
    with suite_code(suite.name):
        return [(each, each.shortfalls(overview)) for each in suite.requirements]

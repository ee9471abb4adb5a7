"""The tests of a promptfoo configuration: defaults merged, files read, variables expanded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from eval_pipeline.declarative import read_rows
from eval_pipeline.importing.cells import HIDDEN, as_test
from eval_pipeline.importing.documents import FILE, REMOTE, Fields, Folder, Items
from eval_pipeline.importing.places import Leftovers, NotTaken, Place
from eval_pipeline.importing.templates import resolved_variables
from eval_pipeline.problems import Problems

MOST_TESTS = 10_000
MOST_ASSERTIONS = 100_000
LARGEST_TABLE = 16 * 2**20
KNOWN = ("vars", "assert", "description", "threshold", "options", "metadata", "$ref")
FIELDS = {
    "provider": "Which engine answers is a matter of engines.yaml and of a prompt's front matter.",
    "providers": "Which engine answers is a matter of engines.yaml and of a prompt's front matter.",
    "prompts": "Every version is asked every case: make a suite of its own for some of them.",
    "providerOutput": "Score recorded outputs: eval-pipeline score SUITE --outputs FILE.",
}
"""Fields of a test that have no counterpart, and what to do instead."""
BY_CODE = {
    "assertScoringFunction": "whether it passes is up to code",
    "transform": "the output is transformed by code before it is measured",
    "postprocess": "the output is transformed by code before it is measured",
    "transformVars": "its variables are made by code",
}
"""What makes a test another one that cannot be run here."""
OPTIONS = ("disableVarExpansion", "disableDefaultAsserts", "prefix", "suffix", *BY_CODE)
"""Options that are looked at."""


@dataclass(frozen=True)
class GivenTest:
    """A test with everything that it inherits."""

    place: Place
    variables: Mapping[str, Any]
    assertions: Items
    threshold: Any = None
    description: str = ""
    metadata: Mapping[str, Any] | None = None
    prefix: str = ""
    suffix: str = ""


class ReadTests:
    """Reads tests; what cannot be one is listed."""

    def __init__(self, config: Fields, folder: Folder, leftovers: Leftovers) -> None:
        self._config = config
        self._folder = folder
        self._leftovers = leftovers
        self._default = self._default_test()

    def all(self) -> list[GivenTest]:
        """Every test, one for each combination of its variables."""
        tests: list[GivenTest] = []
        assertions = 0
        for given in self._given():
            try:
                made = list(self._expanded(given))
            except NotTaken as reason:
                self._leftovers.drop(given.place, reason.message, reason.remedy)
                self._drop_assertions(given)
                continue
            tests += made
            assertions += sum(len(each.assertions) for each in made)
            if len(tests) > MOST_TESTS or assertions > MOST_ASSERTIONS:
                message = f"there are more than {MOST_TESTS:,} tests, or {MOST_ASSERTIONS:,} assertions"
                problems = Problems()
                problems.add(
                    given.place.file, message, "Begin with a table: init --from.", line=given.place.line
                )
                problems.stop_if_any()
        return tests

    def _drop_assertions(self, given: Fields) -> None:
        assertions = given.get("assert")
        for each, place in assertions.placed() if isinstance(assertions, Items) else ():
            kind = each.get("type") if isinstance(each, Mapping) else None
            where = place._replace(field=f"{place.field} ({kind})")
            self._leftovers.drop(where, "belongs to a test that was not taken over", "See the test.")

    def _default_test(self) -> Fields:
        given = self._config.get("defaultTest")
        place = self._config.at("defaultTest")
        try:
            if isinstance(given, str):
                given = self._folder.document(self._folder.named(given)[0])
            if given is not None and not isinstance(given, Fields):
                raise NotTaken("is no test", "Write vars and assert below it.")
        except NotTaken as reason:
            self._leftovers.drop(place, reason.message, reason.remedy)
            given = None
        default = given or Fields(place)
        self._list_fields(default)
        return default

    def _given(self) -> Iterator[Fields]:
        """The tests as they are written, those of files and scenarios included."""
        tests = self._config.get("tests")
        found = list(self._read(tests, self._config.at("tests"))) if tests is not None else []
        scenarios = self._config.get("scenarios")
        if not found and scenarios is None:
            found = [Fields(self._default.place)]
        yield from found
        if scenarios is not None and not isinstance(scenarios, Items):
            self._leftovers.drop(
                self._config.at("scenarios"), "is no list of scenarios", "Write them out as tests."
            )
            return
        for scenario, place in scenarios.placed() if scenarios is not None else ():
            yield from self._scenario(scenario, place)

    def _read(self, value: Any, place: Place) -> Iterator[Fields]:
        """Tests in a list, in a file, or in files of a list."""
        if isinstance(value, Items):
            for each, where in value.placed():
                yield from self._read(each, where)
        elif isinstance(value, Fields) and "path" not in value:
            yield value
        elif isinstance(value, str | Fields):
            try:
                yield from self._file(value if isinstance(value, str) else str(value["path"]))
            except NotTaken as reason:
                self._leftovers.drop(place, reason.message, reason.remedy)
        elif value is not None:
            self._leftovers.drop(place, "is no test", "Write vars and assert.")

    def _file(self, name: str) -> Iterator[Fields]:
        if REMOTE.match(name):
            raise NotTaken("would be fetched", "Save the tests as a table beside the configuration.")
        for path in self._folder.named(name):
            ending = path.suffix.lower()
            if ending in (".yaml", ".yml", ".json"):
                document = self._folder.document(path)
                rows = document if isinstance(document, Items) else Items(Place(path, 1))
                for each, place in rows.placed() if document is rows else ((document, rows.place),):
                    yield from self._read(_as_test(each), place)
            elif ending in (".csv", ".jsonl"):
                yield from self._rows(path)
            else:
                raise NotTaken(
                    f"{path.name} is in no format that is read", "Save it as CSV, JSON Lines, JSON or YAML."
                )

    def _rows(self, path: Path) -> Iterator[Fields]:
        if path.stat().st_size > LARGEST_TABLE:
            raise NotTaken(
                f"{path.name} is larger than {LARGEST_TABLE:,} bytes", "Begin with `init --from` instead."
            )
        problems = Problems()
        for row, line in read_rows(path, problems):
            fields = _placed(row, Place(path, line))
            yield as_test(fields, self._leftovers) if path.suffix.lower() == ".csv" else _as_test(fields)
        for each in problems:
            self._leftovers.drop(Place(path, each.line, each.field), each.message, each.remedy)

    def _scenario(self, scenario: Any, place: Place) -> Iterator[Fields]:
        if isinstance(scenario, str):
            try:
                for path in self._folder.named(scenario):
                    document = self._folder.document(path)
                    for each in document if isinstance(document, Items) else [document]:
                        yield from self._scenario(each if isinstance(each, Fields) else None, place)
            except NotTaken as reason:
                self._leftovers.drop(place, reason.message, reason.remedy)
            return
        config = scenario.get("config") if isinstance(scenario, Fields) else None
        if not isinstance(config, Items):
            self._leftovers.drop(place, "is no scenario with a config", "Write it out as tests.")
            return
        tests = (
            list(self._read(scenario["tests"], scenario.at("tests")))
            if scenario.get("tests")
            else [Fields(place)]
        )
        for data in self._read(config, scenario.at("config")):
            yield from (_both(data, test) for test in tests)

    def _expanded(self, given: Fields) -> Iterator[GivenTest]:
        options = {**_mapping(self._default.get("options")), **_mapping(given.get("options"))}
        for source in (given, given.get("options"), self._default, self._default.get("options")):
            for name, reason in BY_CODE.items():
                if isinstance(source, Fields) and source.get(name) is not None:
                    raise NotTaken(f"{reason} ({name})", "Let the prompt ask for what is measured.")
        self._list_fields(given)
        assertions = Items(given.place)
        for source in (self._default, given):
            if source is given or options.get("disableDefaultAsserts") is not True:
                for each, place in self._assertions(source):
                    assertions.put(each, place)
        threshold = given.get("threshold")
        metadata = {**_mapping(self._default.get("metadata")), **_mapping(given.get("metadata"))}
        variables = {**self._variables(self._default), **self._variables(given)}
        if hidden := [name for name in variables if name.startswith(HIDDEN) or not name.strip()]:
            raise NotTaken(f"its variable {hidden[0]!r} cannot be a column", "Give it another name.")
        for values in self._combinations(variables, options.get("disableVarExpansion") is True):
            yield GivenTest(
                given.place,
                resolved_variables(values),
                assertions,
                self._default.get("threshold") if threshold is None else threshold,
                str(given.get("description") or ""),
                metadata,
                str(options.get("prefix") or ""),
                str(options.get("suffix") or ""),
            )

    def _assertions(self, source: Fields) -> Iterator[tuple[Any, Place]]:
        given = source.get("assert")
        if isinstance(given, str):
            given = self._folder.document(self._folder.named(given)[0])
        if given is None:
            return
        if not isinstance(given, Items):
            raise NotTaken("its assertions are no list", "Write each after a dash.")
        yield from given.placed()

    def _variables(self, source: Fields) -> dict[str, Any]:
        """The variables of a test, or of the files that it names."""
        given = source.get("vars")
        if isinstance(given, str) or (
            isinstance(given, Items) and all(isinstance(each, str) for each in given)
        ):
            merged: dict[str, Any] = {}
            for name in [given] if isinstance(given, str) else given:
                for path in self._folder.named(name):
                    merged |= _mapping(self._folder.document(path))
            return merged
        if given is not None and not isinstance(given, Fields):
            raise NotTaken("its variables are no fields", "Write name: value.")
        return dict(given or {})

    def _combinations(self, variables: Mapping[str, Any], as_they_are: bool) -> Iterator[dict[str, Any]]:
        """One set of variables for each combination of those that are lists of texts, or files."""
        choices = [self._values(value, as_they_are) for value in variables.values()]
        for number, chosen in enumerate(product(*choices)):
            if number == MOST_TESTS:
                raise NotTaken(f"its variables make more than {MOST_TESTS:,} tests", "Use fewer values.")
            yield dict(zip(variables, chosen, strict=True))

    def _values(self, value: Any, as_they_are: bool) -> list[Any]:
        if isinstance(value, str) and value.startswith(FILE):
            return [self._content(path) for path in self._folder.named(value)]
        if isinstance(value, str) and value.startswith(("package:", "exec:")):
            raise NotTaken("a variable is made by code, which is never run", "Write its value.")
        if isinstance(value, list) and value and isinstance(value[0], str) and not as_they_are:
            return [one for each in value for one in self._values(each, as_they_are)]
        return [value]

    def _content(self, path: Path) -> str:
        import msgspec

        if path.suffix.lower() in (".yaml", ".yml"):
            return msgspec.json.encode(self._folder.document(path)).decode()
        if path.suffix.lower() in (".pdf", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".mp3", ".wav", ".mp4"):
            raise NotTaken(f"{path.name} is no text", "Cases hold texts, numbers, lists and objects.")
        return self._folder.text(path).strip()

    def _list_fields(self, given: Fields) -> None:
        """List fields and options that nothing here reads."""
        for name in given:
            if name not in KNOWN and name not in BY_CODE:
                message = "has no counterpart" if name in FIELDS else "is no field of a test that is known"
                self._leftovers.drop(
                    given.at(name), message, FIELDS.get(name, "Look it up in promptfoo's manual.")
                )
        options = given.get("options")
        if not isinstance(options, Fields):
            return
        for name in options:
            if name not in OPTIONS:
                message = "is an option without a counterpart"
                self._leftovers.drop(
                    options.at(name), message, "Engines, trials and limits stand in engines.yaml."
                )


def _as_test(value: Any) -> Any:
    """A row of a file as a test: one without a test's fields is a set of variables."""
    if isinstance(value, Fields) and not any(
        name in value for name in ("vars", "assert", "description", "options")
    ):
        test = Fields(value.place)
        test.put("vars", value, value.place)
        return test
    return value


def _placed(value: Any, place: Place) -> Any:
    """Plain values of a line as values that know it."""
    if isinstance(value, Mapping):
        fields = Fields(place)
        for name, each in value.items():
            fields.put(str(name), _placed(each, place.below(str(name))), place.below(str(name)))
        return fields
    if isinstance(value, list):
        items = Items(place)
        for number, each in enumerate(value):
            items.put(_placed(each, place.below(number)), place.below(number))
        return items
    return value


def _both(data: Fields, test: Fields) -> Fields:
    """A test of a scenario, with the data of one of its configurations."""
    both = Fields(test.place)
    for each in (data, test):
        for name in each:
            both.put(name, each[name], each.at(name))
    for name in ("vars", "options", "metadata"):
        merged = Fields(test.place)
        for part in (each[name] for each in (data, test) if isinstance(each.get(name), Fields)):
            for key in part:
                merged.put(key, part[key], part.at(key))
        if merged:
            both.put(name, merged, both.at(name))
    assertions = Items(test.place)
    for listed in (each["assert"] for each in (data, test) if isinstance(each.get("assert"), Items)):
        for assertion, place in listed.placed():
            assertions.put(assertion, place)
    if assertions:
        both.put("assert", assertions, both.at("assert"))
    return both


def _mapping(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}

"""A configuration of promptfoo as a suite: its prompts, its tests and what they assert."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from eval_pipeline.importing.assertions import Translator
from eval_pipeline.importing.documents import Fields, Folder, read_document, resolved
from eval_pipeline.importing.places import Leftovers, NotTaken
from eval_pipeline.importing.prompts import TakenPrompt, read_prompts
from eval_pipeline.importing.providers import Suggested, suggested
from eval_pipeline.importing.scores import Assembling, Asserted, free_name
from eval_pipeline.importing.templates import as_printed, printed, renamed, unknown, used_otherwise
from eval_pipeline.importing.tests import GivenTest, ReadTests
from eval_pipeline.problems import BadInput, Problems
from eval_pipeline.starting import variables

ENDINGS = (".yaml", ".yml", ".json")
READ = ("description", "prompts", "providers", "targets", "tests", "scenarios", "defaultTest", "$schema")
INSTEAD = {
    "derivedMetrics": "Write a suite in Python: eval-pipeline suite eject.",
    "evaluateOptions": "Concurrency, delays, trials and budgets stand in engines.yaml.",
    "commandLineOptions": "Concurrency, delays, trials and budgets stand in engines.yaml.",
    "env": "Set environment variables where the program runs; no file holds them.",
    "extensions": "Code is never run for you.",
    "nunjucksFilters": "Code is never run for you: put what a filter makes into a variable.",
    "outputPath": "Write results with eval-pipeline run … --export.",
    "sharing": "Nothing leaves the machine; `report` and `dashboard` write pages.",
    "redteam": "There is no red team here.",
    "tracing": "There is no tracing here.",
    "tags": "Tags are a matter of the repository.",
    "metadata": "Metadata of tests become attributes; those of a configuration have no place.",
    "writeLatestResults": "Every evaluation is kept in the state folder.",
}
"""Fields of a configuration that have no counterpart, and what to do instead."""
TURNS = "messages"
LONGEST_ID = 80


@dataclass(frozen=True)
class Imported:
    """What a configuration becomes."""

    description: str
    id: str
    inputs: Mapping[str, str]
    attributes: Sequence[str]
    scores: Sequence[Mapping[str, Any]]
    rows: Sequence[Mapping[str, Any]]
    prompts: Sequence[TakenPrompt]
    engines: Sequence[Suggested]
    leftovers: Leftovers


class _Case(NamedTuple):
    test: GivenTest
    number: int


def read_promptfoo(path: Path) -> Imported:
    """What can be taken over of a configuration, and the list of the rest; nothing usable is bad input."""
    leftovers, problems = Leftovers(), Problems()
    if path.suffix.lower() not in ENDINGS:
        problems.add(path, "is no configuration in YAML or JSON", "Code is never run: write it as YAML.")
        problems.stop_if_any()
    config = read_document(path, leftovers, problems)
    if config is not None and not isinstance(config, Fields):
        problems.add(path, "is no configuration", "Name a promptfooconfig.yaml.", line=1)
    problems.stop_if_any()
    if not isinstance(config, Fields):
        problems.add(path, "the file is empty", "Name a promptfooconfig.yaml.", line=1)
        raise BadInput(list(problems))
    config = resolved(config, leftovers, problems)
    folder = Folder(path.parent, leftovers)
    prompts = read_prompts(config, folder, leftovers)
    tests = ReadTests(config, folder, leftovers).all()
    _list_the_rest(config, leftovers)
    prompts = _with_affixes(prompts, tests, leftovers)
    cases, asserted = _measurable(tests, Translator(folder, leftovers), leftovers)
    _stop_if_nothing(path, prompts, cases, leftovers)
    return _assembled(config, prompts, cases, asserted, suggested(config, leftovers), leftovers)


def _list_the_rest(config: Fields, leftovers: Leftovers) -> None:
    for name in config:
        if name in READ:
            continue
        message = "has no counterpart" if name in INSTEAD else "is read by nothing but references"
        leftovers.drop(
            config.at(name), message, INSTEAD.get(name, "Nothing is lost where only references use it.")
        )


def _measurable(
    tests: Sequence[GivenTest], translator: Translator, leftovers: Leftovers
) -> tuple[list[_Case], list[Asserted]]:
    """The tests of which something can be measured: one of which nothing can would always fail."""
    cases: list[_Case] = []
    asserted: list[Asserted] = []
    for number, test in enumerate(tests, 1):
        assertions = translator.all_of(test.assertions, test.variables, test.threshold, test.place)
        if any(each.weight for each in assertions):
            cases.append(_Case(test, number))
            asserted.append(Asserted(test.variables, assertions))
            continue
        remedy = "Assert something that can be measured here; it would always fail otherwise."
        leftovers.drop(test.place, "is a test of which nothing can be measured", remedy)
        for each in assertions:
            leftovers.drop(each.place, "weighs nothing in a test of which nothing can be measured", remedy)
    return cases, asserted


def _with_affixes(
    prompts: list[TakenPrompt], tests: Sequence[GivenTest], leftovers: Leftovers
) -> list[TakenPrompt]:
    """Prompts with what all tests put before and after them; what only some do is listed."""
    affixes = {(test.prefix, test.suffix) for test in tests}
    if len(affixes) == 1:
        prefix, suffix = next(iter(affixes))
        chats = [each for each in prompts if each.body.startswith("## ")]
        if (prefix or suffix) and chats:
            leftovers.drop(
                tests[0].place, "a prefix or suffix of messages has no place", "Write it into them."
            )
            return prompts
        return [each.around(prefix, suffix) for each in prompts]
    for test in tests:
        if test.prefix or test.suffix:
            remedy = "Make a variable of it, and put that into the prompt."
            leftovers.drop(test.place, "has a prefix or suffix of its own, which the case does not", remedy)
    return prompts


def _stop_if_nothing(path: Path, prompts: Sequence[Any], cases: Sequence[Any], leftovers: Leftovers) -> None:
    if prompts and cases:
        return
    problems = Problems()
    missing = "prompt" if not prompts else "test"
    problems.add(
        path, f"no {missing} of it can be taken over", "See what is in the way; nothing was written."
    )
    raise BadInput([*leftovers.dropped, *problems])


def _assembled(
    config: Fields,
    prompts: Sequence[TakenPrompt],
    cases: list[_Case],
    asserted: list[Asserted],
    engines: Sequence[Suggested],
    leftovers: Leftovers,
) -> Imported:
    known = list(dict.fromkeys(name for case in cases for name in case.test.variables))
    used = list(dict.fromkeys(name for each in prompts for name in unknown(each.body, ())))
    for name in used:
        if name not in known:
            place = next(each.place for each in prompts if name in unknown(each.body, ()))
            leftovers.change(
                place, f"uses {name!r}, which no test sets: it is blank, as it was", "Set it, or remove it."
            )
    seen = used or known
    inputs = {_renamed(variable): name for variable, name in variables(seen).items()}
    new_names = {name: variable for variable, name in inputs.items() if variable != name}
    scores = Assembling(asserted, seen, leftovers).scores()
    taken = {*known, *used, *scores.columns}
    id_name = free_name("id", taken)
    attributes = _attributes(cases, {*taken, id_name}, leftovers)
    texts = _as_texts(prompts, cases, leftovers)
    rows = [
        {
            id_name: case_id,
            **{
                name: _cell(case.test.variables.get(name), name in texts)
                for name in dict.fromkeys((*known, *used))
            },
            **{column: cells[number] for column, cells in scores.columns.items()},
            **{column: (case.test.metadata or {}).get(name) for column, name in attributes.items()},
        }
        for number, (case, case_id) in enumerate(zip(cases, _ids(cases), strict=True))
    ]
    return Imported(
        " ".join(str(config.get("description") or "").split()),
        id_name,
        inputs,
        list(attributes),
        scores.entries,
        rows,
        _with_names(prompts, new_names, leftovers),
        engines,
        leftovers,
    )


def _renamed(variable: str) -> str:
    """A variable that is not taken for the earlier turns of a conversation."""
    return f"{TURNS}_text" if variable == TURNS else variable


def _with_names(
    prompts: Sequence[TakenPrompt], names: Mapping[str, str], leftovers: Leftovers
) -> list[TakenPrompt]:
    kept = []
    for each in prompts:
        for name in names.keys() & set(unknown(each.body, ())):
            message = f"the variable {name!r} is called {names[name]!r} in templates here"
            leftovers.change(each.place, message, "See `inputs` of suite.yaml.")
        try:
            kept.append(each._replace(body=renamed(each.body, names)))
        except NotTaken as reason:
            leftovers.drop(each.place, reason.message, reason.remedy)
    return kept


def _as_texts(prompts: Sequence[TakenPrompt], cases: Sequence[_Case], leftovers: Leftovers) -> set[str]:
    """The variables that prompts print and that Jinja would print otherwise: they become texts."""
    texts: set[str] = set()
    for name in sorted({name for each in prompts for name in printed(each.body)}):
        odd = [case for case in cases if isinstance(case.test.variables.get(name), bool | list | Mapping)]
        if not odd:
            continue
        if all(name not in used_otherwise(each.body) for each in prompts):
            texts.add(name)
        else:
            message = (
                f"{name!r} is printed and used otherwise; Jinja prints true, lists and objects its own way"
            )
            leftovers.change(odd[0].test.place, message, "Print a variable of its own.")
    return texts


def _cell(value: Any, as_text: bool) -> Any:
    return as_printed(value) if as_text and isinstance(value, bool | list | Mapping) else value


def _ids(cases: Sequence[_Case]) -> list[str]:
    """Names of cases: a test's description where no other has it, else its number."""
    told = [" ".join(case.test.description.split())[:LONGEST_ID].strip() for case in cases]
    told = ["" if text.startswith("test-") else text for text in told]
    counts = Counter(told)
    return [
        text if text and counts[text] == 1 and text.isprintable() else f"test-{case.number}"
        for case, text in zip(cases, told, strict=True)
    ]


def _attributes(cases: Sequence[_Case], taken: set[str], leftovers: Leftovers) -> dict[str, str]:
    """Columns of metadata by which metrics are shown, too, and the names that they have there."""
    names: dict[str, None] = {}
    odd: set[str] = set()
    for case in cases:
        for name, value in (case.test.metadata or {}).items():
            names[name] = None
            if isinstance(value, list | Mapping):
                message = f"its metadata {name!r} is no text"
                leftovers.drop(case.test.place, message, "Groups are made by texts.")
                odd.add(name)
    return {
        name if name not in taken and not name.startswith("_") else f"metadata_{name.lstrip('_')}": name
        for name in names
        if name not in odd
    }

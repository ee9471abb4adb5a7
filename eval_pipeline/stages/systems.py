"""The classical systems of a suite side by side, on the cases that none of them learned from."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import msgspec

from eval_pipeline.answers import FIRST_TRIAL, Answer
from eval_pipeline.golden import GoldenCase
from eval_pipeline.problems import without_problems
from eval_pipeline.prompts import active_versions, load_prompt
from eval_pipeline.scoring import Summary, score_cases, summarize
from eval_pipeline.stages.golden import load_golden
from eval_pipeline.stages.workbench import Workbench
from eval_pipeline.suite import Suite, suite_code

SYSTEM = "system"
"""The parameter of a prompt version that chooses among an embedded engine's systems."""


class System(NamedTuple):
    """A system by name, and what it scores."""

    name: str
    in_use: bool
    """Whether it is the one of the active version."""
    summary: Summary


def systems_of(suite: Suite) -> tuple[str, ...]:
    """The systems that a prompt version may choose among, if its parameters have such a choice."""
    if suite.embedded is None or SYSTEM not in suite.parameters.__struct_fields__:
        return ()
    choice = get_type_hints(suite.parameters)[SYSTEM]
    return tuple(map(str, get_args(choice))) if get_origin(choice) is Literal else ()


def compare_systems(bench: Workbench) -> list[System]:
    """Let every system answer with what else the active version says, and score what it answers.

    Nothing is known of any where no case was held out.
    """
    suite = bench.suite
    names = systems_of(suite)
    if not names:
        return []
    parameters = _parameters(bench)
    attribute, value = suite.held_out or ("", "")
    cases = [
        each
        for each in load_golden(bench).table.cases(suite)
        if not attribute or each.case.attributes.get(attribute) == value
    ]
    return list(_scored(bench, cases, parameters, names)) if cases else []


def _scored(
    bench: Workbench, cases: Sequence[GoldenCase], parameters: Any, names: Sequence[str]
) -> Iterator[System]:
    for name in names:
        answers = _Answers(bench, msgspec.structs.replace(parameters, **{SYSTEM: name}), cases)
        scores = score_cases(bench.suite, cases, answers, bench.context, keep_diagnoses=False)
        summary = summarize(bench.suite, scores, bench.gates, bench.models)
        yield System(name, name == getattr(parameters, SYSTEM), summary)


def _parameters(bench: Workbench) -> Any:
    """Those of the active version; the usual ones where there is none, or several."""
    folder = bench.project.prompts(bench.suite.name)
    active = active_versions(bench.suite, folder)
    if len(active) != 1:
        return bench.suite.parameters()
    prompt = without_problems(lambda problems: load_prompt(bench.suite, folder, active[0], problems))
    assert prompt is not None
    return prompt.parameters


class _Answers:
    """What a system answers, asked when it is needed."""

    trials = (FIRST_TRIAL,)

    def __init__(self, bench: Workbench, parameters: Any, cases: Sequence[GoldenCase]) -> None:
        self._bench = bench
        self._parameters = parameters
        self._inputs = {each.case.id: each.case.input for each in cases}

    def get(self, case_id: str, trial: int, input_hash: str) -> Answer | None:
        """The answer to a case."""
        suite, resources = self._bench.suite, self._bench.context.resources
        assert suite.embedded is not None
        with suite_code(suite.name, "the embedded engine"):
            given = self._inputs[case_id]
            prepared = suite.prepare(given, self._parameters, resources) if suite.prepare else given
            output = suite.embedded(prepared, self._parameters, resources)
        return Answer(case_id, trial, msgspec.json.encode(output).decode())

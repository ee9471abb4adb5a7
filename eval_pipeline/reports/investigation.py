"""The investigation of a failure, as the document's template has it: filled in as far as the data tell."""

from collections.abc import Iterator
from typing import Any

import msgspec

from eval_pipeline.decisions import Objections
from eval_pipeline.investigation import GOLDEN, Hypothesis, Investigation
from eval_pipeline.numbers import NOTHING, counted, number
from eval_pipeline.prompts import prompt_name
from eval_pipeline.reports.blocks import Block, Bullets, Heading, Line
from eval_pipeline.reports.cases import size_of
from eval_pipeline.reports.markdown import flat
from eval_pipeline.reports.report import TITLES
from eval_pipeline.reports.rows import Table
from eval_pipeline.reports.tables import gate_label, shown_value, units
from eval_pipeline.scoring import Evaluation
from eval_pipeline.suite import Suite

MOST_SHOWN = 6
LONGEST = 160
LONGEST_OBJECTION = 250
MOST_FIXES = 3
SMALLEST = 0.05
"""What explains less of the failures than that is not shown."""


def investigation_data(
    suite: Suite, evaluation: Evaluation, against: Objections, found: Investigation
) -> dict[str, Any]:
    """An investigation as data: the same numbers, and the commands of its plan."""
    outputs = evaluation.identity.outputs
    return {
        "suite": suite.name,
        "version": outputs.version,
        "engine": outputs.engine,
        "model": outputs.model,
        "evaluation": evaluation.id,
        "evaluated_at": evaluation.created_at,
        "state": against.state,
        "fails": bool(against.blocking),
        "failing_metrics": _failing_metrics(evaluation),
        "objections": [each._asdict() for each in against],
        **msgspec.to_builtins(found),
        "commands": [command for _, command in _plan(suite, evaluation, found)],
    }


def investigation_blocks(
    suite: Suite, evaluation: Evaluation, against: Objections, found: Investigation
) -> Iterator[Block]:
    """An investigation for people; a version that does not fail is said to be one in the first sentences."""
    outputs = evaluation.identity.outputs
    yield Heading(f"Failure investigation: {suite.name}, {outputs.version}", 1)
    yield Bullets(
        [
            f"Date: {evaluation.created_at[:10]}",
            f"Prompt version: {outputs.version}, on {outputs.engine} ({outputs.model}), "
            f"{size_of(evaluation.summary)}",
            f"Failing metrics: {', '.join(_failing_metrics(evaluation)) or 'none'}",
        ]
    )
    yield from _state(outputs.version, against, found)
    if not found.hypotheses:
        return
    yield Heading("Symptoms")
    yield from _symptoms(suite, evaluation, against, found)
    yield Heading("Root cause")
    yield from _hypotheses(found)
    yield Line("(to be filled in by a person: which of these is it, and how do you know?)", "Cause:")
    yield Heading("Proposed fix")
    yield Bullets(
        list(dict.fromkeys(each.fix for each in _shown(found)[:MOST_FIXES] if each.fix))
        or ["Nothing is known."]
    )
    yield Line("(to be filled in by a person: what is going to be changed)", "Fix:")
    yield Heading("Verification plan")
    yield Table(("step", "command"), list(_plan(suite, evaluation, found)))
    yield Line(_expectation(found))
    yield Heading("Checklist, answered from the data")
    for section in found.checklist:
        yield Heading(section.title, 3)
        for question in section.questions:
            yield Line(question.answer, question.question)
            if question.examples:
                yield Bullets([flat(each, LONGEST) for each in question.examples])


def _failing_metrics(evaluation: Evaluation) -> list[str]:
    return [gate.metric for gate in evaluation.summary.gates if gate.status == "fail"]


def _state(version: str, against: Objections, found: Investigation) -> Iterator[Block]:
    """Whether the version fails at all, and whether there is something to look at."""
    verdict = f"{version} {TITLES[against.state].partition(' ')[2]}"
    if against.blocking:
        yield Line(f"{verdict}." if found.hypotheses else f"{verdict}, though no single answer fails.")
        return
    left = "No answer fails: there is nothing to investigate."
    if found.hypotheses:
        left = f"What follows is about the {counted(found.failing, 'answer')} that fail all the same."
        left = left.replace("answer that fail", "answer that fails")
    yield Line(f"{verdict}: it does not fail. {left}")


def _symptoms(
    suite: Suite, evaluation: Evaluation, against: Objections, found: Investigation
) -> Iterator[Block]:
    unit = units(suite)
    summary = evaluation.summary
    gates = [gate for gate in summary.gates if gate.status in ("fail", "warn")]
    if gates:
        rows = [
            (
                gate.metric,
                shown_value(summary.metrics[gate.metric], unit[gate.metric]),
                gate_label(gate),
                gate.message,
            )
            for gate in gates
        ]
        yield Table(("metric", "value", "zone", "what that means"), rows)
    share = number(found.failing / found.answers) if found.answers else NOTHING
    lines = [f"{found.failing:,} of {counted(found.answers, 'answer')} fail ({share})."]
    if found.trials > 1:
        cases = f"{found.failing_cases:,} of {counted(found.cases, 'case')}"
        lines.append(f"{cases} fail in at least half of {counted(found.trials, 'trial')}.")
    if found.new_failures is not None:
        lines.append(f"{found.new_failures:,} of the failing cases passed in the {found.before}.")
    if found.unread:
        lines.append(
            f"{counted(found.unread, 'failing answer')} are counted but were not read word by word: too many."
        )
    gated = {gate.metric for gate in gates}
    others = [each.text for each in against.blocking if not gated & {each.text.partition(":")[0]}]
    yield Bullets([*lines, *(flat(text, LONGEST_OBJECTION) for text in others)])


def _shown(found: Investigation) -> list[Hypothesis]:
    """Those that explain something worth a look, at least the first."""
    first, *rest = found.hypotheses
    return [first, *(each for each in rest if each.explained >= SMALLEST * found.failing)][:MOST_SHOWN]


def _hypotheses(found: Investigation) -> Iterator[Block]:
    yield Line(
        "Hypotheses, those first that explain most failing answers beyond what passing ones have, too; of "
        "those that explain about as many, the more telling. An answer may have several. What explains at "
        "least half of them, and is not chance, is likely."
    )
    for place, each in enumerate(_shown(found), 1):
        sure = "likely" if each.certain else "a part at most" if each.explained else ""
        yield Line(f"{each.text}{f' ({sure})' if sure else ''}", f"{place}.")
        cases = [f"To look at: {', '.join(each.cases)}"] if each.cases else []
        yield Bullets([flat(line, 400) for line in (*each.evidence, *cases)])
    more = len(found.hypotheses) - len(_shown(found))
    if more:
        yield Line(f"Not shown, since they explain less: {more:,} more; --json has them all.")


def _plan(suite: Suite, evaluation: Evaluation, found: Investigation) -> Iterator[tuple[str, str]]:
    """What confirms a fix, as commands to copy."""
    outputs = evaluation.identity.outputs
    version, first = outputs.version, found.first
    if first is None:
        return
    if first.cause == GOLDEN:
        yield "mend the golden set, check it", f"eval-pipeline golden check {suite.name}"
        yield "sign it off", f"eval-pipeline golden freeze {suite.name} --reason …"
    new = f"eval-pipeline prompt new {suite.name} {prompt_name(version)} --minor"
    yield "1. change the prompt", f"prompts/{suite.name}/{version}.md, or a copy: {new}"
    trials = f" --trials {outputs.trials}" if outputs.trials > 1 else ""
    run = f"eval-pipeline run {suite.name} --prompt {version} --engine {outputs.engine}{trials}"
    yield "2. evaluate it", run
    yield "3. see what moved", f"eval-pipeline compare {suite.name} --prompt {version}"
    yield "4. see what is left", f"eval-pipeline investigate {suite.name} {version}"


def _expectation(found: Investigation) -> str:
    first = next((each for each in found.hypotheses if each.certain), None)
    if first is None:
        return "The fix holds if fewer answers fail, and no gate is in the fail zone."
    today = f"{first.explained:,} of {counted(found.failing, 'failing answer')}"
    return (
        f"The fix holds if the first hypothesis explains hardly any answer (today {today}), and no gate is "
        "in the fail zone."
    )

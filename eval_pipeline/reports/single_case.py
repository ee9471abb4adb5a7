"""One case on the screen: what was asked and expected, every answer, what was wrong, and its scores."""

from collections.abc import Iterator, Sequence

from eval_pipeline.answers import Answer
from eval_pipeline.numbers import NOTHING, counted, number
from eval_pipeline.reports.by_case import CaseScores, TrialScores, by_case
from eval_pipeline.reports.console import print_line, print_table
from eval_pipeline.reports.fields import Fields, fields_of, place_of
from eval_pipeline.reports.layout import NARROWEST, screen_width, wrapped
from eval_pipeline.reports.markdown import flat
from eval_pipeline.reports.rows import Cell, Table
from eval_pipeline.reports.tables import units
from eval_pipeline.stages import Exhibits, Shown
from eval_pipeline.suite import Diagnosis, Suite, all_metrics
from eval_pipeline.terminal import safe, say

INDENT = 2
LONGEST = 20_000
"""Characters of one text on a screen; the page has all of them."""


def print_case(suite: Suite, exhibits: Exhibits, shown: Shown, *, rendered: bool) -> None:
    """A case in full. Texts of others go through `terminal`, so that nothing in them acts."""
    case = shown.golden.case
    scores = [by_case(suite, each.scores.restricted([case.id])).get(case.id) for each in exhibits.all]
    own = scores[0]
    print_line(f"{case.id} ({place_of(suite, shown.golden)}){_standing(own)}")
    if case.attributes:
        print_line(", ".join(f"{name}: {value}" for name, value in case.attributes.items()))
    _print_fields("Input", fields_of(case.input))
    if rendered:
        _print_fields("Prompt", [("", shown.prompt or "It is not there any more, or cannot be rendered.")])
    _print_fields("Expected", fields_of(case.expected))
    trials = {each.trial: each for each in own.trials} if own else {}
    for trial, answer in zip(exhibits.own.answers.trials, shown.answers[0], strict=True):
        _print_answer(trial, answer, trials.get(trial))
    say()
    print_table(score_table(suite, exhibits, scores))


def _standing(case: CaseScores | None) -> str:
    if case is None or case.passed is None:
        return ""
    return f": passed {case.passed:,} of {counted(len(case.trials), 'trial')}"


def _print_fields(title: str, fields: Fields) -> None:
    for name, text in fields:
        say()
        say(f"{title}{f', {name}' if name else ''}:")
        _print_text(text)


def _print_text(text: str) -> None:
    more = f"\n… and {counted(len(text) - LONGEST, 'more character')}; the report has them."
    shown = text if len(text) <= LONGEST else text[:LONGEST] + more
    width = screen_width()
    for line in shown.splitlines():
        indent = INDENT + len(line) - len(line.lstrip())
        for piece in wrapped(safe(line.lstrip()), width and max(NARROWEST, width - indent)):
            say(f"{' ' * indent}{piece}")


def _print_answer(trial: int, answer: Answer | None, scores: TrialScores | None) -> None:
    say()
    verdict = {True: " ✓ passes", False: " ✗ fails", None: ""}[scores.passed if scores else None]
    say(f"Answer, trial {trial}:{verdict}")
    if answer is not None and answer.text is not None:
        _print_text(answer.text)
    if scores is not None:
        for line in _wrong(scores):
            print_line(f"  {line}", indent=4)


def _wrong(scores: TrialScores) -> Iterator[str]:
    if scores.error:
        yield f"✗ error: {scores.error} {flat(scores.detail)}".rstrip()
    for each in scores.diagnoses:
        if each.kind != "error":
            yield f"✗ {each.kind.replace('_', ' ')}: {_named(each)}"


def _named(diagnosis: Diagnosis) -> str:
    expected, got = flat(diagnosis.expected), flat(diagnosis.got)
    return f"{expected} (got {got})" if expected and got else expected or got


def score_table(suite: Suite, exhibits: Exhibits, scores: Sequence[CaseScores | None]) -> Table:
    """Every metric that has a value for the case: of this version, and of those it is compared with."""
    unit = units(suite)
    rows: list[list[str | Cell]] = []
    for metric in all_metrics(suite):
        values = [number(each.value(metric.name), unit[metric.name]) if each else NOTHING for each in scores]
        if any(value != NOTHING for value in values):
            rows.append([metric.name, *values])
    return Table(("metric", "this version", *(each.label for each in exhibits.all[1:])), rows)

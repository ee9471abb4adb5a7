"""Cases for people: the worst ones, and what was wrong with them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from eval_pipeline.numbers import counted, number
from eval_pipeline.reports.markdown import bullets, flat, plain
from eval_pipeline.reports.tables import units
from eval_pipeline.scoring import WORST_CASES, CaseResult, Scores, Summary
from eval_pipeline.suite import Suite

MOST_DIAGNOSES = 12
MOST_PROBLEMS = 10
MOST_NAMED = 5


def worst_cases(suite: Suite, results: Sequence[CaseResult], scores: Scores) -> str:
    """The cases that fared worst, each with what was missed, invented or wrong."""
    unit = units(suite)[suite.headline]
    parts = [passes(results)] if results else []
    for result in results[:WORST_CASES]:
        headline = (
            f"**{plain(result.case_id)}**: {suite.headline} {number(result.headline, unit)}, "
            f"passed {result.passed} of {counted(result.trials, 'trial')}"
        )
        rows = [row for row in _diagnoses(scores, result.case_id) if row["kind"] != "error"]
        errors = [f"error: {plain(kind)}" for kind in result.errors]
        parts.append(headline + "\n\n" + bullets([*errors, *_by_kind(rows)]))
    return "\n\n".join(parts) or "There are no cases."


def size_of(summary: Summary) -> str:
    """How many cases, trials and errors an evaluation has; and which cases, where they are not all."""
    cases = summary.held_out.size if summary.held_out else counted(summary.cases, "case")
    size = f"{cases} × {counted(summary.trials, 'trial')}"
    return f"{size}, {counted(summary.error_count, 'error')}"


def passes(results: Sequence[CaseResult]) -> str:
    """In how many trials cases pass: one that always fails does not hide in a good mean."""
    always = sum(each.passed == each.trials for each in results)
    never = [each for each in results if not each.passed]
    rest = [each for each in results if 0 < each.passed < each.trials]
    lines = [f"{always:,} of {counted(len(results), 'case')} pass in every trial"]
    for some, how in ((rest, "some"), (never, "none")):
        names = [
            f"{plain(each.case_id)} ({each.passed:,} of {each.trials:,})"
            if each.passed
            else plain(each.case_id)
            for each in some[:MOST_DIAGNOSES]
        ]
        lines += [f"{len(some):,} in {how}: {_first(names, len(some))}"] if some else []
    return "; ".join(lines) + "."


def _diagnoses(scores: Scores, case_id: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = scores.restricted([case_id]).diagnoses.to_pylist()
    return rows


def _by_kind(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    kinds: dict[str, dict[str, None]] = {}
    for row in rows:
        both = row["expected"] and row["got"]
        what = f"{row['expected']} (got {row['got']})" if both else row["expected"] or row["got"]
        kinds.setdefault(row["kind"], {})[what] = None
    lines = []
    for kind, things in sorted(kinds.items()):
        some = _some([plain(each, 120) for each in things], MOST_DIAGNOSES, "; ")
        lines.append(f"{kind.replace('_', ' ')} ({len(things):,}): {some}")
    return lines


def explanations(suite: Suite, metric: str, scores: Scores) -> list[str]:
    """What a metric's bad value is made of: a line for each of some cases, and how many more there are."""
    kinds = next((each.explained_by.split() for each in suite.metrics if each.name == metric), [])
    named: dict[str, dict[str, None]] = {}
    others: set[str] = set()
    for row in scores.diagnoses.to_pylist() if kinds else ():
        if row["kind"] in kinds:
            if row["case_id"] in named or len(named) < MOST_NAMED:
                named.setdefault(row["case_id"], {})[flat(row["got"] or row["expected"], 60)] = None
            else:
                others.add(row["case_id"])
    lines = [f"{flat(case_id, 60)}: {_some(list(things))}" for case_id, things in named.items()]
    return [*lines, *([f"and {counted(len(others), 'more case')}"] if others else [])]


def named_things(suite: Suite, summary: Summary, scores: Scores) -> dict[str, list[str]]:
    """What every gate that does not pass is made of, by metric: a few cases, and how many more."""
    own = summary.rests_on(scores)
    named = {
        gate.metric: explanations(suite, gate.metric, own)
        for gate in summary.gates
        if gate.status in ("warn", "fail")
    }
    return {metric: lines for metric, lines in named.items() if lines}


def cause_lines(named: Mapping[str, Sequence[str]]) -> list[str]:
    """The same as lines: what stands behind every gate that does not pass, by name."""
    return [f"{metric}: {'; '.join(lines)}" for metric, lines in named.items()]


def _some(things: Sequence[str], most: int = 5, between: str = ", ") -> str:
    return _first(things[:most], len(things), between)


def _first(things: Sequence[str], of: int, between: str = ", ") -> str:
    """The first of so many things, and how many more there are."""
    more = f" and {of - len(things):,} more" if of > len(things) else ""
    return between.join(things) + more


def hidden_problems(summary: Summary) -> str:
    """What the headline hides, in a sentence; nothing where it hides nothing."""
    problems = [flat(problem) for problem in summary.problems]
    return f"Problems: {_some(problems, MOST_PROBLEMS)}." if problems else ""

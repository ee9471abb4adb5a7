"""Scoring findings: detection by severity and category, precision, depth, and what it all cost."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

import eval_pipeline.suite as kit
from eval_pipeline.answers import Answer
from eval_pipeline.suites.review.cases import CATEGORIES, SEVERITIES, ExpectedError, ReviewCase
from eval_pipeline.suites.review.findings import Finding, Findings
from eval_pipeline.suites.review.matching import FULL, Match, Outcome, match_findings

GOOD_DETECTION = 0.6
GOOD_PRECISION = 0.5
"""Where fewer of a case's findings are confirmed, whoever reads them is better off without."""
LAYERS = ("A", "B", "C")
SEVERITY_TABLE = "severities"
CATEGORY_TABLE = "categories"
CONCERN_TABLE = "concerns"
FOUND_TABLE = "recurrent_findings"
TASK_TABLE = "tasks"
SAMPLE_TABLE = "sample"
BONUS_TABLE = "proposed_additions"
TASK = "task:"
LONGEST_QUOTE = 120
FAILED_RUN = "errors"
TASK_COUNTS = (
    "credit", "expected", "points", "maximum", "true", "findings", "depth", "confirmed",
    "token_efficiency", kit.defined("token_efficiency"), "tokens_unknown",
)  # fmt: skip
"""What a task's own numbers rest on, run by run."""


def score_case(item: kit.Item, context: kit.Context) -> kit.CaseScore:
    """The counts, tables and diagnoses of one output."""
    case: ReviewCase = item.case
    output: Findings = item.output
    outcome = match_findings(case.id, output.findings, case.expected.errors, context.references or {})
    earned = {match.error.id: match.credit for match in outcome.matches}
    confirmed = [*(match.finding for match in outcome.matches), *outcome.bonus]
    points = sum(match.credit * match.error.weight for match in outcome.matches)
    counts = {
        **_expected_counts(case.expected.errors, earned),
        "points": points,
        **_finding_counts(outcome),
        "confirmed": float(len(confirmed)),
        "depth": float(sum(finding.depth_score for finding in confirmed)),
        "all_findings": float(len(output.findings)),
        **_efficiency(points, _maximum(case.expected.errors), _tokens(output, item.answer)),
    }
    keyed = [
        *_expected_rows(case, item.trial, earned),
        *_task_rows(case, str(item.trial), counts),
        *_concern_rows(output, outcome.matches),
        *_found_rows(case, outcome),
        *(
            kit.KeyedCount(BONUS_TABLE, f"{case.id}: {_told(finding)}", "runs", 1.0)
            for finding in outcome.bonus
        ),
    ]
    return kit.CaseScore(counts, keyed, list(_diagnoses(case, outcome)))


def errored(case: ReviewCase, answer: Answer | None) -> kit.CaseScore:
    """An error detects nothing, and counts as if it had said as many wrong things as there are errors."""
    errors = case.expected.errors
    wrong = float(len(errors))
    counts = {
        **_expected_counts(errors, {}),
        "points": 0.0,
        **dict.fromkeys(("true", "pending", "bonus", "ambiguous", "duplicates"), 0.0),
        "findings": wrong,
        "open": wrong,
        "confirmed": wrong,
        "depth": wrong,
        "all_findings": wrong,
        "duplicates": wrong,
        "tokens_unknown": 0.0,
    }
    spent = {**counts, "token_efficiency": 0.0, kit.defined("token_efficiency"): 1.0}
    return kit.CaseScore(counts, [*_expected_rows(case, 0, {}), *_task_rows(case, FAILED_RUN, spent)])


def _task_rows(case: ReviewCase, run: str, counts: Mapping[str, float]) -> Iterator[kit.KeyedCount]:
    return (kit.KeyedCount(TASK_TABLE, case.id, f"{run} {name}", counts[name]) for name in TASK_COUNTS)


def _maximum(errors: Sequence[ExpectedError]) -> int:
    return sum(error.weight for error in errors)


def _expected_counts(errors: Sequence[ExpectedError], earned: dict[str, float]) -> dict[str, float]:
    counts = {"maximum": float(_maximum(errors))}
    kinds: tuple[tuple[str, Callable[[ExpectedError], bool]], ...] = (
        ("", lambda error: True),
        *((f":{name}", lambda error, name=name: error.severity == name) for name in SEVERITIES),
        *((f":{name}", lambda error, name=name: error.category == name) for name in CATEGORIES),
    )
    for suffix, belongs in kinds:
        own = [error for error in errors if belongs(error)]
        counts[f"expected{suffix}"] = float(len(own))
        counts[f"credit{suffix}"] = float(sum(earned.get(error.id, 0.0) for error in own))
    return counts


def _finding_counts(outcome: Outcome) -> dict[str, float]:
    """Duplicates are neither true nor false: they are not among the findings that precision is about."""
    true = len(outcome.matches) + len(outcome.bonus)
    pending = len(outcome.pending)
    return {
        "true": float(true),
        "findings": float(true + len(outcome.false) + pending),
        "pending": float(pending),
        "bonus": float(len(outcome.bonus)),
        "ambiguous": float(len(outcome.ambiguous)),
        "open": float(pending + len(outcome.ambiguous)),
        "duplicates": float(len(outcome.duplicates) + outcome.repeated),
    }


def _tokens(output: Findings, answer: Answer) -> int | None:
    """What the workflow says it spent, else what the engine measured; None where nobody says."""
    if output.tokens is not None:
        return output.tokens.agent + output.tokens.workflow
    measured = answer.tokens
    return sum(measured.values()) if isinstance(measured, dict) else measured


def _efficiency(points: float, maximum: int, tokens: int | None) -> dict[str, float]:
    """Per-case values, so that a dear case cannot be dropped from the mean by failing."""
    value = points / tokens * 1000 if tokens else 0.0
    return {
        "token_efficiency": value,
        kit.defined("token_efficiency"): 1.0,
        "token_efficiency_normalized": value / maximum if maximum else 0.0,
        kit.defined("token_efficiency_normalized"): 1.0 if maximum else 0.0,
        "tokens_unknown": 0.0 if tokens else 1.0,
    }


def _expected_rows(case: ReviewCase, trial: int, earned: dict[str, float]) -> list[kit.KeyedCount]:
    rows = [kit.KeyedCount(SAMPLE_TABLE, case.id, str(trial) if trial else FAILED_RUN, 1.0)]
    for error in case.expected.errors:
        for table, key in ((SEVERITY_TABLE, error.severity), (CATEGORY_TABLE, error.category)):
            rows.append(kit.KeyedCount(table, key, "expected", 1.0))
            rows.append(kit.KeyedCount(table, key, "detected", earned.get(error.id, 0.0)))
        rows.append(kit.KeyedCount(CATEGORY_TABLE, error.category, TASK + case.id, 1.0))
    return rows


def _concern_rows(output: Findings, matches: Sequence[Match]) -> Iterator[kit.KeyedCount]:
    methods = {concern: set(names) for concern, names in output.methods_applied.items()}
    for finding in output.findings:
        methods.setdefault(finding.concern, set()).add(finding.method)
        yield kit.KeyedCount(CONCERN_TABLE, finding.concern, "findings", 1.0)
    for concern, names in sorted(methods.items()):
        yield kit.KeyedCount(CONCERN_TABLE, concern, "methods", float(len(names)))
    for match in matches:
        yield kit.KeyedCount(
            CONCERN_TABLE, match.finding.concern, "points", match.credit * match.error.weight
        )


def _found_rows(case: ReviewCase, outcome: Outcome) -> Iterator[kit.KeyedCount]:
    """What makes findings of different trials the same: the error they match, or else their place."""
    results = {_named(match.error) for match in outcome.matches}
    results |= {finding.spot for finding in (*outcome.bonus, *outcome.false, *outcome.pending)}
    return (kit.KeyedCount(FOUND_TABLE, f"{case.id}: {name}", "runs", 1.0) for name in sorted(results))


def _named(error: ExpectedError) -> str:
    return f"{error.id} {error.severity} {error.category}: {error.text}"


def _told(finding: Finding) -> str:
    where = f" (line {finding.location})" if finding.location else ""
    return f"{finding.category}: {(finding.quote or finding.text)[:LONGEST_QUOTE]}{where}"


def _diagnoses(case: ReviewCase, outcome: Outcome) -> Iterator[kit.Diagnosis]:
    matched = {match.error.id: match for match in outcome.matches}
    for error in sorted(case.expected.errors, key=lambda error: (-error.weight, error.id)):
        if error.id not in matched:
            yield kit.Diagnosis("missed", _named(error), "")
        elif matched[error.id].credit < FULL:
            yield kit.Diagnosis("partial", _named(error), matched[error.id].reason)
    for finding in outcome.false:
        yield kit.Diagnosis("false_positive", "", _told(finding))
    for finding in outcome.pending:
        yield kit.Diagnosis("undecided", "", _told(finding))
    for finding, error_id in outcome.duplicates:
        yield kit.Diagnosis("duplicate", error_id, _told(finding))


def case_passes(sums: kit.Sums) -> NDArray[np.bool_]:
    """A case passes when every critical error is detected in full, and 60 % of all errors are.

    At least half of its findings must be matched or bonus: naming every line finds all there is.
    """
    critical = sums["credit:CRITICAL"] == sums["expected:CRITICAL"]
    enough = sums["credit"] >= GOOD_DETECTION * sums["expected"] - 1e-9
    clean = sums["true"] >= GOOD_PRECISION * sums["findings"]
    return np.asarray(critical & enough & clean, dtype=np.bool_)


def _has_severity(severity: str) -> Callable[[ReviewCase], bool]:
    return lambda case: any(error.severity == severity for error in case.expected.errors)


def _has_errors(case: ReviewCase) -> bool:
    return bool(case.expected.errors)


def _mean_efficiency(name: str) -> kit.Formula:
    """A mean over cases, undefined where any case does not say what it spent."""
    value = kit.ratio_of(name, kit.defined(name))
    return lambda sums: np.where(sums["tokens_unknown"] > 0, np.nan, value(sums))


def _layer(letter: str) -> kit.Formula:
    """The mean over a layer's concerns of points ÷ methods."""

    def formula(sums: kit.Sums) -> kit.Values:
        table = sums.table(CONCERN_TABLE)
        own = [index for index, concern in enumerate(table.row_keys) if concern.startswith(letter)]
        methods = table.column("methods")[:, own]
        efficiency = np.nan_to_num(kit.divide(table.column("points")[:, own], methods))
        return kit.divide(efficiency.sum(axis=1), (methods > 0).sum(axis=1).astype(float))

    return formula


def _covered(sums: kit.Sums) -> kit.Values:
    covered: kit.Values = np.sum([sums[f"credit:{name}"] > 0 for name in CATEGORIES], axis=0, dtype=float)
    return covered


def _coverage(sums: kit.Sums) -> kit.Values:
    return kit.divide(_covered(sums), np.where(sums["expected"] > 0, float(len(CATEGORIES)), 0.0))


def _coverage_present(sums: kit.Sums) -> kit.Values:
    present: kit.Values = np.sum([sums[f"expected:{name}"] > 0 for name in CATEGORIES], axis=0, dtype=float)
    return kit.divide(_covered(sums), present)


def _precision_upper(sums: kit.Sums) -> kit.Values:
    return kit.divide(sums["true"] + sums["pending"], sums["findings"])


def _discovery_upper(sums: kit.Sums) -> kit.Values:
    return kit.divide(sums["bonus"] + sums["pending"], sums["confirmed"] + sums["pending"])


def _without_efficiency(sums: kit.Sums) -> kit.Values:
    """0.40·WDS% + 0.25·P% + 0.20·DQ·20."""
    detection, precision = (
        kit.divide(sums["points"], sums["maximum"]),
        kit.divide(sums["true"], sums["findings"]),
    )
    return 40 * detection + 25 * precision + 4 * kit.divide(sums["depth"], sums["confirmed"])


_token_efficiency = _mean_efficiency("token_efficiency")


def _oes(sums: kit.Sums) -> kit.Values:
    return _without_efficiency(sums) + 0.15 * np.minimum(_token_efficiency(sums) * 100, 100)


def _oes_uncapped(sums: kit.Sums) -> kit.Values:
    return _without_efficiency(sums) + 15 * _token_efficiency(sums)


of_errors = partial(kit.Metric, population=_has_errors)
number_of = partial(kit.Metric, unit="number")

METRICS: tuple[kit.Metric, ...] = (
    of_errors(
        "detection_rate",
        "Σ credit ÷ expected errors; credit is 1 for a full match and 0.5 for a partial one.",
        kit.ratio_of("credit", "expected"),
        explained_by="missed",
        aliases=("dr",),
    ),
    *(
        kit.Metric(
            f"detection_rate_{severity.lower()}",
            f"The detection rate of {severity} errors alone.",
            kit.ratio_of(f"credit:{severity}", f"expected:{severity}"),
            population=_has_severity(severity),
        )
        for severity in SEVERITIES
    ),
    of_errors(
        "weighted_detection_score",
        "Σ credit·weight ÷ Σ weight; a critical error weighs 3, an important one 2, a minor one 1.",
        kit.ratio_of("points", "maximum"),
        aliases=("wds",),
    ),
    number_of("wds_points", "Σ credit·weight.", lambda sums: sums["points"]),
    number_of(
        "token_efficiency",
        "wds_points ÷ (agent tokens + workflow tokens) × 1000, as a mean over tasks.",
        _token_efficiency,
        on_error=0.0,
        aliases=("te",),
    ),
    of_errors(
        "token_efficiency_normalized",
        "token_efficiency ÷ the task's maximum points, as a mean over tasks: for comparing tasks.",
        _mean_efficiency("token_efficiency_normalized"),
        unit="number",
        on_error=0.0,
    ),
    *(
        number_of(
            f"concern_efficiency_layer_{letter}",
            f"The mean over the concerns {letter}1, {letter}2, … of points ÷ methods used.",
            _layer(letter),
        )
        for letter in LAYERS
    ),
    kit.Metric(
        "precision",
        "(matched + bonus) ÷ findings without duplicates; undecided findings count as false.",
        kit.ratio_of("true", "findings"),
        explained_by="false_positive",
    ),
    kit.Metric("precision_upper", "The same, with undecided findings as true.", _precision_upper),
    kit.Metric(
        "discovery_rate",
        "Bonus findings ÷ (matched + bonus); undecided findings count as false.",
        kit.ratio_of("bonus", "confirmed"),
        aliases=("dis",),
    ),
    kit.Metric("discovery_rate_upper", "The same, with undecided findings as bonus.", _discovery_upper),
    kit.Metric(
        "pending_rate",
        "Findings that wait for a person (undecided, or matched only in part) ÷ findings.",
        kit.ratio_of("open", "findings"),
        "lower",
        explained_by="undecided",
    ),
    kit.Metric(
        "duplicate_rate",
        "Findings that repeat another, or an error found already ÷ all findings.",
        kit.ratio_of("duplicates", "all_findings"),
        "lower",
        explained_by="duplicate",
    ),
    number_of(
        "depth_quality",
        "The mean depth, 1 (symptom) to 5 (root cause), of findings that are matched or bonus.",
        kit.ratio_of("depth", "confirmed"),
        aliases=("dq",),
    ),
    of_errors("category_coverage", "Categories with a detection ÷ 10.", _coverage, aliases=("cc",)),
    of_errors(
        "category_coverage_present",
        "Categories with a detection ÷ categories that the ground truth has.",
        _coverage_present,
    ),
    of_errors("oes", "0.40·WDS% + 0.25·P% + 0.20·DQ·20 + 0.15·min(TE·100, 100).", _oes, unit="points"),
    of_errors(
        "oes_uncapped",
        "0.40·WDS% + 0.25·P% + 0.20·DQ·20 + 0.15·TE·100, without a limit to what cheapness earns.",
        _oes_uncapped,
        unit="points",
    ),
)

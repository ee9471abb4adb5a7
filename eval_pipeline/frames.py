"""Results as pandas data frames, for notebooks and scripts.

    from eval_pipeline import frames

    frames.metrics("decomposition")
    frames.comparison("decomposition", "decompose-concepts-v2.0", against="decompose-concepts-v1.2")

Every function takes the name of a suite and, where nothing else is said, shows the latest evaluation of one
version: the active one unless another is named. `project` is the project's folder; by default it is found as
the command line finds it. No run is started and no engine asked; only a comparison asks a suite's judge,
where one is switched on. The numbers are those of the command line, the reports and the UI, unrounded.

Text is `string`, times are `datetime64[us, UTC]`. Columns that may be null have pandas' nullable types
(`Int64`, `Float64`), the others NumPy's (`int64`, `float64`, `bool`). What cannot be shown is `BadInput`,
with the command that helps.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from eval_pipeline.comparison import Comparison, comparison_rows
from eval_pipeline.files import data_frame
from eval_pipeline.loading import find_suite
from eval_pipeline.own_code import use_code_of
from eval_pipeline.problems import BadInput, bad_value
from eval_pipeline.project import MARKER, Project, namespace_of
from eval_pipeline.prompts import active_versions, prompt_file, versions_in
from eval_pipeline.reports import comparison_chart
from eval_pipeline.scoring import case_rows, diagnosis_rows, history_rows, metric_rows, of_version, with_units
from eval_pipeline.stages import Workbench, compare_versions, compare_with_baseline, load_golden
from eval_pipeline.store import AnswerTable, History, Scored, database_url

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["answers", "case_scores", "comparison", "comparison_svg", "diagnoses", "history", "metrics"]

T = TypeVar("T")
Place = Project | Path | str | None
BASELINE = "baseline"


def answers(suite: str, version: str | None = None, *, project: Place = None) -> pd.DataFrame:
    """What the engine answered: a row for each case and trial.

    `suite`, `version`, `engine`, `model`, `case_id`, `trial`; `text` as the engine wrote it, or `error`
    (its kind) and `detail` where none arrived; `latency_ms`, `cost_usd`, `tokens`; `carried`, what
    preparing the case adds to the output, as JSON; `input_hash`, the input that was answered.
    """
    bench = _bench(suite, project)
    return _answers(bench, _version(bench, version)).to_pandas()


def case_scores(suite: str, version: str | None = None, *, project: Place = None) -> pd.DataFrame:
    """What each answer earned: a row for each case and trial.

    `suite`, `version`, `case_id`, `trial`; `error` and `detail` where the answer could not be used;
    `attribute:<name>` of the case; every metric by its name, of that row alone and null where it does not
    apply; `count:<name>`, the numbers that metrics are made of: their sums over rows, put into a metric's
    formula, give its value.
    """
    bench = _bench(suite, project)
    scored = _scored(bench, version)
    return data_frame(of_version(scored.identity.outputs, case_rows(scored.scores, bench.suite)))


def diagnoses(suite: str, version: str | None = None, *, project: Place = None) -> pd.DataFrame:
    """What was wrong with answers: a row for each thing missed, invented or mistaken.

    `suite`, `version`, `case_id`, `trial`, `kind`, `expected`, `got`; the last two are blank where there is
    nothing to show.
    """
    scored = _scored(_bench(suite, project), version)
    return data_frame(of_version(scored.identity.outputs, diagnosis_rows(scored.scores)))


def metrics(suite: str, version: str | None = None, *, project: Place = None) -> pd.DataFrame:
    """Every metric over everything, then by trial where there are several, then by group.

    `suite`, `version`, `metric`; `axis` and `group`, null for all cases; `trial`, null for all trials;
    `value`. Rows over everything also have: `low` and `high`, the 95 % interval where one is reported (of
    cases that were held out, and of rates near 0 or 1); `zone`, `status` and `severity` of its gate;
    `judged_low` and `judged_high`, between which the error of a model that judges leaves the value; `sd`
    over trials; how many `answers` it is about, and how many of them were `errored` or `missing`.
    `held_out` names the cases that all numbers rest on where the engine learned from others. Where
    `incomplete`, too few answers arrived, and the numbers say nothing. `unit` and `direction` are the
    metric's own.
    """
    bench = _bench(suite, project)
    chosen = _version(bench, version)
    evaluation = _evaluated(bench, chosen, bench.store.evaluation(bench.suite.name, chosen))
    return data_frame(with_units(bench.suite, metric_rows(evaluation)))


def comparison(
    suite: str, version: str | None = None, against: str = BASELINE, *, project: Place = None
) -> pd.DataFrame:
    """What changed from the baseline, or from another version: as `eval-pipeline compare` says it.

    A row for each metric on all cases that both sides share, then for each gated metric and group of cases.
    `suite`, `version`, `against`, `role` (of the other side), `metric`; `axis` and `group`, null for all
    cases; `before`, `after`, `difference`; `low` and `high`, the 95 % interval of the difference; `p_value`
    of the metric by itself and `adjusted_p`; `verdict`; `action`, null for groups, since they inform and do
    not decide; `gated`, `zone_before`, `zone_after`, `cases`; `minimum_detectable_effect`, `cases_needed`,
    `trials_needed`; `reason` in words; `unit` and `direction` of the metric.
    """
    bench = _bench(suite, project)
    compared = _compared(bench, _version(bench, version), against)
    return data_frame(with_units(bench.suite, comparison_rows([compared])))


def comparison_svg(
    suite: str, version: str | None = None, against: str = BASELINE, *, project: Place = None
) -> str:
    """The gated metrics of a comparison as a picture: differences with their intervals, right is better.

    In a notebook: `IPython.display.SVG(comparison_svg(…))`.
    """
    bench = _bench(suite, project)
    return comparison_chart(bench.suite, _compared(bench, _version(bench, version), against))


def history(suite: str, version: str | None = None, *, project: Place = None) -> pd.DataFrame:
    """How numbers went over time: a row for each evaluation and metric, oldest first, of all versions.

    `suite`, `version`, `evaluated_at`, `engine`, `model`, `sample`, `metric`, `value`; `standard_error`
    over trials; `cases`, `trials`, `errors`; whether its gates `passed`; `replay` where the answers were
    known before; `incomplete` and `held_out` as in `metrics`; `run` (Dagster's), `evaluation`, `outputs`,
    `prompt_hash`, `golden_hash` and `scoring`, which identify it; `unit` and `direction` of the metric.
    """
    bench = _bench(suite, project)
    with History(database_url(bench.project), namespace_of(bench.project)) as stored:
        points = stored.points(bench.suite.name, version)
    if not points:
        raise _never_evaluated(bench, version)
    return data_frame(with_units(bench.suite, history_rows(points)))


def _bench(suite: str, project: Place) -> Workbench:
    found = _project(project)
    use_code_of(found)
    return Workbench(found, find_suite(found, suite))


def _project(place: Place) -> Project:
    if place is None or isinstance(place, Project):
        return place or Project.find()
    root = Path(place).resolve()
    if not (root / MARKER).is_file():
        raise bad_value("project", f"{place} has no {MARKER}", "Name the folder of a project.")
    project = Project(root, root / ".eval")
    project.stop_if_unusable()
    return project


def _version(bench: Workbench, version: str | None) -> str:
    """The version that is named, or the active one where there is one only."""
    suite, folder = bench.suite, bench.project.prompts(bench.suite.name)
    if version is not None:
        return prompt_file(folder, version).stem
    active = active_versions(suite, folder)
    if len(active) == 1:
        return active[0]
    if active:
        message = f"{len(active)} versions of {suite.name} are active"
        raise bad_value("version", message, f"Name one: {', '.join(active)}.")
    names = ", ".join(versions_in(folder)) or "none is there"
    raise bad_value("version", f"no version of {suite.name} is active", f"Name one: {names}.")


def _answers(bench: Workbench, version: str) -> AnswerTable:
    return _evaluated(bench, version, bench.store.outputs(bench.suite.name, version))


def _scored(bench: Workbench, version: str | None) -> Scored:
    chosen = _version(bench, version)
    return _evaluated(bench, chosen, bench.store.scored(bench.suite.name, chosen))


def _evaluated(bench: Workbench, version: str, result: T | None) -> T:
    """A stored result, which must be there."""
    if result is None:
        raise _never_evaluated(bench, version)
    return result


def _never_evaluated(bench: Workbench, version: str | None) -> BadInput:
    suite = bench.suite.name
    subject = repr(version) if version else suite
    remedy = f"Run: eval-pipeline run {suite}{f' --prompt {version}' if version else ''}"
    return bad_value("version" if version else "suite", f"{subject} was never evaluated", remedy)


def _compared(bench: Workbench, version: str, against: str) -> Comparison:
    """The latest answers of a version against those of another one, both scored by today's code."""
    after = _answers(bench, version)
    if against != BASELINE:
        before = _answers(bench, _version(bench, against))
        return compare_versions(bench, load_golden(bench).table, before, after)
    compared = compare_with_baseline(bench, load_golden(bench).table, after)
    if compared is None:
        remedy = f"Run: eval-pipeline baseline promote {bench.suite.name} {version} --reason …"
        raise bad_value("against", "there is no baseline", remedy)
    return compared

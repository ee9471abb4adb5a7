"""What an evaluation says in the changelog of its prompt: a table, and which cases moved against what."""

from collections.abc import Sequence

from eval_pipeline import prompts, stages
from eval_pipeline.comparison import CaseChange, Comparison
from eval_pipeline.decisions import Objections, Standings, objections_to
from eval_pipeline.engines import read_engines
from eval_pipeline.numbers import Unit, change, counted, number
from eval_pipeline.problems import BadInput, Problems
from eval_pipeline.reports.cases import size_of
from eval_pipeline.reports.markdown import bullets, flat, plain, table
from eval_pipeline.reports.report import TITLES
from eval_pipeline.reports.rows import Table
from eval_pipeline.reports.tables import units
from eval_pipeline.scoring import Evaluation
from eval_pipeline.suite import Suite

MOST_CASES = 5
LONGEST_REASON = 200


def keep_in_changelog(bench: stages.Workbench, evaluation: Evaluation, standings: Standings) -> bool:
    """Write an evaluation into its version's entry, if there is one; whether that changed anything.

    Only the default sample, all cases and the version's own engine count: what a night asks afresh is
    history, what some cases or another engine say is an experiment, and none of it edits a file of people.
    An incomplete evaluation says nothing. Nor is a comparison with the version before replaced by another
    one, where that version was not evaluated here: what an entry says must not depend on the machine.
    """
    outputs = evaluation.identity.outputs
    suite, version = bench.suite, outputs.version
    folder = bench.project.prompts(suite.name)
    prompt = prompts.load_prompt(suite, folder, version, Problems())
    engines = read_engines(bench.project.engines_file, Problems())
    usual = (prompt and prompt.front.engine) or (engines and engines.default)
    partial = outputs.case_sample or evaluation.outage
    if partial or outputs.sample != stages.DEFAULT_SAMPLE or outputs.engine != usual:
        return False
    text = prompts.read_changelog(folder, suite.name)
    if prompt is None or not prompts.has_entry(text, version):
        return False
    before = prompt.front.predecessor
    comparison = _comparison(bench, evaluation, standings, before)
    if before and prompts.has_evaluation(text, version) and not _is_with(comparison, before):
        return False
    against = objections_to(bench, evaluation, standings)
    section = changelog_section(suite, evaluation, comparison, against)
    return prompts.edit_changelog(
        bench.project, suite.name, lambda text: prompts.with_evaluation(text, version, section)
    )


def _comparison(
    bench: stages.Workbench, evaluation: Evaluation, standings: Standings, before: str | None
) -> Comparison | None:
    """The comparison with the version before, else with what would be replaced or the baseline."""
    known = [each.comparison for each in standings.all]
    version = evaluation.identity.outputs.version
    same = [each for each in known if before and _is_with(each, before)]
    golden, own = bench.store.golden(bench.suite.name), bench.store.answers(evaluation.identity.outputs)
    if before and not same and golden and own:
        try:
            answers = stages.current_answers(bench, golden, before)
            same = [stages.compare_versions(bench, golden, answers, own)]
        except BadInput:  # it was never evaluated, or is not what it was
            same = []
    others = [each for each in reversed(known) if each.identities and each.identities[0].version != version]
    return next(iter((*same, *others)), None)


def _is_with(comparison: Comparison | None, version: str) -> bool:
    return comparison is not None and _before(comparison) == version


def changelog_section(
    suite: Suite, evaluation: Evaluation, comparison: Comparison | None, against: Objections
) -> str:
    """Against what, the table, which cases moved, and what speaks against the version."""
    outputs = evaluation.identity.outputs
    head = f"On {outputs.engine}, {size_of(evaluation.summary)}:"
    if comparison:
        cases, trials = counted(comparison.shared, "case"), counted(comparison.trials, "trial")
        head = f"Against {_short(_before(comparison))}, on {outputs.engine}, {cases} × {trials}:"
    reasons = "; ".join(_reason(each.text) for each in against.blocking)
    verdict = (
        f"{outputs.version} {TITLES[against.state].partition(' ')[2]}{f': {reasons}' if reasons else ''}"
    )
    lines = [*(_moved(suite, comparison) if comparison else ()), plain(f"{verdict.rstrip('.')}.", 1000)]
    return "\n\n".join((plain(head), table(_table(suite, evaluation, comparison)), bullets(lines)))


def _table(suite: Suite, evaluation: Evaluation, comparison: Comparison | None) -> Table:
    unit = units(suite)
    after = _short(evaluation.identity.outputs.version)
    if comparison is None:
        metrics = evaluation.summary.metrics
        rows = [
            (gate.metric, number(metrics[gate.metric].value, unit[gate.metric]))
            for gate in evaluation.summary.gates
        ]
        return Table(("Metric", after), rows)
    return Table(
        ("Metric", _short(_before(comparison)), after, "Delta"),
        [
            (
                each.metric,
                number(each.before, unit[each.metric]),
                number(each.after, unit[each.metric]),
                change(each.difference, unit[each.metric]),
            )
            for each in comparison.metrics
            if each.gated
        ],
    )


def _moved(suite: Suite, comparison: Comparison) -> list[str]:
    """Which cases improved and regressed by the headline metric."""
    unit = units(suite)[suite.headline]
    lines = [
        plain(f"{suite.headline} {verb} in {counted(len(changes), 'case')}: {_named(changes, unit)}.", 1000)
        for verb, changes in (("improved", comparison.improved), ("regressed", comparison.regressed))
        if changes
    ]
    return lines or [f"{suite.headline} moved in no case."]


def _named(changes: Sequence[CaseChange], unit: Unit) -> str:
    """The cases that moved most."""
    ordered = sorted(changes, key=lambda each: (-abs(each.difference or 0.0), each.case_id))
    some = [f"{flat(each.case_id, 60)} {change(each.difference, unit)}" for each in ordered[:MOST_CASES]]
    more = f" and {len(changes) - MOST_CASES:,} more" if len(changes) > MOST_CASES else ""
    return ", ".join(some) + more


def _before(comparison: Comparison) -> str:
    return comparison.identities[0].version if comparison.identities else comparison.before


def _short(version: str) -> str:
    """The number of a version, without the prompt's name."""
    return version.rpartition("-")[2]


def _reason(text: str) -> str:
    """The first sentence of an objection."""
    return flat(text.partition(". ")[0].rstrip("."), LONGEST_REASON)

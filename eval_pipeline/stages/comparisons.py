"""The last stage: an evaluation against its baseline, or against another version."""

from eval_pipeline.comparison import Comparison, Side, compare
from eval_pipeline.scoring import Scores
from eval_pipeline.stages.workbench import Workbench
from eval_pipeline.store import AnswerTable, GoldenTable, baseline_side, read_baseline


def compare_with_baseline(
    bench: Workbench, golden: GoldenTable, answers: AnswerTable, scores: Scores | None = None
) -> Comparison | None:
    """Compare answers with the baseline of their prompt; None where no baseline was ever promoted.

    Scores of these answers against the golden set as it is are used where they are there already.
    """
    folder = bench.golden_folder
    baseline = read_baseline(folder, answers.identity.version)
    if baseline is None:
        return None
    before = baseline_side(folder, answers.identity.version, baseline)
    return _compare(bench, golden, before, side(answers, golden, scores))


def compare_versions(
    bench: Workbench,
    golden: GoldenTable,
    before: AnswerTable,
    after: AnswerTable,
    scores: Scores | None = None,
) -> Comparison:
    """Compare two prompt versions with each other; `scores` are those of the version after."""
    return _compare(bench, golden, side(before, golden), side(after, golden, scores))


def side(answers: AnswerTable, golden: GoldenTable, scores: Scores | None = None) -> Side:
    """Stored answers as one side of a comparison."""
    return Side(
        answers.identity.version,
        answers.identity,
        answers,
        answers.input_hashes(),
        golden.facts.golden_hash,
        scores,
    )


def _compare(bench: Workbench, golden: GoldenTable, before: Side, after: Side) -> Comparison:
    (comparison,) = compare(
        bench.suite,
        golden.hashes("input_hash"),
        lambda: golden.cases(bench.suite),
        [before],
        after,
        bench.gates,
        bench.context,
    )
    return comparison

"""Probing a suite: what cheating would score on its golden set, computed once for what it rests on."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eval_pipeline.answers import FIRST_TRIAL, Failure, parse
from eval_pipeline.files import content_hash, files_hash
from eval_pipeline.gates import plain_gates
from eval_pipeline.golden import ANSWERS_FILE, as_value
from eval_pipeline.problems import Problems, without_problems
from eval_pipeline.scoring import Probed, probe_suite, prober_version
from eval_pipeline.stages.workbench import Workbench
from eval_pipeline.store import GoldenTable
from eval_pipeline.suite import Case


def probe_golden(bench: Workbench, golden: GoldenTable) -> Probed:
    """Probe a golden set, or say what was found when it and all that scores it were the same."""
    file = bench.golden_folder / ANSWERS_FILE
    answers = files_hash([file]) if file.is_file() else ""
    gates = plain_gates(bench.gates)
    key = content_hash(
        [golden.facts.golden_hash, prober_version(bench.suite), bench.context.hash, gates, answers]
    )
    probed = bench.store.probed(bench.suite.name, key)
    if probed is None:
        probed = probe_cases(bench, [each.case for each in golden.cases(bench.suite)])
        bench.store.keep_probed(key, probed)
    return probed


def probe_cases(bench: Workbench, cases: Sequence[Case[Any, Any]]) -> Probed:
    """Let every probe answer some cases of a suite."""
    references = without_problems(lambda problems: _written_answers(bench, cases, problems))
    return probe_suite(bench.suite, cases, bench.context, bench.gates, bench.models, references)


def _written_answers(bench: Workbench, cases: Sequence[Case[Any, Any]], problems: Problems) -> dict[str, Any]:
    """Golden answers that somebody wrote down, where expectations do not say what an answer is."""
    file: Path = bench.golden_folder / ANSWERS_FILE
    if not file.is_file():
        return {}
    recorded = bench.suite.answer_format(file).open(file, problems)
    for stranger in recorded.without_case([case.id for case in cases]):
        problems.add(file, f"{stranger!r} is no case", "Remove it, or name a case.", field="case_id")
    written: dict[str, Any] = {}
    for case in cases:
        answer = recorded.get(case.id, FIRST_TRIAL, "")
        if answer is not None:
            parsed = parse(answer, bench.suite.output)
            if isinstance(parsed, Failure):
                remedy = "Write an output as the suite's contract has it."
                problems.add(file, f"{case.id!r}: {parsed.detail}", remedy, field="output")
            else:
                written[case.id] = as_value(parsed.output)
    return written

"""Why a version fails: its answers beside those of other versions and engines, and of the baseline."""

from collections.abc import Iterator
from typing import NamedTuple

from eval_pipeline.answers import MISSING, STALE, OutputsIdentity
from eval_pipeline.investigation import (
    Investigation,
    Material,
    Other,
    facts_of,
    investigate,
    observe,
    vocabulary_of,
    with_texts,
)
from eval_pipeline.scoring import Evaluation, Scores, score_cases
from eval_pipeline.stages.workbench import Workbench
from eval_pipeline.store import AnswerTable, GoldenTable, Scored, baseline_side, read_baseline
from eval_pipeline.suite import quantities, suite_code

MOST_OTHERS = 12
"""So many other evaluations, the latest ones, are looked at."""
NOT_ASKED = (MISSING, STALE)


class _Source(NamedTuple):
    """Another evaluation of the same golden set."""

    label: str
    identity: OutputsIdentity
    scores: Scores

    @property
    def asked(self) -> tuple[str, str]:
        """What was asked, and whom."""
        return self.identity.version, _engine(self.identity)


def _engine(identity: OutputsIdentity) -> str:
    return f"{identity.engine} ({identity.model})"


def investigate_evaluation(
    bench: Workbench, golden: GoldenTable, answers: AnswerTable, scored: Scored, evaluation: Evaluation
) -> Investigation:
    """Investigate the failures of an evaluation. Nothing is asked."""
    suite, summary, outputs = bench.suite, evaluation.summary, scored.identity.outputs
    vocabulary = vocabulary_of(suite)
    failing = {gate.metric: bench.gates[gate.metric] for gate in summary.gates if gate.status == "fail"}
    hashes = golden.hashes("input_hash")

    def seen(source: _Source) -> Other:
        every = observe(suite, summary.rests_on(source.scores), vocabulary)
        known = [each for each in every if each.error not in NOT_ASKED]
        return Other(source.label, _engine(source.identity), known)

    with suite_code(suite.name, "diagnoses"):
        observations, unread = with_texts(
            observe(suite, summary.rests_on(scored.scores), vocabulary, failing),
            lambda case_id, trial: answers.get(case_id, trial, hashes.get(case_id, "")),
        )
        facts = facts_of(golden.cases(suite), vocabulary)
        sources = list(_others(bench, scored))
        baseline = _baseline(bench, golden, outputs.version)
        asked = {(outputs.version, _engine(outputs)), *(each.asked for each in sources)}
        sources += [baseline] if baseline and baseline.asked not in asked else []
        material = Material(
            observations,
            [seen(each) for each in sources],
            facts,
            vocabulary,
            _engine(outputs),
            answers.varies,
            {name: each.unit for name, each in quantities(suite).items()},
        )
        other = baseline and (answers.varies or baseline.identity.prompt_hash != outputs.prompt_hash)
        before = seen(baseline) if baseline and other else None
    return investigate(material, before=before, unread=unread)


def _others(bench: Workbench, scored: Scored) -> Iterator[_Source]:
    """The latest evaluation of every other version and engine, scored on the same by the same code."""
    own = scored.identity
    seen = {(own.outputs.version, _engine(own.outputs))}
    for each in bench.store.identities(bench.suite.name):
        outputs = each.outputs
        alike = (each.golden_hash, each.scorer, each.context) == (own.golden_hash, own.scorer, own.context)
        if not alike or (outputs.version, _engine(outputs)) in seen or len(seen) > MOST_OTHERS:
            continue
        stored = bench.store.scored(outputs.suite, outputs.version, each.id)
        if stored is not None:
            seen.add((outputs.version, _engine(outputs)))
            beside = "" if outputs.engine == own.outputs.engine else f" on {outputs.engine}"
            yield _Source(f"{outputs.version}{beside}", outputs, stored.scores)


def _baseline(bench: Workbench, golden: GoldenTable, version: str) -> _Source | None:
    """The baseline of a version's prompt, scored by today's code; None where there is none."""
    baseline = read_baseline(bench.rules_folder, version)
    if baseline is None:
        return None
    side = baseline_side(bench.rules_folder, version, baseline)
    scores = score_cases(bench.suite, golden.cases(bench.suite), side.answers, bench.context)
    return _Source(f"baseline {side.identity.version}", side.identity, scores)

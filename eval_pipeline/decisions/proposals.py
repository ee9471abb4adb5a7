"""Proposals that still stand: of a prompt as it is, its latest evaluation, and the baseline of today."""

from eval_pipeline.problems import BadInput, Problems
from eval_pipeline.prompts import load_prompt
from eval_pipeline.stages import Workbench
from eval_pipeline.store import Proposal, read_baseline


def live_proposals(bench: Workbench) -> list[Proposal]:
    """What versions of a suite propose; a proposal whose grounds are gone is taken back."""
    proposals = []
    for proposal in bench.store.proposals(bench.suite.name):
        if _stands(bench, proposal):
            proposals.append(proposal)
        else:
            bench.store.keep_proposal(bench.suite.name, proposal.version, None)
    return proposals


def _stands(bench: Workbench, proposal: Proposal) -> bool:
    suite, version = bench.suite, proposal.version
    try:
        prompt = load_prompt(suite, bench.project.prompts(suite.name), version, Problems())
        evaluation = bench.store.evaluation(suite.name, version)
        baseline = read_baseline(bench.rules_folder, version)
    except BadInput:  # the prompt file, the evaluation or the baseline cannot be read any more
        return False
    return (
        prompt is not None
        and evaluation is not None
        and baseline is not None
        and evaluation.id == proposal.evaluation
        and evaluation.identity.outputs.prompt_hash == prompt.hash
        and baseline.identity.outputs.id == proposal.baseline
    )

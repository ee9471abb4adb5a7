"""A prompt version and an engine, ready to be put together, and what identifies the answers that brings."""

from dataclasses import dataclass, replace
from typing import Any

from eval_pipeline.answers import OutputsIdentity, TrialRange, Trials, most_trials
from eval_pipeline.engines import Engine, MeteredEngine, open_engine
from eval_pipeline.problems import without_problems
from eval_pipeline.prompts import Prompt, load_prompt
from eval_pipeline.stages.workbench import Workbench
from eval_pipeline.store import GoldenTable


@dataclass(frozen=True)
class Asking:
    """A prompt version and an engine, ready to be put together."""

    prompt: Prompt
    engine: Engine
    resources: Any
    trials: Trials


def usable_prompt(bench: Workbench, version: str) -> Prompt:
    """A prompt version without problems."""
    folder = bench.project.prompts(bench.suite.name)
    return without_problems(lambda problems: load_prompt(bench.suite, folder, version, problems))


def open_asking(
    bench: Workbench, prompt: Prompt, engine: str | None, trials: Trials | None, sample: str
) -> Asking:
    """An engine and how often it is asked: the one chosen, else the prompt's own, else the default."""
    resources = bench.context.resources
    opened = open_engine(bench.project, bench.suite, prompt, engine, resources, sample)
    if isinstance(opened, MeteredEngine):  # a budget is for all that an evaluation asks of an engine
        opened.purse = bench.purses.setdefault(opened.name, opened.purse)
        opened.shared_run = bench.shared_run
    if isinstance(trials, TrialRange) and not opened.varies:
        trials = None
    return Asking(prompt, opened, resources, trials or opened.trials)


def asking_like(bench: Workbench, prompt: Prompt, like: OutputsIdentity) -> Asking:
    """A prompt to be asked as another one was: by the same engine, as often, in the same sample."""
    asking = open_asking(bench, prompt, like.engine, like.trials, like.sample)
    engine = asking.engine
    if engine.prepared_elsewhere and not engine.varies:  # a file of outputs holds what trials it holds
        return replace(asking, trials=min(like.trials, most_trials(engine.trials)))
    return asking


def identity_of(bench: Workbench, golden: GoldenTable, asking: Asking, sample: str) -> OutputsIdentity:
    """What identifies the answers that asking will bring."""
    return OutputsIdentity(
        suite=bench.suite.name,
        version=asking.prompt.version,
        prompt_hash=asking.prompt.hash,
        inputs_hash=golden.facts.inputs_hash,
        engine=asking.engine.name,
        model=asking.engine.model,
        sample=sample,
        trials=most_trials(asking.trials),
        held_out=asking.engine.held_out,
        case_sample=golden.sample,
    )

"""What a report shows of every case: question, expectation and answers, beside those it is compared with."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import islice

from eval_pipeline.answers import Answer, AnswerSource, OutputsIdentity
from eval_pipeline.asking import Questions
from eval_pipeline.comparison import Cases, Comparison, Role, Side
from eval_pipeline.golden import GoldenCase
from eval_pipeline.problems import BadInput, Problems
from eval_pipeline.prompts import Prompt, load_prompt, replaced_by
from eval_pipeline.scoring import Scores, score_cases
from eval_pipeline.stages.samples import sampled
from eval_pipeline.stages.scores import known_scores
from eval_pipeline.stages.workbench import Workbench
from eval_pipeline.store import AnswerTable, Compared, GoldenTable, Scored, baseline_side, read_baseline

BATCH = 500
"""Cases that are looked up together: answers of one trial stand together in their table."""


@dataclass(frozen=True)
class Exhibit:
    """One version's answers and scores, and the text of its prompt."""

    label: str
    role: Role
    answers: AnswerSource
    scores: Scores
    prompt: str | None = None
    """Its file as it was answered, but for its status; None where nobody has it any more."""
    absent: Mapping[str, str] | None = None
    """The cases that it did not answer as they are now, and why."""


@dataclass(frozen=True)
class Shown:
    """A case with its prompt and the answers of every exhibit, trial by trial."""

    golden: GoldenCase
    prompt: str | None
    """None where it is not there any more, or cannot be rendered."""
    answers: Sequence[Sequence[Answer | None]]
    """By exhibit, in the order of its trials; nothing where it did not answer the case."""


@dataclass(frozen=True)
class Exhibits:
    """Everything that can be looked at: the evaluation itself first, then what it is compared with."""

    all: tuple[Exhibit, ...]
    cases: Cases
    prompts: Callable[[Set[str] | None], Iterator[tuple[str, str]]] | None = None
    """The rendered prompts of the cases, in their order; None where the prompt is not there any more."""

    @property
    def own(self) -> Exhibit:
        """The evaluation itself."""
        return self.all[0]

    def batches(self, only: Set[str] | None = None) -> Iterator[list[Shown]]:
        """Every case, or those of some ids, in the order of the golden set, a batch at a time.

        Memory does not grow with texts.
        """
        rendered = self.prompts(only) if self.prompts else iter(())
        cases = (each for each in self.cases(only) if only is None or each.case.id in only)
        while batch := list(islice(cases, BATCH)):
            prompts = _rendered(rendered, len(batch))
            answers = [_answers(each, batch) for each in self.all]
            yield [
                Shown(golden, prompts.get(golden.case.id), [each[place] for each in answers])
                for place, golden in enumerate(batch)
            ]


def _rendered(prompts: Iterator[tuple[str, str]], count: int) -> dict[str, str]:
    """The next prompts by case, as far as their template can be rendered: not every engine needs it."""
    try:
        return dict(islice(prompts, count))
    except BadInput:
        return {}


def _answers(exhibit: Exhibit, batch: Sequence[GoldenCase]) -> list[list[Answer | None]]:
    absent = exhibit.absent or {}
    by_trial = [
        [
            None if each.case.id in absent else exhibit.answers.get(each.case.id, trial, each.input_hash)
            for each in batch
        ]
        for trial in exhibit.answers.trials
    ]
    return [
        [] if golden.case.id in absent else [trial[place] for trial in by_trial]
        for place, golden in enumerate(batch)
    ]


def exhibits_of(
    bench: Workbench, golden: GoldenTable, answers: AnswerTable, scored: Scored, compared: Compared
) -> Exhibits:
    """An evaluation and both sides of its comparisons; these are scored where nobody did."""
    suite, outputs = bench.suite, answers.identity
    golden = sampled(golden, outputs.case_sample)
    prompt = _prompt_of(bench, outputs)
    text = prompt_text(prompt) if prompt else None
    own = Exhibit(outputs.version, "version", answers, scored.scores, text)
    others = [_other(bench, golden, outputs, comparison) for comparison in compared.comparisons]
    questions = Questions(suite, prompt, golden, bench.context.resources) if prompt else None
    return Exhibits(
        (own, *(each for each in others if each)),
        lambda only=None: golden.cases(suite, only),
        questions.texts if questions else None,
    )


def _other(
    bench: Workbench, golden: GoldenTable, after: OutputsIdentity, comparison: Comparison
) -> Exhibit | None:
    """The side before of a comparison; None where its answers are gone."""
    side = _side_before(bench, comparison)
    if side is None or not comparison.shared:
        return None
    absent = {
        **dict.fromkeys(comparison.appeared, "was not asked: the case is new"),
        **dict.fromkeys(comparison.changed, "was asked something else: the case's input changed since"),
    }
    scores = _scores(bench, golden, side, absent)
    prompt = _prompt_of(bench, side.identity, after.version)
    text = prompt_text(prompt) if prompt else None
    return Exhibit(comparison.before, comparison.role, side.answers, scores, text, absent)


def _scores(bench: Workbench, golden: GoldenTable, side: Side, absent: Mapping[str, str]) -> Scores:
    """What a side's answers earn: as an earlier evaluation has it, else scored once more."""
    known = known_scores(bench, golden, side.answers) if isinstance(side.answers, AnswerTable) else None
    if known is not None:
        return known.restricted(set(known.case_ids) - absent.keys()) if absent else known
    cases = (each for each in golden.cases(bench.suite) if each.case.id not in absent)
    return score_cases(bench.suite, cases, side.answers, bench.context)


def _side_before(bench: Workbench, comparison: Comparison) -> Side | None:
    if comparison.identities is None:
        return None
    before = comparison.identities[0]
    if comparison.role == "baseline":
        baseline = read_baseline(bench.rules_folder, before.version)
        if baseline is None or baseline.identity.outputs != before:
            return None
        return baseline_side(bench.rules_folder, before.version, baseline)
    kept = bench.store.answers(before)
    return Side(comparison.before, before, kept, {}, "", role=comparison.role) if kept else None


def _prompt_of(bench: Workbench, outputs: OutputsIdentity, replacing: str = "") -> Prompt | None:
    """The prompt that answers were given to: the version's file, else what Git has of what was replaced."""
    folder = bench.project.prompts(bench.suite.name)

    def as_it_is(version: str) -> Prompt | None:
        return load_prompt(bench.suite, folder, version, Problems())

    try:
        prompt = as_it_is(outputs.version) if (folder / f"{outputs.version}.md").is_file() else None
        if (prompt is None or prompt.hash != outputs.prompt_hash) and replacing:
            after = as_it_is(replacing)
            prompt = replaced_by(bench.project, bench.suite, after).prompt if after else None
    except BadInput:
        return None
    return prompt if prompt and prompt.hash == outputs.prompt_hash else None


def prompt_text(prompt: Prompt) -> str:
    """A prompt's file without its status, which says nothing of what is asked."""
    import yaml

    front = prompt.front.model_dump(exclude={"status"}, exclude_defaults=True)
    written = yaml.safe_dump(front, sort_keys=False, allow_unicode=True)
    return f"---\n{written}---\n{prompt.body}"

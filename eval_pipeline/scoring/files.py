"""Scoring a file of recorded outputs against a golden file or folder."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from eval_pipeline.answers import AnswerFile, AnswersInStep, LineFormat, OutOfStep
from eval_pipeline.files import WHOLE, Part, parts_in_step
from eval_pipeline.golden import JSON_LINES, JsonCases, OverviewBuilder, joined, read_case_blocks, reader_of
from eval_pipeline.problems import BadInput, Problems
from eval_pipeline.processes import in_processes, usable_processors
from eval_pipeline.scoring.context import REFERENCES
from eval_pipeline.scoring.score import score_blocks
from eval_pipeline.scoring.scores import Scores, merged
from eval_pipeline.suite import Case, Context, Overview, Suite

LEAST_PART = 2**25
"""Golden files are cut into parts of at least that many bytes."""


class Unused(NamedTuple):
    """Lines of an outputs file that scoring does not use."""

    without_case: list[str]
    """Case ids that the golden set lacks."""
    repeated: int
    """How many lines repeat a case and trial."""
    warnings: list[str]


class ScoredFile(NamedTuple):
    """The scores of an outputs file, and what they rest on."""

    scores: Scores
    overview: Overview
    unused: Unused


class OutputsScorer:
    """Scores outputs files of a suite; `context` holds the settings, resources and judge to use."""

    def __init__(self, suite: Suite, context: Context, *, keep_diagnoses: bool) -> None:
        self._suite = suite
        self._context = context
        self._keep_diagnoses = keep_diagnoses

    def score(self, golden: Path, outputs: Path, problems: Problems) -> ScoredFile:
        """Score a file. Problems of the golden set and of the file are raised together with those given."""
        if not outputs.is_file():
            problems.add(outputs, "is not a file", "Name a JSON Lines file of outputs.", field="--outputs")
            for _ in read_case_blocks(self._suite, golden, problems):
                pass
            problems.stop_if_any()
        scored = None if problems else self.score_in_step(golden, outputs)
        if scored is None:
            answers = self._suite.answer_format(outputs).open(outputs, problems)
            scored = self._score(golden, answers, problems)
        return scored

    def score_in_step(self, golden: Path, outputs: Path) -> ScoredFile | None:
        """Score a file whose lines follow those of a golden file, without an index of its lines.

        Large files are cut and scored in several processes, where the suite's reader can read a part.
        None where the files are not in step, or anything is wrong with them.
        """
        format_ = self._suite.answer_format(outputs)
        is_json_lines = golden.is_file() and golden.suffix.lower() in JSON_LINES
        if self._context.judge or not is_json_lines or not isinstance(format_, LineFormat):
            return None
        processes = usable_processors() if isinstance(reader_of(self._suite), JsonCases) else 1
        count = min(processes, golden.stat().st_size // LEAST_PART)
        parts = parts_in_step(golden, outputs, count) if count > 1 else [(WHOLE, WHOLE)]

        def score_part(part: Part, beside: Part) -> ScoredFile | None:
            try:
                return self._score(golden, AnswersInStep(outputs, format_, beside), Problems(), part)
            except (OutOfStep, BadInput):
                return None

        results = in_processes([partial(score_part, *each) for each in parts])
        scored = [each for each in results if each]
        if len(scored) < len(parts):
            return None
        overview = joined([each.overview for each in scored])
        if len(scored) > 1 and len(set(overview.case_ids)) < len(overview.case_ids):
            return None
        return ScoredFile(merged([each.scores for each in scored]), overview, scored[0].unused)

    def _score(
        self, golden: Path, answers: AnswerFile | AnswersInStep, problems: Problems, part: Part = WHOLE
    ) -> ScoredFile:
        overview = OverviewBuilder(self._suite)

        def blocks() -> Iterator[Sequence[Case[Any, Any]]]:
            for cases, file, _ in read_case_blocks(self._suite, golden, problems, part):
                overview.add_block(cases, file)
                yield cases
            problems.stop_if_any()

        scores = score_blocks(
            self._suite, blocks(), answers, self._context, keep_diagnoses=self._keep_diagnoses
        )
        # References of the suite's own golden set, such as second annotations, say nothing about another one.
        own = (golden / REFERENCES).exists()
        built = overview.build(self._context.references if own else None)
        strangers = answers.without_case(built.case_ids)
        return ScoredFile(
            scores, built, Unused(strangers, answers.repeated, list(map(str, answers.warnings)))
        )

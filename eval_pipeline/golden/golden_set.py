"""A golden set, read once: its cases, what identifies it, and whether it was signed off."""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from eval_pipeline.golden.identity import golden_hash, inputs_hash, resources_folder
from eval_pipeline.golden.overview import OverviewBuilder
from eval_pipeline.golden.reading import GoldenCase, read_cases
from eval_pipeline.golden.signoff import SignOff, Unsigned, sign_off, unsigned_changes
from eval_pipeline.problems import Problems
from eval_pipeline.suite import Overview, Suite


class GoldenSet:
    """The golden set at a path. `read` collects what the rest is made from, without keeping the cases."""

    def __init__(self, suite: Suite, path: Path, problems: Problems) -> None:
        self._suite = suite
        self._path = path
        self._problems = problems
        self._overview = OverviewBuilder(suite)
        self._case_hashes: dict[str, str] = {}
        self._input_hashes: dict[str, str] = {}

    def read(self) -> Iterator[GoldenCase]:
        """Every case, one after the other; what is wrong goes to the problems given."""
        for golden in read_cases(self._suite, self._path, self._problems):
            self._overview.add(golden)
            self._case_hashes[golden.case.id] = golden.case_hash
            self._input_hashes[golden.case.id] = golden.input_hash
            yield golden

    def __len__(self) -> int:
        return len(self._case_hashes)

    @cached_property
    def hash(self) -> str:
        """What identifies the golden set, once it was read."""
        return golden_hash(self._case_hashes.values(), resources_folder(self._path))

    @cached_property
    def inputs_hash(self) -> str:
        """What identifies its questions, once it was read."""
        return inputs_hash(self._input_hashes, resources_folder(self._path))

    def overview(self, references: Any) -> Overview:
        """What requirements look at."""
        return self._overview.build(references)

    def unsigned_changes(self, rules: Path | None = None) -> Unsigned:
        """What changed since it was signed off, in its folder or in another."""
        return unsigned_changes(self._path, self.hash, self._case_hashes, self._problems, rules)

    def sign_off(self, person: str, reason: str) -> SignOff:
        """Record that a person vouches for it as it stands."""
        return sign_off(self._path, self.hash, self._case_hashes, person, reason)

"""The sides of a comparison, and the cases they share."""

from collections.abc import Mapping, Set
from dataclasses import dataclass

from eval_pipeline.answers import AnswerSource, OutputsIdentity
from eval_pipeline.comparison.records import Role
from eval_pipeline.scoring import Scores

MOST_LEFT_OUT = 0.10


@dataclass(frozen=True)
class Side:
    """One side of a comparison: its answers, and which input of each case they answer."""

    label: str
    identity: OutputsIdentity
    answers: AnswerSource
    input_hashes: Mapping[str, str]
    golden_hash: str
    scores: Scores | None = None
    """The scores of the answers against the golden set as it is, where they are there already."""
    role: Role = "version"


@dataclass(frozen=True)
class Overlap:
    """Which cases of the golden set a side answered as they are now."""

    shared: Set[str]
    appeared: tuple[str, ...]
    vanished: tuple[str, ...]
    changed: tuple[str, ...]

    @property
    def comparable(self) -> bool:
        """Whether what is left out is little enough."""
        left_out = len(self.appeared) + len(self.vanished) + len(self.changed)
        return bool(self.shared) and left_out <= MOST_LEFT_OUT * (len(self.shared) + left_out)


def overlap_of(present: Mapping[str, str], before: Side) -> Overlap:
    """What a side has in common with the golden set, whose cases come with the hash of their inputs."""
    common = present.keys() & before.input_hashes.keys()
    changed = sorted(name for name in common if before.input_hashes[name] != present[name])
    return Overlap(
        common - set(changed) if changed else common,
        tuple(sorted(present.keys() - before.input_hashes.keys())),
        tuple(sorted(before.input_hashes.keys() - present.keys())),
        tuple(changed),
    )


def restricted(scores: Scores, shared: Set[str]) -> Scores:
    """The scores of the shared cases, which mostly are all there are."""
    return scores if all(map(shared.__contains__, scores.case_ids)) else scores.restricted(shared)

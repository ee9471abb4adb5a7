"""Baselines: an evaluation that a person promoted, with a reason; its answers and numbers are frozen."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from eval_pipeline.answers import Answer, index_answers, recorded_line
from eval_pipeline.comparison import Side
from eval_pipeline.files import content_hash, file_bytes, is_there, read_json, replacing, write_json
from eval_pipeline.problems import Problems, without_problems
from eval_pipeline.prompts import prompt_name
from eval_pipeline.scoring import Identity
from eval_pipeline.store.state import LARGEST_RECORD

REMEDY = "Restore it, or promote again with --replace."


class Baseline(msgspec.Struct, frozen=True):
    """Who froze which evaluation, when and why."""

    suite: str
    version: str
    promoted_by: str
    promoted_at: str
    reason: str
    evaluation: str
    identity: Identity
    metrics: dict[str, float | None]
    """Of the cases that the engine did not learn from, where `identity.outputs.held_out` names such."""
    outputs_hash: str
    cases: dict[str, str]
    """Each case's id, and the hash of the input that was answered."""
    digest: str
    """The hash of all the rest: who edits a number by hand is told so wherever it is read."""


def baseline_file(golden: Path, version: str) -> Path:
    """The baseline of a prompt name, in a suite's golden folder."""
    return golden / "baseline" / f"{prompt_name(version)}.json"


def outputs_file(golden: Path, version: str, outputs_hash: str) -> Path:
    """The answers behind a baseline, named by their content."""
    return golden / "baseline" / f"{prompt_name(version)}.{outputs_hash[:12]}.outputs.jsonl"


def read_baseline(golden: Path, version: str) -> Baseline | None:
    """The baseline that a version is compared with; None where none was promoted."""
    path = baseline_file(golden, version)
    if not is_there(path):
        return None
    baseline = _read(path)
    problems = Problems()
    outputs = outputs_file(golden, version, baseline.outputs_hash)
    if not outputs.is_file():
        problems.add(outputs, "is missing, so the baseline cannot be used", REMEDY)
    elif _content(outputs) != baseline.outputs_hash:
        problems.add(outputs, "is not what was promoted", REMEDY)
    problems.stop_if_any()
    return baseline


def read_baselines(golden: Path) -> list[Baseline]:
    """The records of all baselines of a suite."""
    return [_read(path) for path in sorted((golden / "baseline").glob("*.json"))]


def _read(path: Path) -> Baseline:
    problems = Problems()
    baseline = next((each.record for each in read_json(path, Baseline, problems)), None)
    if baseline is not None and baseline.digest != _digest(
        msgspec.json.decode(file_bytes(path).decode("utf-8-sig"))
    ):
        problems.add(path, "is not what was promoted: it was edited since", REMEDY)
    problems.stop_if_any()
    assert baseline is not None
    return baseline


def _digest(record: Any) -> str:
    """The hash of a record as it stands in its file, but for the hash itself."""
    return content_hash({**record, "digest": ""}) if isinstance(record, dict) else ""


def _content(path: Path) -> str:
    """The hash of a file; blank where it is larger than any that is promoted."""
    if path.stat().st_size > LARGEST_RECORD:
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def baseline_side(golden: Path, version: str, baseline: Baseline) -> Side:
    """The baseline of a version's prompt as one side of a comparison."""
    file = outputs_file(golden, version, baseline.outputs_hash)
    answers = without_problems(lambda problems: index_answers(file, problems))
    return Side(
        f"baseline {baseline.version}",
        baseline.identity.outputs,
        answers,
        baseline.cases,
        baseline.identity.golden_hash,
        role="baseline",
    )


def keep_baseline(golden: Path, baseline: Baseline, answers: Iterable[Answer], output_type: type) -> Baseline:
    """Freeze answers and the record that points at them.

    The record is written last and is the only thing that points at the answers, so that a
    baseline is always the old one or the new one.
    """
    lines = b"".join(recorded_line(answer, output_type) for answer in answers)
    kept = replace(baseline, outputs_hash=hashlib.sha256(lines).hexdigest())
    kept = replace(kept, digest=_digest(msgspec.to_builtins(kept)))
    outputs = outputs_file(golden, kept.version, kept.outputs_hash)
    with replacing(outputs) as temporary:
        temporary.write_bytes(lines)
    write_json(baseline_file(golden, kept.version), kept)
    for file in outputs.parent.glob(f"{prompt_name(kept.version)}.*.outputs.jsonl"):
        if file != outputs:
            file.unlink()
    return kept

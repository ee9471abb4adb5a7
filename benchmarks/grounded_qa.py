"""`eval-pipeline score grounded_qa` beside a plain scorer of dictionaries: time and peak memory, as ratios.

The yardstick loads both files with the standard library and walks over them, as the suite's document
describes it. Both run in processes of their own, one after the other. The bounds are 2.5 times its speed
and a third of its memory, on a million golden and a million trace lines; on fewer, what `score` needs to
start weighs more. `score` cuts files of that size and works in as many processes as there are processors:
the memory is that of the largest of them, and by the clock it gains only where these are idle. It also
refuses keys that stand twice in an object, which the yardstick does not see.

    python -m benchmarks.grounded_qa [LINES] [ROUNDS]
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

LINES = 1_000_000
ROUNDS = 1
LEAST_SPEED = 2.5
MOST_MEMORY = 1 / 3
SUBJECTS = ("The warranty", "A refund", "The battery", "Each invoice", "The export job", "An audit log")
VERBS = ("covers", "requires", "expires after", "is limited to", "supports", "rejects", "lasts", "returns")
OBJECTS = (
    "two years of use",
    "a signed form",
    "thirty days",
    "null keys",
    "eight hours",
    "partial shipments",
)


def write_inputs(folder: Path, lines: int) -> tuple[Path, Path]:
    """Golden questions and a trace for each, one in five of them wrong."""
    chance = random.Random(7)
    gold, traces = folder / "gold.jsonl", folder / "trace.jsonl"

    def passage() -> str:
        return f"p{chance.randrange(50_000)}#{chance.randrange(9)}"

    with gold.open("w") as gold_file, traces.open("w") as trace_file:
        for number in range(lines):
            subject, verb, thing = (chance.choice(words) for words in (SUBJECTS, VERBS, OBJECTS))
            answerable = chance.random() < 2 / 3
            citations = [passage() for _ in range(1 + (chance.random() < 0.2))] if answerable else []
            question = f"What does the handbook say: {subject.lower()} {verb} what, and who decides?"
            entry: dict[str, Any] = {"qid": f"Q{number:07d}", "question": question, "answerable": answerable}
            entry["gold_claim_substr"] = [f"{verb} {thing}"] if answerable else []
            entry["gold_citations"] = citations
            retrieved = [passage() for _ in range(5)]
            if citations and chance.random() < 0.9:
                retrieved[chance.randrange(5)] = citations[0]
            answer: dict[str, Any] = {"claim": "not in context", "citations": []}
            if (chance.random() < 0.8) == answerable:
                cited = citations[0] if citations and chance.random() < 0.9 else retrieved[0]
                answer = {"claim": f"{subject} {verb} {thing}.", "citations": [cited]}
            trace = {"qid": entry["qid"], "q": question, "retrieved_ids": retrieved, "answer_json": answer}
            gold_file.write(json.dumps(entry) + "\n")
            trace_file.write(json.dumps(trace) + "\n")
    return gold, traces


def _records(path: str) -> Iterator[dict[str, Any]]:
    with Path(path).open(encoding="utf-8") as file:
        for line in map(str.strip, file):
            if line:
                yield json.loads(line)


def plain_score(gold_path: str, trace_path: str, k: int = 5) -> dict[str, float]:
    """The yardstick: both files as dictionaries, one case after the other."""
    gold = {entry["qid"]: entry for entry in _records(gold_path)}
    traces = {}
    for trace in _records(trace_path):
        traces[trace.get("qid")] = trace
    shipped = answerable = unanswerable = right = hits = under = over = recalled = 0
    for qid, entry in gold.items():
        trace = traces.get(qid, {})
        answer = trace.get("answer_json") or {}
        claim = (answer.get("claim") or "").strip()
        cited, retrieved = answer.get("citations") or [], trace.get("retrieved_ids") or []
        ships = claim.lower() != "not in context"
        shipped += ships
        if entry.get("answerable"):
            answerable += 1
            over += not ships
            recalled += set(entry["gold_citations"]).issubset(set(retrieved[:k]))
        else:
            unanswerable += 1
            under += ships
        if ships:
            lowered = claim.lower()
            held = any(len(part) >= 5 and part.lower() in lowered for part in entry["gold_claim_substr"])
            hit = set(cited).issubset(set(retrieved)) and bool(set(cited) & set(entry["gold_citations"]))
            if entry.get("answerable"):
                hits += hit
                right += hit and held
    return {
        "precision": right / shipped,
        "chr": hits / shipped,
        "under_refusal": under / unanswerable,
        "over_refusal": over / answerable,
        "recall@k": recalled / answerable,
    }


class Cost(NamedTuple):
    """What a process took."""

    seconds: float
    processor: float
    megabytes: float
    output: dict[str, Any]


def measured(arguments: list[str], folder: Path) -> Cost:
    """Run a program and see what it took; its exit code may say that a gate fails."""
    output = folder / "output.json"
    started = time.perf_counter()
    with output.open("wb") as file:
        actions = [(os.POSIX_SPAWN_DUP2, file.fileno(), 1)]
        process = os.posix_spawn(
            sys.executable, [sys.executable, *arguments], os.environ, file_actions=actions
        )
        _, status, used = os.wait4(process, 0)
    seconds = time.perf_counter() - started
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise SystemExit(f"{' '.join(arguments)} failed")
    return Cost(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3, json.loads(output.read_bytes()))


def main(lines: int = LINES, rounds: int = ROUNDS) -> None:
    """Print what both cost, the best of some rounds each, and the ratios."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        gold, traces = map(str, write_inputs(folder, lines))
        ours = [
            "-m",
            "eval_pipeline",
            "score",
            "grounded_qa",
            "--json",
            "--golden",
            gold,
            "--outputs",
            traces,
        ]
        theirs = ["-m", "benchmarks.grounded_qa", "--plain", gold, traces]
        pairs = [(measured(ours, folder), measured(theirs, folder)) for _ in range(rounds)]
    for ours_cost, theirs_cost in pairs[:1]:
        for metric, value in theirs_cost.output.items():
            if abs(ours_cost.output[metric] - value) > 1e-9:
                raise SystemExit(f"{metric}: {ours_cost.output[metric]}, where the yardstick finds {value}")
    mine, plain = (
        Cost(
            min(cost.seconds for cost in costs),
            min(cost.processor for cost in costs),
            max(cost.megabytes for cost in costs),
            {},
        )
        for costs in zip(*pairs, strict=True)
    )
    from benchmarks.engine import sign  # now: whoever starts a process lends it his own peak of memory

    print(f"score grounded_qa on {lines:,} + {lines:,} lines, best of {rounds}")
    for who, cost in (("eval-pipeline", mine), ("plain scorer", plain)):
        times = f"{cost.seconds:.1f} s, {cost.processor:.1f} s of processor time"
        print(f"  {who}: {times}, {cost.megabytes:,.0f} MB in the largest process")
    by_clock, by_processor = plain.seconds / mine.seconds, plain.processor / mine.processor
    memory = mine.megabytes / plain.megabytes
    told = f"{by_clock:.2f} × (promised: {LEAST_SPEED} ×), by processor time {by_processor:.2f} ×"
    print(f"{sign(by_clock >= LEAST_SPEED)} speed: {told}")
    print(f"{sign(memory <= MOST_MEMORY)} memory: {memory:.2f} × (promised: {MOST_MEMORY:.2f} ×)")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--plain"]:
        print(json.dumps(plain_score(sys.argv[2], sys.argv[3])))
    else:
        main(*map(int, sys.argv[1:3]))

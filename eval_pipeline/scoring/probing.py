"""What cheating would score: the probes of a suite through its scorer and gates, and rules that must hold."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import msgspec
import numpy as np

from eval_pipeline.answers import FIRST_TRIAL, Answer
from eval_pipeline.declarative import WarnedOf
from eval_pipeline.gates import TOLERANCE, Bound, Gate, GateResult, MeasuredModel, doubt, gate_result
from eval_pipeline.golden import ORACLE, make_probes, shuffled_sets
from eval_pipeline.numbers import counted
from eval_pipeline.scoring.score import score_blocks
from eval_pipeline.scoring.scores import Scores
from eval_pipeline.scoring.summary import measured
from eval_pipeline.statistics.significance import predicted_hits
from eval_pipeline.suite import Case, Context, Suite, quantities

Rule = Literal["gates", "permuted", "oracle", "invariance"]
ROUNDS = (1, 8)
"""So many permutations are scored at a time; the bound follows from all of them."""
LEVEL = 0.99
MOST_CASES = 500


class ProbeResult(msgspec.Struct, frozen=True):
    """What one probe scored."""

    name: str
    cases: int
    passed: int
    permuted: int | None
    """How many cases its answers pass at most (99 %), permuted among cases; null where it passes none."""
    values: dict[str, float | None]
    gates: tuple[GateResult, ...]

    @property
    def stopped_by(self) -> tuple[str, ...]:
        """The critical gates that it does not pass."""
        return tuple(gate.metric for gate in self.gates if gate.severity == "critical" and not _passes(gate))


def _passes(gate: GateResult) -> bool:
    return gate.status == "not_applicable" or gate.zone in ("pass", "excellent")


class Broken(msgspec.Struct, frozen=True):
    """A rule that does not hold."""

    rule: Rule
    probe: str
    message: str


class Probed(msgspec.Struct, frozen=True):
    """What cheating would score in a suite."""

    suite: str
    cases: int
    probes: tuple[ProbeResult, ...]
    """The oracle first, where there is one."""
    not_applicable: dict[str, str]
    rewards: dict[str, tuple[str, ...]]
    """By metric, the probes it rewards: in the pass zone of its gate or, without one, good as the oracle."""
    oracle_notes: tuple[str, ...]
    """The gates that the golden answers do not pass, each with the reason."""
    broken: tuple[Broken, ...]
    warnings: tuple[Broken, ...] = ()
    """The same where the suite's own scorers are at fault, each with what to do about it."""


class _Answers:
    """The answers of a probe as they stand, or permuted in each trial."""

    def __init__(self, trials: Sequence[Mapping[str, str]]) -> None:
        self._texts = trials
        self.trials = tuple(range(FIRST_TRIAL, FIRST_TRIAL + len(trials)))

    def get(self, case_id: str, trial: int, input_hash: str) -> Answer | None:
        """The answer for a case."""
        text = self._texts[trial - FIRST_TRIAL].get(case_id)
        return None if text is None else Answer(case_id, trial, text)


def probe_suite(
    suite: Suite,
    cases: Sequence[Case[Any, Any]],
    context: Context,
    gates: Mapping[str, Gate],
    models: Sequence[MeasuredModel],
    references: Mapping[str, Any],
) -> Probed:
    """Let every probe answer, score it, and see which rules do not hold.

    Of a golden set with very many cases some are drawn, the same every time.
    """
    chosen = list(cases)
    if len(chosen) > MOST_CASES:
        chosen = random.Random("cases").sample(chosen, MOST_CASES)
    prober = _Prober(suite, chosen, replace(context, judge=None), gates)
    probes = make_probes(suite, chosen, prober.context, references)
    oracle = prober.result(ORACLE, probes.oracle, permute=False) if probes.oracle else None
    results = [prober.result(name, values) for name, values in probes.answers.items()]
    known = () if oracle is None else (oracle,)
    notes, fails = _oracle_gates(suite, oracle, gates, models) if oracle else ((), ())
    broken = (*_cheats(results), *fails, *prober.variances)
    remedies = suite.probing.remedies if isinstance(suite.probing, WarnedOf) else {}
    return Probed(
        suite.name,
        len(chosen),
        (*known, *results),
        probes.not_applicable,
        _rewards(suite, oracle, results, gates),
        tuple(notes),
        () if remedies else broken,
        tuple(_with_remedy(each, remedies) for each in broken) if remedies else (),
    )


def _with_remedy(broken: Broken, remedies: Mapping[str, str]) -> Broken:
    """A rule that does not hold, with the remedy of the longest beginning of the probe's name."""
    known = max((name for name in remedies if broken.probe.startswith(name)), key=len)
    return msgspec.structs.replace(broken, message=f"{broken.message}. {remedies[known]}".rstrip("."))


class _Prober:
    def __init__(
        self, suite: Suite, cases: Sequence[Case[Any, Any]], context: Context, gates: Mapping[str, Gate]
    ) -> None:
        self._suite = suite
        self._cases = {case.id: case for case in cases}
        self.context = context
        self._gates = gates
        self._units = {name: each.unit for name, each in quantities(suite).items()}
        self.variances: list[Broken] = []
        """The answers whose numbers change with the order of what is a set."""

    def result(self, name: str, values: dict[str, Any], permute: bool = True) -> ProbeResult:
        """What a probe scores on the cases that it answers."""
        texts = self._texts(values)
        scores = self._score([texts])
        self._compare_shuffled(name, values, scores)
        numbers = measured(self._suite, scores)
        known = numbers.by_trial | numbers.over_trials
        passed = _passed(scores)[0]
        return ProbeResult(
            name,
            len(texts),
            passed,
            self._permuted(name, texts, passed) if permute and passed else None,
            {metric: each.value if each.applies else None for metric, each in known.items()},
            tuple(
                gate_result(gate, metric, known[metric].value, known[metric].applies, self._units[metric])
                for metric, gate in self._gates.items()
            ),
        )

    def _compare_shuffled(self, name: str, values: dict[str, Any], scores: Scores) -> None:
        shuffled = shuffled_sets(values, self._suite.probing.ranked)
        if shuffled == values:
            return
        other = self._score([self._texts(shuffled)])
        columns = scores.counts.column_names
        moved = [column for column in columns if scores.counts[column] != other.counts[column]]
        if moved or scores.keyed != other.keyed:
            message = f"{name}: shuffled lists score otherwise ({', '.join(moved) or 'tables'})"
            message = f"{message}; `ranked` names lists that have an order"
            self.variances.append(Broken("invariance", name, message))

    def _permuted(self, name: str, texts: Mapping[str, str], passed: int) -> int:
        """How many cases permuted answers pass at most; one permutation that reaches its own is enough.

        The cases that a next permutation would pass are predicted from those that passed before.
        """
        case_ids = list(texts)
        if len(set(texts.values())) == 1:
            return passed
        chance = random.Random(f"{self._suite.name} {name}")
        seen: list[int] = []
        for times in ROUNDS:
            orders = [chance.sample(case_ids, len(case_ids)) for _ in range(times)]
            trials = [
                {case_id: texts[other] for case_id, other in zip(case_ids, order, strict=True)}
                for order in orders
            ]
            seen += _passed(self._score(trials))
            if max(seen) >= passed:
                return max(seen)
        return predicted_hits(len(case_ids), sum(seen), len(seen) * len(case_ids), LEVEL)

    def _texts(self, values: Mapping[str, Any]) -> dict[str, str]:
        is_text = self._suite.output is str
        return {
            case_id: value if is_text else msgspec.json.encode(value).decode()
            for case_id, value in values.items()
        }

    def _score(self, trials: Sequence[Mapping[str, str]]) -> Scores:
        asked = [self._cases[case_id] for case_id in trials[0]]
        return score_blocks(self._suite, [asked], _Answers(trials), self.context, keep_diagnoses=False)


def _passed(scores: Scores) -> list[int]:
    """How many cases pass in each trial."""
    counts = np.bincount(scores.trials - FIRST_TRIAL, scores.counts["passed"].to_numpy())
    return [int(count) for count in counts]


def _cheats(results: Sequence[ProbeResult]) -> list[Broken]:
    """The probes that get away with it."""
    broken = []
    for each in results:
        if not each.stopped_by:
            broken.append(Broken("gates", each.name, f"{each.name} passes every critical gate"))
        if each.permuted is not None and each.passed > each.permuted:
            passed = f"{each.name} passes {each.passed:,} of {counted(each.cases, 'case')}"
            message = f"{passed}; its answers permuted among cases pass {each.permuted:,} at most"
            broken.append(Broken("permuted", each.name, message))
    return broken


def _oracle_gates(
    suite: Suite, oracle: ProbeResult, gates: Mapping[str, Gate], models: Sequence[MeasuredModel]
) -> tuple[list[str], list[Broken]]:
    """What is said of the gates that the golden answers do not pass, and which of it breaks the rule."""
    notes, broken = [], []
    unit = {name: each.unit for name, each in quantities(suite).items()}
    for each in oracle.gates:
        if each.status in ("pass", "not_applicable"):
            continue
        gate = gates[each.metric]
        result = doubt(each, gate, models, unit[each.metric])
        open_ = any(map(Bound.parse(gate.passes).holds, result.interval or ()))
        reason = "" if open_ else suite.probing.oracle_fails.get(each.metric, "no reason is given")
        notes.append(f"{each.metric}: {result.message} {reason}".rstrip())
        if each.severity == "critical" and not _passes(each) and not open_:
            broken.append(Broken("oracle", ORACLE, f"the golden answers fail {each.metric}: {each.message}"))
    return notes, broken


def _rewards(
    suite: Suite, oracle: ProbeResult | None, results: Sequence[ProbeResult], gates: Mapping[str, Gate]
) -> dict[str, tuple[str, ...]]:
    rewards: dict[str, tuple[str, ...]] = {}
    for name, metric in quantities(suite).items():
        sign = 1 if metric.direction == "higher" else -1
        best = oracle.values[name] if oracle else 1.0 if sign > 0 else 0.0

        def rewarded(
            value: float | None, name: str = name, sign: int = sign, best: float | None = best
        ) -> bool:
            if value is None:
                return False
            if name in gates:
                return gates[name].zone(value) in ("pass", "excellent")
            return best is not None and sign * (value - best) >= -TOLERANCE

        if name in gates or metric.unit == "fraction":
            rewards[name] = tuple(each.name for each in results if rewarded(each.values[name]))
    return rewards

"""The blocking policy: what speaks against an evaluation, and what follows from it.

Runs, comparisons, the gate, promotion, activation, checks and reports all ask here.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from eval_pipeline.comparison import ACTIONS, Action, Comparison
from eval_pipeline.decisions.approvals import INCOMPARABLE, Approval, approved_metrics
from eval_pipeline.decisions.incidents import Incident
from eval_pipeline.scoring import Evaluation
from eval_pipeline.suite import ERROR_RATE

REPLACED = "replaced"
"""What is approved, in place of a metric, where what would be replaced could not be compared with."""
MEASURE = "measure"
"""What is approved, in place of a metric, where a change touches what it is measured with."""
STOPPING: tuple[Action, ...] = ("needs_approval", "block")

NO_EVIDENCE = "never a baseline, a point of a trend or evidence for a gate"
"""What a sample of cases is."""

Weight = Literal["warns", "holds", "blocks", "voids"]
"""What an objection does: it informs; it keeps a version from release; it stops a change as well; it leaves
nothing to decide on, and nobody can approve that."""


@dataclass(frozen=True)
class Standing:
    """A comparison together with the approvals that were given for it and have not expired."""

    comparison: Comparison
    approvals: tuple[Approval, ...] = ()

    @property
    def against(self) -> str:
        """The version that it was compared with, as an approval names it; blank for the baseline."""
        comparison = self.comparison
        if comparison.role == "baseline":
            return ""
        return comparison.identities[0].version if comparison.identities else comparison.before

    @property
    def demands(self) -> dict[str, Action]:
        """The gated metrics that do not let the change simply proceed, with the action of each."""
        demands: dict[str, Action] = {
            each.metric: each.action
            for each in self.comparison.metrics
            if each.gated and each.action != "proceed"
        }
        if self.comparison.verdict == "incomparable":
            demands[INCOMPARABLE] = "needs_approval"
        return demands

    @property
    def open(self) -> dict[str, Action]:
        """The demands that no approval covers."""
        approved = approved_metrics(self.approvals)
        return {name: action for name, action in self.demands.items() if name not in approved}

    @property
    def stops(self) -> bool:
        """Whether the change must not go on as it is."""
        return any(action in STOPPING for action in self.open.values())

    @property
    def undecided(self) -> list[str]:
        """What needs an approval before a release: it stops the change, or may be a deep fall."""
        doubtful = {each.metric for each in self.comparison.metrics if each.gated and each.doubtful}
        return [name for name, action in self.open.items() if action in STOPPING or name in doubtful]

    @property
    def approved(self) -> bool:
        """Whether approvals cover every demand."""
        return bool(self.demands) and not self.open

    @property
    def action(self) -> Action:
        """The action that is left when what was approved is left out."""
        return max(self.open.values(), key=ACTIONS.index, default="proceed")

    @property
    def conclusion(self) -> str:
        """Verdict, action, what changed, and who approved it: the same words wherever they are shown."""
        action = "approved" if self.approved else self.action.replace("_", " ")
        approvals = "".join(f" {each.summary}." for each in self.approvals)
        return f"{self.comparison.verdict}; {action}. {self.comparison.sentence}{approvals}"

    @property
    def weight(self) -> Weight:
        """What it does as an objection; meaningless where nothing is open."""
        return "blocks" if self.stops else "holds" if self.undecided else "warns"


@dataclass(frozen=True)
class Standings:
    """How an evaluation stands against everything that it is compared with."""

    all: tuple[Standing, ...] = ()
    missing: str = ""
    """Why it could not be compared with what it would replace; blank where it was, or replaces nothing."""
    note: str = ""
    """Why nobody knows what it would replace."""

    @property
    def baseline(self) -> Standing | None:
        """How it stands against the baseline; None where there is none."""
        return next((each for each in self.all if each.comparison.role == "baseline"), None)

    @property
    def notes(self) -> list[str]:
        """What else differs between the sides, and why a comparison may be lacking."""
        differences = [
            f"Against {each.comparison.before}: {note}" for each in self.all for note in each.comparison.notes
        ]
        return [*differences, *([self.note] if self.note else ())]


class FailedCheck(NamedTuple):
    """A check that failed besides gates and comparisons: on a golden set's content, for example."""

    name: str
    message: str
    blocking: bool


class Objection(NamedTuple):
    """Something that speaks against an evaluation, and what an approval of it would name."""

    text: str
    weight: Weight
    metrics: tuple[str, ...] = ()
    approved: bool = False
    against: str = ""
    """The version whose comparison it comes from; blank where that is the baseline's, or none."""


class Objections(tuple[Objection, ...]):
    """Everything that speaks against an evaluation, whether it was approved or not."""

    __slots__ = ()

    @property
    def blocking(self) -> list[Objection]:
        """What stops a change."""
        return [each for each in self if each.weight in ("blocks", "voids") and not each.approved]

    @property
    def holding(self) -> list[Objection]:
        """What keeps a version from being promoted or activated."""
        return [each for each in self if each.weight != "warns" and not each.approved]

    @property
    def warnings(self) -> list[Objection]:
        """What a person should look at though it stops nothing."""
        return [each for each in self if each.weight in ("warns", "holds") and not each.approved]

    @property
    def approved(self) -> list[Objection]:
        """What passes only because a person approved it."""
        return [each for each in self if each.approved]

    @property
    def state(self) -> Literal["pass", "warn", "approved", "block", "incomplete"]:
        """The whole in one word."""
        if any(each.weight == "voids" for each in self):
            return "incomplete"
        if self.blocking:
            return "block"
        return "approved" if self.approved else "warn" if self.warnings else "pass"


def objections(
    evaluation: Evaluation | None,
    standings: Sequence[Standing],
    approvals: Iterable[Approval] = (),
    failed: Iterable[FailedCheck] = (),
    missing: str = "",
) -> Objections:
    """What speaks against an evaluation, its comparisons and its run; `approvals` are of its own numbers.

    `missing` says why it could not be compared with what it would replace: nothing passes unseen.
    """
    approved = approved_metrics(approvals)
    unseen = f"not compared with what it would replace: {missing}"
    return Objections(
        [
            *(_of_evaluation(evaluation, approved) if evaluation else ()),
            *((Objection(unseen, "blocks", (REPLACED,), REPLACED in approved),) if missing else ()),
            *(
                Objection(f"{check.name}: {check.message}", "blocks" if check.blocking else "warns")
                for check in failed
            ),
            *(
                Objection(
                    f"against {each.comparison.before}: {each.conclusion}",
                    "blocks" if each.approved else each.weight,
                    tuple(each.demands if each.approved else each.undecided),
                    each.approved,
                    each.against,
                )
                for each in standings
                if each.demands
            ),
        ]
    )


def of_measure(text: str, approvals: Iterable[Approval]) -> Objections:
    """What speaks against a change that touches its own measure, whatever it is measured at.

    The approvals are those of that very measure.
    """
    given = [each for each in approvals if MEASURE in each.metrics]
    said = "".join(f". {each.summary}" for each in given)
    return Objections([Objection(f"{text}{said}", "blocks", (MEASURE,), bool(given))])


def paused_by(incidents: Iterable[Incident], approvals: Iterable[Approval] = ()) -> Objections:
    """What production says against any deployment: its open critical incidents pause them.

    An approval that names the incident lets the version through that mends it.
    """
    approved = approved_metrics(approvals)
    return Objections(
        Objection(
            f"production: deployments are paused while {each.name} is open: {each.findings[0].text}",
            "blocks",
            (each.name,),
            each.name in approved,
        )
        for each in incidents
        if each.severity == "critical" and each.closed_at is None
    )


def _of_evaluation(evaluation: Evaluation, approved: set[str]) -> Iterator[Objection]:
    """Gates in their fail zone block, errors hold a release back, everything else warns.

    What an outage did to the numbers is no objection: it takes the place of all others.
    """
    if evaluation.outage:
        yield Objection(evaluation.outage.text, "voids")
        return
    if sample := evaluation.identity.outputs.case_sample:
        yield Objection(f"{sample.text}: {NO_EVIDENCE}", "holds")
    summary = evaluation.summary
    too_many = any(gate.metric == ERROR_RATE.name and gate.status == "fail" for gate in summary.gates)
    for gate in (*summary.gates, *evaluation.operations):
        if gate.status in ("fail", "warn"):
            weight: Weight = "blocks" if gate.status == "fail" else "warns"
            is_approved = gate.status == "fail" and gate.metric in approved
            yield Objection(f"{gate.metric}: {gate.text}", weight, (gate.metric,), is_approved)
    if summary.error_count and not too_many:
        kinds = ", ".join(f"{count} × {kind}" for kind, count in summary.errors.items())
        text = f"{ERROR_RATE.name}: not every answer can be used: {kinds}"
        yield Objection(text, "holds", (ERROR_RATE.name,), ERROR_RATE.name in approved)

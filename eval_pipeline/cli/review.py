"""`eval-pipeline review`: the blind protocol, step by step in the terminal."""

from collections.abc import Callable
from functools import partial
from typing import Any

import click

from eval_pipeline.cli import BLOCKED
from eval_pipeline.numbers import counted
from eval_pipeline.problems import bad_value
from eval_pipeline.project import Project
from eval_pipeline.reports import Table, flat
from eval_pipeline.store import Store
from eval_pipeline.suites import find_suite
from eval_pipeline.suites.review import protocol
from eval_pipeline.suites.review.cases import ExpectedError
from eval_pipeline.suites.review.findings import Finding
from eval_pipeline.suites.review.ledger import LEDGER_FILE, STEPS, Ledger, Step
from eval_pipeline.suites.review.matching import CREDITS
from eval_pipeline.suites.review.places import line_range

SUITE = "review"
MEMORY = "review_ledger_head.json"
LINES_AROUND = 1
LONGEST_LINE = 400


@click.group("review")
def command() -> None:
    """Judge findings by the blind protocol: findings, predict, adjudicate, bias.

    Every answer is appended to a ledger that chains by hash. A step begins when the one before it is
    sealed; what is sealed cannot be changed. An interrupted step goes on where it stopped.
    """


def _options(function: Callable[..., None]) -> Callable[..., None]:
    for option in (
        click.option("--by", "author", default=None, help="Who answers; by default the user that Git knows."),
        click.option("--task", "task_id", default=None, help="One task only; by default all of them."),
        click.argument("version"),
        click.pass_context,
    ):
        function = option(function)
    return function


@command.command("findings")
@_options
@click.option("--change", default=None, metavar="FINDING", help="Answer once more about one finding.")
@click.option("--quotes-only", is_flag=True, help="Hide the workflow's words: judge the quoted lines alone.")
def findings(
    context: click.Context,
    version: str,
    task_id: str | None,
    author: str | None,
    change: str | None,
    quotes_only: bool,
) -> None:
    """Step 1: say of each finding what error it is, before the ground truth is shown.

    The workflow's own labels (category, depth, concern) are not shown either.
    """
    session, tasks = _open(version, task_id, author)
    _walk(context, session, "findings", tasks, partial(_ask_finding, quotes_only=quotes_only), change)


@command.command("predict")
@_options
@click.option("--change", default=None, metavar="ERROR", help="Answer once more about one expected error.")
def predict(
    context: click.Context, version: str, task_id: str | None, author: str | None, change: str | None
) -> None:
    """Step 2: say of each expected error whether the workflow found it, before anything is matched."""
    session, tasks = _open(version, task_id, author)
    _walk(context, session, "predict", tasks, _ask_prediction, change)


@command.command("adjudicate")
@_options
@click.option("--change", default=None, metavar="FINDING", help="Decide once more about one finding.")
def adjudicate(
    context: click.Context, version: str, task_id: str | None, author: str | None, change: str | None
) -> None:
    """Step 3: decide about the findings that quote and location do not settle."""
    session, tasks = _open(version, task_id, author)
    _walk(context, session, "adjudicate", tasks, _ask_ruling, change)


@command.command("bias")
@_options
def bias(context: click.Context, version: str, task_id: str | None, author: str | None) -> None:
    """Step 4: hold what was said blind against what was decided."""
    session, tasks = _open(version, task_id, author)
    _walk(context, session, "bias", tasks, _ask_about_bias, None)


@command.command("status")
@_options
def status(context: click.Context, version: str, task_id: str | None, author: str | None) -> None:
    """Show which steps are sealed, and what is still to be decided."""
    from eval_pipeline.reports.console import print_table

    session, tasks = _open(version, task_id, author)
    rows = []
    for task in tasks:
        sealed = [
            "sealed" if session.ledger.seal_of(step, session.evaluation, task.id) else "open"
            for step in STEPS
        ]
        rows.append((task.id, *sealed, str(len(session.undecided(task)))))
    print_table(Table(("task", *STEPS, "undecided"), rows))
    click.echo(f"The ledger is whole: {counted(len(session.ledger.rows), 'row')}.")


def _open(
    version: str, task_id: str | None, author: str | None
) -> tuple[protocol.Session, list[protocol.TaskReview]]:
    from eval_pipeline.reports.console import person

    project = Project.find()
    suite, store = find_suite(project, SUITE), Store(project.state)
    answers, golden = store.outputs(SUITE, version), store.golden(SUITE)
    if answers is None or golden is None:
        remedy = f"Run: eval-pipeline run {SUITE} --prompt {version}"
        raise bad_value("version", f"{version!r} was never evaluated", remedy)
    ledger = Ledger(project.golden(SUITE) / "references" / LEDGER_FILE, project.state / MEMORY)
    tasks = protocol.tasks_of(golden.cases(suite), answers)
    chosen = [task for task in tasks if task_id in (None, task.id)]
    if not chosen:
        raise bad_value("--task", f"{task_id!r} has no findings", f"Tasks: {', '.join(t.id for t in tasks)}.")
    return protocol.Session(ledger, answers.identity.id, version, author or person()), chosen


Ask = Callable[[protocol.Session, protocol.TaskReview, str], dict[str, str]]


def _walk(
    context: click.Context,
    session: protocol.Session,
    step: Step,
    tasks: list[protocol.TaskReview],
    ask: Ask,
    change: str | None,
) -> None:
    """Ask what a step asks, task by task, and seal each task's answers."""
    try:
        for task in tasks:
            session.require(step, task.id)
            if change is not None:
                _change(session, step, task, ask, change)
            else:
                _ask_all(session, step, task, ask)
    except protocol.Sealed as refused:
        click.echo(f"Refused: {refused}", err=True)
        context.exit(BLOCKED)


def _ask_all(session: protocol.Session, step: Step, task: protocol.TaskReview, ask: Ask) -> None:
    seal = session.ledger.seal_of(step, session.evaluation, task.id)
    if seal is not None:
        click.echo(f"{task.id}: sealed by {seal.author} at {seal.at}.")
        return
    subjects = session.open_subjects(step, task)
    click.echo(f"\n{task.id}: {flat(task.golden.case.input.title)}; {counted(len(subjects), 'question')}.")
    if step == "findings" and session.seen_before(task):
        click.echo("You were shown this ground truth before: your answers are not blind, and will say so.")
    for number, subject in enumerate(subjects, start=1):
        click.echo(f"\n[{number}/{len(subjects)}] {subject[:8]}")
        session.answer(step, task, subject, ask(session, task, subject))
    if click.confirm(f"Seal the answers on {task.id}? They cannot be changed afterwards", default=True):
        sealed = session.seal(step, task)
        size = counted(int(sealed.answers["answers"]), "answer")
        click.echo(f"Sealed: {size}, commitment {sealed.answers['commitment']}.")
    else:
        click.echo("Not sealed. Change an answer with --change, or run the step again to seal.")


def _change(session: protocol.Session, step: Step, task: protocol.TaskReview, ask: Ask, wanted: str) -> None:
    known = session.ledger.answers(step, session.evaluation, task.id)
    subject = next((each for each in known if each.startswith(wanted)), None)
    if subject is None:
        raise bad_value(
            "--change", f"{wanted!r} was not answered on {task.id}", "Name an answer, and --task."
        )
    session.refuse_if_sealed(step, task, subject)
    session.answer(step, task, subject, ask(session, task, subject))
    click.echo("Changed.")


def _ask_finding(
    session: protocol.Session, task: protocol.TaskReview, key: str, *, quotes_only: bool
) -> dict[str, str]:
    finding = task.findings[key]
    hidden = quotes_only and bool(finding.quote or finding.location)
    _show_finding(task, finding, words=not hidden)
    return {
        "shown": "quote" if hidden else "words",
        "category": _choose("What error is it (NONE if it is no error)", protocol.ASSESSMENTS),
        "error": _words("In your own words"),
        "evidence": _words("What is the evidence"),
        "confidence": _choose("How sure are you", protocol.CONFIDENCES),
    }


def _ask_prediction(session: protocol.Session, task: protocol.TaskReview, error_id: str) -> dict[str, str]:
    _show_error(next(error for error in task.errors if error.id == error_id))
    return {
        "prediction": _choose("Will the workflow have found it", protocol.PREDICTIONS),
        "why": _words("Why, or why not"),
    }


def _ask_ruling(session: protocol.Session, task: protocol.TaskReview, key: str) -> dict[str, str]:
    _show_finding(task, task.findings[key])
    click.echo(f"Open because: {flat(session.undecided(task).get(key, 'you asked to change it'))}")
    for error in task.errors:
        _show_error(error)
    ruling = _choose("Your ruling", protocol.RULINGS)
    error_id = _choose("Which error", [error.id for error in task.errors]) if ruling in CREDITS else ""
    return {"ruling": ruling, "error": error_id, "reason": _words("The reason")}


def _ask_about_bias(session: protocol.Session, task: protocol.TaskReview, subject: str) -> dict[str, str]:
    flags = session.bias(task)
    for flag in flags:
        click.echo(f"BIAS, {flag.kind}: {flat(flag.told)}")
    if not flags:
        click.echo("No sign of bias.")
    message = "; ".join(f"{flag.kind}: {flag.told}" for flag in flags)
    return {"flags": str(len(flags)), "told": message, "comment": _words("Your comment")}


def _show_finding(task: protocol.TaskReview, finding: Finding, *, words: bool = True) -> None:
    if words:
        click.echo(f"Finding: {flat(finding.text, LONGEST_LINE)}")
    if finding.quote:
        click.echo(f"Quote:   {flat(finding.quote, LONGEST_LINE)}")
    lines = task.golden.case.input.document.split("\n")
    if place := line_range(finding.location or ""):
        first, last = max(place[0] - LINES_AROUND, 1), min(place[1] + LINES_AROUND, len(lines))
        for number in range(first, min(last, first + 12) + 1):
            click.echo(f"  {number:>3}  {flat(lines[number - 1], LONGEST_LINE)}")


def _show_error(error: ExpectedError) -> None:
    where = f" (line {error.location})" if error.location else ""
    click.echo(f"  {error.id} {error.severity} {error.category}{where}: {flat(error.text, LONGEST_LINE)}")


def _choose(question: str, choices: Any) -> str:
    answer: str = click.prompt(question, type=click.Choice(list(choices), case_sensitive=False))
    return answer


def _words(question: str) -> str:
    """A text that is not blank."""
    while True:
        answer: str = click.prompt(question, type=str).strip()
        if answer:
            return flat(answer, 2000)

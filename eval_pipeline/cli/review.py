"""`eval-pipeline review`: the blind protocol, step by step in the terminal, or by a file for each step."""

from collections.abc import Callable
from pathlib import Path

import click

from eval_pipeline.cli import BLOCKED, Group, completing
from eval_pipeline.files import read_yaml, write_text
from eval_pipeline.golden import LEDGER_FILE
from eval_pipeline.numbers import counted
from eval_pipeline.problems import bad_value, shown_path, without_problems
from eval_pipeline.project import Project
from eval_pipeline.reports import Table, flat
from eval_pipeline.revisions import person
from eval_pipeline.store import Store
from eval_pipeline.suites import find_suite
from eval_pipeline.suites.review import protocol, questions, worksheets
from eval_pipeline.suites.review.ledger import STEPS, Ledger, Step
from eval_pipeline.terminal import safe, say

SUITE = "review"
MEMORY = "review_ledger_head.json"
LONGEST_LINE = 400


@click.group("review", cls=Group)
def command() -> None:
    """Judge findings by the blind protocol: findings, predict, adjudicate, bias.

    Every answer is appended to a ledger that chains by hash. A step begins when the one before it is
    sealed; what is sealed cannot be changed. An interrupted step goes on where it stopped, and `export`
    and `import` do a step by a file. `second` and `settle` are for a second adjudicator.
    """


def _options(function: Callable[..., None]) -> Callable[..., None]:
    for option in (
        click.option("--by", "author", default=None, help="Who answers; by default the user that Git knows."),
        click.option("--task", "task_id", default=None, help="One task only; by default all of them."),
        click.argument("version", shell_complete=completing.versions(suite=SUITE)),
        click.pass_context,
    ):
        function = option(function)
    return function


QUOTES_ONLY = click.option(
    "--quotes-only", is_flag=True, help="Hide the workflow's words: judge the quoted lines alone."
)


@command.command("findings")
@_options
@click.option("--change", default=None, metavar="FINDING", help="Answer once more about one finding.")
@QUOTES_ONLY
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
    _walk(context, session, "findings", tasks, change, quotes_only=quotes_only)


@command.command("predict")
@_options
@click.option("--change", default=None, metavar="ERROR", help="Answer once more about one expected error.")
def predict(
    context: click.Context, version: str, task_id: str | None, author: str | None, change: str | None
) -> None:
    """Step 2: say of each expected error whether the workflow found it, before anything is matched."""
    session, tasks = _open(version, task_id, author)
    _walk(context, session, "predict", tasks, change)


@command.command("adjudicate")
@_options
@click.option("--change", default=None, metavar="FINDING", help="Decide once more about one finding.")
def adjudicate(
    context: click.Context, version: str, task_id: str | None, author: str | None, change: str | None
) -> None:
    """Step 3: decide about the findings that quote and location do not settle."""
    session, tasks = _open(version, task_id, author)
    _walk(context, session, "adjudicate", tasks, change)


@command.command("second")
@_options
@click.option("--change", default=None, metavar="FINDING", help="Decide once more about one finding.")
def second(
    context: click.Context, version: str, task_id: str | None, author: str | None, change: str | None
) -> None:
    """Step 3 again, by another person who does not see the first rulings."""
    session, tasks = _open(version, task_id, author)
    _walk(context, session, "second", tasks, change)
    _show_disputes(session, tasks)


@command.command("settle")
@_options
@click.option("--change", default=None, metavar="FINDING", help="Decide once more about one finding.")
def settle(
    context: click.Context, version: str, task_id: str | None, author: str | None, change: str | None
) -> None:
    """Decide about the findings on which two adjudicators disagree."""
    session, tasks = _open(version, task_id, author)
    _walk(context, session, "settle", tasks, change)


@command.command("disputes")
@_options
def disputes(context: click.Context, version: str, task_id: str | None, author: str | None) -> None:
    """List the findings on which two adjudicators disagree, with both rulings."""
    _show_disputes(*_open(version, task_id, author))


@command.command("export")
@click.argument("step", type=click.Choice(STEPS))
@_options
@click.argument("file", type=click.Path(path_type=Path))
@QUOTES_ONLY
def export(
    context: click.Context,
    step: Step,
    version: str,
    file: Path,
    task_id: str | None,
    author: str | None,
    quotes_only: bool,
) -> None:
    """Write the open questions of STEP to FILE, to be filled in and imported."""
    session, tasks = _open(version, task_id, author)
    for task in tasks:
        session.require(step, task.id)
    if file.exists():
        raise bad_value("FILE", f"{shown_path(file)} exists", "Name a new file.")
    still = [task for task in tasks if not session.ledger.seal_of(step, session.evaluation, task.id)]
    write_text(file, worksheets.blank_worksheet(session, step, still, quotes_only=quotes_only))
    size = counted(sum(len(session.open_subjects(step, task)) for task in still), "question")
    say(f"{shown_path(file)}: {size}. Fill it in, then run: eval-pipeline review import {file}")


@command.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--by", "author", default=None, help="Who answered; by default the user that Git knows.")
@click.pass_context
def import_(context: click.Context, file: Path, author: str | None) -> None:
    """Record and seal the answers in FILE, task by task; every problem is named before anything is."""
    sheet = without_problems(lambda problems: read_yaml(file, worksheets.Worksheet, problems))
    session, tasks = _open(sheet.version, None, author)
    known = {task.id: task for task in tasks}
    filled = [task for task in tasks if task.id in sheet.tasks and not worksheets.left_blank(sheet, task)]
    try:
        for task in filled:
            session.require(sheet.step, task.id)
            session.refuse_if_sealed(sheet.step, task, "")
    except protocol.Sealed as refused:
        _refused(context, refused)
    without_problems(
        lambda problems: read_yaml(
            file,
            worksheets.Worksheet,
            problems,
            lambda given: worksheets.check_worksheet(given, session, known),
        )
    )
    for task in filled:
        size = counted(worksheets.import_task(sheet, session, task), "answer")
        say(f"{task.id}: {size} sealed.")
    if later := len(sheet.tasks) - len(filled):
        say(f"{counted(later, 'task')} left blank: still open.")
    if sheet.step == "second":
        _show_disputes(session, filled)


@command.command("bias")
@_options
def bias(context: click.Context, version: str, task_id: str | None, author: str | None) -> None:
    """Step 4: hold what was said blind against what was decided."""
    session, tasks = _open(version, task_id, author)
    _walk(context, session, "bias", tasks, None)


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
        rows.append((task.id, *sealed, str(len(session.undecided(task))), str(len(session.disputes(task)))))
    print_table(Table(("task", *STEPS, "undecided", "disputes"), rows))
    say(f"The ledger is whole: {counted(len(session.ledger.rows), 'row')}.")


def _open(
    version: str, task_id: str | None, author: str | None
) -> tuple[protocol.Session, list[protocol.TaskReview]]:
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
    return protocol.Session(ledger, answers.identity.id, version, person(author)), chosen


def _walk(
    context: click.Context,
    session: protocol.Session,
    step: Step,
    tasks: list[protocol.TaskReview],
    change: str | None,
    *,
    quotes_only: bool = False,
) -> None:
    """Ask what a step asks, task by task, and seal each task's answers."""
    for line in questions.definitions(step):
        say(f"  {line}")
    try:
        for task in tasks:
            session.require(step, task.id)
            if change is not None:
                _change(session, step, task, change, quotes_only=quotes_only)
            else:
                _ask_all(session, step, task, quotes_only=quotes_only)
    except protocol.Sealed as refused:
        _refused(context, refused)


def _refused(context: click.Context, refused: protocol.Sealed) -> None:
    say(f"Refused: {refused}", err=True)
    context.exit(BLOCKED)


def _ask_all(session: protocol.Session, step: Step, task: protocol.TaskReview, *, quotes_only: bool) -> None:
    seal = session.ledger.seal_of(step, session.evaluation, task.id)
    if seal is not None:
        say(f"{task.id}: sealed by {seal.author} at {seal.at}.")
        return
    subjects = session.open_subjects(step, task)
    say(f"\n{task.id}: {flat(task.golden.case.input.title)}; {counted(len(subjects), 'question')}.")
    if step == "findings" and session.seen_before(task):
        say("You were shown this ground truth before: your answers are not blind, and will say so.")
    for number, subject in enumerate(subjects, start=1):
        say(f"\n[{number}/{len(subjects)}] {subject[:8]}")
        _ask(session, step, task, subject, quotes_only=quotes_only)
    if click.confirm(f"Seal the answers on {safe(task.id)}? They cannot be changed afterwards", default=True):
        sealed = session.seal(step, task)
        size = counted(int(sealed.answers["answers"]), "answer")
        say(f"Sealed: {size}, commitment {sealed.answers['commitment']}.")
    else:
        say("Not sealed. Change an answer with --change, or run the step again to seal.")


def _change(
    session: protocol.Session, step: Step, task: protocol.TaskReview, wanted: str, *, quotes_only: bool
) -> None:
    known = session.ledger.answers(step, session.evaluation, task.id)
    subject = next((each for each in known if each.startswith(wanted)), None)
    if subject is None:
        raise bad_value(
            "--change", f"{wanted!r} was not answered on {task.id}", "Name an answer, and --task."
        )
    session.refuse_if_sealed(step, task, subject)
    _ask(session, step, task, subject, quotes_only=quotes_only)
    say("Changed.")


def _ask(
    session: protocol.Session, step: Step, task: protocol.TaskReview, subject: str, *, quotes_only: bool
) -> None:
    """Show a subject, ask what the step asks about it, and record the answers."""
    shown = questions.present(session, step, task, subject, quotes_only=quotes_only)
    for line in shown.lines:
        say(flat(line, LONGEST_LINE))
    answers = dict(shown.recorded)
    for question in questions.asked(step, task, answers):
        answers[question.name] = _choose(question) if question.choices else _words(question.text)
    if "ruling" in answers:
        answers.setdefault("error", "")
    session.answer(step, task, subject, answers)


def _show_disputes(session: protocol.Session, tasks: list[protocol.TaskReview]) -> None:
    from eval_pipeline.reports.console import print_table

    rows = [
        (task.id, key[:8], flat(task.findings[key].text, 80), *map(questions.ruling_line, pair))
        for task in tasks
        for key, pair in session.disputes(task).items()
    ]
    if rows:
        print_table(Table(("task", "finding", "says", "first", "second"), rows))
        say(f"To settle them: eval-pipeline review settle {session.version}")
    else:
        say("No disagreement between two adjudicators.")


def _choose(question: questions.Question) -> str:
    answer: str = click.prompt(safe(question.text), type=click.Choice(question.choices, case_sensitive=False))
    return answer


def _words(question: str) -> str:
    """A text that is not blank."""
    while True:
        answer: str = click.prompt(safe(question), type=str).strip()
        if answer:
            return flat(answer, 2000)

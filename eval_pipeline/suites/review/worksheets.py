"""A step of the blind protocol as a file: to be filled in at one's own pace, then imported and sealed."""

import json
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from eval_pipeline.files import Violation
from eval_pipeline.suites.review.ledger import Step
from eval_pipeline.suites.review.protocol import Session, TaskReview
from eval_pipeline.suites.review.questions import asked, definitions, present

INSTRUCTIONS = """\
Fill in what stands between the quotation marks. A task that you leave blank altogether stays open.
Then run: eval-pipeline review import FILE
Imported answers are sealed, task by task, and cannot be changed afterwards.
"""


class Worksheet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file: which step of which evaluation it is, and the answers by task and subject."""

    step: Step
    version: str
    evaluation: str
    tasks: dict[str, dict[str, dict[str, str | bool]]]
    quotes_only: bool = False

    def given(self, task: str, subject: str) -> dict[str, str]:
        """The answers on a subject; YAML takes a bare YES or NO for a truth value."""
        answers = self.tasks.get(task, {}).get(subject, {})
        said = {True: "YES", False: "NO"}
        return {
            name: said[value] if isinstance(value, bool) else value.strip() for name, value in answers.items()
        }


def blank_worksheet(
    session: Session, step: Step, tasks: Sequence[TaskReview], *, quotes_only: bool = False
) -> str:
    """The text of a worksheet with every open question of a step."""
    lines = [f"# {line}" for line in (*INSTRUCTIONS.splitlines(), "", *definitions(step))]
    lines += [
        f"step: {step}",
        f"version: {json.dumps(session.version)}",
        f"evaluation: {json.dumps(session.evaluation)}",
        f"quotes_only: {json.dumps(quotes_only)}",
        "tasks:",
    ]
    for task in tasks:
        subjects = session.open_subjects(step, task)
        nothing = "" if subjects else " {}  # nothing to ask: importing seals it"
        lines.append(f"  {json.dumps(task.id)}:{nothing}")
        for subject in subjects:
            shown = present(session, step, task, subject, quotes_only=quotes_only).lines
            lines += ["", *(f"    # {_printable(line)}" for line in shown)]
            lines.append(f"    {json.dumps(subject)}:")
            for question in asked(step, task, {"ruling": "full"}):
                choices = " | ".join(question.choices)
                lines.append(f'      {question.name}: ""  # {question.text}{choices and ": "}{choices}')
    return "\n".join(lines) + "\n"


def _printable(text: str) -> str:
    """Text of a model on one line of a comment: no line break in it begins anything else."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def left_blank(sheet: Worksheet, task: TaskReview) -> bool:
    """Whether something is to be filled in for a task, and nothing was."""
    subjects = sheet.tasks.get(task.id, {})
    return bool(subjects) and not any(any(sheet.given(task.id, subject).values()) for subject in subjects)


def check_worksheet(
    sheet: Worksheet, session: Session, tasks: Mapping[str, TaskReview]
) -> Iterator[Violation]:
    """Everything that keeps a worksheet from being imported."""
    if sheet.evaluation != session.evaluation:
        message = f"is not the latest evaluation of {session.version}, {session.evaluation}"
        yield Violation(("evaluation",), message, "Export the step again.")
        return
    for name in sheet.tasks:
        if name not in tasks:
            yield Violation(("tasks", name), "is no task of this evaluation", "Export the step again.")
        elif not left_blank(sheet, tasks[name]):
            yield from _check_task(sheet, session, tasks[name])


def _check_task(sheet: Worksheet, session: Session, task: TaskReview) -> Iterator[Violation]:
    wanted = set(session.open_subjects(sheet.step, task))
    listed = set(sheet.tasks[task.id])
    for subject in sorted(wanted - listed):
        yield Violation(("tasks", task.id), f"{subject!r} is missing", "Export the step again.")
    for subject in sorted(listed - wanted):
        message = "is not asked about in this step"
        yield Violation(("tasks", task.id, subject), message, "Remove it.")
    for subject in sorted(wanted & listed):
        given = sheet.given(task.id, subject)
        for question in asked(sheet.step, task, given):
            path = ("tasks", task.id, subject, question.name)
            value = given.get(question.name, "")
            if not value:
                yield Violation(path, "is blank", f"Answer: {question.text}.")
            elif question.choices and value not in question.choices:
                choices = ", ".join(question.choices)
                yield Violation(path, f"{value!r} is none of the choices", f"Write one of: {choices}.")


def import_task(sheet: Worksheet, session: Session, task: TaskReview) -> int:
    """Record and seal the answers on one task of a worksheet that was checked; how many there are."""
    subjects = session.open_subjects(sheet.step, task)
    for subject in subjects:
        given = sheet.given(task.id, subject)
        names = [question.name for question in asked(sheet.step, task, given)]
        notes = present(session, sheet.step, task, subject, quotes_only=sheet.quotes_only).recorded
        blank = {"error": ""} if "ruling" in given else {}
        answers = {**notes, **blank, **{name: given[name] for name in names}}
        session.answer(sheet.step, task, subject, answers)
    session.seal(sheet.step, task)
    return len(subjects)

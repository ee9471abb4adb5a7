"""A new project: its files, made from a table of cases, and none of them over one that is there."""

from __future__ import annotations

import re
import shutil
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

from eval_pipeline.declarative import SUITE_FILE, read_rows, read_suite
from eval_pipeline.files import is_there, write_text
from eval_pipeline.golden import read_cases
from eval_pipeline.numbers import number
from eval_pipeline.problems import Problems
from eval_pipeline.project import MARKER
from eval_pipeline.scoring import OutputsScorer, context_for, summarize
from eval_pipeline.starting import texts
from eval_pipeline.starting.columns import Column, Roles, Task, columns_in
from eval_pipeline.starting.standing_in import stand_in_answers
from eval_pipeline.starting.tasks import quoted, variables, write_task
from eval_pipeline.suite import Suite

PACKAGE = "eval-pipeline"
FIRST = "v1.0"
STATE = ".eval"
INSTANCE_FILE = "dagster.yaml"
SAMPLES = "samples"
STEP = 0.05
HIGHEST_FAIL = 0.5
COMBINED = ("score", "macro_f1")
"""Metrics that are made of others."""


@dataclass(frozen=True)
class Plan:
    """What a new suite is made from."""

    name: str
    task: Task
    roles: Roles
    columns: Sequence[Column]
    cases: Path
    description: str

    @property
    def version(self) -> str:
        """The first version of its prompt."""
        return f"{write_task(self.task, self.roles, self.columns).prompt}-{FIRST}"


def read_columns(file: Path) -> list[Column]:
    """The columns of a file of cases, with all cells; what is wrong with it is raised at once."""
    problems = Problems()
    columns = columns_in(record.row for record in read_rows(file, problems))
    problems.stop_if_any()
    return columns


def sample_file(task: Task) -> Path:
    """A few cases of a kind of task, for who has none yet."""
    return Path(str(files(__package__) / SAMPLES / f"{task}.csv"))


def suite_name(stem: str, taken: Collection[str]) -> str:
    """What a suite is called after a file, and not as one that comes with the package."""
    plain = unicodedata.normalize("NFKD", stem).encode("ascii", "ignore").decode()
    name = re.sub(r"[^A-Za-z0-9_]+", "_", plain).strip("_").lower()
    name = name if re.match("[a-z]", name) else f"suite_{name}".rstrip("_")
    return f"own_{name}" if name in taken else name


def suite_text(plan: Plan) -> str:
    """The suite.yaml."""
    roles, written = plan.roles, write_task(plan.task, plan.roles, plan.columns)
    seen = variables(roles.inputs)
    inputs = f"[{', '.join(seen)}]"
    if any(name != column for name, column in seen.items()):
        pairs = (f"{name}: {quoted(column)}" for name, column in seen.items())
        inputs = f"{{{', '.join(pairs)}}}"
    lines = [
        f"description: {quoted(plan.description)}",
        f"cases: {quoted(f'cases/{plan.cases.name}')}",
        *([f"id: {quoted(roles.id)}"] if roles.id else ()),
        f"inputs: {inputs}",
        *([f"attributes: [{', '.join(map(quoted, roles.attributes))}]"] if roles.attributes else ()),
        f"answer: {written.answer}",
        *(["scores:", *(f"  - {score}" for score in written.scores)] if written.scores else ()),
    ]
    return "\n".join(lines) + "\n"


def prompt_text(plan: Plan) -> str:
    """The first version of the prompt."""
    seen = variables(plan.roles.inputs)
    parts = [f"{{{{ {name} }}}}" if len(seen) == 1 else f"{name}:\n{{{{ {name} }}}}" for name in seen]
    body = "\n\n".join((write_task(plan.task, plan.roles, plan.columns).instruction, *parts))
    return f"---\nsuite: {plan.name}\nstatus: active\n---\n{body}\n"


@contextmanager
def staged(plan: Plan) -> Iterator[tuple[Path, Suite]]:
    """A folder with the suite as it would be, and the suite; what is wrong with its cases is raised."""
    with TemporaryDirectory() as folder:
        golden = Path(folder) / "golden" / plan.name
        (golden / "cases").mkdir(parents=True)
        shutil.copyfile(plan.cases, golden / "cases" / plan.cases.name)
        write_text(golden / SUITE_FILE, suite_text(plan))
        yield Path(folder), read_suite(golden)


def suite_files(plan: Plan) -> tuple[dict[str, str | Path], int]:
    """What a suite adds to a project, by path, and how many cases it has."""
    with staged(plan) as (folder, suite):
        problems = Problems()
        cases = [each.case for each in read_cases(suite, folder / "golden" / plan.name, problems)]
        problems.stop_if_any()
        answers = stand_in_answers(suite, cases)
        gates = gates_text(suite, folder / "golden" / plan.name, answers)
    golden = f"golden/{plan.name}"
    return {
        f"{golden}/{SUITE_FILE}": suite_text(plan),
        f"{golden}/cases/{plan.cases.name}": plan.cases,
        f"{golden}/gates.yaml": gates,
        f"prompts/{plan.name}/{plan.version}.md": prompt_text(plan),
        f"recorded/{plan.name}/{plan.version}.jsonl": answers,
    }, len(cases)


def gates_text(suite: Suite, golden: Path, answers: str) -> str:
    """Gates that the stand-in passes, so that everything runs: what to demand, nobody knows yet."""
    outputs = golden / "outputs.jsonl"
    write_text(outputs, answers)
    scorer = OutputsScorer(suite, context_for(suite, golden), keep_diagnoses=False)
    scores = scorer.score(golden, outputs, Problems()).scores
    values = {name: each.value for name, each in summarize(suite, scores, {}).metrics.items()}
    gated = [metric.name for metric in suite.metrics if metric.name not in COMBINED]
    return texts.GATES + "".join(_gate(name, values[name]) for name in gated)


def _gate(metric: str, reached: float | None) -> str:
    if reached is None:  # a figure that only a model has, such as latency
        return texts.GATE_TO_COME.format(metric=quoted(metric))
    fail = min(max(int(reached / STEP) - 1, 0) * STEP, HIGHEST_FAIL)
    shown = number(reached, "fraction") + ("" if fail else "; no value fails until you raise the bound")
    return texts.GATE.format(metric=quoted(metric), reached=shown, fail=f"{fail:g}")


def shared_files(root: Path) -> dict[str, str | Path]:
    """What a project has besides its suites, by path."""
    package = files("eval_pipeline")
    return {
        MARKER: texts.ENGINES,
        INSTANCE_FILE: (package / "orchestration" / INSTANCE_FILE).read_text(encoding="utf-8"),
        "workspace.yaml": texts.WORKSPACE,
        "requirements.txt": f"{PACKAGE}[ui]=={version(PACKAGE)}\n",
        ".gitignore": texts.IGNORED,
        ".env": f"DAGSTER_HOME={root.resolve() / STATE}\n",
        ".env.example": texts.ENVIRONMENT_EXAMPLE,
        ".github/workflows/gate.yml": (package / "starting" / "gate.yaml").read_text(encoding="utf-8"),
    }


def write_files(root: Path, contents: Mapping[str, str | Path]) -> None:
    """Write files that are not there yet: all of them or, where one is there, none."""
    problems = Problems()
    for name in contents:
        if is_there(root / name):
            problems.add(root / name, "is there already", "Move it away, or choose another folder.")
    problems.stop_if_any()
    written: list[Path] = []
    try:
        for name, content in contents.items():
            written.append(root / name)
            _write(root / name, content)
    except BaseException:
        for path in written:
            path.unlink(missing_ok=True)
        raise


def begin_state(root: Path) -> None:
    """Make the state folder of a new project, with its settings for Dagster."""
    configuration = root / STATE / INSTANCE_FILE
    configuration.parent.mkdir(exist_ok=True)
    if not is_there(configuration):
        configuration.symlink_to(Path("..") / INSTANCE_FILE)


def _write(path: Path, content: str | Path) -> None:
    if isinstance(content, str):
        write_text(path, content)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(content, path)

"""The files of an imported suite, tried before any of them is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from eval_pipeline.declarative import SUITE_FILE, read_suite
from eval_pipeline.files import is_there, write_text
from eval_pipeline.golden import read_cases
from eval_pipeline.importing.promptfoo import Imported
from eval_pipeline.importing.providers import Suggested
from eval_pipeline.problems import BadInput, Problem, Problems, bad_value
from eval_pipeline.project import MARKER
from eval_pipeline.prompts import Renderer, load_prompt
from eval_pipeline.starting import gates_text, shared_files, stand_in_answers
from eval_pipeline.suite import Case, Suite

MOST_RENDERED = 200
"""Cases that a prompt is tried on."""
CASES = "cases/tests.jsonl"
LARGEST_CASES = 64 * 2**20


def suite_files(name: str, imported: Imported) -> tuple[dict[str, str], Imported]:
    """What the suite adds to a project, by path, and what could be kept: a prompt that fails is listed."""
    written = {
        f"golden/{name}/{SUITE_FILE}": _suite_text(imported),
        f"golden/{name}/{CASES}": _lines(imported.rows),
    }
    with _staged(written) as root:
        golden = root / "golden" / name
        suite = read_suite(golden)
        problems = Problems()
        cases = [each.case for each in read_cases(suite, golden, problems)]
        problems.stop_if_any()
        kept = _usable(name, imported, suite, cases, root)
        answers = stand_in_answers(suite, cases)
        written[f"golden/{name}/gates.yaml"] = gates_text(suite, golden, answers)
    for version, text in prompt_texts(name, kept).items():
        written[f"prompts/{name}/{version}.md"] = text
        written[f"recorded/{name}/{version}.jsonl"] = answers
    return written, kept


def _suite_text(imported: Imported) -> str:
    import yaml

    plain = list(imported.inputs) == list(imported.inputs.values())
    suite = {
        **({"description": imported.description} if imported.description else {}),
        "cases": CASES,
        "id": imported.id,
        "inputs": list(imported.inputs) if plain else dict(imported.inputs),
        **({"attributes": list(imported.attributes)} if imported.attributes else {}),
        "answer": "text",
        "scores": [dict(each) for each in imported.scores],
    }
    text: str = yaml.dump(
        suite, Dumper=_dumper(), sort_keys=False, allow_unicode=True, default_flow_style=None, width=110
    )
    return text


def _dumper() -> Any:
    """Writes the same list twice where it stands twice: what is read again allows no aliases."""
    import yaml

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True

    return Dumper


def _lines(rows: Sequence[Any]) -> str:
    lines: list[str] = []
    left = LARGEST_CASES
    for row in rows:
        lines.append(msgspec.json.encode(row).decode())
        left -= len(lines[-1])
        if left < 0:
            message = f"the cases would have more than {LARGEST_CASES:,} characters"
            raise bad_value("tests", message, "Use fewer values of variables.")
    return "".join(f"{line}\n" for line in lines)


def prompt_texts(name: str, imported: Imported) -> dict[str, str]:
    """The files of the versions: the first is active, each of the others follows the one before it."""
    texts: dict[str, str] = {}
    before = ""
    for number, prompt in enumerate(imported.prompts):
        version = f"{name}-v1.{number}"
        front = [f"suite: {name}", f"status: {'candidate' if before else 'active'}"]
        front += [f"predecessor: {before}"] if before else []
        front += [f"description: {msgspec.json.encode(prompt.label).decode()}"] if prompt.label else []
        texts[version] = "\n".join(["---", *front, "---", prompt.body]) + "\n"
        before = version
    return texts


@contextmanager
def _staged(contents: dict[str, str]) -> Iterator[Path]:
    with TemporaryDirectory() as folder:
        for path, text in contents.items():
            write_text(Path(folder) / path, text)
        yield Path(folder)


def _usable(
    name: str, imported: Imported, suite: Suite, cases: Sequence[Case[Any, Any]], root: Path
) -> Imported:
    """The prompts that can be loaded and rendered; the others are listed."""
    kept = []
    for prompt in imported.prompts:
        ((version, text),) = prompt_texts(name, replace(imported, prompts=[prompt])).items()
        write_text(root / "prompts" / name / f"{version}.md", text)
        wrong = _wrong(suite, root / "prompts" / name, version, cases)
        if wrong is None:
            kept.append(prompt)
        else:
            imported.leftovers.drop(prompt.place, f"as a template of Jinja it {wrong.message}", wrong.remedy)
    if not kept:
        raise BadInput(imported.leftovers.dropped)
    return replace(imported, prompts=kept)


def _wrong(suite: Suite, folder: Path, version: str, cases: Sequence[Case[Any, Any]]) -> Problem | None:
    problems = Problems()
    prompt = load_prompt(suite, folder, version, problems)
    try:
        problems.stop_if_any()
        assert prompt is not None
        with Renderer(prompt) as renderer:
            renderer.render([case.input for case in cases[:MOST_RENDERED]])
    except BadInput as bad:
        return bad.problems[0]
    return None


def project_files(root: Path, engines: Sequence[Suggested]) -> dict[str, str]:
    """What a project has besides its suites, with the engines that providers suggest as comments."""
    shared = {path: str(text) for path, text in shared_files(root).items()}
    if engines:
        lines = [line for engine in engines for line in engine.lines()]
        shared[MARKER] += (
            "  # The providers of the configuration that was imported:\n" + "\n".join(lines) + "\n"
        )
    return shared


def stop_if_there(root: Path, name: str) -> None:
    """Refuse a name that a suite of the project has."""
    problems = Problems()
    for path in (root / "golden" / name, root / "prompts" / name, root / "recorded" / name):
        if is_there(path):
            problems.add(path, "is there already", "Choose another name with --name.")
    problems.stop_if_any()

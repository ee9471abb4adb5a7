"""Text that acts: on a terminal, in Markdown, HTML, XML or JSON, as ids, outputs, errors and front matter."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

from markdown_it import MarkdownIt

from benchmarks.hostile.commands import Outcome, attempt
from benchmarks.hostile.projects import AFTER, Pristine
from benchmarks.hostile.tally import Tried, ended
from benchmarks.hostile.targets import score
from eval_pipeline.cli import BAD_INPUT
from eval_pipeline.project import Project

TEXTS = (
    "\x1b[31mred\x1b[0m \x1b]0;title\x07",
    "\x9b2Jcleared",
    "[/red] [bold]markup[/bold] [link=file:///etc]x[/link]",
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "[a link](javascript:alert(1)) ![image](http://evil.example/x.png)",
    "# heading\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    "```\nfence\n```\n<!-- comment -->",
    "]]> <![CDATA[ & &lt; &#x1b; <testcase name='a'/>",
    "\u202eevil\u202c \u2066isolated\u2069 \u200f",
    "{{ sound }} {% raw %} ${HOME} $(id) `id`",
    "@everyone #1 https://evil.example/ <https://evil.example/>",
    "line\rover\b\b\b\x00\x7f",
    '"}], "passed": true, "x": [{"',
    "a" * 5000,
)
ACTING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
TAGS = re.compile(r"<\s*(?:script|img|testcase|iframe)", re.IGNORECASE)
REPORTS = {"--markdown": "summary.md", "--junit": "junit.xml", "--json": "gate.json"}
GATE = ("gate", "toy", *(part for pair in REPORTS.items() for part in pair))


def _records(project: Project) -> tuple[Path, Path]:
    golden = project.golden("toy") / "cases" / "sounds.jsonl"
    return golden, project.root / "recorded" / "toy" / f"{AFTER}.jsonl"


def _edit(file: Path, change: Callable[[int, dict[str, object]], object]) -> None:
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    for number, row in enumerate(rows):
        change(number, row)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def _as_ids(project: Project, texts: list[str]) -> None:
    cases, outputs = _records(project)

    def change(name: str, number: int, row: dict[str, object]) -> None:
        row[name] = texts[number] if number < len(texts) else row[name]

    for file, name in ((cases, "id"), (outputs, "case_id")):
        _edit(file, partial(change, name))


def _as_expectations(project: Project, texts: list[str]) -> None:
    _edit(_records(project)[0], lambda number, row: row.update(animal=texts[number % len(texts)]))


def _as_outputs(project: Project, texts: list[str]) -> None:
    def change(number: int, row: dict[str, object]) -> None:
        text = texts[number % len(texts)]
        row["output"] = text if number % 2 else {"animal": text, "hints": [text]}

    _edit(_records(project)[1], change)


def _as_errors(project: Project, texts: list[str]) -> None:
    def change(number: int, row: dict[str, object]) -> None:
        text = texts[number % len(texts)]
        row.update(output=None, error=text if number % 2 else "refused", detail=text)

    _edit(_records(project)[1], change)


def _as_front_matter(project: Project, texts: list[str]) -> None:
    file = project.prompts("toy") / f"{AFTER}.md"
    line = f"description: {json.dumps(' '.join(texts))}\n"
    file.write_text(file.read_text().replace("status:", f"{line}status:", 1))


PLACES: dict[str, Callable[[Project, list[str]], None]] = {
    "case ids": _as_ids,
    "expectations": _as_expectations,
    "outputs": _as_outputs,
    "errors": _as_errors,
    "front matter": _as_front_matter,
}


def inject(pristine: Pristine, places: tuple[str, ...] = tuple(PLACES)) -> list[Tried]:
    """Each text at each place, alone; then all that are accepted at once, through a gate and its reports."""
    return [tried for place in places for tried in _inject(pristine, place)]


def _inject(pristine: Pristine, place: str) -> list[Tried]:
    project, tried, accepted = pristine.project, [], []
    scoring = score(project, "toy", _records(project)[1])[:-1]
    for text in TEXTS:
        PLACES[place](project, [text])
        results = [attempt(project, *scoring), attempt(project, "golden", "check", "toy")]
        trouble = next(filter(None, map(_on_terminal, results)), "")
        refused = any(each.code == BAD_INPUT for each in results)
        accepted += [] if refused or trouble else [text]
        tried.append(ended("injection", place, trouble and f"{text[:20]!r}: {trouble}", refused=refused))
        pristine.restore()
    if accepted:
        PLACES[place](project, accepted)
        gate = attempt(project, *GATE)
        trouble = _on_terminal(gate) or _in_reports(project, gate)
        for command in (
            ("compare", "toy", "--prompt", AFTER),
            ("history", "toy"),
            ("run", "toy", "--prompt", AFTER),
        ):
            trouble = trouble or _on_terminal(attempt(project, *command))
        tried.append(ended("injection", f"{place}, reports", trouble, refused=gate.code == BAD_INPUT))
        pristine.restore()
    return tried


def _on_terminal(result: Outcome) -> str:
    if result.trouble:
        return result.trouble
    found = ACTING.search(result.out + result.err)
    return f"{found[0]!r} reaches the terminal" if found else ""


def _in_reports(project: Project, gate: Outcome) -> str:
    """What acts in one of the reports of a gate."""
    if gate.code == BAD_INPUT:
        return ""
    texts = {name: (project.root / name).read_text() for name in REPORTS.values()}
    json.loads(texts["gate.json"])
    for element in ElementTree.fromstring(texts["junit.xml"]).iter():
        if element.tag not in (
            "testsuites",
            "testsuite",
            "testcase",
            "failure",
            "skipped",
            "system-out",
            "error",
        ):
            return f"JUnit has an element {element.tag}"
    reports = sorted(project.state.rglob("report.md"))
    for text in (texts["summary.md"], *(file.read_text() for file in reports)):
        if trouble := _in_markdown(text):
            return trouble
    return ""


def _in_markdown(text: str) -> str:
    """What a reader of Markdown would act on."""
    if found := ACTING.search(text):
        return f"{found[0]!r} reaches Markdown"
    for token in MarkdownIt("gfm-like", {"linkify": False}).enable("table").parse(text):
        for part in (token, *(token.children or ())):
            target = str(part.attrs.get("href", part.attrs.get("src", "")))
            if part.type in ("html_block", "html_inline") and TAGS.search(part.content):
                return f"HTML in Markdown: {part.content[:60]!r}"
            if "evil.example" in target or target.startswith("javascript"):
                return f"a link in Markdown: {target}"
    return ""

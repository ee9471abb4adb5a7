"""Prompt files: Markdown with YAML front matter, one file per version, checked before anything runs."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec.structs import replace
from pydantic import Field

from eval_pipeline.files import LARGEST_YAML, Violation, content_hash, is_there, read_bytes, text_lines
from eval_pipeline.files.models import Model, field_at, parse_model
from eval_pipeline.files.structs import mismatches
from eval_pipeline.problems import BadInput, Problems, bad_value, shown_path, without_problems
from eval_pipeline.prompts.messages import Layout
from eval_pipeline.prompts.partitions import AT, holds_rows
from eval_pipeline.prompts.sampling import Sampling
from eval_pipeline.revisions import SHORT_COMMIT
from eval_pipeline.suite import Suite, carries_turns

_VERSION = re.compile(r"(?P<name>[A-Za-z0-9_]+(?:-[A-Za-z0-9_]+)*)-v(?P<major>[0-9]+)\.(?P<minor>[0-9]+)")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(?P<yaml>.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_NOT_ACTIVE = re.compile(r"^status:[ \t]*(?:candidate|archived)\b", re.MULTILINE)
_NOT_VERSIONS = ("CHANGELOG.md", "README.md")

Status = Literal["active", "candidate", "archived"]


class FrontMatter(Model):
    """What stands between the two `---` lines of a prompt file."""

    suite: str
    """The suite that the version belongs to: the name of its folder."""
    status: Status
    """Of each prompt name one version is active."""
    predecessor: str | None = None
    """The version before this one."""
    engine: str | None = None
    """An engine of `engines.yaml`, instead of the default one."""
    description: str = ""
    """What is different in this version."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """What the embedded engine reads."""
    sampling: Sampling | None = None
    """How a model is asked, in place of what `engines.yaml` says."""


class Prompt(msgspec.Struct, frozen=True):
    """One prompt version."""

    version: str
    path: Path
    front: FrontMatter
    parameters: Any
    body: str
    body_line: int
    """The line of the file on which the body starts."""
    commit: str = ""
    """The commit at which the file held this; blank for the file as it is."""

    @property
    def name(self) -> str:
        """The prompt's name, which its versions share."""
        return prompt_name(self.version)

    @property
    def layout(self) -> Layout:
        """The messages that the body is made up of."""
        return Layout(self.body)

    @property
    def hash(self) -> str:
        """What identifies the version; its status does not."""
        front = self.front.model_dump(exclude={"status", "sampling"})
        sampling = self.front.sampling.given if self.front.sampling else {}
        return content_hash([{**front, **({"sampling": sampling} if sampling else {})}, self.body])


def prompt_name(version: str) -> str:
    """`decompose-concepts` for `decompose-concepts-v1.1`, and `answers` for `answers@2026-01-31`."""
    return version.partition(AT)[0] if holds_rows(version) else version.rpartition("-v")[0]


def version_order(version: str) -> tuple[str, int, int]:
    """Sorts versions by name, then by number: v1.10 comes after v1.9."""
    match = _VERSION.fullmatch(version)
    return (match["name"], int(match["major"]), int(match["minor"])) if match else (version, 0, 0)


def prompt_file(folder: Path, version: str) -> Path:
    """The file of a version. A name that is none, or that leads elsewhere, is refused."""
    if not _VERSION.fullmatch(version):
        raise bad_value(
            "prompt",
            f"{version!r} is not a version name",
            "Write <name>-v<major>.<minor>, of letters, digits, - and _ only.",
        )
    path = folder / f"{version}.md"
    if not is_there(path):
        present = ", ".join(versions_in(folder)) or "none"
        raise bad_value("prompt", f"{path.name} does not exist", f"Versions: {present}.")
    return path


def load_prompt(suite: Suite, folder: Path, version: str, problems: Problems) -> Prompt | None:
    """One version of a suite's prompts, or None where it has problems."""
    path = prompt_file(folder, version)
    before = len(problems)
    text = _read(path, problems)
    prompt = load_prompt_text(suite, path, text, problems) if text is not None else None
    return prompt if len(problems) == before else None


def prompt_at(suite: Suite, path: Path, text: str, commit: str) -> Prompt:
    """A version as its file held it at a commit, whatever other files there are now."""
    place = Path(f"{path} at {commit[:SHORT_COMMIT]}")
    prompt = without_problems(lambda problems: load_prompt_text(suite, place, text, problems, alone=True))
    return replace(prompt, version=path.stem, path=path, commit=commit)


def load_prompts(suite: Suite, folder: Path, problems: Problems) -> list[Prompt]:
    """Every version of a suite's prompts; of each prompt name at most one may be active."""
    for path in sorted(folder.glob("*.md")):
        if path.name not in _NOT_VERSIONS and not _VERSION.fullmatch(path.stem):
            problems.add(path, "is not named like a version", "Name it <name>-v<major>.<minor>.md.")
    prompts = [
        prompt
        for version in versions_in(folder)
        if (prompt := load_prompt(suite, folder, version, problems)) is not None
    ]
    active: dict[str, Prompt] = {}
    for prompt in prompts:
        if prompt.front.status != "active":
            continue
        if prompt.name in active:
            problems.add(
                prompt.path,
                f"{active[prompt.name].version} is active too",
                "Keep one active version per prompt name.",
                field="status",
            )
        active[prompt.name] = prompt
    return prompts


def active_versions(suite: Suite, folder: Path) -> list[str]:
    """The active version of each prompt name.

    A version that cannot be used stops this only if it could be active: nothing is wrong with an
    active version because an archived one has decayed.
    """
    problems = Problems()
    prompts = load_prompts(suite, folder, problems)
    bystanders = {
        shown_path(folder / f"{version}.md")
        for version in versions_in(folder)
        if not may_be_active(file_text(folder / f"{version}.md"))
    }
    strays = {shown_path(file) for file in folder.glob("*.md") if not _VERSION.fullmatch(file.stem)}
    relevant = [problem for problem in problems if problem.file not in bystanders | strays]
    if relevant:
        raise BadInput(relevant)
    return [prompt.version for prompt in prompts if prompt.front.status == "active"]


def file_text(path: Path) -> str:
    """What a file holds, as far as it can be read."""
    data = read_bytes(path, LARGEST_YAML, Problems(), "")
    return (data or b"").decode("utf-8-sig", errors="replace")


def may_be_active(text: str) -> bool:
    """Whether a prompt file that cannot be used might be the active version's."""
    return not _NOT_ACTIVE.search(text)


def versions_in(folder: Path) -> list[str]:
    """The versions a folder holds, in order."""
    versions = (path.stem for path in folder.glob("*.md") if _VERSION.fullmatch(path.stem))
    return sorted(versions, key=version_order)


def _read(path: Path, problems: Problems) -> str | None:
    data = read_bytes(path, LARGEST_YAML, problems, "Shorten the prompt")
    try:
        return None if data is None else "\n".join(text_lines(data.decode("utf-8-sig")))
    except UnicodeDecodeError as error:
        problems.add(path, f"byte {error.start} is not UTF-8", "Save the file as UTF-8.")
        return None


def load_prompt_text(
    suite: Suite, path: Path, text: str, problems: Problems, *, alone: bool = False
) -> Prompt | None:
    """A version from the text of its file; `alone` says nothing of its predecessor, which may be gone."""
    match = _FRONT_MATTER.match(text)
    if match is None:
        problems.add(
            path,
            "has no front matter",
            "Start the file with a line ---, then suite: and status:, then a line ---.",
            line=1,
        )
        return None

    def check(front: Any) -> Iterator[Violation]:
        yield from _contradictions(suite, front)
        if not alone:
            yield from _wrong_predecessor(path, field_at(front, "predecessor"))

    front = parse_model(match["yaml"], 2, path, FrontMatter, problems, check)
    if front is None:
        return None
    body, body_line = text[match.end() :], text.count("\n", 0, match.end()) + 1
    found = Layout(body).problems(suite.variables, carries_turns=carries_turns(suite.input))
    for line, message, remedy, _ in sorted(found):
        problems.add(path, message, remedy, line=body_line + line - 1, field="template")
    return Prompt(
        path.stem, path, front, msgspec.convert(front.parameters, suite.parameters), body, body_line
    )


class Written(NamedTuple):
    """A prompt file's two parts, whatever its suite and folder say of them."""

    front: FrontMatter
    body: str


def as_written(text: str) -> Written | None:
    """The parts of a prompt file's text; None where it has no front matter that can be read."""
    match = _FRONT_MATTER.match(text)
    front = parse_model(match["yaml"], 2, Path(), FrontMatter, Problems()) if match else None
    return Written(front, text[match.end() :]) if match and front else None


def _contradictions(suite: Suite, front: Any) -> Iterator[Violation]:
    """What the front matter says that its suite denies."""
    named, parameters = field_at(front, "suite"), field_at(front, "parameters")
    if isinstance(named, str) and named != suite.name:
        yield Violation(("suite",), f"is {named!r}", f"In this folder it is {suite.name!r}.")
    if isinstance(parameters, dict) or parameters is None:
        yield from mismatches(parameters or {}, suite.parameters, ("parameters",))


def _wrong_predecessor(path: Path, predecessor: Any) -> Iterator[Violation]:
    """What is wrong with the version that the front matter names as the one before it."""
    if not isinstance(predecessor, str):
        return
    versions = versions_in(path.parent)
    if predecessor not in versions:
        remedy = f"Versions: {', '.join(versions)}."
        yield Violation(("predecessor",), f"{predecessor!r} is not a version in this folder", remedy)
    elif predecessor == path.stem:
        yield Violation(("predecessor",), "is the version itself", "Name the version before it, or none.")
    elif prompt_name(predecessor) != prompt_name(path.stem):
        remedy = f"Name a version of {prompt_name(path.stem)}."
        yield Violation(("predecessor",), f"{predecessor!r} is another prompt", remedy)

"""Editing prompt files: lines of the front matter change, everything else stays as it is."""

import re
from pathlib import Path

from eval_pipeline.files import file_bytes, write_text
from eval_pipeline.problems import bad_value, shown_path
from eval_pipeline.prompts import versions

BYTE_ORDER_MARK = "\ufeff"
_FRONT_END = re.compile(r"^---[ \t]*$", re.MULTILINE)
_STATUS = re.compile(
    r"""^((["']?)status\2[ \t]*:[ \t]*)(["']?)(?:active|candidate|archived)\3""", re.MULTILINE
)
_PREDECESSOR = re.compile(r"^(predecessor[ \t]*:)[ \t]*[^#\n]*?(?=[ \t]*(?:#.*)?$)", re.MULTILINE)
_DESCRIPTION = re.compile(r"^description[ \t]*:.*\n(?:[ \t]+.*\n|[ \t]*\n)*", re.MULTILINE)


def next_version(folder: Path, active: versions.Prompt, *, major: bool) -> str:
    """The next free number: after the active version's minor ones, or after every major one."""
    present = [
        versions.version_order(each)
        for each in versions.versions_in(folder)
        if versions.prompt_name(each) == active.name
    ]
    if major:
        return f"{active.name}-v{max(major for _, major, _ in present) + 1}.0"
    current = versions.version_order(active.version)[1]
    minor = max(minor for _, major, minor in present if major == current)
    return f"{active.name}-v{current}.{minor + 1}"


def following(active: versions.Prompt) -> str:
    """The text of a version as a candidate that follows it, without its description."""
    head, body = _parts(active)
    head = _DESCRIPTION.sub("", head, count=1)
    head = _STATUS.sub(r"\g<1>candidate", head, count=1)
    if _PREDECESSOR.search(head):
        head = _PREDECESSOR.sub(rf"\g<1> {active.version}", head, count=1)
    else:
        head = re.sub(
            _STATUS.pattern + r".*\n", rf"\g<0>predecessor: {active.version}\n", head, count=1, flags=re.M
        )
    changes = {"status": "candidate", "predecessor": active.version, "description": ""}
    expected = active.front.model_copy(update=changes)
    _stop_unless(active, head + body, expected)
    return head + body


def with_status(prompt: versions.Prompt, status: versions.Status) -> str:
    """The text of a version with another status."""
    head, body = _parts(prompt)
    head = _STATUS.sub(rf"\g<1>{status}", head, count=1)
    _stop_unless(prompt, head + body, prompt.front.model_copy(update={"status": status}))
    return head + body


def _parts(prompt: versions.Prompt) -> tuple[str, str]:
    """A prompt file's front matter, with the lines around it, and its body."""
    text = read_edited(prompt.path)
    match = _FRONT_END.search(text, text.find("\n"))
    end = match.end() if match else 0
    return text[:end], text[end:]


def _stop_unless(prompt: versions.Prompt, text: str, expected: versions.FrontMatter) -> None:
    """Refuse to write front matter that says something else than intended."""
    written = versions.as_written(text.removeprefix(BYTE_ORDER_MARK))
    if written is None or written.front != expected:
        raise bad_value(
            shown_path(prompt.path),
            "its front matter is written in a way that cannot be edited",
            "Write suite, status, predecessor and description each on a line of its own.",
        )


def read_edited(path: Path) -> str:
    """A file's text with line ends of one kind; a byte order mark stays."""
    try:
        return file_bytes(path).decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        remedy = "Save the file as UTF-8."
        raise bad_value(shown_path(path), f"byte {error.start} is not UTF-8", remedy) from None


def write_edited(path: Path, text: str, like: Path | None = None) -> None:
    """Write a text with the line ends of the file it replaces, or of another one."""
    model = like or path
    ends = "\r\n" if model.is_file() and b"\r\n" in file_bytes(model) else "\n"
    write_text(path, text.replace("\n", ends))

"""The changelog of a suite's prompts: an entry for each version, the newest first."""

import datetime
import re
from collections.abc import Sequence
from pathlib import Path

from eval_pipeline.prompts.editing import read_edited
from eval_pipeline.prompts.versions import Status, prompt_name

CHANGELOG = "CHANGELOG.md"
IMPACT = "### Metrics impact"
_STATUS = re.compile(r"^(## .*, )(?:active|candidate|archived)\)", re.MULTILINE)


def read_changelog(folder: Path, suite: str) -> str:
    """The changelog of a folder of prompts, or the beginning of one."""
    path = folder / CHANGELOG
    return read_edited(path) if path.is_file() else f"# Changelog of the {suite} prompts\n"


def with_entry(text: str, version: str, status: Status, content: str) -> str:
    """A changelog with an entry for a version before all others."""
    first = re.search(r"^## ", text, re.MULTILINE)
    before, after = (text[: first.start()], text[first.start() :]) if first else (text, "")
    today = datetime.date.today()  # noqa: DTZ011
    return f"{before.rstrip()}\n\n{_title(version)}{today}, {status})\n\n{content}\n" + (
        f"\n{after}" if after else ""
    )


def with_activation(text: str, version: str, archived: Sequence[str], impact: str) -> str:
    """A changelog in which a version is active, others are archived, and a table shows the impact.

    `impact` is a Markdown table of what the metrics did; blank where there is nothing to compare with.
    """
    section = f"{IMPACT}\n{impact}" if impact else ""
    if _entry(text, version) is None:
        text = with_entry(text, version, "active", section or "### Notes\n- The first version.")
    for each, status in ((version, "active"), *((other, "archived") for other in archived)):
        if match := _entry(text, each):
            entry = _STATUS.sub(rf"\g<1>{status})", match[0], count=1)
            if each == version and section and IMPACT not in entry:
                entry = f"{entry.rstrip()}\n\n{section}\n" + ("\n" if match.end() < len(text) else "")
            text = text[: match.start()] + entry + text[match.end() :]
    return text


def _title(version: str) -> str:
    """How the entry of a version begins, up to its date and status."""
    return f"## {prompt_name(version)} {version.rpartition('-')[2]} ("


def _entry(text: str, version: str) -> re.Match[str] | None:
    return re.search(rf"^{re.escape(_title(version))}.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)

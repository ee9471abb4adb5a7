"""Where people open reports: the addresses, and copies for a server of somebody else's."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from eval_pipeline.files import file_bytes, replacing, write_text
from eval_pipeline.problems import BadInput, Problem, bad_value, shown_path
from eval_pipeline.store.names import LATEST, PAGE, TWIN
from eval_pipeline.store.objects import ObjectStorage
from eval_pipeline.store.state import LONGEST_NAME

VARIABLE = "EVAL_PIPELINE_REPORTS"
ADDRESS_FILE = "reports.url"
"""In the state folder: where `eval-pipeline ui` serves reports."""
DASHBOARD, WEEKLY = "dashboard.html", "weekly"
"""In the state folder: the page over all suites, and a folder of weekly pages for each suite."""
_FOLDER_AND_URL = re.compile(r"(?P<folder>.+?)=(?P<url>https?://[^\s?#]+)")


class Shelf(NamedTuple):
    """A place from which a state folder's pages are served, each under the path that it has there."""

    state: Path
    url: str
    folder: Path | ObjectStorage | None = None
    """Where copies are put for whoever serves them; None where the state folder itself is served."""

    def address(self, page: Path) -> str:
        """The address of a page of the state folder."""
        return "/".join((self.url, *map(quote, page.relative_to(self.state).parts)))

    def publish(self, pages: Iterable[Path]) -> None:
        """Copy pages to where they find each other as they do in the state folder."""
        for page in pages:
            self._copy(page, page)

    def publish_report(self, report: Path) -> None:
        """Copy an evaluation's report, as page and as text, also to where the latest one is found."""
        for name in (PAGE, TWIN):
            source = report.with_name(name)
            if source.is_file():
                self._copy(source, source)
                self._copy(source, source.parent.with_name(LATEST) / name)

    def _copy(self, source: Path, place: Path) -> None:
        relative = place.relative_to(self.state)
        if self.folder is None:
            return
        if isinstance(self.folder, ObjectStorage):
            self.folder.upload(source, relative.as_posix())
            return
        target = self.folder / relative
        try:
            with replacing(target) as temporary:
                shutil.copyfile(source, temporary)
        except OSError as error:
            reason = f"the report cannot be copied there: {error.strerror}"
            remedy = f"See to {VARIABLE}, its disk and permissions."
            raise BadInput([Problem(shown_path(target), 0, "", reason, remedy)]) from None


def report_shelf(state: Path) -> Shelf | None:
    """From where reports are served: what the environment says, else what `eval-pipeline ui` noted."""
    if given := os.environ.get(VARIABLE):
        return Shelf(state, *_given(given))
    noted = state / ADDRESS_FILE
    return Shelf(state, file_bytes(noted, LONGEST_NAME).decode().strip()) if noted.is_file() else None


def _given(text: str) -> tuple[str, Path | ObjectStorage]:
    match = _FOLDER_AND_URL.fullmatch(text)
    if match and "://" in match["folder"]:
        return match["url"].rstrip("/"), ObjectStorage(match["folder"])
    folder = Path(match["folder"]).expanduser() if match else None
    if match is None or folder is None or not folder.is_absolute():
        remedy = "Write FOLDER=URL: an absolute folder or an object storage, and its address for browsers."
        raise bad_value(VARIABLE, f"{text!r} is not a folder and a URL", remedy)
    return match["url"].rstrip("/"), folder


def note_address(state: Path, url: str) -> None:
    """Let runs know where reports are served; it stays when the server ends, and is the same next time."""
    write_text(state / ADDRESS_FILE, url)

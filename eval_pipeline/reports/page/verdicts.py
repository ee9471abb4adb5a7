"""How a version stands, and where its report lies, as parts of a page."""

import os
from pathlib import Path
from urllib.parse import quote

from eval_pipeline.decisions import VersionSurvey
from eval_pipeline.reports.markdown import flat
from eval_pipeline.reports.page.html import Html, bullets, command, element
from eval_pipeline.reports.report import TITLES, objection_lines
from eval_pipeline.store import DASHBOARD, WEEKLY

MOST_LINES = 12
LONGEST_LINE = 500


class Links:
    """Addresses of other pages, as seen from where this one lies."""

    def __init__(self, state: Path, folder: Path) -> None:
        self._state, self._folder = state.resolve(), folder.resolve()

    def to(self, path: Path) -> str:
        """The address of a file."""
        return quote(os.path.relpath(path.resolve(), self._folder))

    def report(self, version: VersionSurvey) -> str:
        """The address of a version's report; blank where there is none."""
        return self.to(version.report) if version.report else ""

    def week(self, suite: str) -> str:
        """The address of a suite's latest weekly page; blank where there is none."""
        pages = sorted((self._state / WEEKLY / suite).glob("*.html"))
        return self.to(pages[-1]) if pages else ""

    @property
    def dashboard(self) -> str:
        """The address of the page over all suites."""
        return self.to(self._state / DASHBOARD)


def verdict(suite: str, version: VersionSurvey, links: Links) -> Html:
    """The verdict on a version, with everything that speaks against it."""
    if version.against is None:
        never = element("p", f"✗ {version.version} was never evaluated.")
        run = command(f"eval-pipeline run {suite} --prompt {version.version}")
        return element("div", never, run, class_="verdict red")
    colour = {"pass": "green", "approved": "green", "warn": "yellow"}.get(version.against.state, "red")
    address = links.report(version)
    name = element("a", version.version, href=address) if address else version.version
    lines = [
        *(f"⚠ Since it was evaluated, {changed}." for changed in version.changed),
        *objection_lines(version.against),
    ]
    hidden = len(lines) - MOST_LINES
    shown = [flat(line, LONGEST_LINE) for line in lines[:MOST_LINES]]
    shown += [f"and {hidden:,} more: see the report"] if hidden > 0 else []
    sign, _, words = TITLES[version.against.state].partition(" ")
    return element(
        "div", element("p", f"{sign} ", name, f" {words}"), bullets(shown), class_=f"verdict {colour}"
    )

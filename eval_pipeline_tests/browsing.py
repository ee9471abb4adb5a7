"""Pages in a real browser: what they ask for, what they complain about, what a person sees."""

from __future__ import annotations

import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eval_pipeline.reports.page.shell import unpacked

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-sync",
]
NEEDS_CHROMIUM = pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's chromium: make browser")
AXE = "axe-core@4.14.0"
_NODE = re.compile(r'<script type="text/plain" id="data-([^"]+)">([^<]*)</script>')


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser without a screen."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


class Watched:
    """A page, with everything that it asked for and complained about."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.asked: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def show(self, file: Path, chosen: str = "") -> Page:
        """Open a file anew, at what is chosen, and wait until its script is done."""
        self.page.goto("about:blank")
        self.page.goto(f"{file.as_uri()}{chosen}")
        self.page.wait_for_selector("html[data-ready=true]", state="attached")
        return self.page

    @property
    def elsewhere(self) -> list[str]:
        """What it asked anybody else for."""
        return [url for url in self.asked if not url.startswith(("file:", "about:", "data:,"))]


def nodes_of(html: str) -> dict[str, Any]:
    """The data of a page, by name."""
    return {name: unpacked(text) for name, text in _NODE.findall(html)}


def axe_script(folder: Path) -> str:
    """The accessibility checker as npm publishes it; the test is skipped where that cannot be had."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("needs npm, for axe-core")
    packed = subprocess.run(
        [npm, "pack", "--silent", AXE], cwd=folder, capture_output=True, text=True, check=False
    )
    if packed.returncode:
        pytest.skip(f"npm has no {AXE}: {packed.stderr[-200:]}")
    with tarfile.open(folder / packed.stdout.split()[-1]) as archive:
        file = archive.extractfile("package/axe.min.js")
        assert file is not None
        return file.read().decode()

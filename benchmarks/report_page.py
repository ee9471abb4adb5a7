"""The report as a page: how large it gets, how soon its first screen shows, whether all cases are in it.

1,000 cases in three trials, 2 KB of input and 1 KB for each answer, make a file of less than 5 MB whose
first screen shows within a second. 20,000 cases still open.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from eval_pipeline.files import write_text
from eval_pipeline.gates import Gate
from eval_pipeline.golden import read_cases
from eval_pipeline.problems import Problems
from eval_pipeline.reports.page.findings import Findings
from eval_pipeline.reports.page.report import report_page
from eval_pipeline.scoring import OutputsScorer, summarize
from eval_pipeline.stages import Exhibit, Exhibits
from eval_pipeline.suite import Context, Suite

SUITE = Suite(name="capitals", description="The capital of a country.")
TRIALS = 3
INPUT, ANSWER = 2_000, 1_000
LARGEST, SECONDS = 5e6, 1.0
VOCABULARY = 6_000
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


class Prose:
    """Texts of words that are as frequent as in a language: few stand often, most stand rarely."""

    def __init__(self) -> None:
        self._random = random.Random(7)
        letters = "etaoinshrdlucmfwypvbgk"
        self._words = [
            "".join(self._random.choices(letters, k=self._random.randint(2, 11))) for _ in range(VOCABULARY)
        ]
        self._weights = [1 / (rank + 3) for rank in range(VOCABULARY)]

    def text(self, length: int) -> str:
        """A text of so many characters."""
        return " ".join(self._random.choices(self._words, self._weights, k=length // 4))[:length].strip()


def write_files(folder: Path, cases: int) -> tuple[Path, Path]:
    """A golden file and an outputs file; a third of the answers are right."""
    prose = Prose()
    golden, outputs = folder / "golden.jsonl", folder / "outputs.jsonl"
    with golden.open("w") as questions, outputs.open("w") as answers:
        for number in range(cases):
            expected = prose.text(ANSWER)
            _write(
                questions,
                {"id": f"case-{number:05}", "input": {"text": prose.text(INPUT)}, "expected": expected},
            )
            for trial in range(1, TRIALS + 1):
                said = expected if (number + trial) % 3 == 0 else prose.text(ANSWER)
                _write(answers, {"case_id": f"case-{number:05}", "trial": trial, "output": said})
    return golden, outputs


def _write(file: Any, record: dict[str, Any]) -> None:
    file.write(json.dumps(record) + "\n")


def page_of(golden: Path, outputs: Path) -> str:
    """What `score --report` writes."""
    scored = OutputsScorer(SUITE, Context(), keep_diagnoses=True).score(golden, outputs, Problems())
    gates: dict[str, Gate] = {}
    summary = summarize(SUITE, scored.scores, gates)
    answers = SUITE.answer_format(outputs).open(outputs, Problems())
    exhibit = Exhibit(outputs.name, "version", answers, scored.scores)
    exhibits = Exhibits((exhibit,), lambda only=None: read_cases(SUITE, golden, Problems()))
    return report_page(Findings(SUITE, summary, scored.scores, exhibits))


def opened(file: Path, cases: int) -> tuple[float, float, float]:
    """Seconds until the first screen shows, until cases are listed, and until the last one is shown."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.set_default_timeout(120_000)
        page.goto("about:blank")
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-ready=true]", state="attached")
        paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        ready = page.evaluate("performance.now()")
        assert page.locator("#count").inner_text() == f"{cases:,} of {cases:,} cases"
        started = time.perf_counter()
        last = f"case-{cases - 1:05}"
        page.evaluate(f"location.hash = '#case={last}'")
        page.locator("#case h3", has_text=last).wait_for()
        assert len(page.locator("#case .field pre").first.inner_text()) > INPUT * 0.9
        shown = time.perf_counter() - started
        browser.close()
    return paint / 1000, ready / 1000, shown


def measure(cases: int) -> bool:
    """Print what a page of so many cases takes; whether it keeps the promise."""
    with tempfile.TemporaryDirectory() as folder:
        golden, outputs = write_files(Path(folder), cases)
        started = time.perf_counter()
        html = page_of(golden, outputs)
        built = time.perf_counter() - started
        file = Path(folder) / "report.html"
        write_text(file, html)
        size = file.stat().st_size
        line = f"report of {cases:,} cases × {TRIALS} trials: {size / 1e6:.1f} MB, built in {built:.1f} s"
        if shutil.which("chromium") is None:
            print(f"{line}; not opened: there is no chromium")
            return size < LARGEST or cases > 1000
        paint, ready, shown = opened(file, cases)
        print(
            f"{line}; first screen {paint:.2f} s, all cases listed {ready:.2f} s, the last one {shown:.2f} s"
        )
        return cases > 1000 or (size < LARGEST and paint < SECONDS)


def main() -> None:
    """Measure both sizes."""
    kept = [measure(1_000), measure(20_000)]
    print(f"  promised: less than {LARGEST / 1e6:.0f} MB and {SECONDS:.0f} s for 1,000 cases")
    sys.exit(0 if all(kept) else 1)


if __name__ == "__main__":
    main()

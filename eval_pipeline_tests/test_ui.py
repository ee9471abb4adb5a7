"""The UI in a real browser, on results of the command line, and a run that is launched from it."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from playwright.sync_api import Page, expect

from eval_pipeline.project import Project
from eval_pipeline.store import Store, note_address
from eval_pipeline_tests.browsing import NEEDS_CHROMIUM, browser
from eval_pipeline_tests.conftest import REPOSITORY, copy_project
from eval_pipeline_tests.running import baseline_outputs, command, environment, instance_in

V10, V12, V20 = (f"decompose-concepts-v{number}" for number in ("1.0", "1.2", "2.0"))
METRICS = dg.AssetKey(["decomposition", "metrics"])

pytestmark = [pytest.mark.browser, NEEDS_CHROMIUM]


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


REPORTS_PORT = free_port()


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project in which every version of a suite was evaluated by the command line."""
    project = copy_project(tmp_path_factory.mktemp("ui") / "project", "decomposition")
    note_address(project.state, f"http://127.0.0.1:{REPORTS_PORT}")  # as if the UI had been there before
    done = command(project, "run", "decomposition", "--prompt", "all")
    assert done.returncode == 1, done.stderr
    return project


@pytest.fixture(scope="module")
def address(evaluated: Project) -> Iterator[str]:
    """`eval-pipeline ui` on that project."""
    port = free_port()
    log = (evaluated.root / "ui.log").open("wb")
    ports = ("--port", str(port), "--reports-port", str(REPORTS_PORT))
    server = subprocess.Popen(
        [sys.executable, "-m", "eval_pipeline", "ui", *ports],
        cwd=evaluated.root,
        env=environment(evaluated) | {"PYTHONPATH": str(REPOSITORY)},
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    try:
        url = f"http://127.0.0.1:{port}"
        wait_for(f"{url}/server_info", server)
        yield url
    finally:
        server.terminate()  # it ends what it started
        server.wait(60)
        log.close()


def wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    """Return when a server answers."""
    for _ in range(240):
        assert server.poll() is None, "the UI stopped"
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except OSError:
            time.sleep(0.5)
    raise AssertionError(f"{url} does not answer")


@pytest.fixture(scope="module")
def page(address: str) -> Iterator[Page]:
    """A browser."""
    with browser() as running:
        opened = running.new_page(viewport={"width": 1600, "height": 1100})
        opened.set_default_timeout(60_000)
        expect.set_options(timeout=60_000)
        yield opened


GO = "path => { history.pushState(null, '', path); dispatchEvent(new PopStateEvent('popstate')); }"


def visit(page: Page, address: str, path: str) -> None:
    """Go to a page of the UI: as its own links do where it is open, which runs no script of it anew."""
    if page.url.startswith(address):
        page.evaluate(GO, path)
    else:
        page.goto(f"{address}{path}")


def leave(page: Page) -> None:
    """Close the UI: it asks its server and draws for as long as it is open."""
    page.goto("about:blank")


def test_the_graph_shows_the_chain(page: Page, address: str) -> None:
    visit(page, address, "/locations/eval_pipeline/asset-groups/decomposition/lineage")
    for stage in ("golden_set", "model_outputs", "case_scores", "metrics", "report"):
        expect(page.get_by_text(stage, exact=True).first).to_be_visible()


def test_versions_are_partitions_with_a_table_of_metrics(page: Page, address: str) -> None:
    visit(page, address, f"/assets/decomposition/metrics?view=partitions&partition={V20}")
    for version in (V10, V12, V20):
        expect(page.get_by_text(version).first).to_be_visible()
    expect(page.get_by_text("✗ fail").first).to_be_visible()
    expect(page.get_by_text("★ excellent").first).to_be_visible()
    page.get_by_text("[Show Markdown]").first.click()
    expect(page.locator("img[src^='data:image/svg+xml']").first).to_be_visible()


def test_checks_are_green_and_red_and_say_why(page: Page, address: str) -> None:
    visit(page, address, "/assets/decomposition/metrics?view=checks")
    page.get_by_text("gate_concept_precision").first.click()
    expect(page.get_by_text(f"{V20}: 49.3 % is in the fail zone (< 50 %).").first).to_be_visible()
    expect(page.get_by_text("Failed", exact=True).first).to_be_visible()
    page.get_by_text("gate_concept_recall").first.click()
    expect(page.get_by_text(f"{V20}: 94.8 % is in the excellent zone").first).to_be_visible()
    expect(page.get_by_text("Succeeded", exact=True).first).to_be_visible()


JOB = "decomposition_evaluation"


def test_runs_of_the_command_line_are_on_the_home_page_and_on_the_jobs_page(page: Page, address: str) -> None:
    visit(page, address, "/")
    expect(page.get_by_text(JOB).first).to_be_visible()
    expect(page.get_by_text("No runs")).to_have_count(0)
    visit(page, address, f"/locations/eval_pipeline/jobs/{JOB}/runs")
    expect(page.get_by_text("Success", exact=True)).to_have_count(4)


def test_a_click_leads_from_the_asset_to_the_report(page: Page, address: str, evaluated: Project) -> None:
    visit(page, address, f"/assets/decomposition/report?view=partitions&partition={V20}")
    expect(page.get_by_text("✗ is blocked").first).to_be_visible()
    with page.expect_popup() as opening:
        page.get_by_text(f"http://127.0.0.1:{REPORTS_PORT}/evaluations/decomposition/{V20}/").first.click()
    report = opening.value
    report.wait_for_load_state()
    expect(report.get_by_text(f"✗ {V20} is blocked").first).to_be_visible()
    evaluation = Store(evaluated.state).evaluation("decomposition", V20)
    assert evaluation
    assert (
        report.url
        == f"http://127.0.0.1:{REPORTS_PORT}/evaluations/decomposition/{V20}/{evaluation.id}/report.html"
    )
    assert report.evaluate("origin") == "null", "it is alone in a sandbox"
    report.close()


def test_one_asset_says_whether_the_active_version_passes_and_which_are_blocked(
    page: Page, address: str
) -> None:
    visit(page, address, "/assets/decomposition/active_version?view=overview")
    expect(page.get_by_text(f"{V12} ✓ passes, overall_index ").first).to_be_visible()
    blocked = page.locator("tr", has=page.get_by_text(V20, exact=True))
    expect(blocked.last).to_contain_text("is blocked")
    visit(page, address, "/assets/decomposition/active_version?view=checks")
    expect(page.get_by_text("active_version_passes").first).to_be_visible()
    expect(page.get_by_text("Succeeded", exact=True).first).to_be_visible()


def test_the_launchpad_shows_what_can_be_chosen(page: Page, address: str) -> None:
    visit(page, address, f"/locations/eval_pipeline/jobs/{JOB}/playground")
    editor = page.locator(".CodeMirror").first
    for line in ("engine: as_configured", "trials: as_configured", "sample: default"):
        expect(editor).to_contain_text(line)
    expect(page.get_by_text("No errors").first).to_be_visible()


def test_zones_are_seen_on_a_small_screen_and_long_texts_open_at_their_top(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    try:
        visit(page, address, "/assets/decomposition/metrics?view=overview")
        row = page.locator("tr", has=page.get_by_text("concept_precision", exact=True)).last
        expect(row).to_be_visible()
        panel = (
            page.get_by_text("Metadata", exact=True).first.locator("xpath=ancestor::div[5]").bounding_box()
        )
        for cell in (row.locator("td").nth(0), row.locator("td").nth(1)):
            box = cell.bounding_box()
            assert box
            assert panel
            assert box["x"] + box["width"] < panel["x"] + panel["width"]
        visit(page, address, f"/assets/decomposition/metrics?view=partitions&partition={V20}")
        for title in ("chart", "worst_cases"):
            page.locator("tr", has=page.get_by_text(title, exact=True)).last.get_by_text(
                "[Show Markdown]"
            ).click()
            dialog = page.locator(".dagster-dialog")
            expect(dialog.locator(".dagster-markdown")).to_be_visible()
            page.wait_for_timeout(500)
            box = dialog.bounding_box()
            assert box
            assert box["y"] >= 0, "its top is on the screen"
            page.keyboard.press("Escape")
            expect(dialog).to_have_count(0)
    finally:
        page.set_viewport_size({"width": 1600, "height": 1100})


HOSTILE = "![x](http://127.0.0.1:9/track.png) http://evil.example www.evil.example <img src=http://127.0.0.1:9/i.png>"


def test_what_a_model_writes_is_shown_and_never_acted_on(
    page: Page, address: str, evaluated: Project
) -> None:
    """Neither in check messages nor in reports does model output become an image, a link or a request."""
    leave(page)
    answers = [json.loads(line) for line in baseline_outputs(evaluated).read_text().splitlines()]
    for answer in answers:
        answer["output"]["concepts"] += [{"label": f"{HOSTILE} {n}"} for n in range(40)]
    answers[0] = {"case_id": answers[0]["case_id"], "error": HOSTILE}
    recorded = evaluated.root / "recorded" / "decomposition" / f"{V10}.jsonl"
    recorded.parent.mkdir(parents=True)
    recorded.write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    done = command(evaluated, "run", "decomposition", "--prompt", V10, "--engine", "recorded")
    assert done.returncode == 1, done.stderr
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    visit(page, address, "/assets/decomposition/metrics?view=checks")
    page.get_by_text("gate_concept_precision").first.click()
    expect(page.get_by_text("evil").first).to_be_visible()
    visit(page, address, "/assets/decomposition/model_outputs?view=checks")
    page.get_by_text("answered").first.click()
    expect(page.get_by_text("1 error in 15 answers").first).to_be_visible()
    visit(page, address, f"/assets/decomposition/report?view=partitions&partition={V10}")
    page.get_by_text("[Show Markdown]").first.click()
    expect(page.get_by_text("Every gate").or_(page.get_by_text("fail zone")).first).to_be_visible()
    assert page.locator("a[href*='evil'], img[src*='127.0.0.1:9/']").count() == 0
    assert [url for url in asked if ":9/" in url or "evil" in url] == []


def metric_values(project: Project, version: str) -> tuple[int, dict[str, float]]:
    """How often the metrics of a version were materialized, and the latest numbers."""
    with instance_in(project) as instance:
        events = instance.fetch_materializations(
            dg.AssetRecordsFilter(METRICS, asset_partitions=[version]), limit=50
        ).records
    latest = events[0].asset_materialization
    assert latest is not None
    numbers = {name: each.value for name, each in latest.metadata.items() if isinstance(each.value, float)}
    return len(events), numbers


def test_command_line_dagster_and_ui_give_the_same_numbers(
    page: Page, address: str, evaluated: Project
) -> None:
    leave(page)
    first, by_command_line = metric_values(evaluated, V12)
    assert by_command_line["overall_index"]
    selection = ["--select", 'key:"decomposition/*"', "--partition", V12, "-m", "eval_pipeline.definitions"]
    subprocess.run(
        [Path(sys.executable).with_name("dagster"), "asset", "materialize", *selection],
        cwd=evaluated.root,
        env=environment(evaluated),
        check=True,
        capture_output=True,
    )
    second, by_dagster = metric_values(evaluated, V12)
    assert (second, by_dagster) == (first + 1, by_command_line)

    visit(page, address, "/locations/eval_pipeline/asset-groups/decomposition/lineage")
    page.get_by_role("button", name="Materialize all").click()
    page.get_by_text("Select a partition or create one").click()
    page.get_by_text(V12).filter(visible=True).first.click()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Launch 1 run").click()
    expect(page.get_by_text("Launched run").first).to_be_visible()
    leave(page)
    for _ in range(240):
        if metric_values(evaluated, V12)[0] > second:
            break
        time.sleep(0.5)
    third, by_ui = metric_values(evaluated, V12)
    assert (third, by_ui) == (second + 1, by_command_line)

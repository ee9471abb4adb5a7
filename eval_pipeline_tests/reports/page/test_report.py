"""The report in a real browser: what a person sees, finds and follows, and what nobody can make it do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Browser, Page, expect

from eval_pipeline.numbers import number
from eval_pipeline.project import Project
from eval_pipeline.reports.page.findings import Findings
from eval_pipeline.reports.page.report import report_page
from eval_pipeline.reports.tables import units
from eval_pipeline_tests.browsing import NEEDS_CHROMIUM, Watched, browser, nodes_of
from eval_pipeline_tests.conftest import copy_project
from eval_pipeline_tests.reports.page.evaluated import evaluated
from eval_pipeline_tests.running import baseline_outputs, invoke

V10, V20 = "decompose-concepts-v1.0", "decompose-concepts-v2.0"
CASE = "algorithmic-fairness"

pytestmark = [pytest.mark.browser, NEEDS_CHROMIUM]


class Made(NamedTuple):
    """A page on disk, and what it was made of."""

    file: Path
    findings: Findings
    project: Project

    @property
    def nodes(self) -> dict[str, Any]:
        """Its data."""
        return nodes_of(self.file.read_text())


@pytest.fixture(scope="module")
def blocked(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The report on a version that is blocked."""
    project = copy_project(tmp_path_factory.mktemp("page") / "project", "decomposition")
    findings = evaluated(project, "decomposition", V20)
    file = project.root / "report.html"
    file.write_text(report_page(findings))
    return Made(file, findings, project)


@pytest.fixture(scope="module")
def opened() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture
def watched(opened: Browser) -> Iterator[Watched]:
    """A page that must not complain, nor ask anybody for anything."""
    page = opened.new_page(viewport={"width": 1400, "height": 1000})
    page.set_default_timeout(30_000)
    watching = Watched(page)
    yield watching
    assert watching.complaints == []
    assert watching.elsewhere == []
    page.close()


def cases_listed(page: Page) -> list[str]:
    return [
        each.removesuffix(" *") for each in page.locator("#list tbody tr td:first-child").all_inner_texts()
    ]


def count(page: Page) -> str:
    return page.locator("#count").inner_text()


def test_the_first_screen_needs_no_script(opened: Browser, blocked: Made) -> None:
    context = opened.new_context(java_script_enabled=False, viewport={"width": 1400, "height": 1000})
    page = context.new_page()
    page.goto(blocked.file.as_uri())
    expect(page.get_by_role("heading", level=1)).to_have_text(f"✗ {V20} is blocked")
    for text in (
        "concept_precision: 49.3 % is in the fail zone (< 50 %).",
        "baseline decompose-concepts-v1.0",
        "decompose-concepts-v1.2 (in use)",
        "eval-pipeline compare decomposition --prompt decompose-concepts-v2.0",
    ):
        box = page.get_by_text(text).first.bounding_box()
        assert box is not None
        assert box["y"] < 1000, text
    expect(page.get_by_text("These are the worst cases.")).to_be_visible()
    context.close()


def test_numbers_are_those_of_the_command_line(watched: Watched, blocked: Made) -> None:
    page = watched.show(blocked.file)
    summary, unit = blocked.findings.summary, units(blocked.findings.suite)
    for gate in summary.gates:
        row = page.locator(f"tr:has(#metric-{gate.metric})").first.inner_text()
        assert number(summary.metrics[gate.metric].value, unit[gate.metric]) in row
        assert (gate.zone or "") in row
    compared = invoke(blocked.project, "compare", "decomposition", "--prompt", V20).stdout
    for name in re.findall(r"^(concept_precision|concept_recall|overall_index) ", compared, re.MULTILINE):
        difference = page.locator(f"tr:has(#metric-{name}) .difference").first.inner_text()
        assert re.search(rf"^{name} .*{re.escape(difference)}", compared, re.MULTILINE)


def test_every_case_has_the_values_and_diagnoses_of_score(blocked: Made, tmp_path: Path) -> None:
    """The data of the page against `score --json --cases` on the same answers."""
    outputs = tmp_path / "outputs.jsonl"
    exhibits = blocked.findings.exhibits
    answers = [(each.golden.case.id, each.answers[0][0]) for batch in exhibits.batches() for each in batch]
    ids = blocked.nodes["index"]["id"]
    lines = [{"case_id": name, "output": json.loads((each and each.text) or "")} for name, each in answers]
    outputs.write_text("".join(json.dumps(line) + "\n" for line in lines))
    golden = blocked.project.golden("decomposition")
    asked = ("score", "decomposition", "--golden", golden, "--outputs", outputs, "--json", "--cases")
    scored = {each["case_id"]: each for each in json.loads(invoke(blocked.project, *asked).stdout)["cases"]}
    nodes, unit = blocked.nodes, units(blocked.findings.suite)
    index, records = nodes["index"], nodes["part-0"]
    assert sorted(scored) == sorted(ids)
    for place, case_id in enumerate(ids):
        (trial,), (expected,) = records[place]["sides"][0]["trials"], scored[case_id]["trials"]
        names = [each["name"] for each in index["metrics"]]
        assert trial["values"] == [number(expected["metrics"][name], unit[name]) for name in names]
        told = [
            (index["kinds"][each["kind"]], each.get("expected", ""), each.get("got", ""))
            for each in trial["diagnoses"]
        ]
        assert told == [tuple(each.values()) for each in expected["diagnoses"]]
        assert bool(index["failed"][place]) == (expected["passed"] is False)


def test_cases_are_filtered_sorted_and_found(watched: Watched, blocked: Made) -> None:
    page = watched.show(blocked.file)
    assert count(page) == "15 of 15 cases"
    worst = [each.case_id for each in blocked.findings.results]
    assert cases_listed(page) == worst
    page.get_by_label("sort", exact=True).select_option("name")
    expect(page.locator("#list tbody tr").first).to_contain_text(min(worst))
    page.get_by_label("domain", exact=True).select_option("interdisciplinary")
    index = blocked.nodes["index"]
    group = index["groups"]["domain"]
    wanted = group["values"].index("interdisciplinary")
    assert count(page) == f"{group['of'].count(wanted)} of 15 cases"
    page.get_by_role("link", name="show all cases").click()
    assert count(page) == "15 of 15 cases"
    kind = index["kinds"].index("missed_required_concept")
    page.get_by_label("kind of error", exact=True).select_option("missed_required_concept")
    assert count(page) == f"{sum(kind in each for each in index['wrong'])} of 15 cases"
    page.get_by_label("kind of error", exact=True).select_option("")
    page.get_by_label("find", exact=True).fill("proof of work")
    expect(page.locator("#count")).to_have_text("1 of 15 cases")
    assert cases_listed(page) == ["blockchain"]
    assert page.get_by_label("find", exact=True).input_value() == "proof of work"


def test_what_got_worse_is_what_the_comparison_says(watched: Watched, blocked: Made) -> None:
    for place, standing in enumerate(blocked.findings.standings.all):
        page = watched.show(blocked.file, f"#show=worse&against={place}&sort=fell")
        assert cases_listed(page) == [each.case_id for each in standing.comparison.regressed]
        page = watched.show(blocked.file, f"#show=better&against={place}")
        assert len(cases_listed(page)) == len(standing.comparison.improved)


def test_a_link_leads_to_a_case_and_keys_to_its_neighbours(watched: Watched, blocked: Made) -> None:
    page = watched.show(blocked.file, f"#sort=name&case={CASE}")
    expect(page.locator("#case h3")).to_contain_text(CASE)
    expect(page.locator("#case")).to_contain_text("Algorithmic fairness is the study of")
    page.keyboard.press("j")
    expect(page.locator("#case h3")).to_contain_text("antimicrobial-resistance")
    page.keyboard.press("k")
    expect(page.locator("#case h3")).to_contain_text(CASE)
    page.go_back()
    expect(page.locator("#case h3")).to_contain_text("antimicrobial-resistance")
    page = watched.show(blocked.file, "#case=nobody")
    expect(page.locator("#case")).to_contain_text("There is no case nobody.")


def test_mistakes_are_marked_where_they_stand(watched: Watched, blocked: Made) -> None:
    page = watched.show(blocked.file, f"#case={CASE}")
    marks = page.locator("#case .field mark.invented").all_inner_texts()
    assert "personal traits" in marks
    answer = page.locator("#case .answer mark").all_inner_texts()
    assert '"personal traits"' in answer
    missed = page.locator("#case .field mark.missed, #case .field mark.wrong").all_inner_texts()
    assert any('"REQUIRES"' in each and '"group fairness"' in each for each in missed)
    page.get_by_text("Rendered prompt").click()
    expect(page.locator("#case details pre")).to_contain_text("Topic: Algorithmic Fairness")


def test_versions_stand_side_by_side_with_their_differences(watched: Watched, blocked: Made) -> None:
    page = watched.show(blocked.file, "#case=blockchain")
    page.get_by_role("link", name="side by side").click()
    columns = page.locator("#case .columns.many > div")
    expect(columns).to_have_count(3)
    labels = [each.split("\n")[0] for each in columns.all_inner_texts()]
    assert labels[0].startswith("baseline decompose-concepts-v1.0")
    assert labels[2].startswith(f"{V20} (this version)")
    assert page.locator("#case .columns.many > div").nth(0).locator("ins, del").count() == 0
    assert page.locator("#case .columns.many > div").nth(2).locator("ins").count() > 0
    page.get_by_label("differences from", exact=True).select_option("expected")
    expect(columns).to_have_count(4)
    assert page.locator("#case .columns.many > div").nth(1).locator("del").count() > 0
    assert page.locator("[data-prompts] ins").count() > 0


def test_a_metric_leads_to_its_cases_and_back(watched: Watched, blocked: Made) -> None:
    page = watched.show(blocked.file)
    page.locator("#metric-concept_precision").click()
    expect(page.locator("#list th").nth(1)).to_have_text("concept_precision")
    values = [float(each.rstrip(" %")) for each in page.locator("#list td:nth-child(2)").all_inner_texts()]
    assert values == sorted(values)
    page.locator("#list tbody a").first.click()
    page.locator("#case .scores").get_by_role("link", name="concept_recall").click()
    expect(page.locator("#metric-concept_recall")).to_be_in_viewport()


def test_a_cell_of_the_confusion_matrix_leads_to_its_cases(watched: Watched, whole_project: Project) -> None:
    (outputs,) = (whole_project.golden("heritage_typing") / "baseline").glob("*.outputs.jsonl")
    file = whole_project.root / "page.html"
    golden = whole_project.golden("heritage_typing")
    invoke(
        whole_project, "score", "heritage_typing", "--golden", golden, "--outputs", outputs, "--report", file
    )
    page = watched.show(file)
    cell = page.locator(".confusion td.wrong a").first
    expected = int(cell.inner_text())
    cell.click()
    expect(page.locator("#count")).to_have_text(f"{expected} of 950 cases")
    assert "0 of 1" in page.locator("#list tbody").inner_text()


def test_light_and_dark_and_paper(watched: Watched, blocked: Made) -> None:
    page = watched.show(blocked.file, "#case=blockchain")
    colour = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    page.get_by_role("button", name="switch to dark colours").click()
    assert page.evaluate(colour) == "rgb(16, 21, 27)"
    page.emulate_media(media="print")
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    expect(page.locator("#case")).to_be_visible()
    expect(page.locator("#tools .tools")).to_be_hidden()
    assert len(page.pdf()) > 10_000
    page.emulate_media(media="screen")
    page.get_by_role("button", name="switch to light colours").click()
    assert page.evaluate(colour) == "rgb(255, 255, 255)"


@pytest.mark.parametrize("width", [360, 800, 1600])
def test_no_width_needs_scrolling_sideways(watched: Watched, blocked: Made, width: int) -> None:
    watched.page.set_viewport_size({"width": width, "height": 900})
    for chosen in ("", "#case=blockchain", "#case=blockchain&view=side"):
        page = watched.show(blocked.file, chosen)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, chosen


def test_a_checker_of_accessibility_finds_nothing_serious(watched: Watched, blocked: Made, axe: str) -> None:
    for scheme in ("light", "dark"):
        watched.page.emulate_media(color_scheme=scheme)
        for chosen in ("", "#case=blockchain", "#case=blockchain&view=side"):
            page = watched.show(blocked.file, chosen)
            page.evaluate(axe)
            result = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
            serious = [
                (each["id"], each["impact"], [node["html"][:200] for node in each["nodes"][:3]])
                for each in result["violations"]
                if each["impact"] in ("serious", "critical")
            ]
            assert serious == [], (scheme, chosen)


def test_a_script_that_somebody_slips_in_does_not_run(opened: Browser, blocked: Made, tmp_path: Path) -> None:
    slipped = "<script>document.title = 'owned'</script><img src=x onerror=\"document.title = 'owned'\">"
    file = tmp_path / "slipped.html"
    file.write_text(blocked.file.read_text().replace("</main>", f"{slipped}</main>"))
    page = opened.new_page()
    watching = Watched(page)
    watching.show(file)
    assert page.title() == f"decomposition: ✗ {V20} is blocked"
    assert any("Content Security Policy" in each for each in watching.complaints)
    page.close()


HOSTILE = (
    "</script><script>document.title='owned'</script> javascript:alert(1) \u202egnirts\u202c "
    "\x1b[31mred\x1b[0m <img src=x onerror=alert(1)>"
)
LONG = "x" * 1_000_000


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Answers that would like to do something, differ over trials, are missing, or are very long."""
    project = copy_project(tmp_path_factory.mktemp("hostile") / "project", "decomposition")
    lines = []
    for line in baseline_outputs(project).read_text().splitlines():
        answer = json.loads(line)
        for trial in (1, 2, 3):
            answer["output"]["concepts"] += [{"label": f"{HOSTILE} {trial}"}]
            lines.append({**answer, "trial": trial, "latency_ms": 812.5, "cost_usd": 0.003, "tokens": 1904})
    lines[0] = {"case_id": lines[0]["case_id"], "trial": 1, "error": "refused", "detail": HOSTILE}
    lines[4] = {**lines[4], "output": LONG}
    recorded = project.root / "recorded" / "decomposition" / f"{V10}.jsonl"
    recorded.parent.mkdir(parents=True)
    recorded.write_text("".join(json.dumps(line) + "\n" for line in lines))
    findings = evaluated(project, "decomposition", V10, engine="recorded", trials=3)
    file = project.root / "report.html"
    file.write_text(report_page(findings))
    return Made(file, findings, project)


def test_hostile_answers_are_shown_and_do_nothing(watched: Watched, hostile: Made) -> None:
    ids = hostile.nodes["index"]["id"]
    refused, long = ids[0], ids[1]
    page = watched.show(hostile.file, f"#case={refused}")
    title = page.title()
    shown = page.locator("#case").inner_text()
    assert "error: refused" in shown
    assert "</script><script>document.title='owned'</script> javascript:alert(1)" in shown
    assert page.locator("#case .unseen").first.inner_text() in ("RLO", "PDF", "ESC")
    assert page.locator("#case img, #case script, #case a[href^='javascript']").count() == 0
    assert "\u202e" not in shown
    assert "\x1b" not in shown
    page.goto(f"{hostile.file.as_uri()}#case={long}")
    expect(page.locator("#case")).to_contain_text("show all 1,000,000 characters")
    page.get_by_role("button", name="show all 1,000,000 characters").click()
    assert len(page.locator("#case .answer pre").nth(2).inner_text()) == len(LONG)
    assert page.title() == title


def test_trials_differ_and_say_what_they_took(watched: Watched, hostile: Made) -> None:
    page = watched.show(hostile.file, "#show=differs")
    differing = hostile.nodes["index"]["differs"]
    assert count(page) == f"{sum(differing)} of 15 cases"
    assert sum(differing) >= 2
    page.locator("#list tbody a").last.click()
    expect(page.locator("#case .answer")).to_have_count(3)
    expect(page.locator("#case .answer").nth(2)).to_contain_text("812 ms · $0.0030 · 1,904 tokens")
    page.get_by_role("link", name="side by side").click()
    page.get_by_label("trial", exact=True).select_option("3")
    expect(page.locator("#case .columns.many > div").last).to_contain_text("owned")


def test_errors_and_costs_stand_on_the_first_screen(hostile: Made) -> None:
    html = hostile.file.read_text()
    costs = hostile.findings.costs
    assert costs is not None
    assert number(costs.cost_usd, "dollars") in html
    assert number(costs.latency_p50_ms, "milliseconds") in html
    assert "refused" in html

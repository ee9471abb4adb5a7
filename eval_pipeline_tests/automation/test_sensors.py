"""What a changed file starts: exactly one evaluation per change, and a reason where there is none."""

from __future__ import annotations

import dagster as dg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eval_pipeline.automation.sensors import look_at_golden_sets, look_at_prompts
from eval_pipeline.definitions import build_definitions
from eval_pipeline.orchestration import Place
from eval_pipeline.project import Project
from eval_pipeline.suites import find_suite
from eval_pipeline_tests.running import instance_in, run_chain

TEXT = "---\nsuite: toy\nstatus: {status}\n---\n{body} {{{{ sound }}}}\n"


class Watch:
    """A daemon that keeps its cursor, and forgets nothing."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.places = [Place(find_suite(project, "toy"))]
        self.cursor: str | None = None
        self.keys: list[str] = []
        self.reason = ""

    def save(self, version: str, body: str, status: str = "candidate") -> None:
        path = self.project.prompts("toy") / f"{version}.md"
        path.write_text(TEXT.format(status=status, body=body))

    def look(self, *, lost: bool = False) -> list[str]:
        """The versions that one tick asks for. A daemon that dies before it saves its cursor asks again."""
        result = look_at_prompts(self.places, self.project, self.cursor)
        if not lost:
            self.cursor = result.cursor
        fresh = [each for each in result.run_requests or () if each.run_key not in self.keys]
        self.keys += [str(each.run_key) for each in fresh]
        self.reason = result.skip_reason.skip_message or "" if result.skip_reason else ""
        return [str(each.partition_key) for each in fresh]


@pytest.fixture
def watch(toy: Project) -> Watch:
    found = Watch(toy)
    for file in toy.prompts("toy").glob("*.md"):
        file.unlink()
    return found


def test_a_new_version_is_run_once(watch: Watch) -> None:
    assert watch.look() == []
    watch.save("guess-v1.0", "One")
    assert watch.look() == ["guess-v1.0"]
    assert watch.look() == []
    assert watch.reason == "No prompt version is new or changed."


def test_an_edit_back_and_forth_is_two_changes(watch: Watch) -> None:
    for body in ("One", "Two", "One", "Two"):
        watch.save("guess-v1.0", body)
        assert watch.look() == ["guess-v1.0"]
        assert watch.look() == []


def test_a_status_is_no_change_and_an_archived_version_is_left_alone(watch: Watch) -> None:
    watch.save("guess-v1.0", "One")
    watch.save("guess-v0.9", "Old", "archived")
    assert watch.look() == ["guess-v1.0"]
    watch.save("guess-v1.0", "One", "active")
    assert watch.look() == []


def test_a_daemon_that_dies_before_it_saves_its_cursor_runs_nothing_twice(watch: Watch) -> None:
    watch.save("guess-v1.0", "One")
    assert watch.look(lost=True) == ["guess-v1.0"]
    assert watch.look() == []
    watch.save("guess-v1.0", "Two")
    assert watch.look(lost=True) == ["guess-v1.0"]
    assert watch.look(lost=True) == []
    assert watch.look() == []


@pytest.mark.parametrize(
    "half", ["", "---\nsuite: toy\nstat", "---\nsuite: toy\nstatus: candidate\n---\n{{ sou", "\udcff"]
)
def test_a_half_saved_file_waits_with_a_reason(watch: Watch, half: str) -> None:
    watch.save("guess-v1.0", "One")
    watch.look()
    path = watch.project.prompts("toy") / "guess-v1.0.md"
    path.write_bytes(half.encode(errors="surrogateescape"))
    assert watch.look() == []
    assert "guess-v1.0.md" in watch.reason
    watch.save("guess-v1.0", "One")
    assert watch.look() == []  # nothing changed after all
    path.write_bytes(half.encode(errors="surrogateescape"))
    watch.look()
    watch.save("guess-v1.0", "Two")
    assert watch.look() == ["guess-v1.0"]


def test_renamed_and_deleted_files(watch: Watch) -> None:
    watch.save("guess-v1.0", "One")
    watch.look()
    folder = watch.project.prompts("toy")
    (folder / "guess-v1.0.md").rename(folder / "guess-v1.1.md")
    assert watch.look() == ["guess-v1.1"]
    (folder / "guess-v1.1.md").unlink()
    assert watch.look() == []
    assert "guess-v1.1 is archived or gone" in watch.reason


def test_fifty_files_at_once(watch: Watch) -> None:
    for number in range(50):
        watch.save(f"guess-v1.{number}", f"Number {number}")
    assert sorted(watch.look()) == sorted(f"guess-v1.{number}" for number in range(50))
    assert watch.look() == []


def test_a_cursor_that_cannot_be_read_loses_nothing(watch: Watch) -> None:
    watch.save("guess-v1.0", "One")
    watch.cursor = "not JSON"
    assert watch.look() == ["guess-v1.0"]


def test_what_was_evaluated_before_anybody_watched_is_not_run_again(toy: Project) -> None:
    with instance_in(toy) as instance:
        assert run_chain(toy, instance, "toy", "guess-v1.0").success
    watch = Watch(toy)
    assert "guess-v1.0" not in watch.look()


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(st.sampled_from("abAB-"), st.booleans()), max_size=12))
def test_whatever_happens_every_change_that_was_seen_is_run_once(
    watch: Watch, steps: list[tuple[str, bool]]
) -> None:
    watch.cursor, watch.keys = None, []
    for file in watch.project.prompts("toy").glob("*.md"):
        file.unlink()
    seen: str | None = None
    for step, lost in steps:
        path = watch.project.prompts("toy") / "guess-v1.0.md"
        if step == "-":
            path.write_text("half")
            assert watch.look(lost=lost) == []
            continue
        watch.save("guess-v1.0", step.lower(), "active" if step.isupper() else "candidate")
        expected = [] if step.lower() == seen else ["guess-v1.0"]
        assert watch.look(lost=lost) == expected
        assert watch.look() == []
        seen = step.lower()


def test_a_changed_golden_set_re_scores_the_active_versions(toy: Project) -> None:
    places = [Place(find_suite(toy, "toy"))]
    with instance_in(toy) as instance:
        assert run_chain(toy, instance, "toy", "guess-v1.0").success
    first = look_at_golden_sets(places, toy, None)
    assert not first.run_requests
    assert not look_at_golden_sets(places, toy, first.cursor).run_requests
    gates = toy.golden("toy") / "gates.yaml"
    gates.write_text(gates.read_text() + "\n# stricter soon\n")
    second = look_at_golden_sets(places, toy, first.cursor)
    assert [each.partition_key for each in second.run_requests or ()] == ["guess-v1.0"]
    assert not look_at_golden_sets(places, toy, second.cursor).run_requests
    case = next((toy.golden("toy") / "cases").iterdir())
    whole = case.read_text()
    case.write_text(whole[:-20])
    broken = look_at_golden_sets(places, toy, second.cursor)
    assert not broken.run_requests
    assert broken.skip_reason is not None
    assert case.name in str(broken.skip_reason.skip_message)
    case.write_text(whole)
    mended = look_at_golden_sets(places, toy, broken.cursor)
    assert not mended.run_requests  # as it was


def test_the_definitions_have_them_switched_on(toy: Project) -> None:
    definitions = build_definitions(toy)
    sensors = {sensor.name: sensor for sensor in definitions.sensors or ()}
    of_production = {"event_files", "production_alerts"}
    assert set(sensors) == {"prompt_files", "golden_sets", "alerts", "pages", *of_production}
    for sensor in sensors.values():
        assert isinstance(sensor, dg.SensorDefinition)
        assert sensor.default_status == dg.DefaultSensorStatus.RUNNING

"""Projects to test on: copies, so that a test may break them."""

from __future__ import annotations

import atexit
import fcntl
import gc
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import dagster as dg
import pytest
from hypothesis import settings

from eval_pipeline.project import Project
from eval_pipeline_tests import instances, renderers, scores, vectors
from eval_pipeline_tests.browsing import axe_script
from eval_pipeline_tests.object_storage import S3, s3_server
from eval_pipeline_tests.postgres import Server, postgres_server
from eval_pipeline_tests.running import command, copy_suites, forget_own_suites, instance_in

# How long an example takes says more about the machine than about the code. The examples are the same in
# every run, so that what is red stays red; `--hypothesis-profile explore` looks for others.
settings.register_profile("patient", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("quick", settings.get_profile("patient"), max_examples=10)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile("patient")

REPOSITORY = Path(__file__).resolve().parent.parent
TOY = Path(__file__).resolve().parent / "toy"
TEXT_TOY = TOY.with_name("text_toy")

SLOW = (
    "test_all_versions.py",
    "test_wheel.py",
    "test_cluster.py",
    "cli/test_gate_lines.py",
    "cli/test_gate.py",
    "test_ui.py",
    "cli/test_commands.py",
    "test_hostile.py",
    "test_soak.py",
    "stages/test_shards.py",
    "reports/page/test_report.py",
    "engines/test_metered.py",
    "monitoring/test_flat.py",
    "orchestration/test_assets.py",
    "automation/test_daemon.py",
    "test_own_task.py",
    "test_one_evaluation.py",
    "orchestration/test_moving.py",
    "automation/test_schedules.py",
    "cli/test_review.py",
    "cli/test_prompt.py",
    "store/test_sharing.py",
    "stages/test_systems.py",
    "cli/test_systems.py",
    "test_outage.py",
    "improvement/test_requests.py",
    "reports/page/test_production.py",
    "engines/test_faults.py",
    "engines/test_kills.py",
    "decisions/test_approvals.py",
    "investigation/test_hypotheses.py",
    "test_isolation.py",
    "hosting/test_rows.py",
    "comparison/test_chosen_test.py",
    "engines/test_journal.py",
    "scoring/test_probing.py",
    "test_broken_suite.py",
    "hosting/test_factory.py",
    "hosting/test_component.py",
    "hosting/test_holding.py",
    "test_examples.py",
    "decisions/test_pruning.py",
    "engines/test_postgres.py",
    "decisions/test_changed_code.py",
    "decisions/test_measure.py",
    "decisions/test_laid_over.py",
    "cli/test_prune.py",
    "cli/test_paused.py",
    "decisions/test_production.py",
    "cli/test_environment.py",
    "test_text_suite.py",
    "test_growth.py",
    "monitoring/test_kills.py",
    "monitoring/test_ingesting.py",
    "cli/test_events.py",
    "orchestration/test_production.py",
    "engines/test_local.py",
    "engines/test_limits.py",
    "engines/test_connections.py",
    "engines/test_endpoint.py",
    "engines/test_buckets.py",
    "cli/test_journal.py",
    "cli/test_completing.py",
    "cli/test_investigate.py",
    "cli/test_run.py",
    "cli/test_report.py",
    "cli/test_case.py",
    "stages/test_exhibits.py",
    "cli/test_suite.py",
    "declarative/test_source.py",
    "cli/test_dashboard.py",
    "reports/page/test_dashboard.py",
    "decisions/test_survey.py",
    "orchestration/test_active_version.py",
    "orchestration/test_dagster_private.py",
    "orchestration/test_dashboard.py",
    "orchestration/test_heritage_summary.py",
    "orchestration/test_io_manager.py",
    "decisions/test_objections.py",
    "asking/test_adaptive.py",
    "asking/test_judge.py",
    "asking/test_questions.py",
    "stages/test_samples.py",
    "workers/test_dask_cluster.py",
    "workers/test_own_processes.py",
    "automation/test_alerts.py",
    "automation/test_pages.py",
    "automation/test_sensors.py",
    "comparison/test_trends.py",
    "investigation/test_vocabulary.py",
    "statistics/test_simulation.py",
    "store/test_database.py",
    "store/test_objects.py",
    "store/test_pointers.py",
    "decisions/test_moving.py",
    "store/test_history.py",
    "suites/grounded_qa/test_files.py",
    "suites/review/test_report.py",
    "test_imports.py",
    "test_serving.py",
    "test_own_code.py",
    "test_toy_suite.py",
    "improvement/test_accepting.py",
    "improvement/test_suggesting.py",
    "reports/test_reviewing.py",
    "reports/page/test_rating.py",
    "automation/test_briefs.py",
    "decisions/test_purging.py",
    "scoring/test_files.py",
    "language/test_embedding_endpoint.py",
    "suites/heritage_qa/test_scoring.py",
    "suites/optimization/test_scoring.py",
    "cli/test_compared_files.py",
    "cli/test_score.py",
    "suites/suggestions/test_scoring.py",
    "scoring/test_identity.py",
    "prompts/test_changelog.py",
    "importing/test_promptfoo.py",
    "cli/test_import_.py",
    "prompts/test_rendering.py",
    "orchestration/test_quality.py",
    "stages/test_comparisons.py",
    "results/test_comparing.py",
    "monitoring/test_sampling.py",
    "monitoring/test_masking.py",
    "suites/heritage_qa/test_engine.py",
    "suites/heritage_retrieval/test_engine.py",
    "suites/suggestions/test_engine.py",
    "suites/_video/test_kept_words.py",
    "language/test_embedder.py",
    "cli/test_brief.py",
    "improvement/test_drafting.py",
    "test_frames.py",
    "stages/test_investigations.py",
    "reports/test_report.py",
    "suites/heritage_ner/test_scoring.py",
    "suites/heritage_typing/test_scoring.py",
    "suites/review/test_scoring.py",
    "suites/_heritage/test_requirements.py",
    "monitoring/test_otlp.py",
    "monitoring/test_measuring.py",
    "monitoring/test_figures.py",
    "language/test_patterns.py",
    "cli/test_cases.py",
    "cli/test_quality.py",
)
"""Modules that start processes, servers, browsers, whole chains or the encoder, or take seconds; `make quick`
leaves them out.

Those that take longest come first: whatever begins last is what everybody waits for. Those that look at the
house of all versions come when somebody has built it.
"""
PLACES = {Path(__file__).parent / name: place for place, name in enumerate(SLOW)}

REHEARSED = (
    "test_all_versions.py",
    "test_wheel.py",
    "test_cluster.py",
    "test_hostile.py",
    "test_soak.py",
    "cli/test_demo.py",
    "cli/test_gate_lines.py",
    "automation/test_daemon.py",
    "engines/test_faults.py",
    "orchestration/test_moving.py",
    "test_own_task.py",
)
"""Modules that live through the product as it is deployed: `make rehearse` runs them, `make test` does not.

With them go single tests that walk all suites, and those that look at the house of all versions.
"""
REHEARSALS = {Path(__file__).parent / name for name in REHEARSED}


MEMORY = Path("/dev/shm")  # noqa: S108
ENOUGH = 4 * 2**30


def pytest_configure() -> None:
    """Let tests work in memory where there is enough, and write as into a pipe, however wide the screen."""
    work_in_memory()
    os.environ.pop("COLUMNS", None)


def work_in_memory() -> None:
    """Let temporary folders lie in memory where there is enough: SQLite waits for a disk at every commit."""
    if "TMPDIR" not in os.environ and MEMORY.is_dir():
        room = os.statvfs(MEMORY)
        if room.f_bavail * room.f_frsize > ENOUGH and not room.f_flag & os.ST_NOEXEC:
            os.environ["TMPDIR"] = str(MEMORY)
            tempfile.tempdir = None


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import the modules that are left out."""
    left_out = {"not slow": PLACES.keys() | REHEARSALS, "not rehearsal": REHEARSALS}
    return True if collection_path in left_out.get(config.option.markexpr, ()) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the slow modules and what is rehearsed, and put the slowest first."""
    items.sort(key=lambda item: PLACES.get(item.path, len(PLACES)))
    for item in items:
        if item.path in PLACES:
            item.add_marker(pytest.mark.slow)
        if item.path in REHEARSALS or "house" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.rehearsal)


def pytest_collection_finish() -> None:
    """Leave out of every search for garbage what stays until the end: all modules and all tests."""
    gc.collect()
    gc.freeze()
    atexit.register(gc.unfreeze)


@pytest.fixture(scope="session", autouse=True)
def _shared_results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Where all workers keep what takes long: what probes found, by all that it rests on; vectors; scores."""
    base = tmp_path_factory.getbasetemp()
    folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    _SHARED.append(folder / "probes")
    for each in (_SHARED[0], folder / "vectors", folder / "scores"):
        each.mkdir(exist_ok=True)
    os.environ[vectors.FOLDER] = str(folder / "vectors")
    vectors.share_vectors()
    os.environ[scores.FOLDER] = str(folder / "scores")
    scores.share_scores()
    os.environ[instances.FOLDER] = str(base / "instance")
    instances.share_instance()
    renderers.share_renderers()
    with renderers.forking_renderers():
        yield


_SHARED: list[Path] = []


def copy_project(root: Path, *suites: str) -> Project:
    """A copy of some suites of this repository, or of all, with what probes found of them.

    Whatever runs in it builds and surveys those that it has.
    """
    project = copy_suites(root, *suites)
    project.state.mkdir()
    (project.state / "probes").symlink_to(_SHARED[0])
    return project


class House(NamedTuple):
    """This project with every version of every suite evaluated, and what the command said."""

    project: Project
    code: int
    printed: str


@pytest.fixture(scope="session")
def house() -> House:
    """The one that all workers look at, and that nobody changes."""
    root = _SHARED[0].with_name("house")
    said = root / "said.json"
    with root.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not said.exists():
            shutil.rmtree(root, ignore_errors=True)  # what somebody began who was killed
            done = command(copy_project(root), "run", "all", "--prompt", "all")
            said.write_text(json.dumps([done.returncode, done.stdout]))
    return House(Project(root, root / ".eval"), *json.loads(said.read_text()))


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of the accessibility checker, which one worker fetches for all."""
    script = _SHARED[0].with_name("axe.js")
    with script.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not script.exists():
            with tempfile.TemporaryDirectory() as folder:
                fetched = Path(folder, "fetched")
                fetched.write_text(axe_script(Path(folder)))
                shutil.move(fetched, script)
    return script.read_text()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A copy of this project that a test may break, with the decomposition suite alone."""
    return copy_project(tmp_path / "project", "decomposition")


@pytest.fixture
def whole_project(tmp_path: Path) -> Project:
    """A copy of this project that a test may break, with every suite."""
    return copy_project(tmp_path / "project")


@pytest.fixture(autouse=True)
def _own_suites_are_forgotten() -> Iterator[None]:
    """No test sees the suites that another one's project has of its own."""
    yield
    forget_own_suites()


def copy_toy(folder: Path, root: Path) -> Project:
    """A copy of a project with a suite of its own."""
    shutil.copytree(folder, root, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(REPOSITORY / "dagster.yaml", root / "dagster.yaml")
    return Project(root, root / ".eval")


@pytest.fixture
def toy(tmp_path: Path) -> Project:
    """A project whose only own suite is the toy."""
    return copy_toy(TOY, tmp_path / "toy")


@pytest.fixture
def text_toy(tmp_path: Path) -> Project:
    """A project whose only own suite compares texts."""
    return copy_toy(TEXT_TOY, tmp_path / "text_toy")


@pytest.fixture
def instance(project: Project) -> Iterator[dg.DagsterInstance]:
    """A real Dagster instance in the project's state folder."""
    with instance_in(project) as opened:
        yield opened


@pytest.fixture(scope="module")
def postgres() -> Iterator[Server]:
    """A real PostgreSQL."""
    with postgres_server() as running:
        yield running


@pytest.fixture(scope="module")
def s3() -> Iterator[S3]:
    """A real S3-compatible server."""
    with s3_server() as running:
        yield running


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def journal_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a journal may be opened, on either kind of database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/state/journal.sqlite"
    running: Server = request.getfixturevalue("postgres")
    return running.new_schema()

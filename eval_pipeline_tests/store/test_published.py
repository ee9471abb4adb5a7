"""Where reports are opened: addresses, and copies for somebody else's server."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval_pipeline.answers import OutputsIdentity
from eval_pipeline.problems import BadInput
from eval_pipeline.scoring import Identity
from eval_pipeline.store import Shelf, Store, note_address, report_shelf
from eval_pipeline.store.objects import ObjectStorage
from eval_pipeline.store.published import VARIABLE

OUTPUTS = OutputsIdentity(
    suite="toy",
    version="guess-v1.0",
    prompt_hash="p",
    inputs_hash="i",
    engine="embedded",
    model="m",
    sample="default",
    trials=1,
)
IDENTITY = Identity(OUTPUTS, "golden", "scorer")


@pytest.fixture(autouse=True)
def _unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


def test_without_a_server_there_is_no_address(tmp_path: Path) -> None:
    assert report_shelf(tmp_path) is None


def test_what_the_ui_noted_is_the_address(tmp_path: Path) -> None:
    note_address(tmp_path, "http://127.0.0.1:3001")
    shelf = report_shelf(tmp_path)
    assert shelf == Shelf(tmp_path, "http://127.0.0.1:3001")
    place = f"evaluations/toy/guess-v1.0/{IDENTITY.id}/report.html"
    assert shelf.address(Store(tmp_path).page_path(IDENTITY)) == f"http://127.0.0.1:3001/{place}"
    shelf.publish_report(Store(tmp_path).report_path(IDENTITY))
    assert [path.name for path in tmp_path.iterdir()] == ["reports.url"], "what is served is not copied"


@pytest.mark.parametrize(
    ("given", "folder", "url"),
    [
        ("/srv/reports=https://reports.example/eval/", "/srv/reports", "https://reports.example/eval"),
        ("/srv/a=b=http://host:8080", "/srv/a=b", "http://host:8080"),
        ("/srv/=http=https://host", "/srv/=http", "https://host"),
    ],
)
def test_the_environment_names_a_folder_and_an_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, folder: str, url: str
) -> None:
    note_address(tmp_path, "http://127.0.0.1:3001")
    monkeypatch.setenv(VARIABLE, given)
    assert report_shelf(tmp_path) == Shelf(tmp_path, url, Path(folder))


@pytest.mark.parametrize(
    "given",
    [
        "/srv/reports",
        "https://reports.example",
        "=https://host",
        "reports=https://host",
        "/srv=ftp://host",
        "/srv=https://host/?q",
        "/srv=https://host/#top",
        "/srv=https://a host",
        "/srv=javascript:alert(1)",
    ],
)
def test_anything_else_is_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv(VARIABLE, given)
    with pytest.raises(BadInput, match="FOLDER=URL"):
        report_shelf(tmp_path)


def test_a_report_is_copied_to_an_object_storage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store_url: str
) -> None:
    monkeypatch.setenv(VARIABLE, f"{store_url}/pages=https://reports.example")
    shelf = report_shelf(tmp_path)
    assert shelf is not None
    assert shelf.url == "https://reports.example"
    shelf.publish_report(Store(tmp_path).keep_report(IDENTITY, "text", "<p>page"))
    above = "pages/evaluations/toy/guess-v1.0"
    storage = ObjectStorage(store_url)
    assert storage.read(f"{above}/latest/report.html") == b"<p>page"
    assert storage.read(f"{above}/{IDENTITY.id}/report.md") == b"text"


def test_a_report_is_copied_to_its_address_and_as_the_latest(tmp_path: Path) -> None:
    store = Store(tmp_path / "state")
    shelf = Shelf(tmp_path / "state", "https://host", tmp_path / "out")
    path = store.keep_report(IDENTITY, "first")
    shelf.publish_report(path)
    path.with_name("report.html").write_text("<p>page")
    store.keep_report(IDENTITY, "second")
    shelf.publish_report(path)
    copies = {
        str(file.relative_to(tmp_path / "out" / "evaluations" / "toy" / "guess-v1.0")): file.read_text()
        for file in (tmp_path / "out").rglob("*")
        if file.is_file()
    }
    assert copies == {
        f"{IDENTITY.id}/report.html": "<p>page",
        f"{IDENTITY.id}/report.md": "second",
        "latest/report.html": "<p>page",
        "latest/report.md": "second",
    }


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    path = Store(tmp_path / "state").keep_report(IDENTITY, "text")
    with pytest.raises(BadInput, match=f"cannot be copied there.*{VARIABLE}"):
        Shelf(tmp_path / "state", "https://host", tmp_path / "out").publish_report(path)

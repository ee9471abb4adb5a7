"""What machines share: one evaluates, another finds everything, and nothing half."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from unittest import mock

import pytest

from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline.stages import Workbench, answer_cases, load_golden
from eval_pipeline.store import Store
from eval_pipeline.store.objects import STORE_VARIABLE, ObjectStorage
from eval_pipeline.store.sharing import OBJECTS, SharedFiles, SharedFolder
from eval_pipeline.suites import find_suite
from eval_pipeline_tests.object_storage import S3
from eval_pipeline_tests.running import begin, ended

NAME = "one.parquet"
STEPS = ("upload", "read", "create", "inside")
"""What happens, one after the other, where a file is shared; a listing comes before and after the move."""


class Machine(SharedFiles):
    """A machine with a state folder of its own."""

    def __init__(self, state: Path, url: str) -> None:
        super().__init__(state, ObjectStorage(url))
        self.state = state
        self.place = state / "outputs" / "toy" / "v1"
        self.place.mkdir(parents=True)

    @property
    def shared(self) -> SharedFolder:
        """What is shared of it."""
        return self.folder(self.place)

    def write(self, content: bytes) -> None:
        """Write a file as the store does: whole, in place of what was there."""
        (self.place / "aside").write_bytes(content)
        (self.place / "aside").replace(self.place / NAME)

    def read(self) -> bytes:
        """The file as all machines have it."""
        self.take(self.place, NAME)
        return (self.place / NAME).read_bytes()


@pytest.fixture
def machines(tmp_path: Path, store_url: str) -> tuple[Machine, Machine]:
    """Two machines and what they share."""
    return Machine(tmp_path / "a", store_url), Machine(tmp_path / "b", store_url)


def test_a_file_and_what_is_the_latest_reach_the_other_machine(machines: tuple[Machine, Machine]) -> None:
    one, other = machines
    one.write(b"first")
    one.give(one.place, [NAME], latest=NAME)
    assert other.read() == b"first"
    assert (other.place / "latest").read_text() == NAME
    assert other.folders(other.state / "outputs") == ["toy"]
    assert other.folders(other.state / "outputs" / "toy") == ["v1"]


def test_a_copy_that_is_out_of_date_is_replaced_and_own_work_is_not(
    machines: tuple[Machine, Machine],
) -> None:
    one, other = machines
    one.write(b"first")
    one.give(one.place, [NAME])
    assert other.read() == b"first"
    one.write(b"second")
    assert one.read() == b"second", "it was not shared yet"
    assert other.read() == b"first"
    one.give(one.place, [NAME])
    assert other.read() == b"second"
    other.write(b"first")
    other.give(other.place, [NAME])
    assert one.read() == b"first", "the same content as before is found again"


def test_two_machines_add_to_one_folder(machines: tuple[Machine, Machine]) -> None:
    for number, machine in enumerate(machines):
        (machine.place / f"{number}.parquet").write_bytes(b"%d" % number)
        machine.give(machine.place, [f"{number}.parquet"])
    for machine in machines:
        assert sorted(machine.shared.files) == ["0.parquet", "1.parquet"]


def test_what_is_forgotten_is_swept_once_it_is_old(
    machines: tuple[Machine, Machine], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = machines
    one.write(b"forgotten")
    one.give(one.place, [NAME], latest=NAME)
    (one.place / "stays").write_bytes(b"stays")
    one.give(one.place, ["stays"])
    one.forget(one.place / NAME)
    assert sorted(other.shared.files) == ["stays"]
    assert one.sweep() == 0, "somebody may be about to name it again"
    monkeypatch.setattr("eval_pipeline.store.sharing.SETTLED_SECONDS", 0.0)
    assert [entry.read_bytes() for entry in (one.state / OBJECTS).glob("*/*")] != [b"stays"]
    (one.place / NAME).unlink()
    assert one.sweep() == 1
    assert [entry.read_bytes() for entry in (one.state / OBJECTS).glob("*/*")] == [b"stays"]
    other.take(other.place, "stays")
    assert (other.place / "stays").read_bytes() == b"stays"


def test_sweeping_asks_for_the_age_right_before_it_deletes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(tmp_path / "a", f"file://{tmp_path}/shared")
    for name in ("one", "two", "stays"):
        (machine.place / name).write_text(name)
        machine.give(machine.place, [name])
    for name in ("one", "two"):
        machine.forget(machine.place / name)
    monkeypatch.setattr("eval_pipeline.store.sharing.SETTLED_SECONDS", 0.0)
    steps: list[str] = []

    def age(*_: object) -> float:
        steps.append("age")
        return 1.0

    monkeypatch.setattr(ObjectStorage, "age", age)
    monkeypatch.setattr(ObjectStorage, "delete", lambda *_: steps.append("delete"))
    assert machine.sweep() == 2
    assert steps == ["age", "delete"] * 2


def test_sweeping_spares_downloads_and_a_storage_that_names_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(tmp_path / "a", f"file://{tmp_path}/shared")
    machine.write(b"content")
    machine.give(machine.place, [NAME])
    download = next((machine.state / OBJECTS).glob("*/*")).with_name(".download.tmp")
    download.write_bytes(b"half")
    monkeypatch.setattr("eval_pipeline.store.sharing.SETTLED_SECONDS", 0.0)
    machine.pointers.drop("outputs/toy/v1")
    assert machine.sweep() == 0
    assert download.exists()
    assert machine._storage.below(OBJECTS)


def test_a_file_that_is_replaced_while_it_is_shared_damages_nothing(
    machines: tuple[Machine, Machine], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = machines
    one.write(b"first")
    real = ObjectStorage.upload

    def late(self: ObjectStorage, file: Path, place: str) -> None:
        one.write(b"second")
        real(self, file, place)

    with monkeypatch.context() as patch:
        patch.setattr(ObjectStorage, "upload", late)
        one.give(one.place, [NAME])
    assert other.read() == b"first"
    assert one.read() == b"second", "it was not shared yet"
    one.give(one.place, [NAME])
    assert other.read() == b"second"
    assert sorted(path.name for path in one.place.iterdir()) == [NAME]


def test_an_object_that_is_damaged_is_refused_and_leaves_nothing(machines: tuple[Machine, Machine]) -> None:
    one, other = machines
    one.write(b"whole")
    one.give(one.place, [NAME])
    storage = one._storage
    (place,) = storage.below(OBJECTS)
    (one.state / "damaged").write_bytes(b"wholE")
    storage.upload(one.state / "damaged", place)
    with pytest.raises(BadInput, match="is damaged: its content has another hash"):
        other.read()
    assert not (other.place / NAME).exists()
    assert not [path for path in (other.state / OBJECTS).rglob("*") if path.is_file()]


HASH = "a" * 64


@pytest.mark.parametrize(
    ("latest", "name", "content"),
    [
        ("../../x", NAME, HASH),
        ("..", NAME, HASH),
        ("", "../x", HASH),
        ("", "a\\b", HASH),
        ("", "a\0b", HASH),
        ("", "", HASH),
        ("", NAME, "../"),
        ("", NAME, HASH + "/../x"),
    ],
)
def test_a_pointer_that_leads_out_of_its_folder_is_refused(
    tmp_path: Path, latest: str, name: str, content: str
) -> None:
    machine = Machine(tmp_path / "a", f"file://{tmp_path}/shared")
    text = json.dumps({"latest": latest, "files": {name: {"content": content, "size": 1, "at": 0.0}}})
    assert machine.pointers.move("outputs/toy/v1", 0, text)
    with pytest.raises(BadInput, match=r"the pointer of outputs/toy/v1 is damaged"):
        machine.take(machine.place, name)
    assert not list(machine.place.iterdir())


def test_a_latest_that_leads_out_of_its_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "latest").write_text("../../x")
    with pytest.raises(BadInput, match="is not the name of a file"):
        Store(tmp_path / "state").latest_in(tmp_path)


@pytest.mark.usefixtures("_asked_again_at_once")
@pytest.mark.parametrize("fault", ["refused", "lost", "late", "cut off"])
@pytest.mark.parametrize("method", ["PUT", "GET", "HEAD"])
def test_a_fault_on_the_way_changes_nothing(s3: S3, tmp_path: Path, method: str, fault: str) -> None:
    url = s3.new_folder()
    one, other = Machine(tmp_path / "a", url), Machine(tmp_path / "b", url)
    for number, content in enumerate((os.urandom(200_000), b"second")):
        one.write(content)
        s3.faults.fail(method, fault)
        one.give(one.place, [NAME], latest=NAME)
        s3.faults.fail(method, fault)
        assert other.read() == content, number


def _give_and_die(state: Path, url: str, step: str) -> None:
    """Share a file, and be killed before one of the steps."""
    machine = Machine(state, url)
    machine.write(b"new")
    real, calls = getattr(ObjectStorage, step), 0

    def dying(self: ObjectStorage, *given: object) -> object:
        nonlocal calls
        calls += 1
        if calls == (2 if step == "inside" else 1):
            os.kill(os.getpid(), signal.SIGKILL)
        return real(self, *given)

    setattr(ObjectStorage, step, dying)
    machine.give(machine.place, [NAME], latest=NAME)


@pytest.mark.parametrize("step", STEPS)
def test_who_is_killed_half_way_leaves_the_old_or_the_new(s3: S3, tmp_path: Path, step: str) -> None:
    url = s3.new_folder()
    reader, writer = Machine(tmp_path / "reader", url), Machine(tmp_path / "writer", url)
    writer.write(b"old")
    writer.give(writer.place, [NAME], latest=NAME)
    project = Project(tmp_path, tmp_path / ".eval")
    assert ended(begin(project, _give_and_die, tmp_path / "dying", url, step)) == -signal.SIGKILL
    assert reader.read() == (b"new" if step == "inside" else b"old")
    writer.write(b"newest")
    writer.give(writer.place, [NAME])
    assert reader.read() == b"newest", "nothing that was left behind is in the way"


def test_an_evaluation_of_one_machine_is_opened_on_another(
    toy: Project, tmp_path: Path, store_url: str
) -> None:
    with mock.patch.dict(os.environ, {STORE_VARIABLE: store_url}):
        bench = Workbench(toy, find_suite(toy, "toy"))
        golden = load_golden(bench).table
        answers = answer_cases(bench, golden, "guess-v1.0")
        bench.store.keep_golden("toy", golden)
        bench.store.keep_outputs(answers)
        there = Store(tmp_path / "elsewhere")
        assert there.suites() == ["toy"]
        opened, found = there.golden("toy"), there.outputs("toy", "guess-v1.0")
        assert opened is not None
        assert opened.facts == golden.facts
        assert found is not None
        assert list(found) == list(answers)
        assert there.answers(answers.identity) is not None
        assert there.golden("toy", "unknown") is None
    assert Store(tmp_path / "nowhere").golden("toy") is None, "without the setting nothing is shared"

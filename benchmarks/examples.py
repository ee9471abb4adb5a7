"""The wheel, as strangers meet it: an empty environment, a project by create-dagster, a component, the UI.

`python -m benchmarks.examples [FOLDER]` does all of it and leaves the project and its pictures in the folder.
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

REPOSITORY = Path(__file__).resolve().parent.parent
NAME = "stranger"
SUITE = "support_tickets"
VERSION = "classify-v1.0"
SOURCES = ("eval_pipeline", "pyproject.toml", "README.md")
PATIENCE = 60.0
LOOKS: dict[str, tuple[Literal["light", "dark"], int]] = {
    "light": ("light", 1600),
    "dark": ("dark", 1600),
    "narrow": ("light", 700),
}
"""How pictures are taken: by name, in which scheme of colours, and how wide."""
QUIET = {
    "DAGSTER_DISABLE_TELEMETRY": "yes",
    "DAGSTER_DG_UPDATE_CHECK_ENABLED": "0",
    "PYTHONWARNINGS": "ignore",
    "PYTHONDONTWRITEBYTECODE": "",  # seven commands import the same
}
WITHOUT_EXTRAS = """
import sys
sys.modules.update(dict.fromkeys(("uvloop", "dagster_webserver", "psycopg", "xllamacpp")))
import eval_pipeline
assert "EvalSuiteComponent" in dir(eval_pipeline)
print(eval_pipeline.EvalSuiteComponent.__name__, eval_pipeline.__file__)
"""


@dataclass(frozen=True)
class Stranger:
    """An environment that has the wheel, and a project in it."""

    folder: Path

    @property
    def project(self) -> Path:
        """The project of create-dagster."""
        return self.folder / NAME

    @property
    def defs(self) -> Path:
        """Where its components are."""
        return self.project / "src" / NAME / "defs"

    def bin(self, name: str) -> str:
        """A command of the environment."""
        return str(self.folder / "env" / "bin" / name)

    @property
    def environment(self) -> dict[str, str]:
        """What its commands see: its own environment, an instance of its own, and nothing of ours."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("EVAL_PIPELINE")}
        path = f"{self.folder / 'env' / 'bin'}{os.pathsep}{kept['PATH']}"
        own = {
            "PATH": path,
            "VIRTUAL_ENV": str(self.folder / "env"),
            "DAGSTER_HOME": str(self.folder / "home"),
        }
        kept.pop("PYTHONPATH", None)
        return kept | own | QUIET

    def run(self, *command: str, where: Path | None = None) -> str:
        """What a command prints; it must succeed."""
        done = subprocess.run(
            [self.bin(command[0]), *command[1:]],
            cwd=where or self.project,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(
                f"{' '.join(command)} exits with {done.returncode}:\n{done.stdout}{done.stderr}"
            )
        return done.stdout + done.stderr


def build_wheel(folder: Path) -> Path:
    """The wheel of this repository, built from a copy of its sources."""
    source = folder / "source"
    source.mkdir()
    for name in SOURCES:
        if (REPOSITORY / name).is_dir():
            shutil.copytree(REPOSITORY / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(REPOSITORY / name, source / name)
    _uv("build", "--quiet", "--wheel", "--no-build-isolation", "--out-dir", str(folder), str(source))
    (wheel,) = folder.glob("*.whl")
    return wheel


def new_stranger(folder: Path) -> Stranger:
    """An environment with the locked packages and the wheel, and an empty project."""
    wheel = build_wheel(folder)
    python = str(folder / "env" / "bin" / "python")
    _uv("venv", "--quiet", "--python", sys.executable, str(folder / "env"))
    install = ("pip", "install", "--quiet", "--python", python, "--no-deps")
    _uv(*install, "--require-hashes", "--requirement", str(REPOSITORY / "requirements.lock"))
    _uv(*install, str(wheel))
    stranger = Stranger(folder)
    (folder / "home").mkdir()
    (folder / "home" / "dagster.yaml").write_text("telemetry: {enabled: false}\nnux: {enabled: false}\n")
    seen = stranger.run("python", "-c", WITHOUT_EXTRAS, where=folder)
    assert seen.startswith("EvalSuiteComponent"), seen
    assert str(folder / "env") in seen, seen
    _uv(*install, "--require-hashes", "--requirement", str(REPOSITORY / "tests.lock"))
    stranger.run("create-dagster", "project", "--no-uv-sync", NAME, where=folder)
    # What installing it editable comes to, without the package that would build it.
    (packages,) = (folder / "env" / "lib").glob("*/site-packages")
    (packages / f"{NAME}.pth").write_text(f"{stranger.project / 'src'}\n")
    return stranger


def scaffold_and_launch(stranger: Stranger) -> str:
    """Find, scaffold, check, list and launch the component; what `dg list defs` says."""
    assert "eval_pipeline.EvalSuiteComponent" in stranger.run("dg", "list", "components")
    stranger.run("dg", "scaffold", "defs", "eval_pipeline.EvalSuiteComponent", SUITE)
    stranger.run("dg", "check", "defs")  # and the YAML of components
    listed = stranger.run("dg", "list", "defs")
    in_process = '{"execution": {"config": {"in_process": {}}}}'  # a process for each step takes a minute
    launch = ("dg", "launch", "--job", f"{SUITE}_evaluation", "--partition", VERSION)
    stranger.run(*launch, "--config-json", in_process)
    return listed


@contextmanager
def webserver(stranger: Stranger) -> Iterator[str]:
    """The UI of the project on loopback; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    serving = [stranger.bin("dagster-webserver"), "-m", f"{NAME}.definitions", "-h", "127.0.0.1", "-p", port]
    with (stranger.folder / "webserver.log").open("wb") as log:
        server = subprocess.Popen(
            serving, cwd=stranger.project, env=stranger.environment, stdout=log, stderr=log
        )
        try:
            address = f"http://127.0.0.1:{port}"
            _wait_for(f"{address}/server_info")
            yield address
        finally:
            server.terminate()
            server.wait(30)


def take_pictures(stranger: Stranger, address: str, folder: Path) -> list[Path]:
    """The graph of the project and a check of its metrics, as a browser shows them: also dark, and narrow."""
    from playwright.sync_api import sync_playwright

    pages = {
        "graph": (f"/locations/{NAME}.definitions/asset-groups/{SUITE}/lineage", "golden_set"),
        "check": (f"/assets/{SUITE}/metrics?view=checks&checkDetail=gate_accuracy", "gate_accuracy"),
    }
    pictures = []
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        page = browser.new_page()
        for name, (path, text) in pages.items():
            for look, (scheme, width) in LOOKS.items():
                page.emulate_media(color_scheme=scheme)
                if look != "dark":  # the UI follows its colours without being loaded anew
                    page.set_viewport_size({"width": width, "height": 900})
                    page.goto(f"{address}{path}")
                    page.get_by_text(text).first.wait_for(timeout=PATIENCE * 1000)
                page.wait_for_timeout(1500)
                pictures.append(folder / f"{name}-{look}.png")
                page.screenshot(path=pictures[-1])
        browser.close()
    return pictures


def _uv(*arguments: str) -> None:
    beside = Path(sys.executable).with_name("uv")
    done = subprocess.run([str(beside), *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"uv {' '.join(arguments)}:\n{done.stdout}{done.stderr}")


def _wait_for(url: str) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.5)


def main() -> None:
    """Do all of it, and say where it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "folder", type=Path, nargs="?", help="Where the project is made; by default a new one."
    )
    folder = (parser.parse_args().folder or Path(tempfile.mkdtemp(prefix="stranger-"))).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    stranger = new_stranger(folder)
    print(f"wheel installed, project made: {stranger.project}")
    scaffold_and_launch(stranger)
    print(f"scaffolded, checked and launched: {SUITE}")
    if shutil.which("chromium") is None:
        print("no pictures: there is no chromium (make browser)")
        return
    with webserver(stranger) as address:
        for picture in take_pictures(stranger, address, folder):
            print(f"picture: {picture}")


if __name__ == "__main__":
    main()

"""The shell: a policy for exactly its own scripts, data that ends nothing, scripts of others as published."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.reports.page import document, element, main, masthead, shell
from eval_pipeline.reports.page.shell import asset, packed, unpacked, vendored

FOLDER = Path(shell.__file__).parent
LARGEST_VENDORED = 100_000
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
)


@given(JSON)
def test_data_comes_back_and_holds_nothing_that_ends_its_element(value: object) -> None:
    text = packed(value)
    assert unpacked(text) == value
    assert re.fullmatch(r"[A-Za-z0-9+/=]*", text)
    assert packed(text) is text


def test_the_policy_allows_this_style_and_these_scripts_and_nothing_else() -> None:
    html = document("T", main(element("p", "x")), ("report.js",), {"a": 1})
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    rules = dict(each.split(" ", 1) for each in policy.replace("&#x27;", "'").split("; "))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert rules["require-trusted-types-for"] == "'script'"
    assert "unsafe" not in policy
    for element_, rule in (("script", "script-src"), ("style", "style-src")):
        texts = re.findall(rf"<{element_}>(.*?)</{element_}>", html, re.DOTALL)
        hashes = {base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in texts}
        assert rules[rule].split() == [f"'sha256-{each}'" for each in sorted(hashes, key=rules[rule].index)]


def test_a_page_names_no_other_address() -> None:
    html = document("T", main(masthead("x")), ("diff.min.js", "report.js"))
    assert not re.search(r"""(?:src|href)=["'](?!data:,|#)""", html)


def test_scripts_write_no_markup() -> None:
    for script in FOLDER.glob("*.js"):
        text = script.read_text()
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text
        )
        assert "</script" not in text.lower()


def test_scripts_of_others_are_small_and_come_with_their_licence() -> None:
    assert sum((FOLDER / name).stat().st_size for name in vendored()) < LARGEST_VENDORED
    for name, source in vendored().items():
        data = (FOLDER / name).read_bytes()
        assert hashlib.sha256(data).hexdigest() == source["sha256"], name
        assert source["version"]
        assert "Copyright" in asset(name).partition(data.decode())[0]


def test_scripts_of_others_are_the_published_ones(tmp_path: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("needs npm; the hash is checked without it")
    for name, source in vendored().items():
        wanted = f"{source['package']}@{source['version']}"
        done = subprocess.run(
            [npm, "pack", "--silent", wanted], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        if done.returncode:
            pytest.skip(f"npm has no {wanted} now: {done.stderr[-200:]}")
        archive = tmp_path / done.stdout.split()[-1]
        digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        assert source["integrity"] == f"sha512-{digest}"
        with tarfile.open(archive) as files:
            published = files.extractfile(f"package/{source['file']}")
            assert published is not None
            assert published.read() == (FOLDER / name).read_bytes()

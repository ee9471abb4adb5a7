"""The closure of code: what is used counts, what has no effect does not."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path

import pytest

from eval_pipeline.scoring.closure import EVERYTHING, Closure, MissingCode, Reference
from eval_pipeline.scoring.sources import Sources

TREE = {
    "__init__.py": '"""A package."""\n',
    "use.py": """
from __future__ import annotations
import math
from made import kit
from made.shared import share as part, unused
__all__ = ["root"]
LIMIT = 3
SPARE = 4
def root(value: int) -> float:
    "What it does."
    from .late import late
    limit: int = LIMIT
    return part(value) + kit.scaled(limit) + late() + math.sqrt(value)
def beside():
    return SPARE
""",
    "shared/__init__.py": "from made.shared.parts import share, unused\nfrom made.shared import table\n",
    "shared/parts.py": "def share(value):\n    return value / whole()\n\ndef unused():\n    return 1\n\n"
    "def whole():\n    return 100\n",
    "shared/table.py": "KINDS = {}\nKINDS['one'] = 1\n",
    "kit.py": "FACTOR = 2\ndef scaled(value):\n    return value * FACTOR\ndef other():\n    return 0\n",
    "late.py": "def late():\n    return 5\n",
    "elsewhere.py": "def late():\n    return 6\n",
}
ROOT = Reference("made.use", "root")


def hash_of(folder: Path, files: Mapping[str, str], root: Reference = ROOT) -> str:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return Closure(Sources((("made", folder),))).hash([root])


def edited(name: str, old: str, new: str) -> dict[str, str]:
    assert old in TREE[name]
    return {**TREE, name: TREE[name].replace(old, new)}


SAME = {
    "comment": ("use.py", "LIMIT = 3", "LIMIT = 3  # enough"),
    "docstring": ("use.py", "What it does.", "What it did."),
    "module docstring": ("__init__.py", "A package.", "One package."),
    "import order": ("use.py", "import math\nfrom made import kit\n", "from made import kit\nimport math\n"),
    "annotation of a parameter": ("use.py", "value: int", "value: complex"),
    "annotation of a result": ("use.py", "-> float", "-> complex"),
    "annotation of a local variable": ("use.py", "limit: int", "limit: float"),
    "unused function of the module": ("use.py", "return SPARE", "return SPARE + 1"),
    "unused constant": ("use.py", "SPARE = 4", "SPARE = 5"),
    "unused function next door": ("shared/parts.py", "return 1\n", "return 2\n"),
    "unused function of an alias": ("kit.py", "return 0", "return 9"),
    "unused import": ("use.py", ", unused", ""),
    "for type checkers": ("kit.py", "FACTOR = 2", "if TYPE_CHECKING:\n    X = 1\nFACTOR = 2"),
    "as a program": ("kit.py", "FACTOR = 2", "if __name__ == '__main__':\n    other()\nFACTOR = 2"),
    "blank lines and brackets": ("kit.py", "    return value * FACTOR", "\n    return (value * FACTOR)"),
    "straight from the module": ("use.py", "from made.shared import", "from made.shared.parts import"),
}
CHANGED = {
    "constant": ("use.py", "LIMIT = 3", "LIMIT = 4"),
    "formula": ("use.py", "math.sqrt(value)", "math.sqrt(value + 1)"),
    "formula next door": ("shared/parts.py", "value / whole()", "value * whole()"),
    "formula two doors on": ("shared/parts.py", "return 100", "return 10"),
    "through an alias": ("kit.py", "FACTOR = 2", "FACTOR = 3"),
    "imported in the function": ("late.py", "return 5", "return 6"),
    "another definition of a name": ("use.py", "from .late", "from .elsewhere"),
    "another name of a module": ("use.py", "share as part, unused", "unused as part"),
    "another library function": ("use.py", "import math\n", "import cmath as math\n"),
    "a statement that binds nothing": ("shared/table.py", "= 1", "= 2"),
    "a second binding": ("kit.py", "def other", "FACTOR += 1\ndef other"),
    "default of a parameter": ("kit.py", "(value)", "(value=1)"),
    "decorator": ("kit.py", "def scaled", "@str\ndef scaled"),
    "a global that is set": (
        "kit.py",
        "    return value * FACTOR",
        "    global FACTOR\n    return value * FACTOR",
    ),
    "condition at the top": ("kit.py", "def other", "if FACTOR:\n    FACTOR = 1\ndef other"),
}


@pytest.mark.parametrize("edit", SAME.values(), ids=SAME)
def test_what_has_no_effect_or_no_use_changes_nothing(edit: tuple[str, str, str], tmp_path: Path) -> None:
    assert hash_of(tmp_path, edited(*edit)) == hash_of(tmp_path, TREE)


@pytest.mark.parametrize("edit", CHANGED.values(), ids=CHANGED)
def test_what_is_used_counts(edit: tuple[str, str, str], tmp_path: Path) -> None:
    assert hash_of(tmp_path, edited(*edit)) != hash_of(tmp_path, TREE)


def test_a_moved_module_changes_nothing(tmp_path: Path) -> None:
    moved = {
        **{name: text for name, text in TREE.items() if not name.startswith("shared/")},
        "use.py": TREE["use.py"].replace("made.shared", "made.common.numbers"),
        "common/numbers/__init__.py": "from .inner import share, unused\nfrom . import table\n",
        "common/numbers/inner.py": TREE["shared/parts.py"],
        "common/numbers/table.py": TREE["shared/table.py"],
    }
    assert hash_of(tmp_path / "after", moved) == hash_of(tmp_path / "before", TREE)


@pytest.mark.parametrize(
    ("use", "counts"),
    [
        ("from made.lib import *\ndef root(): return first()\n", True),
        ("import made.lib as lib\ndef root(): return vars(lib)\n", True),
        ("import made.lib as lib\ndef root(): return lib.first()\n", False),
        ("import made.lib\ndef root(): return made.lib.first()\n", False),
        ("import made.lib\ndef root(): return made.lib.second()\n", True),
        ("from made.lib import made_up\ndef root(): return made_up()\n", True),
        ("import importlib\ndef root(): return importlib.import_module('made.lib')\n", True),
        ("from made.lib import second\ndef root(second): return second()\n", False),
        ("from made.lib import second\ndef root(): return [second for second in (1, 2)]\n", False),
        ("from made.lib import second\ndef root(): return [x for second in (1,) for x in second()]\n", False),
        ("from made.lib import second\ndef root(): return [second for second in second()]\n", True),
        ("from made.lib import second\ndef root(): return lambda second=second: second\n", True),
        ("from made.lib import second\nclass root:\n    second = 1\n    def f(self): second()\n", True),
        ("from made.lib import second\nclass root:\n    field: second\n", True),
        ("try:\n    from made.lib import second\nexcept ImportError:\n    second = None\n"
         "def root(): return second\n", True),
        ("def root(): return 1\ntry:\n    from made.lib import second as f\nfinally:\n    pass\n", False),
        ("def root(): return 1\nfor each in (1,):\n    from made.lib import second\n    second()\n", True),
    ],
)  # fmt: skip
def test_what_a_use_reaches(use: str, counts: bool, tmp_path: Path) -> None:
    """Whether the body of `second` matters to what `use` calls root."""
    library = "def first():\n    return 1\n\ndef second():\n    return 2\n"
    files = {"__init__.py": "", "use.py": use, "lib.py": library}
    before = hash_of(tmp_path, files)
    assert (
        hash_of(tmp_path, {**files, "lib.py": library.replace("return 2", "return 3")}) != before
    ) is counts


@pytest.mark.parametrize(
    ("use", "counts"),
    [
        ("def root(): return open('data/one.tsv')\n", {"data/one.tsv"}),
        ("def root(name): return open(f'data/{name}')\n", {"data/one.tsv", "data/deep/two.txt"}),
        ("DATA = 'data'\ndef root(): return DATA\n", {"data/one.tsv", "data/deep/two.txt"}),
        ("def root(): 'data/one.tsv'\n", set()),
        ("def root(): return 'data/none.tsv'\n", set()),
        ("def root(): return 'other'\n", set()),
        ("def root(name): return open(f'other/{name}')\n", {"other/three.tsv"}),
        ("from importlib.resources import files\n"
         "def root(): return files('made.other').joinpath('three.tsv')\n", {"other/three.tsv"}),
    ],
)  # fmt: skip
def test_data_that_code_names(use: str, counts: set[str], tmp_path: Path) -> None:
    data = {"data/one.tsv": "1", "data/deep/two.txt": "2", "other/three.tsv": "3", "data/code.py": "4"}
    files = {"__init__.py": "", "other/__init__.py": "", "use.py": use, **data}
    before = hash_of(tmp_path, files)
    for name in data:
        assert (hash_of(tmp_path, {**files, name: "9"}) != before) is (name in counts), name


def test_versions_of_numeric_libraries_count_where_they_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "use.py": "import numpy as np\nimport scipy\ndef root(): return np.ones(3)\ndef other(): return 1\n"
    }
    installed = {"numpy": "1"}
    monkeypatch.setattr("eval_pipeline.scoring.closure.version", installed.__getitem__)
    before = hash_of(tmp_path, files), hash_of(tmp_path, files, Reference("made.use", "other"))
    installed["numpy"] = "2"
    after = hash_of(tmp_path, files), hash_of(tmp_path, files, Reference("made.use", "other"))
    assert before[0] != after[0]
    assert before[1] == after[1]


def test_a_whole_module_counts_without_what_it_exports(tmp_path: Path) -> None:
    whole = Reference("made.use", EVERYTHING)
    before = hash_of(tmp_path, TREE, whole)
    assert hash_of(tmp_path, edited("use.py", '["root"]', "[]"), whole) == before
    assert hash_of(tmp_path, edited("use.py", "SPARE = 4", "SPARE = 5"), whole) != before


def test_a_package_wins_over_a_folder_that_only_has_its_name(tmp_path: Path) -> None:
    (tmp_path / "first" / "use").mkdir(parents=True)
    second = tmp_path / "second" / "use"
    second.mkdir(parents=True)
    (second / "__init__.py").write_text("def root(): ...\n")
    closure = Closure(Sources((("made", tmp_path / "first"), ("made", tmp_path / "second"))))
    assert [each.module.file for each in closure.statements([ROOT])] == [second / "__init__.py"]


def test_code_that_is_not_there(tmp_path: Path) -> None:
    hash_of(tmp_path, TREE, Reference("made.kit", EVERYTHING))
    with pytest.raises(MissingCode, match=r"made\.nothing"):
        hash_of(tmp_path, TREE, Reference("made.nothing", "root"))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("THING = Thing(a=1, b=f)\n", {"a": "1", "b": "f", "limit": "3", "half": "def half"}),
        ("THING: object = kit.Thing(limit=4)\n", {"limit": "4", "half": "def half"}),
        ("from made.real import THING\n", {"c": "1", "limit": "3", "half": "def half"}),
        ("THING = Thing(1, b=2)\n", None),
        ("THING = Thing(**{'a': 1})\n", None),
        ("THING = Other(a=1)\n", None),
        ("THING = Thing\n", None),
        ("if True:\n    THING = Thing(a=1)\n", None),
    ],
)
def test_what_an_instance_is_made_of(text: str, parts: dict[str, str] | None, tmp_path: Path) -> None:
    kit = "class Thing:\n    name: str\n    limit: int = 3\n    def half(self): return 2\nclass Other: ...\n"
    (tmp_path / "kit.py").write_text(kit)
    (tmp_path / "real.py").write_text("from made.kit import Thing as T\nTHING = T(c=1)\n")
    (tmp_path / "use.py").write_text("from made import kit\nfrom made.kit import Thing, Other\n" + text)
    closure = Closure(Sources((("made", tmp_path),)))
    (bound,) = closure.bound(Reference("made.use", "THING"))
    declared = closure.declared(bound, "Thing")
    if declared is not None:
        nodes = {name: each.node for name, each in declared.items()}
        shown = {name: ast.unparse(getattr(node, "value", node)) for name, node in nodes.items()}
        assert {name: text.partition("(")[0] for name, text in shown.items()} == parts
    else:
        assert parts is None


def test_a_name_may_be_bound_twice_or_nowhere(tmp_path: Path) -> None:
    (tmp_path / "use.py").write_text("TWICE = 1\nTWICE = 2\n")
    closure = Closure(Sources((("made", tmp_path),)))
    assert len(closure.bound(Reference("made.use", "TWICE"))) == 2
    assert closure.bound(Reference("made.nothing", "TWICE")) == []


@pytest.mark.parametrize("line", ["from made.suite import scoring", "from . import scoring"])
def test_a_package_that_imports_its_own_module_is_followed_into_it(tmp_path: Path, line: str) -> None:
    files = {
        "__init__.py": "",
        "suite/__init__.py": f"{line}\nSUITE = dict(score=scoring.share)\n",
        "suite/scoring.py": "def share(a):\n    return a / 2\ndef unused():\n    return 1\n",
    }
    root = Reference("made.suite", "SUITE")
    before = hash_of(tmp_path / "one", files, root)
    formula = files["suite/scoring.py"].replace("a / 2", "a / 3")
    assert hash_of(tmp_path / "two", {**files, "suite/scoring.py": formula}, root) != before
    unused = files["suite/scoring.py"].replace("return 1", "return 2")
    assert hash_of(tmp_path / "three", {**files, "suite/scoring.py": unused}, root) == before


SYNTAX = """
from functools import cache
class Base: ...
@cache
def root(one, /, two=(1, 2.5, 1e100), *rest: int, three: str = "é\\n", **more) -> None:
    text = f"{one!r:>{two}} and {three=}" f"{one}" "tail" u"kind"
    with open(text) as file, file as other:
        match one:
            case [1, *_] | {"a": Base(x=2)} if (n := len(rest)) > 0:
                return lambda *, a=1: {k: v for k, v in a} if a else ~n
    try:
        yield [*rest, *(each for each in more if each not in {1, 2})]
    except* (ValueError, TypeError) as error:
        raise error from None
"""


def test_the_hash_is_the_same_on_every_python(tmp_path: Path) -> None:
    """A baseline that was promoted on one Python is known on another one."""
    found = hash_of(tmp_path, {"__init__.py": "", "use.py": SYNTAX})
    assert found == "285c1c5c041ae7a0fa7ba37f78396fd2"

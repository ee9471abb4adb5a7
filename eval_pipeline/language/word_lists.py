"""Named lists of words, terms or sentences, from text files that lie beside the code that uses them.

A line that is not indented names a list up to its first colon; the rest of it and the indented lines below
belong to the list. Lines that begin with `#` are comments.
"""

from importlib.resources import files


def line_lists(package: str, file: str) -> dict[str, tuple[str, ...]]:
    """The lists of a package's file by name, each line an entry."""
    text = files(package).joinpath(file).read_text(encoding="utf-8")
    lists: dict[str, list[str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        entry = line
        if not line[0].isspace():
            name, colon, entry = line.partition(":")
            if not colon or name in lists:
                raise ValueError(
                    f"{file}, line {number}: is no new name with a colon. Indent it, or name it."
                )
            lists[name] = entries = []
        elif not lists:
            raise ValueError(f"{file}, line {number}: belongs to no list. Name one above it.")
        if entry.strip():
            entries.append(entry.strip())
    return {name: tuple(entries) for name, entries in lists.items()}


def word_lists(package: str, file: str) -> dict[str, tuple[str, ...]]:
    """The lists of a package's file by name, each word an entry."""
    return {name: tuple(" ".join(lines).split()) for name, lines in line_lists(package, file).items()}


def word_sets(package: str, file: str) -> dict[str, frozenset[str]]:
    """The same, where the order of words does not matter."""
    return {name: frozenset(words) for name, words in word_lists(package, file).items()}

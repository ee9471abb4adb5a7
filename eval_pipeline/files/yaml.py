"""YAML files into typed records, without aliases and repeated keys."""

from pathlib import Path
from typing import Any

from eval_pipeline.files.hashes import canonical_json
from eval_pipeline.files.text import decoded_text, read_bytes
from eval_pipeline.files.violations import Check, FieldPath, T, converted, no_checks
from eval_pipeline.problems import Problems

LARGEST_YAML = 2**20


def read_yaml(path: Path, record_type: type[T], problems: Problems, check: Check = no_checks) -> T | None:
    """The record of a YAML file, or None where it has problems."""
    data = read_bytes(path, LARGEST_YAML, problems, "Configuration is never that large")
    text = decoded_text(data, path, problems) if data is not None else None
    return parse_yaml(text, 1, path, record_type, problems, check) if text is not None else None


def parse_yaml(
    text: str,
    first_line: int,
    path: Path,
    record_type: type[T],
    problems: Problems,
    check: Check = no_checks,
) -> T | None:
    """The record in a YAML text whose first line is line `first_line` of the file."""
    import yaml

    before = len(problems)
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        _forbid_sharing(node, set(), path, first_line, problems)
        value = loader.construct_document(node) if node is not None and len(problems) == before else None
        canonical_json(value)
    except Exception as error:  # PyYAML raises what its constructors happen to raise
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
        line = first_line + (mark.line if mark else 0)
        problems.add(path, f"not valid YAML: {reason}", "Correct the syntax.", line=line)
        return None
    if len(problems) > before:
        return None

    def line_of(field: FieldPath) -> int:
        return first_line + _yaml_line(node, field)

    return converted({} if value is None else value, record_type, path, line_of, problems, check)


def _yaml_line(node: Any, path: FieldPath) -> int:
    """The line of the key that leads to a value, or of the nearest one around it."""
    line = node.start_mark.line if node is not None else 0
    for part in path:
        value = getattr(node, "value", None)
        if not isinstance(value, list):
            break
        if isinstance(part, int):
            if part >= len(value):
                break
            node = value[part]
            line = node.start_mark.line
            continue
        child = next((pair for pair in value if isinstance(pair, tuple) and pair[0].value == part), None)
        if child is None:
            break
        line, node = child[0].start_mark.line, child[1]
    return int(line)


def _forbid_sharing(node: Any, seen: set[int], path: Path, first_line: int, problems: Problems) -> None:
    """Refuse aliases (a few lines of them expand to gigabytes) and keys that stand twice."""
    if node is None:
        return
    line = first_line + node.start_mark.line
    if id(node) in seen:
        problems.add(path, "YAML aliases are not allowed", "Write the value out.", line=line)
        return
    seen.add(id(node))
    if not isinstance(node.value, list):
        return
    keys: set[str] = set()
    for child in node.value:
        if not isinstance(child, tuple):
            _forbid_sharing(child, seen, path, first_line, problems)
            continue
        key, value = child
        name = str(key.value)
        if name in keys:
            where = first_line + key.start_mark.line
            problems.add(path, "stands twice", "Keep one of them.", line=where, field=name)
        keys.add(name)
        _forbid_sharing(value, seen, path, first_line, problems)

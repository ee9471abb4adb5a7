"""Files into typed records, and records into files."""

from eval_pipeline.files.hashes import canonical_json, content_hash, files_hash
from eval_pipeline.files.json import read_json
from eval_pipeline.files.lines import (
    WHOLE,
    Block,
    Glance,
    Part,
    RawLine,
    decode_block,
    decode_line,
    json_lines,
    line_blocks,
    no_glance,
    parts_in_step,
    read_json_blocks,
    read_json_lines,
)
from eval_pipeline.files.text import BYTE_ORDER_MARK, read_text
from eval_pipeline.files.tsv import read_tsv
from eval_pipeline.files.violations import (
    Check,
    FieldPath,
    Located,
    Violation,
    no_checks,
    shown_field,
    violations_of,
)
from eval_pipeline.files.writing import is_aside, readable_json, remove, replacing, write_json, write_text
from eval_pipeline.files.yaml import LARGEST_YAML, parse_yaml, read_yaml

# fmt: off
__all__ = [
    "BYTE_ORDER_MARK", "LARGEST_YAML", "WHOLE", "Block", "Check", "FieldPath", "Glance", "Located", "Part",
    "RawLine", "Violation", "canonical_json", "content_hash", "decode_block", "decode_line", "files_hash",
    "is_aside", "json_lines", "line_blocks", "no_checks", "no_glance", "parse_yaml", "parts_in_step",
    "read_json", "read_json_blocks", "read_json_lines", "read_text", "read_tsv", "read_yaml", "readable_json",
    "remove", "replacing", "shown_field", "violations_of", "write_json", "write_text",
]
# fmt: on

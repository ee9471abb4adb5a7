"""Files into typed records, and records into files."""

from eval_pipeline.files.archives import archive_entries
from eval_pipeline.files.columns import Kind, data_frame, export_ending, export_table, typed_table
from eval_pipeline.files.hashes import canonical_json, content_hash, files_hash
from eval_pipeline.files.json import may_repeat_keys, read_json, repeated_key
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
from eval_pipeline.files.plain import plain_row, plain_value
from eval_pipeline.files.text import (
    BYTE_ORDER_MARK,
    file_bytes,
    files_below,
    is_there,
    read_bytes,
    read_text,
    text_lines,
)
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
    "BYTE_ORDER_MARK", "LARGEST_YAML", "WHOLE", "Block", "Check", "FieldPath", "Glance", "Kind",
    "Located", "Part", "RawLine", "Violation", "archive_entries", "canonical_json", "content_hash",
    "data_frame", "decode_block", "decode_line", "export_ending", "export_table", "file_bytes",
    "files_below", "files_hash", "is_aside", "is_there", "json_lines", "line_blocks", "may_repeat_keys",
    "no_checks", "no_glance", "parse_yaml", "parts_in_step", "plain_row", "plain_value", "read_bytes",
    "read_json", "read_json_blocks", "read_json_lines", "read_text", "read_tsv", "read_yaml",
    "readable_json", "remove", "repeated_key", "replacing", "shown_field", "text_lines", "typed_table",
    "violations_of", "write_json", "write_text",
]
# fmt: on

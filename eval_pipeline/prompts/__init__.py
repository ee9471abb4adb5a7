"""Prompt versions: their files, template checks, and the renderer."""

from eval_pipeline.prompts.changelog import (
    CHANGELOG,
    changelog_lock,
    edit_changelog,
    has_entry,
    has_evaluation,
    opening,
    read_changelog,
    stop_at_placeholder,
    with_activation,
    with_entry,
    with_evaluation,
)
from eval_pipeline.prompts.editing import following, next_version, with_status, write_edited
from eval_pipeline.prompts.messages import Chat, Layout, Message, as_text
from eval_pipeline.prompts.partitions import holds_rows, partition_key, rows_version
from eval_pipeline.prompts.rendering import LONGEST_PROMPT, Renderer
from eval_pipeline.prompts.replaced import Replaced, replaced_by
from eval_pipeline.prompts.sampling import Sampling
from eval_pipeline.prompts.versions import (
    FrontMatter,
    Prompt,
    active_versions,
    as_written,
    load_prompt,
    load_prompts,
    prompt_at,
    prompt_file,
    prompt_name,
    version_order,
    versions_in,
)

# fmt: off
__all__ = [
    "CHANGELOG", "LONGEST_PROMPT", "Chat", "FrontMatter", "Layout", "Message", "Prompt", "Renderer",
    "Replaced", "Sampling", "active_versions", "as_text", "as_written", "changelog_lock",
    "edit_changelog", "following", "has_entry", "has_evaluation", "holds_rows", "load_prompt",
    "load_prompts", "next_version", "opening", "partition_key", "prompt_at", "prompt_file",
    "prompt_name", "read_changelog", "replaced_by", "rows_version", "stop_at_placeholder", "version_order",
    "versions_in", "with_activation", "with_entry", "with_evaluation", "with_status", "write_edited",
]
# fmt: on

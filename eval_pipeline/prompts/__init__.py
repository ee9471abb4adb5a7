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
from eval_pipeline.prompts.rendering import Renderer
from eval_pipeline.prompts.replaced import Replaced, replaced_by
from eval_pipeline.prompts.versions import (
    FrontMatter,
    Prompt,
    active_versions,
    as_written,
    load_prompt,
    load_prompts,
    prompt_file,
    prompt_name,
    version_order,
    versions_in,
)

# fmt: off
__all__ = [
    "CHANGELOG", "FrontMatter", "Prompt", "Renderer", "Replaced", "active_versions", "as_written",
    "changelog_lock", "edit_changelog", "following", "has_entry", "has_evaluation", "load_prompt",
    "load_prompts", "next_version", "opening", "prompt_file", "prompt_name", "read_changelog",
    "replaced_by", "stop_at_placeholder", "version_order", "versions_in", "with_activation",
    "with_entry", "with_evaluation", "with_status", "write_edited",
]
# fmt: on

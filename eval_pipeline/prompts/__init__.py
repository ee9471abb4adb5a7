"""Prompt versions: their files, template checks, and the renderer."""

from eval_pipeline.prompts.rendering import Renderer
from eval_pipeline.prompts.versions import (
    FrontMatter,
    Prompt,
    Status,
    active_versions,
    as_written,
    load_prompt,
    load_prompts,
    prompt_file,
    prompt_name,
    version_order,
    versions_in,
)

__all__ = [
    "FrontMatter",
    "Prompt",
    "Renderer",
    "Status",
    "active_versions",
    "as_written",
    "load_prompt",
    "load_prompts",
    "prompt_file",
    "prompt_name",
    "version_order",
    "versions_in",
]

"""Prompt versions: their files, template checks, and the renderer."""

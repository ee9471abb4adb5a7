"""Providers as comments for engines.yaml, and never a key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eval_pipeline_tests.importing.configuring import imported_from


@pytest.mark.parametrize(
    ("provider", "lines"),
    [
        (
            "openai:gpt-4o-mini",
            ["url: https://api.openai.com/v1", "model: gpt-4o-mini", "key_variable: OPENAI_API_KEY"],
        ),
        ("openai:chat:gpt-4o", ["model: gpt-4o"]),
        ("ollama:chat:llama3.2:1b", ["url: http://localhost:11434/v1", "model: llama3.2:1b"]),
        (
            {"id": "anthropic:messages:claude", "config": {"temperature": 0.5}},
            ["model: claude", "temperature: 0.5"],
        ),
        (
            {"openai:chat:x": {"config": {"apiBaseUrl": "http://127.0.0.1:1/v1"}}},
            ["url: http://127.0.0.1:1/v1"],
        ),
    ],
)
def test_addresses_that_are_known(tmp_path: Path, provider: Any, lines: list[str]) -> None:
    (engine,) = imported_from(tmp_path, providers=[provider]).engines
    said = list(engine.lines())
    assert all(line.startswith("  # ") for line in said)
    assert {f"  #   {line}" for line in lines} <= set(said)


@pytest.mark.parametrize(
    "provider",
    [
        "file://p.py",
        "exec:./p",
        "https://example.com/api",
        "bedrock:x",
        "openai:a\n  evil: yes",
        {"id": 3},
        "python:p.py",
    ],
)
def test_others_are_listed(tmp_path: Path, provider: Any) -> None:
    imported = imported_from(tmp_path, providers=[provider])
    assert not imported.engines
    assert ["has no address that is known" in each.message for each in imported.leftovers.dropped] == [True]


def test_keys_stay_where_they_are(tmp_path: Path) -> None:
    config = {"apiKey": "sk-secret", "apiKeyEnvar": "MY_KEY", "tools": ["x"]}
    imported = imported_from(tmp_path, providers=[{"id": "openai:x", "config": config}])
    assert "key_variable: MY_KEY" in "\n".join(imported.engines[0].lines())
    said = [*imported.engines[0].lines(), *map(str, imported.leftovers.dropped)]
    assert "sk-secret" not in "\n".join(said)
    assert len(imported.leftovers.dropped) == 2

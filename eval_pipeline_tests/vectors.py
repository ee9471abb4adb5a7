"""Vectors of texts, kept for all processes of a run of tests: encoding takes longest of all scoring."""

from __future__ import annotations

import os
import sqlite3
from functools import lru_cache

import numpy as np

from eval_pipeline.language.embedder import UniversalSentenceEncoder, Vectors

FILE = "EVAL_PIPELINE_TESTS_VECTORS"
"""The variable that names where they are kept; without it, every process encodes by itself."""
PATIENCE = 60.0

_encoded = UniversalSentenceEncoder._vector


@lru_cache(maxsize=1)
def _kept(file: str, _process: int) -> sqlite3.Connection:
    database = sqlite3.connect(file, PATIENCE, isolation_level=None, check_same_thread=False)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = OFF")
    database.execute("CREATE TABLE IF NOT EXISTS vectors (text TEXT PRIMARY KEY, vector BLOB) WITHOUT ROWID")
    return database


def _vector(encoder: UniversalSentenceEncoder, text: str) -> Vectors:
    file = os.environ.get(FILE)
    if file is None or text in encoder._known:
        return _encoded(encoder, text)
    database = _kept(file, os.getpid())  # a connection does not outlive a fork
    row = database.execute("SELECT vector FROM vectors WHERE text = ?", (text,)).fetchone()
    if row is not None:
        encoder._known[text] = np.frombuffer(row[0], np.float32)
    vector = _encoded(encoder, text)
    if row is None:
        database.execute("INSERT OR IGNORE INTO vectors VALUES (?, ?)", (text, vector.tobytes()))
    return vector


def share_vectors() -> None:
    """Let this process and those that it forks look first for what another one has encoded."""
    UniversalSentenceEncoder._vector = _vector  # type: ignore[assignment,method-assign]

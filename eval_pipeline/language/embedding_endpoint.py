"""Vectors of an OpenAI-compatible embeddings URL: asked for once, and kept, so that scoring again is free."""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from eval_pipeline.language.embedder import Vectors
from eval_pipeline.problems import BadInput, Problem
from eval_pipeline.project import Project
from eval_pipeline.secrets import keep_secret, masked

if TYPE_CHECKING:
    from aiohttp import ClientSession

FOLDER = "embeddings"
"""In the state folder."""
USABLE = re.compile(r"https?://[^\s@?#\\]+")
AT_ONCE, UNDER_WAY = 64, 4
"""Texts in a call, and calls at the same time."""
ATTEMPTS, PAUSE = 4, 0.5
"""How often a call is tried, and how many seconds pass before the second time; twice as many each time."""
LONGEST_CALL = 60.0
LARGEST_REPLY = 64 * 2**20
LONGEST_REASON = 200
LONGEST_TEXT = 8000
"""Characters that are read of a text."""
WORTH_ANOTHER_TRY = {408, 409, 425, 429}


class _Embedding(msgspec.Struct):
    index: int
    embedding: list[float]


class _Reply(msgspec.Struct):
    data: list[_Embedding]


class _Failed(Exception):
    """Why a call brought nothing, and whether another may."""

    def __init__(self, reason: str, again: bool) -> None:
        super().__init__(reason)
        self.again = again


class EmbeddingEndpoint:
    """A model at a URL. The same text has the same vector for as long as the state folder lasts."""

    def __init__(self, url: str, model: str, key_variable: str = "") -> None:
        self._url, self._model, self._key_variable = url.rstrip("/"), model, key_variable

    @property
    def name(self) -> str:
        """The model and where it is asked."""
        return f"{self._model} ({self._url})"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, of length 1; a blank text has a row of zeros, alike to nothing."""
        read = [_readable(text) for text in texts]
        wanted = sorted(set(filter(None, read)))
        folder = Project.find().state / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{sha256(self.name.encode()).hexdigest()[:16]}.sqlite"
        with closing(_open(file)) as kept:
            known = dict(_known(kept, wanted))
            if missing := [text for text in wanted if text not in known]:
                with ThreadPoolExecutor(1) as outside_of_any_loop:
                    outside_of_any_loop.submit(asyncio.run, self._ask_all(missing, file)).result()
                known |= dict(_known(kept, missing))
        width = {len(vector) for vector in known.values()}
        if len(width) > 1:
            raise self._problem(f"gave vectors of {' and '.join(map(str, sorted(width)))} numbers")
        rows = np.zeros((len(texts), *(width or {1})), dtype=np.float32)
        for place, text in enumerate(read):
            if text:
                rows[place] = known[text]
        return rows

    async def _ask_all(self, texts: Sequence[str], file: Path) -> None:
        """Ask for all of them, and keep what comes as it comes, also what is under way when a call fails."""
        import aiohttp

        headers = {"Authorization": f"Bearer {self._key()}"} if self._key_variable else {}
        free = asyncio.Semaphore(UNDER_WAY)
        timeout = aiohttp.ClientTimeout(total=LONGEST_CALL)
        async with aiohttp.ClientSession(headers=headers, timeout=timeout, trust_env=True) as session:
            failures: list[BadInput] = []

            async def ask(batch: Sequence[str]) -> None:
                async with free:
                    if failures:
                        return
                    try:
                        vectors = await self._ask(session, batch, failures)
                    except BadInput as failure:
                        failures.append(failure)
                        return
                with closing(_open(file)) as kept, kept:
                    rows = zip(map(_key_of, batch), (vector.tobytes() for vector in vectors), strict=True)
                    kept.executemany("insert or ignore into vectors values (?, ?)", rows)

            batches = (texts[start : start + AT_ONCE] for start in range(0, len(texts), AT_ONCE))
            await asyncio.gather(*map(ask, batches))
        if failures:
            raise failures[0]

    async def _ask(
        self, session: ClientSession, texts: Sequence[str], failures: Sequence[BadInput]
    ) -> NDArray[np.float32]:
        """Ask until it succeeds, or until that or another call cannot."""
        for attempt in range(ATTEMPTS):
            try:
                return await self._call(session, texts)
            except _Failed as failed:
                if not failed.again or failures or attempt == ATTEMPTS - 1:
                    raise self._problem(str(failed)) from None
            await asyncio.sleep(PAUSE * 2**attempt)
        raise AssertionError

    async def _call(self, session: ClientSession, texts: Sequence[str]) -> NDArray[np.float32]:
        import aiohttp

        body = msgspec.json.encode({"model": self._model, "input": texts, "encoding_format": "float"})
        sent = {"Content-Type": "application/json"}
        try:
            async with session.post(
                f"{self._url}/embeddings", data=body, headers=sent, allow_redirects=False
            ) as reply:
                content = bytearray()
                async for piece in reply.content.iter_any():
                    content += piece
                    if len(content) > LARGEST_REPLY:
                        raise _Failed("gave more than anybody can use", again=False)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise _Failed(f"cannot be reached ({type(error).__name__})", again=True) from None
        if reply.status != 200:
            said = masked(content[: 4 * LONGEST_REASON].decode(errors="replace"))
            worth = reply.status in WORTH_ANOTHER_TRY or reply.status >= 500
            raise _Failed(f"answers {reply.status}: {' '.join(said.split())[:LONGEST_REASON]}", worth)
        return _vectors(bytes(content), len(texts))

    def _key(self) -> str:
        key = os.environ.get(self._key_variable, "").strip()
        if not re.fullmatch(r"[\x21-\x7e]+", key):
            raise self._problem(
                f"needs a key, and {self._key_variable} holds none",
                f"Set the environment variable {self._key_variable}.",
            )
        keep_secret(key)
        return key

    def _problem(self, reason: str, remedy: str = "See to the endpoint of `similarity`.") -> BadInput:
        return BadInput([Problem(self._url, 0, "similarity", f"{self._model} {reason}", remedy)])


def _vectors(content: bytes, count: int) -> NDArray[np.float32]:
    """The rows of a reply, of length 1, in the order of the texts."""
    try:
        found = {each.index: each.embedding for each in msgspec.json.decode(content, type=_Reply).data}
        rows: Any = np.array([found[place] for place in range(count)], dtype=np.float64)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError, KeyError, ValueError):
        raise _Failed(f"does not answer with a vector for each of {count} texts", again=False) from None
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    if rows.ndim != 2 or not np.isfinite(rows).all() or not (lengths > 0).all():
        raise _Failed("gave vectors without direction", again=False)
    return np.asarray(rows / lengths, dtype=np.float32)


def _open(file: Path) -> sqlite3.Connection:
    """What is kept of a model: vectors by the hash of their text, which may be anybody's."""
    kept = sqlite3.connect(file, timeout=LONGEST_CALL)
    kept.execute("create table if not exists vectors (text blob primary key, vector blob) without rowid")
    return kept


def _known(kept: sqlite3.Connection, texts: Sequence[str]) -> Iterator[tuple[str, Vectors]]:
    for text in texts:
        row = kept.execute("select vector from vectors where text = ?", (_key_of(text),)).fetchone()
        if row:
            yield text, np.frombuffer(row[0], dtype=np.float32)


def _key_of(text: str) -> bytes:
    return sha256(text.encode()).digest()


def _readable(text: str) -> str:
    """What is embedded of a text: its beginning, without the halves of characters that no encoding has."""
    return text[:LONGEST_TEXT].encode("utf-8", "replace").decode("utf-8").strip()

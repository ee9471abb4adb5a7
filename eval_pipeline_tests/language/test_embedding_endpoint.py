"""Vectors of an endpoint, over real HTTP on loopback: their cosines, what is kept, and every way to fail."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eval_pipeline.declarative.scorers import Similarity
from eval_pipeline.language import embedding_endpoint
from eval_pipeline.language.embedder import similarity
from eval_pipeline.language.embedding_endpoint import EmbeddingEndpoint
from eval_pipeline.problems import BadInput
from eval_pipeline_tests.declaring import passes, scorer, value

KEY = "a-key-that-nobody-sees"
ANGLES = {"north": 0.0, "north-east": 45.0, "east": 90.0, "south": 180.0}
Answer = tuple[int, Any]


def embedded(texts: list[str]) -> Answer:
    """Vectors of different lengths in the plane, in an order of their own."""
    rows = [
        {"index": place, "embedding": [3 * math.cos(angle), 3 * math.sin(angle)]}
        for place, angle in enumerate(math.radians(ANGLES.get(text, 0.0)) for text in texts)
    ]
    return 200, {"data": rows[::-1]}


class Served:
    """A server that answers as it is told, and remembers what it was asked."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[list[str]] = []
        self.keys: set[str | None] = set()
        self.answer: Callable[[list[str]], Answer] = embedded

    @property
    def texts(self) -> list[str]:
        return sorted(text for texts in self.asked for text in texts)


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    made = Served()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v1/embeddings"
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            assert body["model"] == "m"
            made.asked.append(body["input"])
            made.keys.add(self.headers["Authorization"])
            status, content = made.answer(body["input"])
            data = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    made.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    monkeypatch.setenv("EVAL_PIPELINE_ROOT", str(tmp_path))
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(embedding_endpoint, "PAUSE", 0.0)
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()


def test_cosines_are_those_of_the_angles(served: Served) -> None:
    embed = EmbeddingEndpoint(served.url, "m").embed
    texts = ["north", "north-east", "east", "south", " ", "north"]
    vectors = embed(texts)
    assert np.allclose(np.linalg.norm(vectors, axis=1), [1, 1, 1, 1, 0, 1])
    found = similarity(np.repeat(vectors[:1], len(texts), axis=0), vectors)
    assert found.tolist() == [1.0, round(math.sqrt(0.5), 6), 0.0, 0.0, 0.0, 1.0]
    assert served.keys == {None}


def test_every_text_is_asked_for_once_also_in_another_process(served: Served) -> None:
    texts = [f"text {number}" for number in range(150)]
    first = EmbeddingEndpoint(served.url, "m").embed(texts)
    assert [len(each) for each in sorted(served.asked, key=len)] == [22, 64, 64]
    again = EmbeddingEndpoint(served.url, "m").embed([*texts, "one more"])
    assert served.texts == sorted([*texts, "one more"])
    assert (first == again[:150]).all()


def test_what_came_before_a_failure_is_kept(served: Served) -> None:
    refused = threading.Event()

    def breaking(texts: list[str]) -> Answer:
        if "text 149" in texts:
            refused.set()
            return 400, "no"
        refused.wait(60)
        time.sleep(0.5)  # until the refusal has arrived, in all likelihood: these are under way
        return embedded(texts)

    served.answer = breaking
    texts = [f"text {number:03}" for number in range(150)]
    with pytest.raises(BadInput):
        EmbeddingEndpoint(served.url, "m").embed(texts)
    served.answer, served.asked = embedded, []
    EmbeddingEndpoint(served.url, "m").embed(texts)
    assert served.texts == texts[128:]


def test_after_a_failure_nothing_more_is_asked(served: Served) -> None:
    served.answer = lambda texts: (400, "no")
    with pytest.raises(BadInput):
        EmbeddingEndpoint(served.url, "m").embed([f"text {number}" for number in range(6400)])
    assert len(served.asked) <= 2 * embedding_endpoint.UNDER_WAY


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_call_that_may_succeed_is_tried_again(served: Served, status: int) -> None:
    def busy(texts: list[str]) -> Answer:
        return (status, "later") if len(served.asked) < 3 else embedded(texts)

    served.answer = busy
    assert EmbeddingEndpoint(served.url, "m").embed(["north"]).tolist() == [[1.0, 0.0]]
    assert len(served.asked) == 3


@pytest.mark.parametrize(
    ("status", "content", "said", "tries"),
    [
        (401, {"error": f"who is {KEY}?"}, r"answers 401: .*who is \[hidden\]", 1),
        (500, "oh no", "answers 500", 4),
        (302, "", "answers 302", 1),
        (200, b"<html>", "does not answer with a vector for each of 2 texts", 1),
        (200, b"\xff\xfe", "does not answer with a vector", 1),
        (200, b"[" * 100_000, "does not answer with a vector", 1),
        (200, {"data": []}, "does not answer with a vector", 1),
        (200, {"data": [{"index": 0, "embedding": [1.0]}]}, "does not answer with a vector", 1),
        (
            200,
            {"data": [{"index": n, "embedding": [1.0] * (n + 1)} for n in range(2)]},
            "a vector for each",
            1,
        ),
        (200, {"data": [{"index": n, "embedding": []} for n in range(2)]}, "without direction", 1),
        (200, {"data": [{"index": n, "embedding": [0.0, 0.0]} for n in range(2)]}, "without direction", 1),
        (200, b'{"data": [{"index": 0, "embedding": [1e999]}]}', "does not answer with a vector", 1),
    ],
)
def test_an_endpoint_that_fails_is_named_and_its_key_is_not(
    served: Served, monkeypatch: pytest.MonkeyPatch, status: int, content: Any, said: str, tries: int
) -> None:
    monkeypatch.setenv("SOME_KEY", KEY)
    served.answer = lambda _: (status, content)
    with pytest.raises(BadInput, match=said) as caught:
        EmbeddingEndpoint(served.url, "m", "SOME_KEY").embed(["north", "east"])
    assert KEY not in str(caught.value)
    assert served.url in str(caught.value)
    assert len(served.asked) == tries
    assert served.keys == {f"Bearer {KEY}"}


def test_a_model_that_changes_its_dimensions_is_refused(served: Served) -> None:
    EmbeddingEndpoint(served.url, "m").embed(["north"])
    served.answer = lambda texts: (200, {"data": [{"index": 0, "embedding": [1.0, 0.0, 0.0]}]})
    with pytest.raises(BadInput, match="vectors of 2 and 3 numbers"):
        EmbeddingEndpoint(served.url, "m").embed(["north", "east"])


def test_without_a_server_or_a_key_there_is_no_score(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOME_KEY", raising=False)
    with pytest.raises(BadInput, match=r"SOME_KEY holds none.*Set the environment variable"):
        EmbeddingEndpoint(served.url, "m", "SOME_KEY").embed(["north"])
    with pytest.raises(BadInput, match="cannot be reached"):
        EmbeddingEndpoint("http://127.0.0.1:9/v1", "m").embed(["north"])


def test_a_suite_is_scored_by_it_and_says_how_good_it_is(served: Served) -> None:
    entry = {"similarity": "north", "endpoint": served.url, "model": "m", "at_least": 0.7}
    assert value(entry, {}, "north-east") == pytest.approx(math.sqrt(0.5), abs=1e-6)
    assert passes(entry, {}, "north-east")
    assert not passes(entry, {}, "east")
    (model,) = scorer(entry).models("similarity")
    assert model.name == f"m ({served.url})"
    assert "labelled pairs" in model.measure().told


@pytest.mark.parametrize(
    "fields",
    [
        {"endpoint": "https://host/v1"},
        {"model": "m"},
        {"key_variable": "SOME_KEY"},
        {"endpoint": "https://user:password@host/v1", "model": "m"},
        {"endpoint": "https://host/v1?key=1", "model": "m"},
        {"endpoint": "ftp://host", "model": "m"},
    ],
)
def test_what_makes_no_endpoint_is_refused(fields: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="`endpoint`"):
        Similarity(of="x", **fields)  # type: ignore[arg-type]

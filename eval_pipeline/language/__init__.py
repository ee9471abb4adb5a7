"""Classical language processing that embedded engines and scoring share."""

# fmt: off
__all__ = [
    "accuracy", "bm25", "embedder", "embedding_endpoint", "negation", "patterns", "sentences", "stems",
    "word_lists",
]
# fmt: on

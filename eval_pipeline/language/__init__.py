"""Classical language processing that embedded engines and scoring share."""

__all__ = [
    "accuracy",
    "bm25",
    "embedder",
    "patterns",
    "sentences",
    "word_lists",
]

"""A small RAG pipeline: documents, an index, answers, and what is published."""

"""What goes in and what comes out: a query, its graded judgments, and ranked results."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from eval_pipeline.problems import Problems
from eval_pipeline.suite import Case, Place
from eval_pipeline.suites.heritage_retrieval.trec import QRELS, TOPICS, Topic, read_qrels, read_topics


class RetrievalInput(msgspec.Struct, frozen=True):
    """What an engine sees."""

    query: str
    language: str = ""


class RetrievalExpected(msgspec.Struct, frozen=True):
    """What only scoring sees: the judged documents of the query with their grades."""

    judgments: dict[str, int]


class TrecCases:
    """Reads a file of judgments and, where there is one, the file of topics beside it.

    `dutch.qrels` goes with `dutch.topics`. Judgments alone are enough to score recorded runs; the queries
    then have no text. A file with any bad line, or a query that stands in only one of the two, gives no case
    at all.
    """

    suffixes: tuple[str, ...] = (QRELS,)

    def read(self, path: Path, problems: Problems) -> Iterator[tuple[Case[Any, Any], Place]]:
        """The cases of one file of judgments, or of the file beside the topics that are named."""
        judgments, topics_file = path, path.with_suffix(TOPICS)
        if path.suffix.lower() == TOPICS:
            judgments, topics_file = path.with_suffix(QRELS), path
        before = len(problems)
        judged = read_qrels(judgments, problems)
        topics = read_topics(topics_file, problems) if topics_file.is_file() else None
        if topics is not None and len(problems) == before:
            for query_id in judged.keys() - topics.keys():
                remedy = f"Add it to {topics_file.name}, or remove its judgments."
                problems.add(
                    judgments, f"{query_id!r} is no topic", remedy, line=judged[query_id].line, field="query"
                )
            for query_id in topics.keys() - judged.keys():
                remedy = f"Judge documents for it in {judgments.name}, or remove it."
                problems.add(
                    topics_file,
                    f"{query_id!r} has no judgments",
                    remedy,
                    line=topics[query_id].line,
                    field="num",
                )
        if len(problems) > before:
            return
        for query_id, query in judged.items():
            topic = topics[query_id] if topics else Topic("", query.line)
            yield (
                Case(
                    query_id,
                    RetrievalInput(topic.title, topic.description.language or ""),
                    RetrievalExpected(query.grades),
                    topic.description.attributes,
                ),
                Place(judgments, query.line),
            )

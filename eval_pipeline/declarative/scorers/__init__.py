"""The scorers that a suite.yaml can name."""

from eval_pipeline.declarative.scorers.assertions import Assertions
from eval_pipeline.declarative.scorers.base import Reply, Scorer
from eval_pipeline.declarative.scorers.combining import AllOf, AnyOf, MeanOf, NoneOf
from eval_pipeline.declarative.scorers.matching import (
    Contains,
    ContainsAll,
    ContainsAny,
    Equals,
    Levenshtein,
    NotContains,
    OneOf,
    Regex,
    StartsWith,
)
from eval_pipeline.declarative.scorers.own import Python
from eval_pipeline.declarative.scorers.running import Cost, Latency
from eval_pipeline.declarative.scorers.structured import IsJson, JsonEquals, JsonSchema, Ranking, SetF1
from eval_pipeline.declarative.scorers.texts import F1, Citations, Length, Refusal, Rouge, Similarity

# fmt: off
__all__ = [
    "F1", "AllOf", "AnyOf", "Assertions", "Citations", "Contains", "ContainsAll", "ContainsAny", "Cost",
    "Equals", "IsJson", "JsonEquals", "JsonSchema", "Latency", "Length", "Levenshtein", "MeanOf", "NoneOf",
    "NotContains", "OneOf", "Python", "Ranking", "Refusal", "Regex", "Reply", "Rouge", "Scorer", "SetF1",
    "Similarity", "StartsWith",
]
# fmt: on

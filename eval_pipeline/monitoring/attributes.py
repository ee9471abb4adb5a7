"""What attributes of spans are called, by precedence.

Ours and Langfuse's come first, then OpenTelemetry's, OpenInference's and older ones. The names are matched
as texts: packages of constants lag behind what programs write.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

NAMES: Mapping[str, tuple[str, ...]] = {
    "request_id": ("eval_pipeline.request_id",),
    "suite": ("eval_pipeline.suite", "langfuse.trace.metadata.suite", "langfuse.observation.metadata.suite"),
    "version": ("eval_pipeline.version",),
    "prompt": (
        "langfuse.observation.prompt.name", "langfuse.prompt.name", "gen_ai.prompt.name",
        "llm.prompt_template.name", "traceloop.prompt.key",
    ),
    "prompt_version": (
        "langfuse.observation.prompt.version", "langfuse.prompt.version", "gen_ai.prompt.version",
        "llm.prompt_template.version", "traceloop.prompt.version",
    ),
    "model": (
        "eval_pipeline.model", "langfuse.observation.model.name", "gen_ai.response.model",
        "gen_ai.request.model", "llm.model_name", "llm.response.model", "llm.request.model",
    ),
    "input_tokens": (
        "eval_pipeline.input_tokens", "gen_ai.usage.input_tokens", "llm.token_count.prompt",
        "gen_ai.usage.prompt_tokens", "llm.usage.prompt_tokens",
    ),
    "output_tokens": (
        "eval_pipeline.output_tokens", "gen_ai.usage.output_tokens", "llm.token_count.completion",
        "gen_ai.usage.completion_tokens", "llm.usage.completion_tokens",
    ),
    "cost_usd": ("eval_pipeline.cost_usd", "gen_ai.usage.cost", "llm.cost.total"),
    "error": ("eval_pipeline.error", "error.type"),
    "topic": ("eval_pipeline.topic", "langfuse.trace.metadata.topic", "langfuse.observation.metadata.topic"),
    "input": (
        "eval_pipeline.input", "langfuse.observation.input", "gen_ai.input.messages", "input.value",
        "llm.input_messages", "traceloop.entity.input", "gen_ai.prompt", "llm.prompts",
    ),
    "output": (
        "eval_pipeline.output", "langfuse.observation.output", "gen_ai.output.messages", "output.value",
        "llm.output_messages", "traceloop.entity.output", "gen_ai.completion", "llm.completions",
    ),
    "retrieved": ("eval_pipeline.retrieved", "gen_ai.retrieval.documents", "retrieval.documents"),
    "confidences": ("eval_pipeline.confidences",),
    "user": ("eval_pipeline.user", "langfuse.user.id", "user.id", "enduser.id"),
    "session": ("eval_pipeline.session", "langfuse.session.id", "session.id", "gen_ai.conversation.id"),
    "experiment": ("eval_pipeline.experiment",),
    "simulated": ("eval_pipeline.simulated",),
}  # fmt: skip
"""For each field, the attributes that may hold it; the first one that is there counts."""

_KINDS = (
    ("langfuse.observation.type", {"generation"}),
    ("gen_ai.operation.name", {"chat", "text_completion", "generate_content"}),
    ("openinference.span.kind", {"llm"}),
    ("llm.request.type", {"chat", "completion"}),
)
"""Attributes that say what a span is, and their values for a request to a model; the first one decides."""
_INDEX = re.compile(r"\d+")
_NESTED = {"message", "document", "message_content"}
"""What OpenInference puts between the place in a list and its fields."""


def is_inference(attributes: Mapping[str, Any]) -> bool:
    """Whether a span is a request to a model: an agent or a chain around it would count it twice."""
    for name, values in _KINDS:
        if name in attributes:
            return str(attributes[name]).lower() in values
    return False


def field_of(attributes: Mapping[str, Any], field: str) -> Any:
    """What attributes say of a field, flattened lists put together; None where they say nothing."""
    for name in NAMES[field]:
        if (value := attributes.get(name)) is not None:
            return value
        if field in ("input", "output", "retrieved") and (found := _unflattened(attributes, f"{name}.")):
            return found
    return None


def version_of(attributes: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The prompt's name, and its version as files are named: `decompose-concepts` 1.1 is …-v1.1."""
    if whole := field_of(attributes, "version"):
        return str(whole).rpartition("-v")[0] or None, str(whole)
    name, version = field_of(attributes, "prompt"), field_of(attributes, "prompt_version")
    return joined_version(name, version)


def joined_version(name: Any, version: Any) -> tuple[str | None, str | None]:
    """A prompt's name and version apart, as the name and the version that files have."""
    if not name or version in (None, ""):
        return (str(name) if name else None), None
    text = str(version)
    if text.startswith(f"{name}-"):
        return str(name), text
    return str(name), f"{name}-{text if text.startswith('v') else f'v{text}'}"


def details(attributes: Mapping[str, Any], name: str) -> dict[str, Any]:
    """An attribute that holds a JSON object as text or as it is."""
    value = parsed(attributes.get(name))
    return value if isinstance(value, dict) else {}


def total_cost(costs: Mapping[str, Any], otherwise: Any) -> Any:
    """The whole of what Langfuse says that a request cost: its total, or its parts together."""
    if costs.get("total") is not None:
        return costs["total"]
    parts = [
        value
        for name, value in costs.items()
        if name != "total" and isinstance(value, int | float) and not isinstance(value, bool)
    ]
    return sum(parts) if parts else otherwise


def parsed(value: Any) -> Any:
    """What a text says as JSON, where it is a JSON object or list; anything else as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError):
            return value
    return value


def text_of_messages(value: Any, *, answer: bool) -> Any:
    """The text of messages: of an answer all of it, of a question where it is one message alone."""
    messages = parsed(value)
    if not isinstance(messages, list) or not messages or not all(isinstance(each, dict) for each in messages):
        return value
    if not any("role" in each or "parts" in each or "content" in each for each in messages):
        return value
    if not answer and len(messages) > 1:
        return messages
    texts = [text for each in messages for text in _texts(each)]
    return "\n".join(texts) if texts else messages


def _texts(message: Mapping[str, Any]) -> Iterable[str]:
    """The texts in a message: its content, or those of its parts that are text."""
    content = message.get("parts", message.get("contents", message.get("content")))
    if isinstance(content, str):
        yield content
    for part in content if isinstance(content, list) else ():
        text = part
        if isinstance(part, dict):
            text = part.get("content") or part.get("text")
        if isinstance(text, str):
            yield text


def passages_of(value: Any) -> list[dict[str, str | None]] | None:
    """Documents as passages with an id and a text."""
    documents = parsed(value)
    if not isinstance(documents, list):
        return None
    passages: list[dict[str, str | None]] = []
    for each in documents:
        if isinstance(each, dict):
            text, identity = each.get("text", each.get("content")), each.get("id")
            passages.append(
                {
                    "id": None if identity is None else str(identity),
                    "text": None if text is None else str(text),
                }
            )
        else:
            passages.append({"id": None, "text": str(each)})
    return passages


def _unflattened(attributes: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    """A list that was written as `prefix.0.message.content`, `prefix.0.role` and so on."""
    items: dict[int, dict[str, Any]] = {}
    for name, value in attributes.items():
        if not name.startswith(prefix):
            continue
        index, *path = name.removeprefix(prefix).split(".")
        field = [part for part in path if part not in _NESTED]
        if _INDEX.fullmatch(index) and len(field) == 1:
            items.setdefault(int(index), {})[field[0]] = value
    return [items[index] for index in sorted(items)]

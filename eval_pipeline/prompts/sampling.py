"""Sampling: how a model is to choose its words, as far as a request may say so."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import Field, field_validator

from eval_pipeline.files import Violation
from eval_pipeline.files.models import Model, refusal

Temperature = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(gt=0, le=1)]
StopWord = Annotated[str, Field(min_length=1, max_length=200)]
StopWords = Annotated[list[StopWord], Field(min_length=1, max_length=16)]
Effort = Annotated[str, Field(min_length=1, max_length=40)]
Tokens = Annotated[int, Field(ge=1)]

NOT_TO_BE_SET = {
    **dict.fromkeys(("messages", "prompt", "input"), "What is asked comes from the prompt and the case."),
    "model": "The model is a field of the engine.",
    **dict.fromkeys(("stream", "stream_options"), "Answers are read as a whole."),
    **dict.fromkeys(("n", "best_of"), "Ask every case more often with `trials`."),
    **dict.fromkeys(("url", "base_url", "api_base", "extra_query"), "The address is the engine's `url`."),
    **dict.fromkeys(
        ("headers", "extra_headers"), "Name environment variables as the engine's `header_variables`."
    ),
    **dict.fromkeys(
        ("key", "api_key", "apikey", "authorization", "token", "access_token", "password", "secret"),
        "Keys stand in no file: name an environment variable as the engine's `key_variable`.",
    ),
}
"""Fields of a request that are not for anybody to set, and what to do instead."""
RESPONSE_FORMAT = "response_format"


class Sampling(Model):
    """How a model is asked, whatever `engines.yaml` says; null leaves out what stands there."""

    temperature: Temperature | None = None
    """How much chance there is in an answer."""
    top_p: Share | None = None
    """Of the likely words, the share of probability to choose from."""
    stop: StopWords | None = None
    """Texts at which an answer ends."""
    seed: int | None = None
    """What chance starts from, where the endpoint knows such a thing."""
    max_tokens: Tokens | None = None
    """How many tokens an answer may have."""
    reasoning_effort: Effort | None = None
    """How much a model thinks before it answers, in the endpoint's words."""
    extra_body: dict[str, Any] = Field(default_factory=dict)
    """Further fields of the request."""

    @field_validator("extra_body")
    @classmethod
    def _of_ours_nothing(cls, body: dict[str, Any]) -> dict[str, Any]:
        fields = dict.fromkeys(cls.model_fields, "Write it beside extra_body.")
        if wrong := refused(body, {RESPONSE_FORMAT: "It is a matter of engines.yaml.", **fields}):
            raise refusal(*wrong)
        return body

    @property
    def given(self) -> dict[str, Any]:
        """What was written, and nothing else."""
        return self.model_dump(exclude_unset=True)


def refused(body: Iterable[str], more: Mapping[str, str]) -> list[Violation]:
    """The fields of a request that are not to be set, these and more; hyphens and capitals hide none."""
    owned = {**NOT_TO_BE_SET, **more}
    plain = {name: name.replace("-", "_").casefold().removeprefix("x_") for name in body}
    return [
        Violation((name,), "cannot be set here", owned[each]) for name, each in plain.items() if each in owned
    ]

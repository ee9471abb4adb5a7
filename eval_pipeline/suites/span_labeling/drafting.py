"""A prompt as the draft of a golden entry; its kind is the name of its file."""

from eval_pipeline.suite.drafting import Drafting

DRAFTING = Drafting(
    text="prompt",
    given=lambda fields: {"prompt": fields.get("prompt")},
    expected=("kind", "spans"),
    file="cases/{id}/{kind}.json",
    aside=("kind",),
)

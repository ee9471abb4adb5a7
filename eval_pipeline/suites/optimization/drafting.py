"""A prompt as the draft of a golden entry."""

from eval_pipeline.suite.drafting import Drafting

DRAFTING = Drafting(
    text="input",
    given=lambda fields: {
        "input": fields.get("input"),
        "targetModel": fields.get("target_model") or None,
    },
    expected=("expectedQualities",),
    optional=("targetModel", "requiredElements", "forbiddenPatterns"),
)

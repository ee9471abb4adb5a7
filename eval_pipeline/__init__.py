"""Regression testing of prompts, models and retrieval pipelines on Dagster."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eval_pipeline.hosting import EvalSuiteComponent, Rows, Times, build_eval_assets, require_gate

__all__ = ["EvalSuiteComponent", "Rows", "Times", "build_eval_assets", "require_gate"]


def __getattr__(name: str) -> Any:
    """What hosts use is imported when it is asked for: it brings Dagster along, which few commands need."""
    if name in __all__:
        from eval_pipeline import hosting

        return getattr(hosting, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The names that a registry of components looks through, besides what is there already."""
    return sorted({*globals(), *__all__})

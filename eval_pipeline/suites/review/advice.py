"""What to do about a gate that does not pass: the actions of the bands."""

from collections.abc import Mapping

from eval_pipeline.language.word_lists import line_lists

ADVICE = {name: " ".join(lines) for name, lines in line_lists(__package__, "data/advice.txt").items()}


def advise(statuses: Mapping[str, str]) -> dict[str, str]:
    """Advice by metric, from the status of every gate; all metrics of stability share theirs."""
    return {
        metric: ADVICE.get(
            "run_stability" if metric.startswith("run_stability") else f"{metric} {status}", ""
        )
        for metric, status in statuses.items()
    }

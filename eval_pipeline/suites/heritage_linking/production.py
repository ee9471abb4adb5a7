"""What links show without golden ones: every mention answered, once and without contradiction."""

from eval_pipeline.suite.production import HALLUCINATION, Measure, ProductionMeasures, Served, Share, share_of
from eval_pipeline.suites.heritage_linking.scoring import predictions


def answered(served: Served) -> Share | None:
    """Mentions with one entry or NIL ÷ mentions."""
    if served.input is None:
        return None
    given, _ = predictions(served.output)
    return share_of(
        each.mention_id in given and bool(given[each.mention_id].kb_id or given[each.mention_id].is_nil)
        for each in served.input.mentions
    )


def made_up(served: Served) -> Share | None:
    """Links of mentions that nobody asked about ÷ links."""
    if served.input is None:
        return None
    known = {each.mention_id for each in served.input.mentions}
    return share_of(
        name not in known for name in sorted({each.mention_id for each in served.output.mentions})
    )


def linked(served: Served) -> Share | None:
    """Mentions of the answer that have an entry ÷ those it has."""
    given, _ = predictions(served.output)
    return share_of(bool(each.kb_id) for each in given.values())


MEASURES = ProductionMeasures(
    measures=(
        Measure("mentions_answered", "Mentions with one entry, or none by decision ÷ mentions.", answered),
        Measure(HALLUCINATION, "Links of mentions that nobody asked about ÷ links.", made_up, better="lower"),
        Measure("mentions_linked", "Mentions that have an entry ÷ mentions of the answer.", linked),
    ),
    words=(1, 5000),
    items=lambda output: max((len(each.candidates) for each in output.mentions), default=0),
    most_items=100,
    source=lambda given: str(given.context),
)

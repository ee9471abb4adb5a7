"""Production: events counted once, figures, and what is made of them."""

from eval_pipeline.monitoring.events import (
    EVENT_FIELDS,
    FEEDBACK_FIELDS,
    TEXTS,
    event_schema,
    event_table,
    feedback_schema,
    feedback_table,
)
from eval_pipeline.monitoring.keeping import EventStore, Staging
from eval_pipeline.monitoring.ledger import Delivery, KnownFile, Ledger, Quarantined, Refusal, Segment

# fmt: off
__all__ = [
    "EVENT_FIELDS", "FEEDBACK_FIELDS", "TEXTS", "Delivery", "EventStore", "KnownFile", "Ledger",
    "Quarantined", "Refusal", "Segment", "Staging", "event_schema", "event_table", "feedback_schema",
    "feedback_table",
]
# fmt: on

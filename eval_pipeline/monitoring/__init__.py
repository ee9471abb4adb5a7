"""Production: events counted once, figures, and what is made of them."""

from eval_pipeline.monitoring.cells import stale_days
from eval_pipeline.monitoring.events import (
    EVENT_FIELDS,
    FEEDBACK_FIELDS,
    TEXTS,
    event_schema,
    event_table,
    feedback_schema,
    feedback_table,
)
from eval_pipeline.monitoring.figures import FIGURES, Figures, Group, Spread, figures_of
from eval_pipeline.monitoring.ingesting import FileOutcome, Ingest, open_ingest
from eval_pipeline.monitoring.keeping import EventStore, Staging
from eval_pipeline.monitoring.ledger import Delivery, KnownFile, Ledger, Quarantined, Refusal, Segment
from eval_pipeline.monitoring.masking import mask_column, mask_text
from eval_pipeline.monitoring.settings import (
    Production,
    SuiteProduction,
    Target,
    check_production,
    read_production,
)
from eval_pipeline.monitoring.simulating import plan_for, write_simulated
from eval_pipeline.monitoring.sources import list_sources
from eval_pipeline.monitoring.targets import Aim, aims_of

# fmt: off
__all__ = [
    "EVENT_FIELDS", "FEEDBACK_FIELDS", "FIGURES", "TEXTS", "Aim", "Delivery", "EventStore", "Figures",
    "FileOutcome", "Group", "Ingest", "KnownFile", "Ledger", "Production", "Quarantined", "Refusal",
    "Segment", "Spread", "Staging", "SuiteProduction", "Target", "aims_of", "check_production",
    "event_schema", "event_table", "feedback_schema", "feedback_table", "figures_of", "list_sources",
    "mask_column", "mask_text", "open_ingest", "plan_for", "read_production", "stale_days",
    "write_simulated",
]
# fmt: on

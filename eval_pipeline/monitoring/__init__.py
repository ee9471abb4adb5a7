"""Production: events counted once, figures, and what is made of them."""

from eval_pipeline.monitoring.alerts import (
    ALERT_NAMES,
    ALERTS,
    Alert,
    Watched,
    alerts_for,
    reads_figures,
    watch_figures,
    watch_quality,
)
from eval_pipeline.monitoring.cells import CONFIDENCE, stale_days
from eval_pipeline.monitoring.events import (
    EVENT_FIELDS,
    FEEDBACK_FIELDS,
    TEXTS,
    event_schema,
    event_table,
    feedback_schema,
    feedback_table,
)
from eval_pipeline.monitoring.experiments import OBSERVED, Contrast, VersionContrast, contrast_versions
from eval_pipeline.monitoring.figures import FIGURES, Figures, Group, Spread, figures_of
from eval_pipeline.monitoring.ingesting import FileOutcome, Ingest, open_ingest
from eval_pipeline.monitoring.keeping import EventStore, may_have_events
from eval_pipeline.monitoring.ledger import (
    Delivery,
    KnownFile,
    Ledger,
    Quarantined,
    Refusal,
    Segment,
    ledger_tables,
)
from eval_pipeline.monitoring.masking import mask_column, mask_text
from eval_pipeline.monitoring.measuring import ACCEPTED, Measuring, canaries_of, every_measure
from eval_pipeline.monitoring.quality import (
    Estimate,
    MeasuredDay,
    Quality,
    measure_day,
    measured_days,
    quality_of,
)
from eval_pipeline.monitoring.sampling import Sample, SampleInfo, rows_of, sample_of, stale_samples
from eval_pipeline.monitoring.settings import (
    Production,
    SuiteProduction,
    Target,
    check_production,
    read_production,
)
from eval_pipeline.monitoring.simulating import plan_for, write_simulated
from eval_pipeline.monitoring.sources import list_sources
from eval_pipeline.monitoring.staging import Staging
from eval_pipeline.monitoring.strata import Sampling, closes_at, rates_table
from eval_pipeline.monitoring.targets import Aim, aims_of

# fmt: off
__all__ = [
    "ACCEPTED", "ALERTS", "ALERT_NAMES", "CONFIDENCE", "EVENT_FIELDS", "FEEDBACK_FIELDS", "FIGURES",
    "OBSERVED", "TEXTS", "Aim", "Alert", "Contrast", "Delivery", "Estimate", "EventStore", "Figures",
    "FileOutcome", "Group", "Ingest", "KnownFile", "Ledger", "MeasuredDay", "Measuring", "Production",
    "Quality", "Quarantined", "Refusal", "Sample", "SampleInfo", "Sampling", "Segment", "Spread",
    "Staging", "SuiteProduction", "Target", "VersionContrast", "Watched", "aims_of", "alerts_for",
    "canaries_of", "check_production", "closes_at", "contrast_versions", "event_schema",
    "event_table", "every_measure", "feedback_schema", "feedback_table", "figures_of", "ledger_tables",
    "list_sources", "mask_column", "mask_text", "may_have_events", "measure_day", "measured_days",
    "open_ingest", "plan_for", "quality_of", "rates_table", "read_production", "reads_figures", "rows_of",
    "sample_of", "stale_days", "stale_samples", "watch_figures", "watch_quality", "write_simulated",
]
# fmt: on

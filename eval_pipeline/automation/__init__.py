"""Runs that start themselves, and alerts that arrive."""

from eval_pipeline.automation.alerts import ALERTS, build_alerts
from eval_pipeline.automation.briefs import build_brief_schedules
from eval_pipeline.automation.pages import build_page_sensor
from eval_pipeline.automation.production import build_event_sensor, build_production_schedule
from eval_pipeline.automation.schedules import build_prune_schedule, build_schedules, late_after
from eval_pipeline.automation.sensors import build_broken_sensor, build_sensors
from eval_pipeline.automation.suites import build_suite
from eval_pipeline.automation.watching import build_quality_schedule, build_watching

# fmt: off
__all__ = [
    "ALERTS", "build_alerts", "build_brief_schedules", "build_broken_sensor", "build_event_sensor",
    "build_page_sensor", "build_production_schedule", "build_prune_schedule", "build_quality_schedule",
    "build_schedules", "build_sensors", "build_suite", "build_watching", "late_after",
]
# fmt: on

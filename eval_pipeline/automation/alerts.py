"""From failed checks and failed runs to messages that arrive."""

import logging
import os
from collections.abc import Iterator, Sequence
from urllib.parse import quote

import dagster as dg
from dagster import DagsterEventType

from eval_pipeline.decisions import Finding, Incident, Incidents, Kind, Message
from eval_pipeline.files import content_hash
from eval_pipeline.orchestration import ACTIVE_PASSES, suite_of_job
from eval_pipeline.project import Project
from eval_pipeline.reports import incident_table, readable, table
from eval_pipeline.secrets import keep_secret
from eval_pipeline.store import database_url
from eval_pipeline.timetable import Automation

TARGETS = {"critical": "EVAL_PIPELINE_ALERTS_CRITICAL", "warning": "EVAL_PIPELINE_ALERTS_WARNING"}
"""Environment variables with apprise URLs, separated by blanks."""
SECONDS_BETWEEN_LOOKS = 15
RUNS_AT_ONCE = 900
LONGEST_TEXT = 1500
MOST_FINDINGS = 10
FINISHED = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED]
STARTED_ITSELF = ("dagster/schedule_name", "dagster/sensor_name")
TITLES = {
    "opened": "{severity}: {subject}",
    "worse": "Now critical: {subject}",
    "recovered": "Recovered: {subject}",
}

LOOKED = "looked"
"""The cursor after a look. Which runs were looked at, the incidents know: a clock may have been wrong."""

ALERTS = dg.AssetSpec(
    "alerts",
    group_name="automation",
    description="Versions that are unwell and those that were: what failed, since when, and until when.",
)


def build_alerts(project: Project, settings: Automation) -> dg.SensorDefinition:
    """The sensor that turns finished runs into incidents, and incidents into messages."""

    @dg.sensor(
        name="alerts",
        minimum_interval_seconds=SECONDS_BETWEEN_LOOKS,
        description="Tells of failed checks and failed runs, once per incident, and of recoveries.",
        default_status=dg.DefaultSensorStatus.RUNNING,
    )
    def alerts(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        with Incidents(database_url(project)) as incidents:
            changed = look_at_runs(context.instance, incidents, settings.address)
            for message in incidents.undelivered():
                deliver(message, incidents, context.log)
            shown = [shown_incidents(incidents.all())] if changed or context.cursor is None else []
        return dg.SensorResult(
            cursor=LOOKED,
            asset_events=shown,
            skip_reason=None if shown else "No run finished that changed an incident.",
        )

    return alerts


def look_at_runs(instance: dg.DagsterInstance, incidents: Incidents, ui: str) -> bool:
    """Look at the latest runs that finished, each once; whether anything changed."""
    latest = instance.get_run_records(
        dg.RunsFilter(statuses=FINISHED), limit=RUNS_AT_ONCE, order_by="update_timestamp"
    )
    runs = [record.dagster_run for record in reversed(latest)]
    changed = False
    fresh = incidents.unknown([run.run_id for run in runs])
    for run in runs:
        subject = _subject(run)
        if subject is not None and run.run_id in fresh and run.status != dg.DagsterRunStatus.CANCELED:
            may_open = any(tag in run.tags for tag in STARTED_ITSELF)
            results = list(_findings(instance, run, ui))
            changed |= incidents.look_at(run.run_id, subject, results, may_open=may_open)
    return changed


def _subject(run: dg.DagsterRun) -> str | None:
    suite, version = suite_of_job(run.job_name), run.tags.get("dagster/partition")
    return f"{suite} {version}" if suite and version else None


def _findings(instance: dg.DagsterInstance, run: dg.DagsterRun, ui: str) -> Iterator[Finding]:
    stopped_by_check = False
    for entry in instance.all_logs(run.run_id, of_type=DagsterEventType.ASSET_CHECK_EVALUATION):
        if entry.dagster_event is None:
            continue
        check = entry.dagster_event.asset_check_evaluation_data
        if not check.passed and check.check_name != ACTIVE_PASSES:
            stopped_by_check |= bool(check.blocking)
            critical = check.severity == dg.AssetCheckSeverity.ERROR
            yield Finding(
                check.check_name,
                "critical" if critical else "warning",
                readable(check.description or "")[:LONGEST_TEXT],
                _link(ui, check.asset_key, run.tags.get("dagster/partition", "")),
            )
    if run.status == dg.DagsterRunStatus.FAILURE and not stopped_by_check:
        yield Finding("run", "critical", "The run failed; see its log.", f"{ui}/runs/{run.run_id}")


def _link(ui: str, key: dg.AssetKey, version: str) -> str:
    path = "/".join(quote(part) for part in key.path)
    return f"{ui}/assets/{path}?view=checks&partition={quote(version)}"


def text_of(message: Message) -> tuple[str, str]:
    """The title and the text of a message."""
    incident = message.incident
    title = TITLES[message.kind].format(severity=incident.severity.capitalize(), subject=incident.subject)
    if message.kind == "recovered":
        lasted = (incident.closed_at or incident.opened_at) - incident.opened_at
        news = (
            "Answers arrive again"
            if incident.is_outage
            else "It is within its limit again"
            if incident.in_production
            else "Every check passes again"
        )
        return title, f"{news}, after {_duration(lasted)}."
    worst = sorted(incident.findings, key=lambda each: each.severity != "critical")
    lines = [f"{each.check}: {each.text}\n{each.link}" for each in worst[:MOST_FINDINGS]]
    more = len(worst) - MOST_FINDINGS
    return title, "\n\n".join([*lines, *([f"and {more} more"] if more > 0 else [])])


def deliver(message: Message, incidents: Incidents, log: logging.Logger) -> None:
    """Send a message to those targets of its severity that it did not reach; to the log without any."""
    variable = TARGETS[message.incident.severity]
    urls = os.environ.get(variable, "").split()
    keep_secret(*urls)
    named = {content_hash(url): url for url in urls} or {"log": ""}
    claimed = incidents.claim(message, list(named))
    if not claimed:
        return
    title, text = text_of(message)
    arrived = {}
    for target in claimed:
        reason = _send(named[target], message.kind, title, text, log)
        arrived[target] = reason is None
        if reason is not None:
            which = f"target {list(named).index(target) + 1} of {variable} {reason}"
            log.error(f"An alert was not delivered ({which}): {title}")
    incidents.note(message, arrived, list(named))


def _send(url: str, kind: Kind, title: str, text: str, log: logging.Logger) -> str | None:
    """Why a message could not be sent to one target; None where it was."""
    if not url:
        log.warning(f"{title}\n{text}")
        return None
    import apprise

    logging.getLogger("apprise").setLevel(logging.CRITICAL + 1)  # its messages may hold a target's URL
    notifier = apprise.Apprise()
    if not notifier.add(url):
        return "is not an apprise URL"
    good = apprise.NotifyType.SUCCESS if kind == "recovered" else apprise.NotifyType.FAILURE
    sent = notifier.notify(body=text, title=title, notify_type=good, body_format="text")
    return None if sent else "cannot be reached"


def shown_incidents(incidents: Sequence[Incident]) -> dg.AssetMaterialization:
    """All incidents, for the UI."""
    open_ = [each for each in incidents if each.closed_at is None]
    return dg.AssetMaterialization(
        "alerts",
        metadata={
            "open": len(open_),
            "critical": sum(each.severity == "critical" for each in open_),
            "incidents": dg.MetadataValue.md(
                table(incident_table(incidents), LONGEST_TEXT) if incidents else "There are none."
            ),
        },
    )


def _duration(seconds: float) -> str:
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"

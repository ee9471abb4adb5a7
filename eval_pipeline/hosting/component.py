"""The component: a suite's evaluations, from a `defs.yaml` of any Dagster project."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any

import dagster as dg
from dagster.components.resolved.core_models import (
    DailyPartitionsDefinitionModel,
    HourlyPartitionsDefinitionModel,
    StaticPartitionsDefinitionModel,
    TimeWindowPartitionsDefinitionModel,
    WeeklyPartitionsDefinitionModel,
    resolve_partitions_def,
)

from eval_pipeline.files.words import did_you_mean
from eval_pipeline.hosting.factory import Rows, build_eval_assets, nearest_engines
from eval_pipeline.hosting.names import of_module
from eval_pipeline.hosting.rows import IO_MANAGER
from eval_pipeline.hosting.scaffolding import EvalSuiteScaffolder
from eval_pipeline.hosting.times import Times
from eval_pipeline.orchestration.places import KINDS
from eval_pipeline.problems import BadInput, bad_value
from eval_pipeline.stages import RowColumns
from eval_pipeline.starting import STATE

PartitionsModel = (
    HourlyPartitionsDefinitionModel
    | DailyPartitionsDefinitionModel
    | WeeklyPartitionsDefinitionModel
    | TimeWindowPartitionsDefinitionModel
    | StaticPartitionsDefinitionModel
)


def _told(text: str, *examples: Any) -> Any:
    """What `dg` and editors say of a field."""
    return dg.Resolver.default(description=text, examples=list(examples) or None)


@dataclass
class Automated(dg.Resolvable):
    """What starts evaluations by itself: nothing, unless it is named."""

    nightly: Annotated[
        str | None, _told("When active versions are asked afresh, as a cron expression.", "0 2 * * *")
    ] = None
    weekly: Annotated[
        str | None, _told("When all versions that are not archived are asked afresh.", "0 4 * * 1")
    ] = None
    timezone: Annotated[str, _told("The time zone of both.", "Europe/Amsterdam")] = "UTC"
    on_change: Annotated[
        bool, _told("Whether a changed prompt, golden set or gate starts an evaluation.")
    ] = False


@dg.scaffold_with(EvalSuiteScaffolder)
@dataclass
class EvalSuiteComponent(dg.Component, dg.Resolvable):
    """Evaluates prompts, or the rows of another asset, against a golden set.

    Golden set, answers, scores, metrics, comparison with the baseline and report become assets; gates and
    regressions become checks. Override `get_asset_spec`, `get_asset_check_spec` or `execute` in a subclass to
    change what they are called, what they say, or what happens around each step.
    """

    suite: Annotated[
        str,
        _told(
            "A suite.yaml, from this folder on, or a suite of a module, as package.module:SUITE.",
            "golden/support_tickets/suite.yaml",
            "my_project.suites:TICKETS",
        ),
    ]
    golden: Annotated[
        str | None, _told("The folder of cases, gates and baseline; by default the one of suite.yaml.")
    ] = None
    prompts: Annotated[
        str | None, _told("The folder of prompt versions; by default prompts/<suite> beside golden/.")
    ] = None
    engines: Annotated[
        str | None,
        _told("The file of engines; by default the nearest engines.yaml up to the project's root."),
    ] = None
    engine: Annotated[
        str | None,
        _told("Who answers, by its name there; by default whom the prompt or that file names."),
    ] = None
    state: Annotated[
        str | None,
        _told(
            "Where answers, scores and reports are kept; by default .eval in the project's root.",
            "{{ context.project_root }}/.eval",
        ),
    ] = None
    key_prefix: Annotated[str | Sequence[str], _told("What asset keys begin with.", "team/quality")] = ""
    group_name: Annotated[str | None, _told("The group of the assets; by default one of their own.")] = None
    owners: Annotated[Sequence[str], _told("Who owns the assets.", ["team:search"])] = ()
    tags: Annotated[Mapping[str, str], _told("Tags of the assets.", {"tier": "1"})] = field(
        default_factory=dict
    )
    kinds: Annotated[Sequence[str], _told("Kinds that the UI shows on the assets.", ["eval"])] = KINDS
    pool: Annotated[str | None, _told("A pool that limits how many steps ask models at once.", "llm")] = None
    upstream_asset: Annotated[
        str | None,
        _told("Another asset whose rows are evaluated, in the place of prompts.", "rag/answers"),
    ] = None
    rows: Annotated[
        str,
        _told(
            "Where its rows are: with the host's IO manager, in files, or what a function returns.",
            "io_manager",
            "data/answers/{partition}.parquet",
            "my_project.rows:load",
        ),
    ] = IO_MANAGER
    columns: Annotated[
        Mapping[str, str],
        _told("Columns of its rows that are called otherwise.", {"case_id": "question_id"}),
    ] = field(default_factory=dict)
    partitions: Annotated[
        dg.PartitionsDefinition[str] | str | None,
        dg.Resolver(
            lambda context, given: (
                given if isinstance(given, str) else resolve_partitions_def(context, given)
            ),
            model_field_type=PartitionsModel | str | None,
            description="How that asset is partitioned; of any kind as package.module:NAME.",
            examples=[{"type": "daily", "start_date": "2026-01-01"}, "my_project.partitions:BY_LANGUAGE"],
        ),
    ] = None
    blocking: Annotated[
        bool, _told("Whether a red gate on that asset holds back what is below it in the same run.")
    ] = False
    golden_asset: Annotated[
        str | None,
        _told("Another asset whose rows are the golden cases, with the columns that suite.yaml names."),
    ] = None
    automation: Annotated[
        Automated | None, _told("What starts evaluations by itself.", {"nightly": "0 2 * * *"})
    ] = None

    @classmethod
    def get_spec(cls) -> dg.ComponentTypeSpec:
        """What `dg list components` says."""
        return dg.ComponentTypeSpec(
            description="Evaluates prompts, or the rows of another asset, against a golden set.",
            tags=["eval", "llm"],
            produces=["asset", "asset_check", "job", "schedule", "sensor"],
        )

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """The assets, checks, job, schedules and sensors."""
        folder = context.path if context.path.is_dir() else context.path.parent
        try:
            defs = self._built(folder, context.project_root)
        except BadInput as bad:
            raise dg.DagsterInvalidDefinitionError("\n".join(map(str, bad.problems))) from None
        with warnings.catch_warnings():
            # What Dagster says of partitioned checks and bound resources is known; it would say it once more.
            warnings.simplefilter("ignore", (dg.PreviewWarning, dg.BetaWarning))
            return defs.map_asset_specs(func=self.get_asset_spec)

    def _built(self, folder: Path, project_root: Path) -> dg.Definitions:
        times = self.automation or Automated()
        return build_eval_assets(
            self.suite,
            root=folder,
            golden=_path(self.golden),
            prompts=_path(self.prompts),
            engines=_path(self.engines) or nearest_engines(folder, project_root),
            engine=self.engine or "",
            state=_path(self.state) or project_root / STATE,
            key_prefix=self.key_prefix,
            group_name=self.group_name or "",
            owners=self.owners,
            tags={name: str(value) for name, value in self.tags.items()},  # templates make numbers of texts
            kinds=self.kinds,
            pool=self.pool,
            times=Times(times.nightly, times.weekly, times.timezone, times.on_change),
            upstream=self._upstream(),
            golden_asset=self.golden_asset,
            check=self.get_asset_check_spec,
            around=self.execute,
        )

    def _upstream(self) -> Rows | None:
        if self.upstream_asset is None:
            return None
        names = [each.name for each in fields(RowColumns)]
        if unknown := [name for name in self.columns if name not in names]:
            remedy = f"{did_you_mean(unknown[0], names)}Known: {', '.join(names)}."
            raise bad_value("columns", f"{unknown[0]!r} is nothing that rows have", remedy)
        columns = RowColumns(**self.columns)
        return Rows(self.upstream_asset, self.rows, _partitions(self.partitions), columns, self.blocking)

    def get_asset_spec(self, spec: dg.AssetSpec) -> dg.AssetSpec:
        """What becomes of the specification of each asset; its key must stay what it is."""
        return spec

    def get_asset_check_spec(self, spec: dg.AssetCheckSpec) -> dg.AssetCheckSpec:
        """What becomes of the specification of each check; its name and asset must stay what they are."""
        return spec

    def execute(self, context: dg.AssetExecutionContext, events: Iterator[Any]) -> Iterator[Any]:
        """What happens around each step: `events` are its results, made as they are asked for."""
        yield from events


def _partitions(given: dg.PartitionsDefinition[str] | str | None) -> dg.PartitionsDefinition[str] | None:
    if not isinstance(given, str):
        return given
    found = of_module(given, "partitions")
    if not isinstance(found, dg.PartitionsDefinition):
        remedy = "Name a PartitionsDefinition, best the one that the asset has."
        raise bad_value("partitions", f"{given} is of type {type(found).__name__}", remedy)
    return found


def _path(text: str | None) -> Path | None:
    return Path(text) if text else None

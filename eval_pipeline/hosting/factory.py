"""The evaluations of a suite as Definitions, for anybody's graph."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import dagster as dg

from eval_pipeline import automation, orchestration
from eval_pipeline.declarative import CaseFiles
from eval_pipeline.engines import check_engine
from eval_pipeline.hosting.names import asset_key, prefix_parts
from eval_pipeline.hosting.rows import IO_MANAGER, Load, rows_loader
from eval_pipeline.hosting.suites import HostedSuite, hosted_suite
from eval_pipeline.hosting.times import NO_TIMES, Times
from eval_pipeline.orchestration import Place, Upstream
from eval_pipeline.orchestration.places import BETWEEN, KINDS, NOTHING, as_it_comes, unchanged
from eval_pipeline.project import MARKER, PREFIXES, HostedProject, Project
from eval_pipeline.prompts import versions_in
from eval_pipeline.stages import GOLDEN_ROWS, RowColumns
from eval_pipeline.starting import STATE
from eval_pipeline.suite import Suite


@dataclass(frozen=True)
class Rows:
    """Another asset whose rows are evaluated, in the place of prompt versions."""

    asset: dg.AssetKey | str
    rows: str | Load = IO_MANAGER
    """Where they are: `io_manager`, a Parquet or CSV path with `{partition}`, or `module:function`."""
    partitions: dg.PartitionsDefinition[str] | None = None
    """As the asset is partitioned."""
    columns: RowColumns = field(default_factory=RowColumns)
    blocking: bool = False
    """Whether a red gate holds back what is downstream of the asset in the same run."""

    def upstream(self, folder: Path) -> Upstream:
        """The same, with what loads the rows."""
        return Upstream(
            asset_key(self.asset),
            rows_loader(self.rows, folder),
            self.columns,
            self.partitions,
            self.blocking,
        )


def build_eval_assets(
    suite: Suite | str | Path,
    *,
    key_prefix: str | Sequence[str] = (),
    group_name: str = "",
    engine: str = "",
    root: Path | None = None,
    golden: Path | None = None,
    prompts: Path | None = None,
    engines: Path | None = None,
    state: Path | None = None,
    versions: dg.PartitionsDefinition[str] | None = None,
    owners: Sequence[str] = (),
    tags: Mapping[str, str] = NOTHING,
    kinds: Sequence[str] = KINDS,
    pool: str | None = None,
    times: Times = NO_TIMES,
    upstream: Rows | None = None,
    golden_asset: dg.AssetKey | str | None = None,
    check: Callable[[dg.AssetCheckSpec], dg.AssetCheckSpec] = unchanged,
    around: Callable[[dg.AssetExecutionContext, Iterator[Any]], Iterator[Any]] = as_it_comes,
) -> dg.Definitions:
    """The evaluations of a suite, to be merged into the Definitions of any project.

    `suite` is a `suite.yaml`, a `module:SUITE`, or a suite itself; paths begin in `root`, by default the
    working directory. Everything that can collide carries the prefix and the suite's name; resources and the
    IO manager are bound to these assets alone, and no executor is set. Prompt versions are partitions by
    themselves, those that have a file when the code is loaded, unless `versions` says otherwise. State is
    kept in `state`, by default in `.eval` of `root`, below the prefix.
    """
    home = (root or Path.cwd()).resolve()
    hosted = hosted_suite(suite, home, golden and home / golden)
    prefix = prefix_parts(key_prefix)
    engines = home / engines if engines else nearest_engines(hosted.root, home)
    project = _project(hosted, prefix, home / (state or STATE), prompts and home / prompts, engines)
    if golden_asset:
        project = replace(project, cases=project.state / "golden_rows" / hosted.suite.name)
    if engine:
        check_engine(project, hosted.suite, engine)
    source = upstream.upstream(home) if upstream else None
    place = Place(
        _with_rows(hosted.suite) if golden_asset else hosted.suite,
        prefix,
        group=group_name,
        partitions_def=versions or _with_files(project.prompts(hosted.suite.name)),
        upstream=source,
        golden_asset=asset_key(golden_asset) if golden_asset else None,
        condition=times.condition if source else None,
        engine=engine,
        owners=owners,
        tags=tags,
        kinds=kinds,
        pool=pool,
        metadata=orchestration.declared_at(hosted.file),
        freshness=automation.late_after(times.clock.nightly, times.timezone) if times.nightly else None,
        check=check,
        around=around,
    )
    return _definitions(place, project, times)


def _project(
    hosted: HostedSuite,
    prefix: Sequence[str],
    state: Path,
    prompts: Path | None,
    engines: Path | None,
) -> HostedProject:
    """Where everything is that belongs to a suite of a host."""
    project = HostedProject(
        root=hosted.root,
        state=_state(state, prefix),
        namespace="/".join(prefix),
        golden_folder=hosted.golden,
        prompts_folder=prompts,
        engines=engines,
    )
    project.stop_if_unusable()
    return project


def _definitions(place: Place, project: Project, times: Times) -> dg.Definitions:
    """The definitions of a place, once its resources are bound to it under names of its own."""
    source = place.upstream
    resources = orchestration.build_resources(project, place.name, source.name if source else "")
    place = replace(place, namespace=place.name, resources=resources)
    if source:
        return _of_rows(place, source, project)
    return _started(automation.build_suite(place, project, times.clock), place, project, times)


def _of_rows(place: Place, source: Upstream, project: Project) -> dg.Definitions:
    """The chain of the rows of another asset, its job, and the gate on that asset."""
    chain = orchestration.build_chain(place, project)
    return dg.Definitions(
        assets=chain,
        jobs=[orchestration.build_job(place, chain)],
        asset_checks=[orchestration.build_gate(place, source)],
    )


def _with_files(prompts: Path) -> dg.PartitionsDefinition[str]:
    """The prompt versions that have a file now, as partitions."""
    return dg.StaticPartitionsDefinition(versions_in(prompts))


def _with_rows(suite: Suite) -> Suite:
    """A suite whose golden cases another asset brings."""
    reader = suite.reader
    return replace(suite, reader=reader.of(GOLDEN_ROWS)) if isinstance(reader, CaseFiles) else suite


def _state(folder: Path, prefix: Sequence[str]) -> Path:
    """Where state is kept: below the prefix, so that two components of one suite never share any."""
    return folder / PREFIXES / BETWEEN.join(prefix) if prefix else folder


def nearest_engines(root: Path, home: Path) -> Path | None:
    """The nearest file of engines from a suite's project up to the host's; None where there is none."""
    folders = [root, *(each for each in root.parents if each.is_relative_to(home.resolve()))]
    return next((file for folder in folders if (file := folder / MARKER).is_file()), None)


def _started(defs: dg.Definitions, place: Place, project: Project, times: Times) -> dg.Definitions:
    """Definitions with what starts them by itself, and nothing else."""
    jobs, wanted = list(defs.jobs or ()), {"nightly": times.nightly, "weekly": times.weekly}
    names = {f"{place.name}_{name}" for name, cron in wanted.items() if cron}
    return dg.Definitions(
        assets=defs.assets,
        jobs=jobs,
        schedules=[each for each in defs.schedules or () if each.name in names],
        sensors=automation.build_sensors([place], jobs, project, place.name) if times.on_change else [],
    )

"""Where the chain of a suite stands in a graph: its keys, its names, and what is bound to its assets."""

import functools
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import dagster as dg

from eval_pipeline.orchestration.columns import columns_metadata
from eval_pipeline.orchestration.upstream import Context, Upstream
from eval_pipeline.problems import bad_value
from eval_pipeline.suite import Suite

BETWEEN = "__"
"""Between the parts of a name, as Dagster writes the key of an asset into the name of its step."""
MODEL_OUTPUTS = "model_outputs"
ACTIVE_VERSION = "active_version"
NOTHING: Mapping[str, Any] = MappingProxyType({})
KINDS = ("eval",)
METRICS = "metrics"

Work = Callable[..., Iterator[Any]]
"""What a step does: it yields results of assets and checks."""

_PART = re.compile(r"[A-Za-z0-9]+(?:_[A-Za-z0-9]+)*")


def unchanged(spec: dg.AssetCheckSpec) -> dg.AssetCheckSpec:
    """A check as it is."""
    return spec


def as_it_comes(context: dg.AssetExecutionContext, events: Iterator[Any]) -> Iterator[Any]:
    """Events as they are."""
    return events


def partitions_of(name: str) -> dg.DynamicPartitionsDefinition:
    """The prompt versions of a suite, as partitions."""
    return dg.DynamicPartitionsDefinition(name=f"{name}_prompt_versions")


def evaluation_job(name: str) -> str:
    """The name of the job that runs a suite's whole chain."""
    return f"{name}_evaluation"


def suite_of_job(job: str) -> str:
    """The suite whose chain a job runs, by its name in the graph; blank for other jobs."""
    return job.removesuffix(evaluation_job("")) if job.endswith(evaluation_job("")) else ""


def resource_name(namespace: str, name: str) -> str:
    """What a resource is called in a graph with others."""
    return f"{namespace}{BETWEEN}{name}" if namespace else name


@dataclass(frozen=True, eq=False)
class Place:
    """A suite in a graph. What is bound to its assets is no concern of any other asset."""

    suite: Suite
    prefix: tuple[str, ...] = ()
    group: str = ""
    """The group of its assets; by default the one of its name."""
    namespace: str = ""
    """What the names of its resources begin with, since a host has resources of its own."""
    resources: Mapping[str, Any] = field(default_factory=dict)
    """What its assets share, by these names; see `build_resources`."""
    partitions_def: dg.PartitionsDefinition[str] | None = None
    """The versions that can be evaluated; by default those that somebody registers."""
    upstream: Upstream | None = None
    """The asset whose rows are evaluated, in the place of prompt versions."""
    golden_asset: dg.AssetKey | None = None
    """The asset whose rows are the golden cases, in the place of files."""
    condition: dg.AutomationCondition[Any] | None = None
    """When its assets are materialized by themselves."""
    engine: str = ""
    """Who answers unless a run chooses another; by default the prompt's own engine, or that of all."""
    owners: Sequence[str] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    kinds: Sequence[str] = KINDS
    pool: str | None = None
    """A pool of Dagster's for the step that asks a model."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """What every asset says of itself, such as where the suite is declared."""
    freshness: dg.FreshnessPolicy | None = None
    """When its evaluations are late."""
    check: Callable[[dg.AssetCheckSpec], dg.AssetCheckSpec] = unchanged
    """What becomes of the specification of each check."""
    around: Callable[[dg.AssetExecutionContext, Iterator[Any]], Iterator[Any]] = as_it_comes
    """What becomes of the events of each step."""

    def __post_init__(self) -> None:
        for part in self.prefix:
            if not _PART.fullmatch(part):
                remedy = "Use letters, digits and single _ between them."
                raise bad_value("key_prefix", f"{part!r} cannot be part of a name", remedy)

    @property
    def name(self) -> str:
        """What jobs, schedules, sensors and partitions are called after."""
        return BETWEEN.join((*self.prefix, self.suite.name))

    @property
    def group_name(self) -> str:
        """The group of its assets."""
        return self.group or self.name

    @property
    def job(self) -> str:
        """The job that runs the whole chain."""
        return evaluation_job(self.name)

    @property
    def partitions(self) -> dg.PartitionsDefinition[str] | None:
        """The prompt versions, or the partitions of the asset whose rows are evaluated."""
        if self.upstream:
            return self.upstream.partitions_def
        return self.partitions_def or partitions_of(self.name)

    def knows(self, version: str) -> bool:
        """Whether a version can be evaluated: not where it got a file after the code was loaded."""
        known = self.partitions
        return not isinstance(known, dg.StaticPartitionsDefinition) or version in known.get_partition_keys()

    def version(self, context: Context) -> str:
        """The version that a run evaluates."""
        return self.upstream.version(context) if self.upstream else context.partition_key

    def key(self, stage: str) -> dg.AssetKey:
        """The key of an asset."""
        return dg.AssetKey([*self.prefix, self.suite.name, stage])

    def step(self, stage: str) -> str:
        """The step that makes an asset, as a run's configuration names it."""
        return BETWEEN.join(self.key(stage).path)

    def asset(
        self, stage: str, check_specs: Sequence[dg.AssetCheckSpec] = (), **described: Any
    ) -> Callable[[Work], dg.AssetsDefinition]:
        """Makes an asset of a stage, with all that assets of a place have in common."""
        with warnings.catch_warnings():
            # Resources that are bound to assets are a beta of Dagster's; those of Definitions would collide.
            warnings.simplefilter("ignore", dg.BetaWarning)
            decorate = dg.asset(
                key=self.key(stage),
                group_name=self.group_name,
                resource_defs=self.resources,
                check_specs=[self.check(spec) for spec in check_specs],
                owners=[*self.owners],
                tags={**self.tags},
                kinds={*self.kinds},
                pool=self.pool if stage == MODEL_OUTPUTS else None,
                metadata={**self.metadata, **columns_metadata(stage)},
                automation_condition=self.condition,
                freshness_policy=self.freshness if stage in (METRICS, ACTIVE_VERSION) else None,
                **described,
            )

        def asset(work: Work) -> dg.AssetsDefinition:
            @functools.wraps(work)
            def step(context: dg.AssetExecutionContext, *inputs: Any, **named: Any) -> Iterator[Any]:
                yield from self.around(context, work(context, *inputs, **named))

            made: dg.AssetsDefinition = decorate(step)
            return made

        return asset

    def resource(self, name: str) -> str:
        """What a resource is called here."""
        return resource_name(self.namespace, name)

    def of(self, context: Context, name: str) -> Any:
        """A resource, in a run."""
        return getattr(context.resources, self.resource(name))

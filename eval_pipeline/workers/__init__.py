"""Where the shards of a large golden set are worked on: processes of this machine, or a cluster."""

from eval_pipeline.workers.configuration import Shards, ShardsSetting
from eval_pipeline.workers.interface import Done, Workers, WorkersLost, open_workers

__all__ = ["Done", "Shards", "ShardsSetting", "Workers", "WorkersLost", "open_workers"]

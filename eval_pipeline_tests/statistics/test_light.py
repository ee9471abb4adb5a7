"""The package stays light and knows nothing of the rest."""

from __future__ import annotations

from pathlib import Path

import eval_pipeline.statistics
from eval_pipeline_tests.test_imports import modules_after

FOLDER = Path(str(eval_pipeline.statistics.__file__)).parent
MODULES = sorted(file.stem for file in FOLDER.glob("*.py") if file.stem != "__init__")


def test_importing_statistics_loads_neither_scipy_nor_the_rest() -> None:
    loaded = modules_after("\n".join(f"import eval_pipeline.statistics.{name}" for name in MODULES))
    assert not {"scipy", "pandas", "pyarrow", "dagster", "msgspec"} & loaded
    others = {name for name in loaded if name.startswith("eval_pipeline.")}
    assert others == {"eval_pipeline.statistics", *(f"eval_pipeline.statistics.{name}" for name in MODULES)}

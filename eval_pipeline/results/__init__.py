"""Files of results, whatever program wrote them: read, and compared as two versions of a prompt are."""

from eval_pipeline.results.comparing import Compared, compare_results
from eval_pipeline.results.reading import read_results
from eval_pipeline.results.rows import Results, Row, check_rows, choose_metric, choose_part

# fmt: off
__all__ = [
    "Compared", "Results", "Row", "check_rows", "choose_metric", "choose_part", "compare_results",
    "read_results",
]
# fmt: on

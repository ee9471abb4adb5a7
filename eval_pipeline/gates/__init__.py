"""Gates: which values of a metric fail, pass and excel, and which drops matter."""

from eval_pipeline.gates.file import GATES_FILE, override, read_gates, read_operation_gates, same_gates
from eval_pipeline.gates.gate import ERROR_GATE, TOLERANCE, Bound, Gate, Regression, Zone, plain_gates
from eval_pipeline.gates.result import (
    OPERATION_UNITS,
    GateResult,
    MeasuredModel,
    advise,
    doubt,
    gate_result,
    operation_results,
)

# fmt: off
__all__ = [
    "ERROR_GATE", "GATES_FILE", "OPERATION_UNITS", "TOLERANCE", "Bound", "Gate", "GateResult",
    "MeasuredModel", "Regression", "Zone", "advise", "doubt", "gate_result", "operation_results",
    "override", "plain_gates", "read_gates", "read_operation_gates", "same_gates",
]
# fmt: on

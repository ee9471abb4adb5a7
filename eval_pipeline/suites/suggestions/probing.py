"""What probes need to know of suggestions; its golden answers are written down in `references/`."""

from eval_pipeline.suite import Probing

PROBING = Probing(
    oracle_fails={
        "case_pass_rate": "One of four good alternatives that the classifier or the embedder misjudges is enough "
        "for a case to miss a minimum."
    }
)

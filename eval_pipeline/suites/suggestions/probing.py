"""What probes need to know of suggestions; its golden answers are written down in `references/`."""

from eval_pipeline.suite import Probing

PROBING = Probing(
    oracle_fails={
        "case_pass_rate": "One good alternative of four that the classifier or embedder misjudges is enough "
        "for a case to miss a minimum."
    }
)

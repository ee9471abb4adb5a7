"""Whether an endpoint is there at all."""

from eval_pipeline.answers import TIMEOUT
from eval_pipeline.engines.calls import CONNECTION, SERVER, CallFailed, NotAsked
from eval_pipeline.numbers import counted

FAILURES_IN_A_ROW = 20


class Health:
    """Whether an endpoint is there at all, as far as the latest calls tell.

    Calls that fail in a row put it in doubt: then nobody waits for it but those who do already. Cases that
    fail in a row, each a different question, prove it dead: then nothing is asked. A few questions that
    always fail prove nothing.
    """

    def __init__(self, concurrency: int) -> None:
        self._enough = max(FAILURES_IN_A_ROW, 2 * concurrency)
        self._calls = 0
        self._cases = 0
        self._kind = CONNECTION

    @property
    def is_in_doubt(self) -> bool:
        """Whether so many calls failed in a row that nobody else should wait."""
        return self._calls >= self._enough

    def stop_if_dead(self) -> None:
        """Refuse to ask an endpoint that answers nothing."""
        if self._cases >= self._enough:
            detail = f"{counted(self._cases, 'case')} in a row got no answer; not asked any more"
            # A call that is not made does not time out.
            kind = CONNECTION if self._kind == TIMEOUT else self._kind
            raise NotAsked(kind, f"the endpoint is down: {detail}")

    def went_well(self) -> None:
        """Note a call that was answered."""
        self._calls = self._cases = 0

    def went_badly(self, failure: CallFailed, is_last: bool) -> None:
        """Note a call that failed, and whether its case is given up."""
        if not failure.transient:
            self.went_well()  # whoever says no to a question is there
            return
        self._kind = failure.kind
        self._calls += failure.kind in (CONNECTION, TIMEOUT, SERVER)
        self._cases += is_last

"""What every engine is: requests in, answers out as they complete."""

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, Protocol

import msgspec

from eval_pipeline.answers import Answer, Trials
from eval_pipeline.prompts import Chat, Message


class Request(msgspec.Struct, frozen=True):
    """One question to an engine. There is no place in it for a golden answer; a judge alone reads of one."""

    case_id: str
    trial: int
    prepared: Any
    prompt: str | Chat | None = None
    """The rendered prompt, for engines that read it: a text, or messages."""

    @property
    def messages(self) -> Chat:
        """The prompt as messages; a text is what the user says."""
        return self.prompt if isinstance(self.prompt, tuple) else (Message("user", self.prompt or ""),)


class Engine(Protocol):
    """Requests in, answers out as they complete."""

    @property
    def name(self) -> str:
        """Its name in `engines.yaml`."""

    @property
    def model(self) -> str:
        """What exactly answers: part of an evaluation's identity."""

    @property
    def trials(self) -> Trials:
        """How many trials it runs unless a run says otherwise: one where answers do not vary."""

    @property
    def varies(self) -> bool:
        """Whether asking once more may bring another answer."""

    @property
    def reads_prompt(self) -> bool:
        """Whether it reads the rendered prompt, or only the prompt's parameters."""

    @property
    def prepared_elsewhere(self) -> bool:
        """Whether its answers rest on what another system prepared, so that what they say of it stands."""

    @property
    def held_out(self) -> tuple[str, str] | None:
        """Attribute and value of the cases that it did not learn from; None where it learned from none."""

    def answer(self, requests: AsyncIterator[Request]) -> AsyncGenerator[Answer, None]:
        """Answer every request; an answer that cannot be given carries its error.

        Who breaks off closes it, so that it gives up what it holds before anything else goes on.
        """

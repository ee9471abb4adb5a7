"""What an investigation finds, as data."""

import msgspec

UNKNOWN = "unknown"
"""The cause of failures that nothing which was looked at explains."""
GOLDEN = "golden"
CUT_OFF = "cut_off"
EMPTY = "empty"
REPEATED = "repeated"
UNDIAGNOSED = "undiagnosed"
ERROR = "error:"
KIND = "kind:"
GROUP = "group:"
LENGTH = "length:"
TRIAL = "trial:"
POSITION = "position:"
LABEL = "label:"
"""How the names of causes begin: the kind of error or diagnosis, axis and value of a group … follow."""


class Hypothesis(msgspec.Struct, frozen=True):
    """A cause that the data point to."""

    cause: str
    text: str
    """The hypothesis in a sentence."""
    explained: int
    """How many failing answers have it."""
    beyond: float
    """How many of them beyond what the answers that pass, or lie elsewhere, would lead one to expect."""
    certain: bool
    """Whether it explains half of the failures or more, and chance does not."""
    evidence: tuple[str, ...] = ()
    """The counts it rests on, a sentence each."""
    also: str = ""
    """The other half of the story: where what goes wrong does so, or what goes wrong there; a cause."""
    cases: tuple[str, ...] = ()
    """The first few cases to look at."""
    fix: str = ""
    """What usually helps."""


class Question(msgspec.Struct, frozen=True):
    """A question of the checklist, and what the data answer."""

    question: str
    answer: str
    examples: tuple[str, ...] = ()


class Section(msgspec.Struct, frozen=True):
    """Questions of the checklist about one kind of failure."""

    title: str
    questions: tuple[Question, ...]


class Investigation(msgspec.Struct, frozen=True):
    """Why answers fail, as far as the data tell."""

    answers: int
    failing: int
    failing_cases: int
    cases: int
    trials: int
    new_failures: int | None
    """How many failing cases passed in the baseline; null where there is none."""
    before: str
    """The baseline's name; blank where there is none."""
    hypotheses: tuple[Hypothesis, ...]
    """Those that explain most first; where none is certain, the first one says that nobody can tell."""
    checklist: tuple[Section, ...]
    unread: int = 0
    """How many failing answers were not read word by word, since there are very many."""

    @property
    def first(self) -> Hypothesis | None:
        """What explains most; None where nothing fails."""
        return self.hypotheses[0] if self.hypotheses else None

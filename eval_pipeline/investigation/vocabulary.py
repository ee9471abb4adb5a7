"""What diagnoses mean: what a suite says of them, else what their shape tells."""

import importlib
from importlib.util import find_spec
from typing import Protocol

from eval_pipeline.suite import DiagnosisVocabulary, Kind, Role, Suite, suite_code

MODULE = "diagnoses"
NOTHING_KNOWN = DiagnosisVocabulary()


class Shape(Protocol):
    """A diagnosis, as far as its shape is concerned."""

    @property
    def kind(self) -> str:
        """What sort of mistake it is."""

    @property
    def expected(self) -> str:
        """What should have been there; blank where nothing should."""

    @property
    def got(self) -> str:
        """What was there instead; blank where nothing was."""


def vocabulary_of(suite: Suite) -> DiagnosisVocabulary:
    """What a suite says of its diagnoses in the module `diagnoses` beside it; nothing where it has none."""
    package = f"eval_pipeline.suites.{suite.name}"
    if find_spec(package) is None or find_spec(f"{package}.{MODULE}") is None:
        return NOTHING_KNOWN
    with suite_code(suite.name, MODULE):
        vocabulary = importlib.import_module(f"{package}.{MODULE}").VOCABULARY
        assert isinstance(vocabulary, DiagnosisVocabulary), "VOCABULARY is no DiagnosisVocabulary"
        return vocabulary


def role_of(vocabulary: DiagnosisVocabulary, diagnosis: Shape) -> Role:
    """What a diagnosis is an instance of; where the suite does not say, what its shape tells."""
    known = vocabulary.kinds.get(diagnosis.kind)
    if known:
        return known.role
    if diagnosis.expected and diagnosis.got:
        return "mislabelled"
    return "missed" if diagnosis.expected else "invented"


def kind_of(vocabulary: DiagnosisVocabulary, name: str) -> Kind:
    """A kind of diagnosis, in the suite's words or by its name."""
    return vocabulary.kinds.get(name) or Kind("form", f"mistakes of the kind “{name.replace('_', ' ')}”")

"""Providers of promptfoo as a suggestion for engines.yaml, in comments: nothing is asked unasked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from eval_pipeline.importing.documents import Fields, Items
from eval_pipeline.importing.places import Leftovers, Place

STAND_INS = ("echo",)
"""Providers that are no model: a stand-in answers here."""
URLS = {
    "openai": ("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "anthropic": ("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
    "mistral": ("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "groq": ("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "deepseek": ("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "openrouter": ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "togetherai": ("https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    "google": ("https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
    "ollama": ("http://localhost:11434/v1", ""),
    "vllm": ("http://localhost:8000/v1", ""),
}
"""Addresses that speak OpenAI's language, and the variables that usually hold their keys."""
SAMPLING = {
    "temperature": "temperature",
    "top_p": "top_p",
    "max_tokens": "max_tokens",
    "seed": "seed",
    "stop": "stop",
    "reasoning_effort": "reasoning_effort",
}
_MODES = {"chat", "completion", "messages", "responses"}
_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,120}")
_URL = re.compile(r"https?://[A-Za-z0-9.\-:]+(?:/[A-Za-z0-9._/\-]*)?")


class Suggested(NamedTuple):
    """An engine that could stand in engines.yaml."""

    name: str
    fields: Mapping[str, Any]

    def lines(self) -> Iterator[str]:
        """The lines of engines.yaml, as comments."""
        yield f"  # {self.name}:"
        yield from (f"  #   {name}: {value}" for name, value in self.fields.items())


def suggested(config: Fields, leftovers: Leftovers) -> list[Suggested]:
    """Engines for the providers that speak OpenAI's language; the others are listed."""
    name = "targets" if "targets" in config else "providers"
    engines: list[Suggested] = []
    for given, place in _listed(config.get(name), config.at(name)):
        identity, settings = _identity(given)
        if identity in STAND_INS:
            continue
        fields = _fields(identity, settings)
        if fields is None:
            remedy = "Name an engine in engines.yaml: an endpoint, a command or a function of your own."
            leftovers.drop(place, f"the provider {identity[:80]!r} has no address that is known", remedy)
            continue
        family = identity.partition(":")[0]
        same = sum(each.name.partition("-")[0] == family for each in engines)
        engines.append(Suggested(f"{family}-{same + 1}" if same else family, fields))
        _list_settings(settings, place, leftovers)
        if isinstance(given, Fields):
            for field in given:
                if field not in ("id", "label", "config"):
                    leftovers.drop(given.at(field), "is a field without a counterpart", "See engines.yaml.")
    return engines


def _listed(given: Any, place: Place) -> Iterator[tuple[Any, Place]]:
    if isinstance(given, Items):
        yield from given.placed()
    elif given is not None:
        yield given, place


def _identity(given: Any) -> tuple[str, Mapping[str, Any]]:
    """What a provider is called, and its settings."""
    if isinstance(given, Fields):
        if len(given) == 1 and "id" not in given:
            name, inside = next(iter(given.items()))
            settings = inside.get("config", inside) if isinstance(inside, Mapping) else {}
            return name, settings if isinstance(settings, Mapping) else {}
        settings = given.get("config")
        return str(given.get("id", "")), settings if isinstance(settings, Mapping) else {}
    return str(given), {}


def _fields(identity: str, settings: Mapping[str, Any]) -> dict[str, Any] | None:
    family, _, rest = identity.partition(":")
    mode, _, model = rest.partition(":")
    model = model if mode in _MODES and model else rest
    url, key = URLS.get(family, ("", ""))
    own = settings.get("apiBaseUrl") or settings.get("baseUrl")
    url = str(own) if own else url
    if not _MODEL.fullmatch(model) or not _URL.fullmatch(url):
        return None
    named = settings.get("apiKeyEnvar")
    key = named if isinstance(named, str) and named.isidentifier() else key
    sampling = {
        ours: settings[theirs]
        for theirs, ours in SAMPLING.items()
        if isinstance(settings.get(theirs), int | float) and not isinstance(settings[theirs], bool)
    }
    return {
        "kind": "endpoint",
        "url": url,
        "model": model,
        **({"key_variable": key} if key else {}),
        **sampling,
    }


def _list_settings(settings: Mapping[str, Any], place: Place, leftovers: Leftovers) -> None:
    for name, value in settings.items():
        if name in ("apiBaseUrl", "baseUrl", "apiKeyEnvar"):
            continue
        where = settings.at(name) if isinstance(settings, Fields) else place
        if name in ("apiKey", "apiKeyRequired"):
            leftovers.drop(
                where, "keys stand in no file", "Set the environment variable that the engine names."
            )
        elif name not in SAMPLING or isinstance(value, bool) or not isinstance(value, int | float):
            leftovers.drop(
                where, "is a setting that is not suggested", "See `extra_body` and `stop` of an endpoint."
            )

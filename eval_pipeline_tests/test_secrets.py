"""Secrets in text, in any of their forms."""

from __future__ import annotations

import json
from urllib.parse import quote

from eval_pipeline.secrets import keep_secret, masked
from eval_pipeline.terminal import safe


def test_a_secret_is_masked_in_every_form_and_short_ones_are_not() -> None:
    secret = 'p/ss "word" for tests'
    assert masked(secret) == secret
    keep_secret(secret, "short")
    once = json.dumps(secret)[1:-1]
    for form in (secret, quote(secret, safe=""), once, json.dumps(once)[1:-1]):
        assert masked(f"a {form} b") == "a [hidden] b"
        assert safe(f"a {form} b") == "a [hidden] b"
    assert masked("a short text") == "a short text"

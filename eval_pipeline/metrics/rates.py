"""Rates with an honest answer where they are undefined: null, which is neither 0 nor 1."""


def ratio(numerator: float, denominator: float) -> float | None:
    """Numerator ÷ denominator; null when the denominator is 0."""
    return numerator / denominator if denominator else None


def harmonic_mean(first: float, second: float) -> float:
    """2·a·b ÷ (a + b); 0 when both are 0."""
    total = first + second
    return 2 * first * second / total if total else 0.0

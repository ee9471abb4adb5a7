"""A system that somebody already has: it reads the rendered prompt, and replies with a text."""

CAPITALS = {"Austria": "Vienna", "France": " PARIS\n", "Japan": "Tokyo", "Luxembourg": "Luxembourg"}


def capital(prompt: str, variables: dict[str, str]) -> str:
    country = prompt.split(" of ")[1].split("?", maxsplit=1)[0]
    return CAPITALS.get(country, "Cusco")

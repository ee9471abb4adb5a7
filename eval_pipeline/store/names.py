"""What files of the store are called."""

LATEST = "latest"
"""In a folder: the name of what is the latest there."""
PAGE, TWIN = "report.html", "report.md"
"""What a report is called: the page that links lead to, and the same as text."""


def is_plain_name(name: str) -> bool:
    """Whether a name is that of something right inside a folder, and leads nowhere else."""
    return name not in {"", ".", ".."} and not set(name) & {"/", "\\", "\0"}

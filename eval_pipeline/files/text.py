"""Text files, bounded and in UTF-8."""

from pathlib import Path

from eval_pipeline.problems import Problems

LARGEST_FILE = 64 * 2**20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_text(path: Path, problems: Problems, *, blank: bool = False) -> str | None:
    """A text file to the letter, line ends included; a blank one is a problem unless `blank` allows it."""
    data = read_bytes(path, LARGEST_FILE, problems, "Split it")
    if data is None or (blank and not data.strip()):
        return None if data is None else data.decode()
    return decoded_text(data, path, problems)


def read_bytes(path: Path, limit: int, problems: Problems, remedy: str) -> bytes | None:
    """The content of a file of at most `limit` bytes; None where it cannot be read."""
    try:
        size = path.stat().st_size
        if size > limit:
            problems.add(path, f"the file has {size:,} bytes; the limit is {limit:,}", f"{remedy}.", line=1)
            return None
        return path.read_bytes()
    except OSError as error:
        problems.add(path, f"cannot be read: {error.strerror}", "Check the path and its permissions.")
        return None


def decoded_text(data: bytes, path: Path, problems: Problems) -> str | None:
    """The text that bytes hold; None where they are not UTF-8, or blank."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problems.add(path, f"byte {error.start} is not UTF-8", "Save the file as UTF-8.", line=line)
        return None
    if not text.strip():
        problems.add(path, "the file is empty", "Fill it, or remove it.", line=1)
        return None
    return text

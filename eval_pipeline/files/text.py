"""Text files, bounded and in UTF-8."""

import os
import stat
from pathlib import Path

from eval_pipeline.problems import Problems, is_text, without_problems

LARGEST_FILE = 64 * 2**20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_text(path: Path, problems: Problems, *, blank: bool = False) -> str | None:
    """A text file to the letter, line ends included; a blank one is a problem unless `blank` allows it."""
    data = read_bytes(path, LARGEST_FILE, problems, "Split it")
    if data is None or (blank and not data.strip()):
        return None if data is None else data.decode()
    return decoded_text(data, path, problems)


def read_bytes(path: Path, limit: int, problems: Problems, remedy: str) -> bytes | None:
    """The content of a file of at most `limit` bytes; None where it cannot be read.

    Every file that people put somewhere comes in here, or by `line_blocks`: a pipe would be waited for,
    and a device may never end.
    """
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            problems.add(path, "is not a regular file", "Put a file there.")
            return None
        if about.st_size <= limit:
            return path.read_bytes()
        message = f"the file has {about.st_size:,} bytes; the limit is {limit:,}"
        problems.add(path, message, f"{remedy}.", line=1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        problems.add(path, f"cannot be read: {reason}", "Check the path and its permissions.")
    return None


def file_bytes(path: Path, limit: int = LARGEST_FILE) -> bytes:
    """The content of a file; one that cannot be read is raised as a problem."""
    return without_problems(lambda problems: read_bytes(path, limit, problems, "Shorten it"))


def is_there(path: Path) -> bool:
    """Whether there is anything of that name, also a link to nowhere: then it is read, and a problem."""
    return os.path.lexists(path)


def files_below(folder: Path, problems: Problems) -> list[Path]:
    """Everything in a folder and the folders below it, sorted; one that cannot be read is a problem."""

    def unreadable(error: OSError) -> None:
        remedy = "Check its permissions; what it holds would be missing."
        problems.add(error.filename, f"cannot be read: {error.strerror}", remedy)

    walked = os.walk(folder, onerror=unreadable)
    files = sorted(Path(place, name) for place, _, names in walked for name in names)
    for file in files:
        if not is_text(str(file)):
            problems.add(file, "has a name that is not UTF-8", "Rename it.")
    return [file for file in files if is_text(str(file))]


def text_lines(text: str) -> list[str]:
    """The lines of a text, whichever of the three line ends it has."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


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

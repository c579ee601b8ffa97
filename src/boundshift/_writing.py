"""Files written whole or not at all, in nobody else's place."""

from __future__ import annotations

import os
import stat
import uuid
from contextlib import suppress
from pathlib import Path

from boundshift.exceptions import InvalidInputError

__all__ = ["is_special", "write_whole"]


def write_whole(path: Path, content: str | bytes, *, new: bool = False) -> Path:
    """Write a file under a passing name and move it into place, so that no reader sees a part.

    A file that is replaced keeps its permissions; a fresh one has those of the umask. A symbolic
    link stays, and what it points to is written. A device or a pipe is written to.
    """
    # What no encoding has, such as half a letter out of a file's name, becomes a question mark.
    raw = content.encode("utf-8", "replace") if isinstance(content, str) else content
    if is_special(path):
        with path.open("wb") as special:
            special.write(raw)
        return path
    place = Path(os.path.realpath(path))
    place.parent.mkdir(parents=True, exist_ok=True)
    mode = None
    with suppress(FileNotFoundError):
        mode = stat.S_IMODE(place.stat().st_mode)
    passing = place.parent / f".{place.name[:100]}.{uuid.uuid4().hex}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    handle = os.open(passing, flags, 0o666 if mode is None else 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
        if mode is not None:
            passing.chmod(mode)
        if not new:
            passing.replace(place)
            return path
        try:
            os.link(passing, place)
        except OSError:  # The name is taken, or the file system has no hard links.
            place.touch(exist_ok=False)
            passing.replace(place)
    except FileExistsError:
        raise InvalidInputError(
            f"'{place}' must not exist yet, and does. Choose another name, or allow it to be "
            "replaced."
        ) from None
    finally:
        passing.unlink(missing_ok=True)
    return path


def is_special(path: Path) -> bool:
    """Return whether a path is a device or a pipe, which is written to and never replaced."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode) or stat.S_ISBLK(mode) or stat.S_ISSOCK(mode)

"""Files and folders written whole or not at all, in nobody else's place."""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import sys
import uuid
from contextlib import suppress
from pathlib import Path

from boundshift.exceptions import InvalidInputError

__all__ = ["exchange", "is_special", "write_whole"]

_LINUX_EXCHANGE, _MACOS_SWAP = 2, 2
_HERE = -100  # AT_FDCWD: paths that do not begin at the root begin at the current folder.
_UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)


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
        _move(passing, place, new)
    finally:
        passing.unlink(missing_ok=True)
    return path


def _move(passing: Path, place: Path, new: bool) -> None:
    """Give a file its name; a new one takes no name that is taken."""
    if not new:
        passing.replace(place)
        return
    try:
        os.link(passing, place)
    except FileExistsError:
        raise InvalidInputError(
            f"'{place}' must not exist yet, and does. Choose another name, or allow it to be "
            "replaced."
        ) from None
    except OSError:  # A file system without hard links.
        if os.path.lexists(place):
            raise
        passing.replace(place)


def is_special(path: Path) -> bool:
    """Return whether a path is a device or a pipe, which is written to and never replaced."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode) or stat.S_ISBLK(mode) or stat.S_ISSOCK(mode)


def exchange(one: Path, other: Path) -> bool:
    """Swap the names of two folders in one step; False where the system cannot.

    At no moment is either name without a folder, so that a process that is killed leaves one or
    the other there, whole.
    """
    libc = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None
    names = os.fsencode(one), os.fsencode(other)
    if sys.platform.startswith("linux") and hasattr(libc, "renameat2"):
        done = libc.renameat2(_HERE, names[0], _HERE, names[1], _LINUX_EXCHANGE)  # type: ignore[union-attr]
    elif sys.platform == "darwin" and hasattr(libc, "renamex_np"):
        done = libc.renamex_np(*names, _MACOS_SWAP)
    else:
        return False
    if done == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), str(other))

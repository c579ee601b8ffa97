"""Files written whole or not at all, in nobody else's place, and locks between processes."""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from boundshift.exceptions import InvalidInputError

__all__ = ["is_special", "lock_file", "write_whole"]

_WINDOWS_WAIT = 0.05  # seconds between two attempts, since Windows gives up by itself


def write_whole(path: Path, content: str | bytes, *, new: bool = False) -> Path:
    """Write a file under a passing name and move it into place, so that no reader sees a part.

    The content and the name are on the disk before this returns. A file that is replaced keeps its
    permissions; a fresh one has those of the umask. A symbolic link stays, and what it points to is
    written. A device or a pipe is written to.
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
    try:
        _write_new(passing, raw, mode)
        if new:
            _take_name(passing, place)
        else:
            passing.replace(place)
    except FileExistsError:
        raise InvalidInputError(
            f"'{place}' must not exist yet, and does. Choose another name, or allow it to be "
            "replaced."
        ) from None
    finally:
        passing.unlink(missing_ok=True)
    _keep_names(place.parent)
    return path


def _write_new(path: Path, raw: bytes, mode: int | None) -> None:
    """Write a file that must not exist yet, down to the disk."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags, 0o666 if mode is None else 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(raw)
        file.flush()
        os.fsync(file.fileno())
    if mode is not None:
        path.chmod(mode)


def _take_name(passing: Path, place: Path) -> None:
    """Give a file its name, or raise FileExistsError if the name is taken."""
    try:
        os.link(passing, place)
    except OSError:  # The name is taken, or the file system has no hard links.
        place.touch(exist_ok=False)
        passing.replace(place)


def _keep_names(folder: Path) -> None:
    """Write the names of a folder's files to the disk, if the system can do that."""
    if sys.platform == "win32":
        return
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def lock_file(path: Path, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold a lock that one process at a time can hold; wait for it, and call `on_wait` before.

    The lock is on a file of its own beside `path`, which is removed at the end. The system gives
    the lock up if the process ends in any way.
    """
    place = Path(f"{os.path.realpath(path)}.lock")
    handle = _open_locked(place, on_wait)
    try:
        yield
    finally:
        # Removed while it is locked, so that whoever waits notices. Windows removes no open file.
        with suppress(PermissionError):
            place.unlink()
        os.close(handle)


def _open_locked(place: Path, on_wait: Callable[[], None]) -> int:
    """Return a handle with the lock on the file that has this name."""
    has_waited = False
    while True:
        handle = os.open(place, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            if not _try_lock(handle):
                if not has_waited:
                    on_wait()
                has_waited = True
                _wait_for_lock(handle)
            # The process before may have removed the file while this one waited.
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(handle), place.stat()):
                    return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        """Lock a file if nobody else has done so."""
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EDEADLK):
                raise
            return False
        return True

    def _wait_for_lock(handle: int) -> None:
        while not _try_lock(handle):
            time.sleep(_WINDOWS_WAIT)

else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        """Lock a file if nobody else has done so."""
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _wait_for_lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX)


def is_special(path: Path) -> bool:
    """Return whether a path is a device or a pipe, which is written to and never replaced."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode) or stat.S_ISBLK(mode) or stat.S_ISSOCK(mode)

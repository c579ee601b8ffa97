"""Folders written by processes that are killed, race each other, or find the disk full.

``python tests/fuzz/disturbed_writing.py kill|race|full FOLDER [ROUNDS]``, 100 rounds by default.
"""

import os
import random
import resource
import signal
import sys
import time
from pathlib import Path

from boundshift import Boundary, InvalidInputError, load
from boundshift._app.fit import fit_table
from boundshift._app.folder import FILES, report_facts, write_folder
from boundshift.datasets import load_hepatitis


def is_whole(folder):
    """Return whether a folder holds everything that a fit writes, and can be used."""
    if sorted(path.name for path in folder.iterdir()) != sorted(FILES):
        return False
    Boundary.from_json((folder / "boundary.json").read_text())
    load(folder / "model.skops")
    return True


def in_child(work):
    """Run something in a process of its own, and return its number; 3 says that it was refused."""
    child = os.fork()
    if child:
        return child
    try:
        work()
        os._exit(0)
    except (InvalidInputError, OSError):
        os._exit(3)
    except BaseException:
        os._exit(4)


def code_of(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def kill(fitted, facts, folder, rounds):
    """Kill a writer at a random moment; the folder is always there, and always whole."""
    out = folder / "fit"
    other = folder / "other"
    other.write_text("mine")
    times = []
    for _ in range(3):
        began = time.perf_counter()
        write_folder(fitted, facts, out, force=True)
        times.append(time.perf_counter() - began)
    killed = 0
    for number in range(rounds):
        child = in_child(lambda: write_folder(fitted, facts, out, force=True))
        # From early to late, so that a few rounds meet a writer at work too.
        time.sleep(1.2 * min(times) * random.uniform(number, number + 1) / rounds)
        os.kill(child, signal.SIGKILL)
        killed += code_of(child) == -signal.SIGKILL
        assert is_whole(out)
    assert killed > rounds // 4, killed
    assert other.read_text() == "mine"
    names = {path.name for path in folder.iterdir() if not path.name.startswith(".fit.")}
    assert names == {"fit", "other"}, names


def race(fitted, facts, folder, rounds):
    """Let two runs write one folder: one succeeds, one is told, nothing is mixed."""
    for number in range(rounds):
        out = folder / f"fit{number}"
        children = [
            in_child(lambda: write_folder(fitted, facts, out))  # noqa: B023
            for _ in range(2)
        ]
        assert sorted(map(code_of, children)) == [0, 3]
        assert is_whole(out)
    assert len(list(folder.iterdir())) == rounds


def full(fitted, facts, folder, rounds):
    """Let files end where a disk would: the old folder stays, and no part of a new one."""
    out = folder / "fit"
    write_folder(fitted, facts, out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    largest = max(map(len, before.values()))

    def limited(size):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        write_folder(fitted, facts, out, force=True)

    for share in (0, 0.01, 0.1, 0.5, 0.9)[:rounds]:
        assert code_of(in_child(lambda: limited(int(share * largest)))) == 3  # noqa: B023
        assert {path.name: path.read_bytes() for path in out.iterdir()} == before
        assert [path.name for path in folder.iterdir()] == ["fit"]


if __name__ == "__main__":
    what, folder, *rounds = sys.argv[1:]
    shared = fit_table(load_hepatitis(as_frame=True).frame, "target")
    {"kill": kill, "race": race, "full": full}[what](
        shared, report_facts(shared, "fit"), Path(folder), int(*rounds or [100])
    )

import os
import stat
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from boundshift import InvalidInputError, find_boundary, load, save
from boundshift._writing import is_special, lock_file, write_whole


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_fresh_file_has_the_permissions_of_the_umask(tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        write_whole(tmp_path / "f", "text")
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "f") == mode


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path, mode):
    (tmp_path / "f").write_text("old")
    (tmp_path / "f").chmod(mode)
    write_whole(tmp_path / "f", "new")
    assert mode_of(tmp_path / "f") == mode
    assert (tmp_path / "f").read_text() == "new"


def test_a_link_stays_and_what_it_points_to_is_written(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "file")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "file").read_text() == "new"
    assert [p.name for p in (tmp_path / "folder").iterdir()] == ["file"]


def test_a_pipe_is_written_to_and_stays(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    write_whole(tmp_path / "pipe", "text", new=True)
    reader.join(10)
    assert read == [b"text"]
    assert is_special(tmp_path / "pipe")


def test_a_boundary_can_be_saved_to_a_device(tmp_path):
    save(find_boundary([0, 0, 1, 1], [0, 1, 2, 3]), "/dev/null")
    assert is_special(tmp_path / "/dev/null")


def test_a_new_file_takes_no_name_that_is_taken(tmp_path):
    (tmp_path / "f").write_text("old")
    with pytest.raises(InvalidInputError, match="must not exist"):
        write_whole(tmp_path / "f", "new", new=True)
    assert (tmp_path / "f").read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


def test_of_many_writers_of_one_new_file_one_succeeds(tmp_path):
    boundary = find_boundary([0, 0, 1, 1], [0, 1, 2, 3])
    start = threading.Barrier(8)

    def write(_):
        start.wait()
        try:
            save(boundary, tmp_path / "b.json")
        except InvalidInputError:
            return "refused"
        return "written"

    with ThreadPoolExecutor(8) as writers:
        outcomes = sorted(writers.map(write, range(8)))
    assert outcomes == ["refused"] * 7 + ["written"]
    assert load(tmp_path / "b.json") == boundary
    assert [p.name for p in tmp_path.iterdir()] == ["b.json"]


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot synchronise a folder")
def test_content_and_name_are_on_the_disk_before_it_returns(tmp_path, monkeypatch):
    calls = []
    sync = os.fsync
    replace = os.replace

    def noted_sync(handle):
        calls.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "content")
        sync(handle)

    def noted_replace(*names, **options):
        calls.append("name")
        replace(*names, **options)

    monkeypatch.setattr("os.fsync", noted_sync)
    monkeypatch.setattr("os.replace", noted_replace)
    write_whole(tmp_path / "f", "text")
    assert calls == ["content", "name", "folder"]


def test_a_lock_is_held_by_one_at_a_time_and_leaves_no_file(tmp_path):
    held = []
    most = []

    def work(number):
        for _ in range(20):
            with lock_file(tmp_path / "f"):
                held.append(number)
                most.append(len(held))
                held.remove(number)

    with ThreadPoolExecutor(8) as workers:
        list(workers.map(work, range(8)))
    assert max(most) == 1
    assert len(most) == 160
    assert list(tmp_path.iterdir()) == []


def test_a_lock_is_given_up_after_an_error(tmp_path):
    with pytest.raises(ZeroDivisionError), lock_file(tmp_path / "f"):
        raise ZeroDivisionError
    waited = []
    with lock_file(tmp_path / "f", lambda: waited.append(1)):
        assert not waited

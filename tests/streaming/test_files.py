"""Files: the suite in every format, names and folders, damage."""

import gzip
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from boundshift import InvalidInputError, MissingExtraError, streaming
from tests.streaming.suite import EngineSuite, assert_same_boundary, parts_of, problem


def table_of(parts):
    """Return all parts as one table, a record batch each."""
    parts = [part for part in parts if len(part["label"])]
    columns = {name: pa.chunked_array([pa.array(p[name]) for p in parts]) for name in parts[0]}
    return pa.table({"id": np.arange(len(columns["label"]))} | columns)


WRITERS = {
    "parquet": pa.parquet.write_table,
    "csv": pa.csv.write_csv,
}


def write(folder, parts, ending="parquet"):
    """Write a file for each part that has rows, and return the glob of all."""
    for i, part in enumerate(part for part in parts if len(part["label"])):
        WRITERS[ending](table_of([part]), folder / f"part-{i}.{ending}")
    return f"{folder}/part-*"


@pytest.mark.parametrize("ending", WRITERS, scope="class")
class TestFiles(EngineSuite):
    second = "part-1"

    @pytest.fixture
    def frame(self, ending, tmp_path_factory):
        return lambda parts: write(tmp_path_factory.mktemp("files"), parts, ending)


@pytest.fixture
def folder(tmp_path):
    """Return a folder with the problem in one Parquet file."""
    write(tmp_path, parts_of(problem(), [3000]))
    return tmp_path


def test_folders_lists_and_compressed_files(tmp_path):
    y, s = problem()
    first, second = parts_of((y, s), [1000, 2000])
    write(tmp_path, [first])
    path = tmp_path / "rest.csv.gz"
    with gzip.open(path, "wb") as file:
        pa.csv.write_csv(table_of([second]), file)
    for data in ([tmp_path / "part-0.parquet", path], tmp_path):
        assert_same_boundary(streaming.scan_boundary(data), y, s)


def test_progress_counts_the_parts(tmp_path):
    data = write(tmp_path, parts_of(problem(), [1000, 2000]))
    seen = []
    streaming.scan_boundary(data, progress=lambda *call: seen.append(call))
    assert seen[:2] == [("pass 1", 1, 2), ("pass 1", 2, 2)]


UNUSABLE = {
    "nothing-*.parquet": (None, "matches none"),
    "scores.xlsx": (b"", "end in .*got 'scores.xlsx'"),
    "scores.parquet.gz": (b"", "end in .*got 'scores.parquet.gz'"),
    "broken.parquet": (b"no", r"broken\.parquet must be a whole Parquet file"),
    "scores.feather": (b"", "end in .*got 'scores.feather'. Write Parquet"),
    "scores.csv.zst": (b"", "end in .*got 'scores.csv.zst'. Write Parquet"),
    "other.csv": (b"label,margin\n1,2\n", r"other\.csv has no column 'score'"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_files_that_cannot_be_used_are_refused(folder, name):
    content, words = UNUSABLE[name]
    if content is not None:
        (folder / name).write_bytes(content)
    with pytest.raises(InvalidInputError, match=words):
        streaming.scan_boundary([folder / "part-0.parquet", folder / name])


def test_a_missing_library_is_named(monkeypatch, folder):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"\.\[arrow\]"):
        streaming.scan_boundary(folder)


def test_columns_in_paths_and_remote_files_are_for_other_readers(tmp_path):
    (tmp_path / "fraud=1").mkdir()
    pa.parquet.write_table(pa.table({"score": [1.0]}), tmp_path / "fraud=1" / "part.parquet")
    with pytest.raises(InvalidInputError, match=r"in the path .* partitioning='hive'"):
        streaming.scan_boundary(tmp_path, label="fraud")
    with pytest.raises(InvalidInputError, match=r"on this machine, .* pyarrow\.dataset"):
        streaming.scan_boundary("s3://bucket/scores.parquet")


def test_whole_numbers_at_the_start_are_no_type(tmp_path):
    y = np.arange(400_000) % 2
    s = np.zeros(400_000)
    s[-30_000:] = np.linspace(-1, 1, 30_000) + 2 * y[-30_000:]
    cells = [f"{a},{int(b) if b == 0 else b}" for a, b in zip(y, s.tolist(), strict=True)]
    (tmp_path / "scores.csv").write_text("\n".join(["label,score", *cells]))
    found = streaming.scan_boundary(tmp_path / "scores.csv", curve="empirical")
    assert_same_boundary(found, y, s, curve="empirical")


@pytest.mark.parametrize(("ending", "mark"), [("csv", ";"), ("tsv", "\t"), ("txt", "|")])
def test_values_are_separated_by_what_the_header_has(tmp_path, ending, mark):
    y, s = problem()
    lines = [f"score{mark}label", *(f"{b}{mark}{a}" for a, b in zip(y, s.tolist(), strict=True))]
    (tmp_path / f"scores.{ending}").write_text("\n".join(lines) + "\n")
    assert_same_boundary(streaming.scan_boundary(tmp_path), y, s)


@pytest.mark.parametrize(
    "aside", [".ipynb_checkpoints/copy", "_temporary/0/part-7", "_delta_log/x", ".hidden", "_part"]
)
def test_what_stands_aside_in_a_folder_is_no_data(folder, aside):
    copy = folder / f"{aside}.parquet"
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_bytes((folder / "part-0.parquet").read_bytes())
    for data in (folder, f"{folder}/**/*.parquet"):
        assert sum(streaming.scan_boundary(data).n_samples) == 3000
    assert sum(streaming.scan_boundary(copy).n_samples) == 3000

"""Engines of this machine: chunks, memory maps, Arrow, files."""

import gzip
import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

from boundshift import InvalidInputError, certify, find_boundary, streaming
from boundshift.streaming.read import read
from tests.streaming.suite import (
    EngineSuite,
    assert_same_boundary,
    named,
    parts_of,
    problem,
)


def column(values):
    """Return an Arrow array, with nulls for missing values."""
    return pa.array(list(values), from_pandas=True) if not len(values) else pa.array(values)


def table_of(parts):
    """Return all parts as one table, a record batch each."""
    parts = [part for part in map(named, parts) if len(part["label"])]
    columns = {name: pa.chunked_array([column(part[name]) for part in parts]) for name in parts[0]}
    return pa.table({"id": np.arange(len(columns["label"]))} | columns)


def chunk_of(part):
    """Return labels, scores, one column or a matrix, and what else there is."""
    part = dict(named(part))
    scores = [part.pop(name) for name in list(part) if name.startswith("score")]
    joined = scores[0] if len(scores) == 1 else np.column_stack(scores)
    return part.pop("label"), joined, *part.values()


class TestChunks(EngineSuite):
    second = "chunk 1"
    has_names = False

    @pytest.fixture
    def frame(self):
        return lambda parts: [chunk_of(part) for part in parts]


class TestFunctionOfChunks(EngineSuite):
    second = "chunk 1"
    has_names = False

    @pytest.fixture
    def frame(self):
        return lambda parts: lambda: iter([chunk_of(part) for part in parts])

    @pytest.fixture
    def find(self):
        def run(parts, pos_label=None, **options):
            chunks = [chunk_of(part) for part in parts]
            given = [
                lambda i=i: iter([chunk[i] for chunk in chunks]) for i in range(len(chunks[0]))
            ]
            if len(given) == 3:
                options["sample_weight"] = given.pop()
            return find_boundary(*given, pos_label=pos_label, **options)

        return run

    @pytest.fixture
    def find_weighted(self, find):
        return find


class TestArrowTable(EngineSuite):
    second = "rows"

    @pytest.fixture
    def frame(self):
        return table_of


def write_parquet(path, parts):
    for i, part in enumerate(parts):
        pa.parquet.write_table(table_of([part]), path / f"part-{i}.parquet")


def write_feather(path, parts):
    for i, part in enumerate(parts):
        pa.feather.write_feather(table_of([part]), path / f"part-{i}.feather")


def write_csv(path, parts):
    for i, part in enumerate(parts):
        pa.csv.write_csv(table_of([part]), path / f"part-{i}.csv")


def write_tsv(path, parts):
    for i, part in enumerate(parts):
        options = pa.csv.WriteOptions(delimiter="\t")
        pa.csv.write_csv(table_of([part]), path / f"part-{i}.tsv", options)


def write_lines(path, parts):
    for i, part in enumerate(parts):
        table = table_of([part])
        rows = [json.dumps(row, default=float) for row in table.to_pylist()]
        (path / f"part-{i}.jsonl").write_text("\n".join(rows).replace("NaN", "null") + "\n")


@pytest.mark.parametrize(
    "write", [write_parquet, write_feather, write_csv, write_tsv, write_lines], scope="class"
)
class TestFiles(EngineSuite):
    second = "part-1"

    @pytest.fixture
    def frame(self, write, tmp_path_factory):
        def files(parts):
            folder = tmp_path_factory.mktemp("files")
            write(folder, [part for part in parts if len(named(part)["label"])])
            return str(folder / "part-*")

        return files


def test_arrays_in_memory_may_have_a_partner_on_disk_or_in_arrow(tmp_path):
    y, s = problem()
    np.save(tmp_path / "s.npy", s)
    mapped = np.load(tmp_path / "s.npy", mmap_mode="r")
    assert_same_boundary(find_boundary(y.tolist(), mapped), y, s)
    assert_same_boundary(find_boundary(y, pa.array(s)), y, s)


def test_memory_maps(tmp_path):
    y, s = problem()
    maps = []
    for name, values in (("y", y), ("s", s)):
        np.save(tmp_path / f"{name}.npy", values)
        maps.append(np.load(tmp_path / f"{name}.npy", mmap_mode="r"))
    found = find_boundary(*maps, curve="smoothed")
    assert_same_boundary(found, y, s, curve="smoothed")
    assert certify(*maps, found.threshold) == certify(y, s, found.threshold)


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64(), pa.int64(), pa.decimal128(9, 3)])
def test_arrow_arrays_of_any_number(kind):
    y, s = problem()
    scores = pa.array(np.round(s * 10)).cast(kind)
    expected = np.asarray(scores.cast(pa.float64()))
    found = find_boundary(pa.array(y).dictionary_encode(), scores, curve="kth-point")
    assert_same_boundary(found, y, expected, curve="kth-point")


def test_folders_lists_and_compressed_files(tmp_path):
    y, s = problem()
    first, second = parts_of(y, s, [1000, 2000])
    write_parquet(tmp_path, [first])
    text = "label,score\n" + "\n".join(
        f"{a},{b!r}" for a, b in zip(*map(list, second), strict=True)
    )
    with gzip.open(tmp_path / "rest.csv.gz", "wt") as file:
        file.write(text.replace("np.float64(", "").replace(")", ""))
    expected = find_boundary(y, s).threshold
    names = [tmp_path / "part-0.parquet", tmp_path / "rest.csv.gz"]
    assert streaming.scan_boundary(names).threshold == pytest.approx(expected, abs=1e-5)
    assert streaming.scan_boundary(tmp_path).threshold == pytest.approx(expected, abs=1e-5)


def test_progress_counts_the_parts(tmp_path):
    y, s = problem()
    write_parquet(tmp_path, parts_of(y, s, [1000, 2000]))
    seen = []
    streaming.scan_boundary(tmp_path, progress=lambda *call: seen.append(call))
    assert seen[:2] == [("pass 1", 1, 2), ("pass 1", 2, 2)]


def test_bad_names_are_refused(tmp_path):
    y, s = problem()
    write_parquet(tmp_path, [(y, s)])
    with pytest.raises(InvalidInputError, match=r"matches none"):
        streaming.scan_boundary(tmp_path / "nothing-*.parquet")
    with pytest.raises(InvalidInputError, match=r"`score` must name one of the columns 'id', 'lab"):
        streaming.scan_boundary(tmp_path, score="margin")
    for name in ("scores.xlsx", "scores.parquet.gz"):
        (tmp_path / name).write_text("")
        with pytest.raises(InvalidInputError, match=f"end in .*got '{name}'"):
            streaming.scan_boundary(tmp_path / name)
    (tmp_path / "broken.parquet").write_text("no")
    with pytest.raises(InvalidInputError, match=r"broken\.parquet must be a whole Parquet file"):
        streaming.scan_boundary(tmp_path / "broken.parquet")
    with pytest.raises(InvalidInputError, match="frame"):
        streaming.scan_boundary(5)


def test_names_and_elements_that_cannot_be_used_are_refused(tmp_path):
    y, s = problem()
    with pytest.raises(InvalidInputError, match="`label` must be left out for pairs"):
        streaming.scan_boundary([(y, s)], label="fraud")
    with pytest.raises(InvalidInputError, match="`score` must be left out for pairs"):
        streaming.scan_certificate([(y, s)], 1.0, score="margin")
    write_parquet(tmp_path, [(y, s)])
    for data in ([(y, s)], table_of([(y, s)]), tmp_path):
        with pytest.raises(InvalidInputError, match="`element` must be left out but for a Spark"):
            streaming.scan_boundary(data, element=0)


def test_scores_that_are_no_numbers_are_refused():
    y, _ = problem()
    with pytest.raises(InvalidInputError, match="must be real numbers, got string"):
        find_boundary(pa.array(y), pa.array(["a"] * len(y)))
    with pytest.raises(InvalidInputError, match="must be real numbers"):
        streaming.scan_boundary([(y, np.array(["a"] * len(y)))])
    with pytest.raises(InvalidInputError, match="one-dimensional"):
        streaming.scan_boundary([(y, np.zeros((len(y), 2)))])
    with pytest.raises(InvalidInputError, match="same length, got 3000 labels and 2 scores"):
        streaming.scan_boundary([(y, np.zeros(2))])
    with pytest.raises(InvalidInputError, match="of one kind"):
        find_boundary(pa.array(y), [np.zeros(len(y))])
    with pytest.raises(InvalidInputError, match="must be an Arrow array, got Table"):
        find_boundary(pa.array(y), table_of([(y, y)]))


def test_a_missing_library_is_named(tmp_path):
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from boundshift import MissingExtraError, streaming\n"
        "try: streaming.scan_boundary('a.parquet')\n"
        "except MissingExtraError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ".[arrow]" in done.stdout


@pytest.mark.parametrize(("ending", "codec"), [("gz", "gzip"), ("bz2", "bz2"), ("zst", "zstd")])
def test_compressed_text_is_read(tmp_path, ending, codec):
    y, s = problem()
    path = tmp_path / f"scores.csv.{ending}"
    with pa.CompressedOutputStream(str(path), codec) as file:
        pa.csv.write_csv(pa.table({"label": y, "score": s}), file)
    assert_same_boundary(streaming.scan_boundary(path), y, s)


def test_every_name_must_match_a_file(tmp_path):
    y, s = problem()
    write_parquet(tmp_path, [(y, s)])
    with pytest.raises(InvalidInputError, match=r"missing\.csv.*matches none"):
        streaming.scan_boundary([tmp_path / "part-0.parquet", tmp_path / "missing.csv"])


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_whole_numbers_at_the_start_are_no_type(tmp_path, ending):
    y, s = np.arange(400_000) % 2, np.zeros(400_000)
    s[-30_000:] = np.linspace(-1, 1, 30_000) + 2 * y[-30_000:]
    path = tmp_path / f"scores.{ending}"
    lines = ['{{"label": {}, "score": {}}}', "{},{}"][ending == "csv"]
    text = [lines.format(a, int(b) if b == 0 else b) for a, b in zip(y, s.tolist(), strict=True)]
    path.write_text("\n".join((["label,score"] if ending == "csv" else []) + text) + "\n")
    assert_same_boundary(streaming.scan_boundary(path, curve="kth-point"), y, s, curve="kth-point")


def test_a_file_with_other_columns_is_named(tmp_path):
    y, s = problem()
    write_parquet(tmp_path, [(y, s)])
    pa.csv.write_csv(pa.table({"label": y, "margin": s}), tmp_path / "other.csv")
    with pytest.raises(InvalidInputError, match=r"'label', 'margin' of other\.csv, got 'score'"):
        streaming.scan_boundary(tmp_path)


@pytest.mark.parametrize(("ending", "mark"), [("csv", ";"), ("tsv", "\t"), ("txt", "|")])
def test_values_are_separated_by_what_the_header_has(tmp_path, ending, mark):
    y, s = problem()
    lines = [f"score{mark}label", *(f"{b}{mark}{a}" for a, b in zip(y, s.tolist(), strict=True))]
    (tmp_path / f"scores.{ending}").write_text("\n".join(lines) + "\n")
    assert_same_boundary(streaming.scan_boundary(tmp_path), y, s)


@pytest.mark.parametrize(
    "aside", [".ipynb_checkpoints/copy", "_temporary/0/part-7", "_delta_log/x", ".hidden", "_part"]
)
def test_what_stands_aside_in_a_folder_is_no_data(tmp_path, aside):
    y, s = problem()
    write_parquet(tmp_path, [(y, s)])
    copy = tmp_path / f"{aside}.parquet"
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_bytes((tmp_path / "part-0.parquet").read_bytes())
    for data in (tmp_path, f"{tmp_path}/**/*.parquet"):
        assert sum(streaming.scan_boundary(data).n_samples) == len(y)
    assert sum(streaming.scan_boundary(copy).n_samples) == len(y)


def test_a_partition_may_begin_with_an_underscore(tmp_path):
    y, s = problem()
    (tmp_path / "_day=1").mkdir()
    write_parquet(tmp_path / "_day=1", [(y, s)])
    assert sum(streaming.scan_boundary(tmp_path).n_samples) == len(y)


def test_rows_that_come_between_passes_are_noticed(tmp_path):
    y, s = problem()
    lines = [f"{int(a)},{float(b)}" for a, b in zip(y, s, strict=True)]
    path = tmp_path / "t.csv"
    path.write_text("label,score\n" + "\n".join(lines) + "\n")

    def append(*progress):
        with path.open("a") as file:
            file.write("1,0.5\n" * 500)

    with pytest.raises(InvalidInputError, match="written to meanwhile"):
        streaming.scan_boundary(path, progress=append)


def test_a_look_at_parquet_reads_the_first_rows_of_a_group(tmp_path, monkeypatch):
    rng = np.random.default_rng(11)
    y = rng.random(200_000) < 0.3
    write_parquet(tmp_path, [(y, rng.normal(size=len(y)) + y)])
    source = read(str(tmp_path))
    monkeypatch.setattr(
        pa.parquet.ParquetFile, "read_row_group", lambda *_, **__: pytest.fail("read whole")
    )
    (peeked,) = source.peek()
    assert 0 < len(peeked) < len(y)
    assert np.array_equal(peeked.labels, y[: len(peeked)])

"""Tables out of files and into them, and the labels of classes."""

import csv
import gzip
import io
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from boundshift import InvalidInputError
from boundshift._app.columns import find_spelling, read_cells
from boundshift._app.scores import ScoreTable
from boundshift._app.tables import (
    label_values,
    order_classes,
    positive_note,
    read_frame,
    with_gaps,
    write_frame,
)
from boundshift._validation import order_labels
from boundshift.streaming import _tables as batches
from boundshift.streaming import scan_boundary
from boundshift.streaming._tables import Reading, column_names


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": [40.0, None, 60.0] * 40,
            "town": ["Rome", None, "Bonn, Germany"] * 40,
            "score": rng.normal(size=120),
            "ill": np.arange(120) % 3 // 2,
        }
    )


ENDINGS = ["csv", "tsv", "parquet", "jsonl", "xlsx"]


def understood(frame):
    """Return a frame as a fit understands it."""
    columns = {}
    for name in frame.columns:
        cells = with_gaps(frame[name])
        spelling, _ = find_spelling(cells.dropna())
        columns[name] = read_cells(frame[name], spelling, name)
    return pd.DataFrame(columns)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_table_means_what_was_written(tmp_path, frame, ending):
    path = tmp_path / f"t.{ending}"
    write_frame(frame, path)
    pd.testing.assert_frame_equal(understood(read_frame(path)), frame, check_dtype=False)
    assert column_names(path) == list(frame.columns)


def test_words_for_missing_values_are_gaps_and_kept_as_written(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,x\n?,NA\nNaN,\nnull,y\n")
    found = read_frame(tmp_path / "t.csv")
    assert found["b"].tolist() == ["x", "NA", "", "y"]
    assert with_gaps(found["a"]).isna().tolist() == [False, True, True, True]
    assert with_gaps(found["b"]).isna().tolist() == [False, True, True, False]


def test_a_quoted_header_may_have_several_lines_and_delimiters(tmp_path):
    (tmp_path / "t.csv").write_text('"a\n(years; months)",b\n1,"x\ny"\n')
    assert column_names(tmp_path / "t.csv") == ["a\n(years; months)", "b"]
    assert read_frame(tmp_path / "t.csv").to_numpy().tolist() == [["1", "x\ny"]]


def test_quoted_rows_that_cross_blocks(tmp_path, monkeypatch):
    """Cut anywhere, a file of quoted line ends is the same table."""
    monkeypatch.setattr(batches, "_BLOCK", 64)
    rows = [(str(i), f'a "q"\n{i},' * (i % 7)) for i in range(200)]
    with (tmp_path / "t.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("n", "text"), *rows])
    assert [tuple(row) for row in read_frame(tmp_path / "t.csv").to_numpy()] == rows


ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "cp1252"]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_text_of_windows_is_read_and_its_encoding_said(tmp_path, monkeypatch, encoding):
    monkeypatch.setattr(batches, "_BLOCK", 64)
    names, rows = ["n", "Größe"], [["2", "Öl für 5 €"], ["3", "ß"]] * 20
    text = "".join(f"{a};{b}\r\n" for a, b in [names, *rows])
    (tmp_path / "t.csv").write_bytes(text.encode(encoding))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = read_frame(tmp_path / "t.csv")
    assert [list(found.columns), *found.to_numpy().tolist()] == [names, *rows]
    said = {str(warning.message).partition(". ")[0] for warning in caught}
    told = f"{tmp_path / 't.csv'} is not UTF-8 text and is read as {encoding}"
    assert said == (set() if encoding.startswith("utf-8") else {told})


def test_an_encoding_that_is_named_is_used(tmp_path):
    (tmp_path / "t.csv").write_bytes("Größe,b\n1,Ω\n".encode("mac-roman"))
    found = read_frame(tmp_path / "t.csv", reading=Reading("mac-roman"))
    assert [*found.columns, *found.to_numpy()[0]] == ["Größe", "b", "1", "Ω"]


@pytest.mark.parametrize(
    ("above", "names", "said"),
    [
        ([["Donors of 2025", ""], ["", ""]], ["age", "ill"], True),
        ([["Donors", "of 2025"]], ["age", "ill"], False),
        ([], ["age", "ill"], False),
    ],
)
def test_a_title_above_the_names_of_an_excel_sheet(tmp_path, above, names, said):
    rows = [*above, names, [30, "no"], [40, "yes"]]
    pd.DataFrame(rows).to_excel(tmp_path / "t.xlsx", header=False, index=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = column_names(tmp_path / "t.xlsx")
    assert (found == names) == (len(above) != 1)
    assert any("Row 3" in str(warning.message) for warning in caught) == said


UNREADABLE = {
    "gzip without its ending": ("t.csv", gzip.compress(b"a,b\n1,2\n"), r"\.gz"),
    "half a letter of UTF-16": ("t.csv", "a,b\n1,2\n".encode("utf-16")[:-1], "utf-16 text"),
    "another encoding late": ("t.csv", b"a,b\n" + b"1,2\n" * 2_000_000 + b"1,\xfc\n", "UTF-8"),
    "zeros": ("t.csv", b"a,b\n1,2\n\0\0\0\n", "must be text, and is binary"),
    "deep JSON": ("t.jsonl", b'{"a":' * 20_000 + b"1" + b"}" * 20_000, "nested"),
    "a list in JSON": ("t.json", b'[{"a": 1}, {"a": 2}]', "one flat JSON object"),
    "a quote left open": ("t.csv", b'a,b\n1,"' + b"x\n" * 50, "quote"),
}


@pytest.mark.filterwarnings("ignore:.*is not UTF-8 text")
@pytest.mark.parametrize("case", UNREADABLE)
def test_what_cannot_be_read_is_said_with_its_cure(tmp_path, case):
    name, content, words = UNREADABLE[case]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInputError, match=words):
        read_frame(tmp_path / name)


def test_parquet_columns_of_one_name_are_refused(tmp_path):
    table = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    parquet.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(InvalidInputError, match="'a' more than once"):
        read_frame(tmp_path / "t.parquet")


def test_decimals_are_numbers(tmp_path):
    price = pa.array([1, 2]).cast(pa.decimal128(22, 2))
    parquet.write_table(pa.table({"price": price}), tmp_path / "t.parquet")
    assert read_frame(tmp_path / "t.parquet")["price"].dtype == np.float64


def test_a_quote_within_a_cell_is_a_letter(tmp_path, monkeypatch):
    monkeypatch.setattr(batches, "_BLOCK", 64)
    lines = [line for i in range(50) for line in (f"6'{i}\",a", f'{i},"x\ny"', f'5" pipe,{i}')]
    (tmp_path / "t.csv").write_text("\n".join(["size,text", *lines]) + "\n")
    found = read_frame(tmp_path / "t.csv")
    assert len(found) == 150
    assert found["size"][0] == "6'0\""
    assert found["text"][1] == "x\ny"


def test_offsets_that_lead_out_of_a_feather_file_are_refused(tmp_path):
    """Arrow would follow them, and the process would end."""
    offsets = np.arange(5, dtype=np.int32) * 3
    table = pa.table({"risk": [1.0, 2.0, 3.0, 4.0], "ill": ["abc", "xyz"] * 2})
    buffer = io.BytesIO()
    feather.write_feather(table, buffer, compression="uncompressed")
    astray = offsets.copy()
    astray[2] = 2**30
    raw = buffer.getvalue()
    assert raw.count(offsets.tobytes()) == 1
    raw = raw.replace(offsets.tobytes(), astray.tobytes())
    path = tmp_path / "t.feather"
    path.write_bytes(raw)
    for read in (
        lambda: read_frame(path),
        lambda: ScoreTable([path], "risk", "ill").sample,
        lambda: scan_boundary(path, label="ill", score="risk"),
    ):
        with pytest.raises(InvalidInputError, match="must be a whole Feather file"):
            read()


def test_pages_that_are_damaged_are_refused_in_passes(tmp_path):
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"risk": [1.0, 2.0] * 99, "ill": ["a", "b"] * 99}), path)
    raw = bytearray(path.read_bytes())
    raw[4:40] = b"\xff" * 36
    path.write_bytes(raw)
    with pytest.raises(InvalidInputError, match=r"t\.parquet"):
        scan_boundary(path, label="ill", score="risk")


PAIRS = [
    [0, 1],
    [-1, 1],
    [False, True],
    [0.0, 1.0],
    [1, 2],
    ["sick", "well"],
    ["fraud", "ok"],
]


@pytest.mark.parametrize("labels", PAIRS, ids=str)
@pytest.mark.parametrize("counts", [(10, 90), (90, 10), (50, 50)])
def test_the_rule_is_the_library_s(labels, counts):
    known = dict(zip(labels, counts, strict=True))
    for order in (labels, labels[::-1]):
        found = order_classes(order, [known[label] for label in order], None, "ill")
        assert found == order_labels(labels, counts=known)
    if not isinstance(labels[0], str) and labels != [1, 2]:  # they say it themselves
        assert order_classes(labels, counts, None, "ill", symmetric=False) == tuple(labels)


@pytest.mark.parametrize("labels", [["sick", "well"], [1, 2]])
def test_equally_frequent_words_are_asked_for_where_it_matters(labels):
    with pytest.raises(InvalidInputError, match=f"Use --positive {labels[1]}"):
        order_classes(labels, [50, 50], None, "ill", symmetric=False)
    named = order_classes(labels, [50, 50], str(labels[0]), "ill", symmetric=False)
    assert named == (labels[1], labels[0])
    assert order_classes(labels, [51, 50], None, "ill", symmetric=False) == tuple(labels)


def test_a_choice_of_ours_is_said():
    assert (
        "'b', the greater of two equally frequent ones (5 of 10 rows)"
        in (positive_note(None, ("a", "b"), (5, 5))[0])
    )
    assert positive_note(None, (False, True), (9, 1)) == []
    assert positive_note("a", ("b", "a"), (9, 1)) == []


@pytest.mark.parametrize("labels", [["Yes", "Yes ", "no"], ["Yes", "YES", "no"], ["a b", "a  B"]])
def test_labels_that_differ_only_by_blanks_or_case_are_refused(labels):
    with pytest.raises(InvalidInputError, match="blanks or case") as refused:
        order_classes(labels, [5] * len(labels), "Yes", "ill")
    assert all(repr(label) in str(refused.value) for label in labels[:2])


@pytest.mark.parametrize(
    "texts",
    [["01", "1"], ["inf", "0"], ["1e400", "0"], ["1" * 5000, "0"], ["1" * 20, "0"], ["1_0"]],
)
def test_what_no_float_holds_stays_text(texts):
    assert label_values(texts) == texts

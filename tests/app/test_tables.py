"""Tables out of files and into them, and the labels of classes."""

import csv
import gzip
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from boundshift import BoundaryWarning, InvalidInputError
from boundshift import _tables as batches
from boundshift._app.columns import find_spelling, read_cells
from boundshift._app.opening import Reading, column_names
from boundshift._app.tables import (
    label_values,
    order_classes,
    positive_note,
    read_frame,
    read_target,
    with_gaps,
    write_frame,
)


def understood(frame):
    """Return a frame as a fit understands it."""
    columns = {}
    for name in frame.columns:
        spelling, _ = find_spelling(with_gaps(frame[name]).dropna())
        columns[name] = read_cells(frame[name], spelling, name)
    return pd.DataFrame(columns)


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "xlsx"])
def test_a_table_means_what_was_written(tmp_path, ending):
    path = tmp_path / f"t.{ending}"
    columns = {"age": [40.0, None, 60.0] * 40, "town": ["Rome", None, "Bonn, Germany"] * 40}
    columns |= {"score": np.random.default_rng(0).normal(size=120), "ill": np.arange(120) % 3 // 2}
    frame = pd.DataFrame(columns)
    if ending == "xlsx":
        frame.to_excel(path, index=False)
    else:
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
    """Cut anywhere, a file of quoted line ends is the same table; 6'0" is no quote."""
    monkeypatch.setattr(batches, "_BLOCK", 64)
    rows = [(str(i), f'a "q"\n{i},' * (i % 7)) for i in range(200)]
    with (tmp_path / "t.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("n", "text"), *rows])
    assert [tuple(row) for row in read_frame(tmp_path / "t.csv").to_numpy()] == rows
    lines = [line for i in range(50) for line in (f"6'{i}\",a", f'{i},"x\ny"', f'5" pipe,{i}')]
    (tmp_path / "t.csv").write_text("\n".join(["size,text", *lines]) + "\n")
    found = read_frame(tmp_path / "t.csv")
    assert (len(found), found["size"][0], found["text"][1]) == (150, "6'0\"", "x\ny")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_text_of_windows_is_read_and_its_encoding_said(tmp_path, monkeypatch, encoding):
    monkeypatch.setattr(batches, "_BLOCK", 64)
    names = ["n", "Größe"]
    rows = [["2", "Öl für 5 €"], ["3", "ß"]] * 20
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
    ("above", "said"),
    [([["Donors of 2025", ""], ["", ""]], True), ([["Donors", "of 2025"]], False), ([], False)],
)
def test_a_title_above_the_names_of_an_excel_sheet(tmp_path, above, said):
    rows = [*above, ["age", "ill"], [30, "no"], [40, "yes"]]
    pd.DataFrame(rows).to_excel(tmp_path / "t.xlsx", header=False, index=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = column_names(tmp_path / "t.xlsx")
    assert (found == ["age", "ill"]) == (len(above) != 1)
    assert any("Row 3" in str(warning.message) for warning in caught) == said


def as_parquet(*columns):
    """Return a Parquet file whose columns are called a."""
    buffer = pa.BufferOutputStream()
    parquet.write_table(pa.table(list(map(pa.array, columns)), names=["a"] * len(columns)), buffer)
    return buffer.getvalue().to_pybytes()


PAGES = as_parquet(["a", "b"] * 99)
UNREADABLE = {
    "gzip without its ending": ("t.csv", gzip.compress(b"a,b\n1,2\n"), r"\.gz"),
    "half a letter of UTF-16": ("t.csv", "a,b\n1,2\n".encode("utf-16")[:-1], "utf-16 text"),
    "another encoding late": ("t.csv", b"a,b\n" + b"1,2\n" * 2_000_000 + b"1,\xfc\n", "UTF-8"),
    "zeros": ("t.csv", b"a,b\n1,2\n\0\0\0\n", "must be a table of text, and is not"),
    "a picture": (
        "t.csv",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\x81" * 9,
        "as pictures and archives are",
    ),
    "JSON": ("t.json", b'[{"a": 1}, {"a": 2}]', "end in .*got 't.json'. Write Parquet"),
    "a quote left open": ("t.csv", b'a,b\n1,"' + b"x\n" * 50, "quote"),
    "columns of one name": ("t.parquet", as_parquet([1], [2]), "'a' more than once"),
    "damaged pages": ("t.parquet", PAGES[:4] + b"\xff" * 36 + PAGES[40:], "cannot be read"),
}


@pytest.mark.filterwarnings("ignore:.*is not UTF-8 text")
@pytest.mark.parametrize("case", UNREADABLE)
def test_what_cannot_be_read_is_said_with_its_remedy(tmp_path, case):
    name, content, words = UNREADABLE[case]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInputError, match=words):
        read_frame(tmp_path / name)


def test_decimals_are_numbers(tmp_path):
    price = pa.array([1, 2]).cast(pa.decimal128(22, 2))
    parquet.write_table(pa.table({"price": price}), tmp_path / "t.parquet")
    assert understood(read_frame(tmp_path / "t.parquet"))["price"].tolist() == [1.0, 2.0]


CHOSEN = [([1, 0], (90, 10), 1), ([1, -1], (90, 10), 1), ([True, False], (90, 10), True)]
CHOSEN += [([1, 2], (90, 10), 2), (["sick", "well"], (10, 90), "sick")]
CHOSEN += [(["sick", "well"], (50, 50), "well")]


@pytest.mark.parametrize(("labels", "counts", "positive"), CHOSEN)
def test_the_positive_class_is_the_greater_sign_else_the_rarer(labels, counts, positive):
    assert order_classes(labels, counts, None, "ill")[1] == positive
    if counts == (50, 50):
        with pytest.raises(InvalidInputError, match="equally frequent"):
            order_classes(labels, counts, None, "ill", symmetric=False)
    else:
        assert order_classes(labels, counts, None, "ill", symmetric=False)[1] == positive
    assert order_classes(labels, counts, str(labels[1]).upper(), "ill")[1] == labels[1]


@pytest.mark.parametrize("cells", [["1", "0", ""], [1.0, 0.0, np.nan], ["1.0", "0.0", None]])
def test_a_gap_leaves_whole_numbers_whole(cells):
    kept, y, labels, _ = read_target(pd.DataFrame({"ill": cells * 10}), "ill")
    assert (repr(labels), len(kept)) == ("(0, 1)", 20)
    assert y.tolist() == [1, 0] * 10


def test_a_choice_of_ours_is_said():
    told = positive_note(None, ("a", "b"), (5, 5))[0]
    assert "'b', the greater of two equally frequent ones (5 of 10 rows)" in told
    assert (
        positive_note(None, (False, True), (9, 1)) == positive_note("a", ("b", "a"), (9, 1)) == []
    )


@pytest.mark.parametrize("labels", [["Yes", "Yes ", "no"], ["Yes", "YES"], ["a b", "a  B"]])
def test_labels_that_differ_only_by_blanks_or_case_are_one_class(labels):
    with pytest.warns(BoundaryWarning, match="are read as") as noted:
        merged = label_values(labels)
    assert len(set(merged[: len(labels) - ("no" in labels)])) == 1
    assert merged[0] in labels
    assert len(noted) == 1


KINDS = [(["-1", "+1"], [-1, 1]), (["0.0", " 1.0"], [0.0, 1.0]), (["False", "TRUE"], [False, True])]
NAMES = [["01", "1"], ["inf", "0"], ["1e400", "0"], ["1" * 5000, "0"], ["1" * 20, "0"], ["1_0"]]


@pytest.mark.parametrize(("texts", "labels"), [*KINDS, *((names, names) for names in NAMES)])
def test_labels_have_a_kind_unless_no_float_holds_them(texts, labels):
    found = label_values(texts)
    assert found == labels
    assert list(map(type, found)) == list(map(type, labels))

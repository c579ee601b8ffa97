import numpy as np
import pytest

from boundshift.exceptions import InvalidInputError
from lab.data.keel import Column, encode, read_keel, read_plain

KEEL = """% a comment
@relation toy
@attribute Height real[0.0,89.0]
@attribute v(g) integer [0, 9]
@attribute Colour {red, green, blue}
@attribute Class {positive,negative}
@data
1.5, 3, green, negative
2.5,4,red,positive
""".splitlines()


def test_keel_header_names_and_types():
    table = read_keel(KEEL)
    assert [column.name for column in table.columns] == ["Height", "v(g)", "Colour"]
    assert [column.categories for column in table.columns] == [None, None, ["red", "green", "blue"]]


def test_keel_row_of_another_length_is_refused():
    with pytest.raises(InvalidInputError, match="must have 4 values, row 3 has 2"):
        read_keel([*KEEL, "1,2"])


def test_keel_attribute_of_another_type_is_refused():
    with pytest.raises(InvalidInputError, match="@attribute note string"):
        read_keel(["@attribute note string", "@data", "x"])


def test_file_without_rows_is_refused():
    with pytest.raises(InvalidInputError, match="at least one row"):
        read_plain([])


def test_plain_label_and_identifiers_are_no_features():
    table = read_plain(["id1 0.5 0.25 cp", "id2 0.7 0.1 im"], delimiter=None, skip=(0,))
    assert table.labels == ["cp", "im"]
    assert [column.cells for column in table.columns] == [["0.5", "0.7"], ["0.25", "0.1"]]


def test_plain_column_with_a_word_is_categorical():
    table = read_plain(["M,1,a", "F,?,b"])
    assert [column.categories for column in table.columns] == [["F", "M"], None]


def test_missing_number_becomes_the_median():
    X, _ = encode([Column("x", ["1", "?", "5", "9", "<null>", "4"], None)])
    assert X[:, 0].tolist() == [1, 4.5, 5, 9, 4.5, 4]


def test_missing_category_becomes_the_most_frequent_one():
    X, names = encode([Column("c", ["a", "b", "b", "?"], ["a", "b"])])
    assert names == ["c=b"]
    assert X[:, 0].tolist() == [0, 1, 1, 1]


def test_three_categories_make_three_columns_in_declared_order():
    X, names = encode([Column("c", ["r", "g", "b"], ["r", "g", "b", "never"])])
    assert names == ["c=r", "c=g", "c=b"]
    np.testing.assert_array_equal(X, np.eye(3))


def test_value_that_the_header_forgot_is_kept():
    _, names = encode([Column("c", ["r", "g", "x"], ["r", "g"])])
    assert names == ["c=r", "c=g", "c=x"]


def test_mostly_missing_and_constant_features_are_dropped():
    columns = [
        Column("empty", ["?", "?", "1"], None),
        Column("constant", ["2", "2", "2"], None),
        Column("single", ["a", "a", "a"], ["a", "b"]),
        Column("kept", ["1", "2", "3"], None),
    ]
    X, names = encode(columns)
    assert names == ["kept"]
    assert X.shape == (3, 1)

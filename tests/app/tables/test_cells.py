import numpy as np
import pandas as pd
import pytest

from boundshift import InvalidInputError
from boundshift.app.tables import Spelling, find_spelling, read_cells
from boundshift.app.tables.cells import holds_dates

NUMBERS = {
    "plain": (["1", "-2.5", "+3e5", ".5", " 7 "], [1, -2.5, 3e5, 0.5, 7]),
    "thousands": (["1,234.50", "999", "-1,000,000"], [1234.5, 999, -1e6]),
    "decimal comma": (["3,14", "1.234,5", "-7"], [3.14, 1234.5, -7]),
    "a zero before three decimals": (["0,500", "1,250"], [0.5, 1.25]),
    "French": (["1\u202f234,5", "12 000"], [1234.5, 12000]),
    "Swiss": (["1'234.5", "7"], [1234.5, 7]),
    "euro": (["€30.09", "-€1", "12"], [30.09, -1, 12]),
    "euro behind": (["30,09 €", "1.000,00 €"], [30.09, 1000]),
    "dollars in thousands": (["$1,234", "$5"], [1234, 5]),
    "percent": (["87%", "3.5 %"], [87, 3.5]),
    "a typographic minus": (["\u22125", "3"], [-5, 3]),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_numbers_are_read_as_a_person_reads_them(case):
    texts, expected = NUMBERS[case]
    spelling, _ = find_spelling(pd.Series(texts))
    assert spelling.kind == "number"
    stored = Spelling.from_dict(spelling.to_dict())
    assert read_cells(pd.Series(texts), stored, "x").tolist() == expected


@pytest.mark.parametrize(
    "texts",
    [["01", "02"], ["1", "x"], ["1,2,3", "4"], ["€5", "$5"], ["87%", "0.9"], ["1_000"], ["٣"]],
)
def test_what_a_person_would_not_read_as_a_number_is_a_word(texts):
    assert find_spelling(pd.Series(texts))[0].kind == "word"


@pytest.mark.parametrize(
    "texts",
    [
        ["14/12/2021", "1/2/2022"],
        ["2021-12-14", "2021-12-14 10:30:00"],
        ["14.12.2021"],
        ["2021-12-14T10:30:00Z"],
        ["14 Dec 2021"],
        ["Dec 14, 2021"],
        ["10:30"],
    ],
)
def test_dates_are_dates(texts):
    assert holds_dates(pd.Series(texts))


@pytest.mark.parametrize("texts", [["3.14"], ["1/2"], ["1.2.3.4"], ["12-34"], ["monday"]])
def test_what_is_no_date(texts):
    assert not holds_dates(pd.Series(texts))


@pytest.mark.parametrize(
    "cells",
    [
        ["True", "False", None],
        ["TRUE", "false", "NA"],
        [True, False, None],
        ["1", "0", ""],
        [1.0, 0.0, np.nan],
    ],
)
def test_a_truth_is_the_same_in_every_spelling(cells):
    found = read_cells(pd.Series(cells, dtype=object), Spelling("truth"), "x").tolist()
    assert found[:2] == ["true", "false"]
    assert np.isnan(found[2])


@pytest.mark.parametrize(
    ("spelling", "cell"),
    [
        (Spelling("number"), "high"),
        (Spelling("number"), "1,5"),
        (Spelling("number"), True),
        (Spelling("number", thousands=","), "3,14"),
        (Spelling("number", sign="%"), "87"),
        (Spelling("number", sign="%"), 0.87),
        (Spelling("truth"), "maybe"),
        (Spelling("word"), b"\xff"),
        (Spelling("word"), [1]),
    ],
)
def test_another_spelling_is_refused(spelling, cell):
    with pytest.raises(InvalidInputError, match=r"Column 'x' of new\.csv must hold"):
        read_cells(pd.Series([cell, None], dtype=object), spelling, "x", "new.csv")


@pytest.mark.parametrize(
    "stored",
    [None, {}, {"kind": "all"}, {"kind": "number", "decimal": "0"}, {"kind": "word", 1: 2}],
)
def test_a_spelling_that_no_fit_stored_is_refused(stored):
    with pytest.raises(ValueError, match="spelling"):
        Spelling.from_dict(stored)

"""How cells are spelled, and which columns are features."""

from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest

from boundshift import InvalidInputError
from boundshift._app.columns import (
    Cells,
    Reason,
    Role,
    Spelling,
    as_features,
    choose_columns,
    find_spelling,
    holds_dates,
    read_cells,
)

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
    stored = Spelling.from_dict(asdict(spelling))
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
    found = read_cells(pd.Series(cells, dtype=object), Spelling(Cells.TRUTH), "x").tolist()
    assert found[:2] == ["true", "false"]
    assert np.isnan(found[2])


@pytest.mark.parametrize(
    ("spelling", "cell"),
    [
        (Spelling(Cells.NUMBER), "high"),
        (Spelling(Cells.NUMBER), "1,5"),
        (Spelling(Cells.NUMBER), True),
        (Spelling(Cells.NUMBER, thousands=","), "3,14"),
        (Spelling(Cells.NUMBER, sign="%"), "87"),
        (Spelling(Cells.NUMBER, sign="%"), 0.87),
        (Spelling(Cells.TRUTH), "maybe"),
        (Spelling(Cells.WORD), b"\xff"),
        (Spelling(Cells.WORD), [1]),
    ],
)
def test_another_spelling_is_refused(spelling, cell):
    with pytest.raises(InvalidInputError, match=r"Column 'x' of new\.csv must hold"):
        read_cells(pd.Series([cell, None], dtype=object), spelling, "x", "new.csv")


def test_the_first_wrong_cell_in_the_order_of_rows_is_shown():
    cells = pd.Series(["7", None, "south", "north", "south"])
    with pytest.raises(InvalidInputError, match="must hold numbers, got 'south'"):
        read_cells(cells, Spelling(Cells.NUMBER), "site")


N = 60


def chosen(**columns):
    frame = pd.DataFrame(columns | {"ill": np.arange(N) % 2})
    return choose_columns(frame, "ill")


SPREAD = np.arange(N) * 17 % 1000
DAYS = pd.date_range("2020-01-01", periods=N)
LEFT_OUT = {
    Reason.COUNTS: {
        "row": np.arange(N),
        "tens": np.arange(N) * 10,
        "visit ID": np.maximum(np.arange(N), 1) * 17 % 1000,
        **dict.fromkeys(
            ["patient_id", "PatientID", "CustomerID", "customerId", "MRN", "nhs_number"], SPREAD
        ),
    },
    Reason.DISTINCT: {"remark": [f"person {i}" for i in range(N)]},
    Reason.NAMES: {
        name: [f"person {i % 9}" for i in range(N)]
        for name in ("name", "Nachname", "last_name", "Prénom", "customer name")
    },
    Reason.DATES: {
        "day": DAYS,
        "date": [day.date() for day in DAYS],
        "european": [f"{1 + i % 28}/12/2021" for i in range(N)],
    },
    Reason.CONSTANT: {"constant": [3.0] * N, "one_word": ["x"] * (N - 1) + [None]},
    Reason.EMPTY: {"nothing": [None] * N},
    Reason.NESTED: {"lists": [[1, 2]] * N, "bytes": [b"\xff", b"\xfe"] * (N // 2)},
}


@pytest.mark.parametrize("reason", LEFT_OUT)
def test_what_no_model_can_learn_from_is_left_out(reason):
    columns = chosen(**LEFT_OUT[reason], age=np.arange(N) % 7)
    assert columns.features == ["age"]
    assert set(columns.left_out.values()) == {reason}


@pytest.mark.parametrize(
    ("role", "made"),
    [
        (Role.CATEGORY, ("x", "category", "--category says so; one column for each category")),
        (Role.NUMBER, ("x", "number", "numbers; --numeric; scaled")),
        (Role.DROP, ("x", "left out", "--drop says so")),
        (Role.ID, ("x", "left out", "--id says so")),
    ],
)
def test_the_user_has_the_last_word(role, made):
    frame = pd.DataFrame({"x": np.arange(N), "age": np.arange(N) % 7, "ill": np.arange(N) % 2})
    described = choose_columns(frame, "ill", {"x": role}).described()
    assert made in described, described


def test_what_is_kept():
    shuffled = np.random.default_rng(0).permutation(N)
    numbers = {"few": np.arange(N) % 9, "share": shuffled / 7, "any": shuffled}
    numbers |= dict.fromkeys(("paid", "humid", "valid", "number_of_rooms"), shuffled * 7)
    words = {"truth": [True, False] * (N // 2), "word": ["a", "b", None] * (N // 3)}
    words["product_name"] = words["word"]
    columns = chosen(**numbers, **words)
    assert columns.numbers == list(numbers)
    assert columns.categories == list(words)


def test_a_counter_is_one_where_targets_are_missing():
    ill = (np.arange(N) % 2).astype(float)
    ill[[3, 17, 40]] = np.nan
    frame = pd.DataFrame({"row": np.arange(N), "age": np.arange(N) % 7, "ill": ill})
    assert choose_columns(frame, "ill").features == ["age"]


def test_every_column_is_described():
    described = chosen(paid=["1,234.50", "20"] * (N // 2), row=np.arange(N)).described()
    assert described == [
        ("paid", "number", "'1,234.50' is 1234.5; scaled"),
        ("row", "left out", "it counts or names the rows"),
    ]


def test_a_table_without_features_is_refused():
    with pytest.raises(InvalidInputError, match="at least one column"):
        chosen(constant=[1] * N)


def test_categories_are_spelled_as_files_spell_them():
    columns = chosen(smokes=[True, False] * (N // 2), code=[1.5, 2.5] * (N // 2))
    frame = pd.DataFrame({"smokes": [True, None], "code": ["1", "2"]})
    assert as_features(frame, columns).to_numpy().tolist()[0] == ["true", 1.0]


def test_words_for_a_gap_among_numbers_are_gaps():
    cells = ["1,5", "2,25", "k.A.", "-", "3,0"] * 5
    frame = pd.DataFrame({"CRP": cells, "arm": ["+", "-"] * 12 + ["+"], "y": [0, 1] * 12 + [0]})
    columns = choose_columns(frame, "y")
    assert columns.numbers == ["CRP"]
    assert columns["CRP"].missing == "10 of 25"
    assert columns.categories == ["arm"]
    found = as_features(frame, columns)["CRP"]
    assert found[:3].tolist()[:2] == [1.5, 2.25]
    assert found.isna().sum() == 10

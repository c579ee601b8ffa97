"""How cells are spelled, and which columns are features."""

from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest

from boundshift import InvalidInputError
from boundshift._app.columns import (
    Reason,
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
NO_NUMBERS = [["01", "02"], ["1", "x"], ["1,2,3", "4"], ["€5", "$5"], ["87%", "0.9"], ["1_000"]]


@pytest.mark.parametrize("case", NUMBERS)
def test_numbers_are_read_as_a_person_reads_them(case):
    texts, expected = NUMBERS[case]
    spelling, _ = find_spelling(pd.Series(texts))
    assert spelling.kind == "number"
    assert read_cells(pd.Series(texts), Spelling(**asdict(spelling)), "x").tolist() == expected


@pytest.mark.parametrize("texts", [*NO_NUMBERS, ["٣"]])
def test_what_a_person_would_not_read_as_a_number_is_a_word(texts):
    assert find_spelling(pd.Series(texts))[0].kind == "word"


DATES = [["14/12/2021", "1/2/2022"], ["2021-12-14", "2021-12-14 10:30:00"], ["14.12.2021"]]
DATES += [["2021-12-14T10:30:00Z"], ["14 Dec 2021"], ["Dec 14, 2021"], ["10:30"]]
NO_DATES = [["3.14"], ["1/2"], ["1.2.3.4"], ["12-34"], ["monday"]]


def test_a_few_mistyped_cells_leave_a_column_of_dates():
    times = [f"{hour}:{minute:02}" for hour in range(8, 16) for minute in range(0, 60, 7)]
    assert holds_dates(pd.Series([*times, "9.12", " "]))
    assert not holds_dates(pd.Series([*times[:20], "9.12", " "]))


@pytest.mark.parametrize("texts", [*DATES, *NO_DATES], ids=str)
def test_dates_are_dates(texts):
    assert holds_dates(pd.Series(texts)) == (texts in DATES)


TRUTHS = [["True", "False", None], ["TRUE", "false", "NA"], [True, False, None], ["1", "0", ""]]


@pytest.mark.parametrize("cells", [*TRUTHS, [1.0, 0.0, np.nan]])
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
        (Spelling("word"), [1]),
    ],
)
def test_another_spelling_is_refused(spelling, cell):
    with pytest.raises(InvalidInputError, match=r"Column 'x' of new\.csv must hold") as refused:
        read_cells(pd.Series([None, cell, "zz"], dtype=object), spelling, "x", "new.csv")
    assert f"got {cell!r}." in str(refused.value)  # the first in the order of rows


N = 60
AGE = np.arange(N) % 7
ILL = np.arange(N) % 2
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
    Reason.NESTED: {"lists": [[1, 2]] * N},
}


def chosen(roles=None, ill=ILL, **columns):
    return choose_columns(pd.DataFrame(columns | {"ill": ill}), "ill", roles)


@pytest.mark.parametrize("reason", LEFT_OUT)
def test_what_no_model_can_learn_from_is_left_out(reason):
    for ill in (ILL, np.where(np.arange(N) % 17, ILL, np.nan)):  # also where targets are missing
        columns = chosen(ill=ill, **LEFT_OUT[reason], age=AGE)
        assert columns.features == ["age"]
        assert set(columns.left_out.values()) == {reason}


def test_what_is_kept():
    shuffled = np.random.default_rng(0).permutation(N)
    numbers = {"few": np.arange(N) % 9, "share": shuffled / 7, "any": shuffled}
    numbers |= dict.fromkeys(("paid", "humid", "valid", "number_of_rooms"), shuffled * 7)
    words = {"truth": [True, False] * (N // 2), "word": ["a", "b", None] * (N // 3)}
    words |= {"product_name": words["word"], "bytes": [b"\xff", b"a"] * (N // 2)}
    columns = chosen(**numbers, **words)
    assert columns.numbers == list(numbers)
    assert columns.categories == list(words)


def test_every_column_is_described():
    assert chosen(paid=["1,234.50", "20"] * (N // 2), row=np.arange(N)).described() == [
        ("paid", "number", "'1,234.50' is 1234.5; scaled"),
        ("row", "left out", "it counts or names the rows"),
    ]


def test_categories_are_spelled_as_files_spell_them():
    columns = chosen(smokes=[True, False] * (N // 2), code=[1.5, 2.5] * (N // 2))
    frame = pd.DataFrame({"smokes": [True, None], "code": ["1", "2"]})
    assert as_features(frame, columns).to_numpy().tolist()[0] == ["true", 1.0]


def test_words_for_a_gap_among_numbers_are_gaps():
    cells = ["1,5", "2,25", "k.A.", "-", "3,0"] * 5
    frame = pd.DataFrame({"CRP": cells, "arm": ["+", "-"] * 12 + ["+"], "y": [0, 1] * 12 + [0]})
    columns = choose_columns(frame, "y")
    assert (columns.numbers, columns.categories) == (["CRP"], ["arm"])
    assert columns["CRP"].missing == "10 of 25"
    found = as_features(frame, columns)["CRP"]
    assert found[:2].tolist() == [1.5, 2.25]
    assert found.isna().sum() == 10

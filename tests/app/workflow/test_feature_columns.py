import numpy as np
import pandas as pd
import pytest

from boundshift import InvalidInputError
from boundshift.app.workflow import choose_columns
from boundshift.app.workflow.feature_columns import as_features

N = 60


def chosen(**columns):
    frame = pd.DataFrame(columns | {"ill": np.arange(N) % 2})
    return choose_columns(frame, "ill")


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("row", np.arange(N), "counts"),
        ("patient_id", np.arange(N) * 17 % 1000, "names the rows"),
        ("name", [f"person {i}" for i in range(N)], "names or free text"),
        ("day", pd.date_range("2020-01-01", periods=N), "dates"),
        ("date", [d.date() for d in pd.date_range("2020-01-01", periods=N)], "dates"),
        ("constant", [3.0] * N, "never varies"),
        ("one_word", ["x"] * (N - 1) + [None], "never varies"),
        ("nothing", [None] * N, "empty"),
        ("lists", [[1, 2]] * N, "lists"),
        ("PatientID", np.arange(N) * 17 % 1000, "names the rows"),
        ("CustomerID", np.arange(N) * 17 % 1000, "names the rows"),
        ("customerId", np.arange(N) * 17 % 1000, "names the rows"),
        ("MRN", np.arange(N) * 17 % 1000, "names the rows"),
        ("nhs_number", np.arange(N) * 17 % 1000, "names the rows"),
        ("visit ID", np.arange(N) * 3 // 4 * 17 % 1000, "names the rows"),
        ("tens", np.arange(N) * 10, "counts"),
        ("european", [f"{1 + i % 28}/12/2021" for i in range(N)], "dates"),
        ("bytes", [b"\xff", b"\xfe"] * (N // 2), "bytes"),
    ],
)
def test_what_no_model_can_learn_from_is_left_out(name, values, why):
    columns = chosen(**{name: values, "age": np.arange(N) % 7})
    assert list(columns.kinds) == ["age"]
    assert why in columns.left_out[name]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (np.arange(N) % 9, "number"),
        (np.random.default_rng(0).permutation(N) / 7, "number"),
        (np.random.default_rng(0).permutation(N), "number"),
        ([True, False] * (N // 2), "category"),
        (["a", "b", None] * (N // 3), "category"),
    ],
)
def test_what_is_kept(values, kind):
    assert chosen(x=values).kinds == {"x": kind}


def test_a_counter_is_one_where_targets_are_missing():
    ill = (np.arange(N) % 2).astype(float)
    ill[[3, 17, 40]] = np.nan
    frame = pd.DataFrame({"row": np.arange(N), "age": np.arange(N) % 7, "ill": ill})
    assert list(choose_columns(frame, "ill").kinds) == ["age"]


def test_every_column_is_described():
    described = chosen(paid=["1,234.50", "20"] * (N // 2), row=np.arange(N)).described()
    assert described == [
        ("paid", "number", "'1,234.50' is 1234.5"),
        ("row", "left out", "it counts or names the rows"),
    ]


@pytest.mark.parametrize("name", ["paid", "humid", "avoid", "valid", "number_of_rooms"])
def test_a_name_that_only_ends_like_an_id(name):
    assert name in chosen(**{name: np.random.default_rng(0).permutation(N) * 7}).kinds


def test_a_table_without_features_is_refused():
    with pytest.raises(InvalidInputError, match="at least one column"):
        chosen(constant=[1] * N)


def test_categories_are_spelled_as_files_spell_them():
    columns = chosen(smokes=[True, False] * (N // 2), code=[1.5, 2.5] * (N // 2))
    frame = pd.DataFrame({"smokes": [True, None], "code": ["1", "2"]})
    assert as_features(frame, columns).to_numpy().tolist()[0] == ["true", 1.0]

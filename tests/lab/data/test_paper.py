from pathlib import Path

import numpy as np
import pytest
from sklearn.svm import SVC
from sklearn.utils import Bunch

from boundshift.datasets import load_pima
from boundshift.exceptions import InvalidInputError
from lab.data.paper import PAPER_DATASETS, paper_split

# Negative and positive rows of the training and the test part: the paper's table of data sets.
SIZES = {
    "synthetic": ([1000, 10], [1000, 1000]),
    "pima": ([250, 25], [250, 243]),
    "breast_cancer": ([178, 17], [179, 195]),
    "hepatitis": ([55, 13], [56, 13]),
    "heart": ([82, 24], [82, 24]),
}
RUNS = np.load(Path(__file__).parents[2] / "data" / "rivals_and_splits.npz")
SVM_RUNS = sorted(key.removesuffix("/C") for key in RUNS.files if key.endswith("/C"))
SYNTHETIC_RUNS = [f"gaussian_{seed}" for seed in range(2)]
every_problem = pytest.mark.parametrize("name", PAPER_DATASETS)
every_protocol = pytest.mark.parametrize("protocol", ["clean", "authors"])


def _authors_split(run):
    name, seed = run.rsplit("_", 1)
    name = "synthetic" if name == "gaussian" else name
    return paper_split(name, int(seed), protocol="authors")


def _row_set(X):
    return {tuple(row) for row in X.tolist()}


@every_problem
@every_protocol
def test_sizes_are_the_papers(name, protocol):
    split = paper_split(name, 2, protocol=protocol)
    assert (np.bincount(split.y_train).tolist(), np.bincount(split.y_test).tolist()) == SIZES[name]


@every_problem
@every_protocol
def test_training_features_span_minus_one_to_one(name, protocol):
    X_train = paper_split(name, 2, protocol=protocol).X_train
    np.testing.assert_allclose(X_train.min(axis=0), -1)
    np.testing.assert_allclose(X_train.max(axis=0), 1)


def test_test_part_is_scaled_by_the_training_part():
    raw = paper_split("pima", 0, scale=False)
    low, high = raw.X_train.min(axis=0), raw.X_train.max(axis=0)
    expected = 2 * (raw.X_test - low) / (high - low) - 1
    np.testing.assert_allclose(paper_split("pima", 0).X_test, expected, atol=1e-12)


@every_problem
def test_every_seed_gives_another_split(name):
    trains = {paper_split(name, seed).X_train.tobytes() for seed in range(20)}
    assert len(trains) == 20


@every_problem
def test_same_seed_same_split(name):
    np.testing.assert_array_equal(paper_split(name, 7).X_test, paper_split(name, 7).X_test)


@pytest.mark.parametrize("name", ["pima", "breast_cancer"])
@every_protocol
def test_train_and_test_make_up_the_data(name, protocol):
    split = paper_split(name, 3, protocol=protocol, scale=False)
    assert not _row_set(split.X_train) & _row_set(split.X_test)


def test_synthetic_test_points_are_new():
    split = paper_split("synthetic", 0, scale=False)
    assert not _row_set(split.X_train) & _row_set(split.X_test)


def test_authors_synthetic_training_points_are_all_test_points():
    split = paper_split("synthetic", 0, protocol="authors", scale=False)
    assert _row_set(split.X_train) <= _row_set(split.X_test)


@pytest.mark.parametrize("name", PAPER_DATASETS)
def test_authors_seed_one_is_seed_zero(name):
    zero, one = (paper_split(name, seed, protocol="authors", scale=False) for seed in (0, 1))
    assert _row_set(zero.X_train) == _row_set(one.X_train)


@pytest.mark.parametrize("run", SVM_RUNS)
def test_authors_split_gives_the_authors_scores(run):
    X_train, X_test, y_train, y_test = _authors_split(run)
    np.testing.assert_array_equal(y_train, RUNS[f"{run}/train_y"])
    np.testing.assert_array_equal(y_test, RUNS[f"{run}/test_y"])
    gamma = str(RUNS[f"{run}/gamma"])
    gamma = gamma if gamma in ("scale", "auto") else float(gamma)
    svm = SVC(C=float(RUNS[f"{run}/C"]), gamma=gamma).fit(X_train, y_train)
    for part, X in (("train", X_train), ("test", X_test)):
        scores = svm.decision_function(X) - svm.intercept_
        np.testing.assert_allclose(scores, RUNS[f"{run}/{part}_scores"], atol=1e-9)


@pytest.mark.parametrize("run", SYNTHETIC_RUNS)
def test_authors_synthetic_scores_are_one_linear_map_of_the_points(run):
    X_train, X_test, y_train, y_test = _authors_split(run)
    np.testing.assert_array_equal(y_train, RUNS[f"{run}/train_y"])
    np.testing.assert_array_equal(y_test, RUNS[f"{run}/test_y"])
    # Their solver's weights differ in the third digit, so solve for them.
    weights, *_ = np.linalg.lstsq(X_train, RUNS[f"{run}/train_scores"])
    np.testing.assert_allclose(X_train @ weights, RUNS[f"{run}/train_scores"], atol=1e-12)
    np.testing.assert_allclose(X_test @ weights, RUNS[f"{run}/test_scores"], atol=1e-12)


def test_bunch_of_a_known_name_is_split_as_that_name():
    from_name, from_bunch = paper_split("pima", 5), paper_split(load_pima(as_frame=True), 5)
    np.testing.assert_array_equal(from_name.X_train, from_bunch.X_train)


def test_other_bunch_is_split_into_halves():
    bunch = Bunch(data=np.arange(40.0).reshape(20, 2), target=np.repeat([0, 1], [15, 5]))
    split = paper_split(bunch, 0)
    assert np.bincount(split.y_train).tolist() == [7, 2]
    assert np.bincount(split.y_test).tolist() == [8, 3]


def test_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(InvalidInputError, match=r"pima, breast_cancer.*'iris'"):
        paper_split("iris", 0)


def test_unknown_protocol_is_refused():
    with pytest.raises(InvalidInputError, match="'clean' or 'authors', got 'paper'"):
        paper_split("pima", 0, protocol="paper")


@pytest.mark.parametrize("seed", [None, True, np.random.RandomState(0)])
def test_authors_protocol_needs_an_int(seed):
    with pytest.raises(InvalidInputError, match="needs an int"):
        paper_split("pima", seed, protocol="authors")


def test_labels_other_than_zero_and_one_are_refused():
    with pytest.raises(InvalidInputError, match=r"labels 0 and 1, got \[1, 2\]"):
        paper_split(Bunch(data=np.zeros((4, 1)), target=np.array([1, 1, 2, 2])), 0)

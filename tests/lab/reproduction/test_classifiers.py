import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.special import logit
from sklearn.model_selection import GridSearchCV

from lab.data.paper import paper_split
from lab.reproduction.train import (
    ClassifierOptions,
    make_classifier,
    weight_norm,
    with_probabilities,
)
from lab.training import decision_scores, fit_quietly

RUNS = np.load(Path(__file__).parents[2] / "data" / "rivals_and_splits.npz")


@pytest.fixture(scope="module")
def split():
    return paper_split("hepatitis", 2, protocol="authors")


def test_the_grid_is_the_papers():
    search = make_classifier("rbf-machine", ClassifierOptions())
    assert isinstance(search, GridSearchCV)
    assert search.param_grid == {
        "C": [0.1, 1, 10, 100, 500, 2000, 10000],
        "gamma": ["scale", "auto", 1, 0.1, 0.05, 0.01, 0.005, 0.001, 0.0001],
    }
    assert search.cv == 5


def test_the_search_scores_and_probabilities_are_the_authors(split):
    search = make_classifier("rbf-machine", ClassifierOptions(grid={"C": [100], "gamma": [0.001]}))
    model = search.fit(split.X_train, split.y_train).best_estimator_
    scores = decision_scores(model, split.X_test) - model.intercept_[0]
    np.testing.assert_allclose(scores, RUNS["hepatitis_2/test_scores"], atol=1e-9)
    probable = with_probabilities(model, split.X_train, split.y_train)
    found = probable.predict_proba(split.X_test)[:, 1]
    np.testing.assert_allclose(found, RUNS["hepatitis_2/test_proba"], atol=1e-6)


def test_a_networks_scores_are_the_logits_of_its_probabilities(split, small):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        network = fit_quietly(make_classifier("network", small), split.X_train, split.y_train)
    scores = decision_scores(network, split.X_test)
    probabilities = network.predict_proba(split.X_test)[:, 1]
    np.testing.assert_allclose(scores, logit(probabilities), atol=1e-9)
    assert weight_norm(network) == pytest.approx(np.sqrt((network.coefs_[-1] ** 2).sum()))

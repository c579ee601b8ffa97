"""Other methods beside ours: thresholds against brute force, and retrained models."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_sample_weight

from boundshift import InvalidInputError
from boundshift._app.comparison import (
    fit_balanced,
    fit_smote,
    tuned_threshold,
)
from boundshift.datasets import make_gaussians
from boundshift.metrics import binary_metrics

every_seed = pytest.mark.parametrize("seed", range(8))
X, Y = make_gaussians((200, 20), random_state=0)


def problem(seed, n=60):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.25).astype(int)
    y[:2] = 0, 1
    p = np.clip(0.3 + 0.25 * y + rng.normal(0, 0.2, n), 0, 1)
    return y, np.round(p, 2) if seed % 2 else p


@every_seed
@pytest.mark.parametrize("metric", ["balanced_accuracy", "g_mean"])
def test_no_cut_has_a_better_metric(seed, metric):
    y, p = problem(seed)
    values = np.unique(p)
    cuts = [-np.inf, *(values[:-1] + values[1:]) / 2, np.inf]
    best = max(binary_metrics(y, p > cut)[metric] for cut in cuts)
    found = binary_metrics(y, p > tuned_threshold(y, p, metric=metric))[metric]
    assert found == pytest.approx(best)


def test_the_lowest_of_equally_good_cuts_wins():
    # One false positive below 0.2, or one false negative below 0.4.
    assert 0.1 <= tuned_threshold([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4]) < 0.2


# Half-way cases round to even, so the middle falls on the lower float once and on the higher once.
@pytest.mark.parametrize("low", [0.5, np.nextafter(0.5, 1)])
def test_neighbouring_floats_are_still_separated(low):
    high = np.nextafter(low, 1)
    assert low <= tuned_threshold([0, 1], [low, high]) < high


@pytest.mark.parametrize("sizes", [[150, 50, 20], [200, 3], [200, 1], [50, 50]])
def test_smote_fills_every_class_up(sizes):
    labels = np.repeat(range(len(sizes)), sizes)
    base = GaussianNB()
    fitted = fit_smote(base, X[: len(labels)], labels, seed=0)
    assert fitted.class_count_.tolist() == [max(sizes)] * len(sizes)
    assert not hasattr(base, "class_count_")


@pytest.mark.parametrize(
    "base",
    [
        HistGradientBoostingClassifier(max_iter=5),
        make_pipeline(StandardScaler(), LogisticRegression()),
        GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=2),
    ],
    ids=lambda base: type(base).__name__,
)
def test_balanced_weights_are_set_wherever_a_classifier_has_them(base):
    params = fit_balanced(base, X, Y).get_params()
    assert [v for name, v in params.items() if name.endswith("class_weight")] == ["balanced"]


def test_balanced_weights_are_passed_where_a_classifier_takes_them():
    expected = GaussianNB().fit(X, Y, compute_sample_weight("balanced", Y)).class_prior_
    assert (fit_balanced(GaussianNB(), X, Y).class_prior_ == expected).all()
    piped = fit_balanced(make_pipeline(StandardScaler(), GaussianNB()), X, Y)
    assert piped[-1].class_prior_ == pytest.approx(expected)
    with pytest.raises(InvalidInputError, match="got KNeighborsClassifier"):
        fit_balanced(KNeighborsClassifier(), X, Y)

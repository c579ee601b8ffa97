import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import cross_val_predict

from lab.suite.data import load_rows, split
from lab.suite.train import MODELS, platt, prepared

RESPONSE = {"logistic": "decision_function", "forest": "predict_proba"}


@pytest.fixture(scope="module")
def parts():
    return split(load_rows("new_thyroid1"), 0)


def _pipeline(model, raw):
    chosen = dict(part.split("=") for part in raw.parameters.split(", ") if part)
    numbers = {k: v if v == "scale" else float(v) for k, v in chosen.items()}
    return prepared(MODELS[model].classifier(0, numbers))


@pytest.mark.parametrize("model", RESPONSE)
def test_out_of_fold_scores_are_scikit_learns(model, parts, fitted_of):
    raw = fitted_of(model).raw
    found = cross_val_predict(
        _pipeline(model, raw), parts.train.X, parts.train.y, cv=5, method=RESPONSE[model]
    )
    found = found[:, 1] if found.ndim == 2 else found
    np.testing.assert_allclose(raw.out_of_fold, found, atol=1e-9)


def test_the_network_scores_rows_by_its_last_sum(parts, fitted_of):
    fitted = fitted_of("mlp")
    probability = 1 / (1 + np.exp(-fitted.raw.test))
    model = prepared(MODELS["mlp"].classifier(0, {}))
    with pytest.warns(match="Maximum iterations"):
        model.fit(parts.train.X, parts.train.y)
    np.testing.assert_allclose(probability, model.predict_proba(parts.test.X)[:, 1], atol=1e-9)


def test_platts_sigmoid_is_scikit_learns(fitted_of):
    y, s = fitted_of("svm").out_of_fold
    machine = MODELS["svm"].make().fit(s[:, None], y)
    scores = machine.decision_function(s[:, None])
    calibrated = CalibratedClassifierCV(FrozenEstimator(machine), method="sigmoid").fit(
        s[:, None], y
    )
    slope, shift = platt(y, scores)
    expected = calibrated.predict_proba(s[:, None])[:, 1]
    np.testing.assert_allclose(1 / (1 + np.exp(-slope * scores - shift)), expected, atol=0.02)


def test_a_threshold_of_probabilities_divides_all_rows_alike(fitted_of):
    for model in ("logistic", "svm", "forest"):
        fitted = fitted_of(model)
        for source in ("training", "out-of-fold"):
            p = fitted.probabilities(source)
            s = fitted.sample(source).s
            for t in (-0.1, *np.unique(p)[:: max(1, len(p) // 10)], 0.5, 1.0):
                np.testing.assert_array_equal(s > fitted.at_probability(t).threshold, p > t)

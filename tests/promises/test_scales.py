"""Scores on another scale than that of a certificate or a zone are refused, or warned of."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from boundshift import (
    BoundaryWarning,
    BoundShiftClassifier,
    InvalidInputError,
    Monitor,
    Zone,
    certify,
    find_boundary,
    find_zone,
)
from tests.problems import two_normals

Y, MARGINS = two_normals(300, 100, 3.0)
MARGINS = MARGINS - 4.0  # every threshold that separates the classes is below 0


def test_a_monitor_of_margins_refuses_probabilities():
    monitor = Monitor(certify(Y, MARGINS, find_boundary(Y, MARGINS)))
    with pytest.raises(InvalidInputError, match="chose the certificate"):
        monitor.update(Y, expit(MARGINS))
    assert monitor.n_samples == (0, 0)
    # One class alone may well be on one side, and so may a row.
    monitor.update(Y[Y == 1], expit(MARGINS)[Y == 1])
    monitor.update(Y[:1], [0.3])
    assert monitor.n_samples == (1, 100)


def test_a_monitor_of_probabilities_refuses_margins():
    p = expit(MARGINS)
    monitor = Monitor(certify(Y, p, find_boundary(Y, p)))
    with pytest.raises(InvalidInputError, match="must be probabilities"):
        monitor.update(Y, MARGINS)


def test_a_zone_of_probabilities_refuses_margins():
    zone = find_zone(Y, expit(MARGINS))
    assert zone.scale == "probability"
    assert Zone.from_json(zone.to_json()).scale == "probability"
    for answer in (zone.predict, zone.is_unsure):
        with pytest.raises(InvalidInputError, match="must be probabilities"):
            answer(MARGINS)


@pytest.mark.parametrize("limits", [(-3.0, -1.0), (-3.0, 2.0), (1.5, 2.0), (0.02, 1.75)])
def test_a_zone_of_margins_doubts_probabilities(limits):
    zone = replace(find_zone(Y, MARGINS), low=limits[0], high=limits[1])
    with pytest.warns(BoundaryWarning, match="limits .* of the zone"):
        zone.predict(expit(MARGINS), unsure=-1)
    with pytest.warns(BoundaryWarning, match="limits .* of the zone"):
        replace(zone, precision=0.9, npv=0.9, errors=(1.0, 1.0)).predict(expit(MARGINS))
    with warnings.catch_warnings(action="error"):
        zone.predict(MARGINS, unsure=-1)
        replace(zone, scale=None).predict(expit(MARGINS), unsure=-1)


@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC()])
def test_the_certificate_of_a_classifier_is_watched_on_its_scale(model):
    X, y = make_classification(1200, weights=[0.8], flip_y=0.1, random_state=0)
    names = np.where(y, "a sick one", "healthy")  # the positive class is the first by name
    fitted = BoundShiftClassifier(model).fit(X[:600], names[:600])
    with warnings.catch_warnings(action="ignore"):
        monitor = Monitor(fitted.certificate_)
    assert fitted.certificate_.scale == fitted.boundary_.scale
    assert fitted.certificate_.labels == fitted.boundary_.labels
    monitor.update(names[600:], fitted.positive_scores(X[600:]))
    wrong = fitted.predict(X[600:]) != names[600:]
    sick = names[600:] == "a sick one"
    assert monitor.wrong == (int(np.sum(wrong & ~sick)), int(np.sum(wrong & sick)))

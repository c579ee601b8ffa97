"""Scores on another scale than that of a certificate or a zone are refused, or warned of."""

import warnings
from dataclasses import replace
from functools import partial

import pytest
from scipy.special import expit

from boundshift import (
    BoundaryWarning,
    InvalidInputError,
    Monitor,
    Zone,
    certify,
    find_boundary,
    find_zone,
)
from boundshift.metrics import metrics_at
from tests.problems import two_normals

Y, MARGINS = two_normals(300, 100, 3.0)
MARGINS = MARGINS - 4.0  # every threshold that separates the classes is below 0


def test_margins_refuse_probabilities():
    boundary = find_boundary(Y, MARGINS)
    monitor = Monitor(certify(Y, MARGINS, boundary))
    with pytest.raises(InvalidInputError, match="chose the certificate"):
        monitor.update(Y, expit(MARGINS))
    assert monitor.n_samples == (0, 0)
    # One class alone may well be on one side, and so may a row.
    monitor.update(Y[Y == 1], expit(MARGINS)[Y == 1])
    monitor.update(Y[:1], [0.3])
    assert monitor.n_samples == (1, 100)
    assert boundary.predict([0.3]).tolist() == [1]
    with pytest.warns(BoundaryWarning, match="like probabilities"):
        boundary.predict(expit(MARGINS))
    with pytest.raises(InvalidInputError, match="like probabilities"):
        certify(Y, expit(MARGINS), boundary)


def test_probabilities_refuse_margins():
    p = expit(MARGINS)
    boundary = find_boundary(Y, p)
    zone = find_zone(Y, p)
    monitor = Monitor(certify(Y, p, boundary))
    assert monitor.certificate.wrong == boundary.wrong
    assert Zone.from_json(zone.to_json()).scale == zone.scale == "probability"
    answers = (boundary.predict, zone.predict, zone.is_unsure, partial(monitor.update, Y))
    measured = partial(metrics_at, Y, thresholds=boundary)
    for answer in (*answers, measured, partial(certify, Y, threshold=boundary)):
        with pytest.raises(InvalidInputError, match="must be probabilities"):
            answer(y_score=MARGINS)
    # A mean of probabilities may be above 1 by its last digit.
    assert boundary.predict([1 + 1e-12]).tolist() == [1]


@pytest.mark.parametrize("limits", [(-3.0, -1.0), (-3.0, 2.0), (1.5, 2.0), (0.02, 1.75)])
def test_a_zone_of_margins_doubts_probabilities(limits):
    zone = replace(find_zone(Y, MARGINS), low=limits[0], high=limits[1])
    with pytest.warns(BoundaryWarning, match="limits .* of the zone"):
        zone.predict(expit(MARGINS), unsure=-1)
    with pytest.warns(BoundaryWarning, match="limits .* of the zone"):
        replace(zone, precision=0.9, npv=0.9, error_bounds=(1.0, 1.0)).predict(expit(MARGINS))
    with warnings.catch_warnings(action="error"):
        zone.predict(MARGINS, unsure=-1)
        replace(zone, scale=None).predict(expit(MARGINS), unsure=-1)

"""The lanes of both classes: what is solid, hollow and said, and awkward scores."""

import sys
from itertools import product

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from boundshift import (
    BoundaryWarning,
    BoundShiftClassifier,
    InvalidInputError,
    MissingExtraError,
    find_boundary,
)
from boundshift.plots import ProjectionDisplay, ThresholdDisplay


def vertical_lines(display):
    return [
        line.get_xdata()[0]
        for line in display.ax_.lines
        if line.get_transform() == display.ax_.get_xaxis_transform()
    ]


def points(display):
    shown = (c for c in display.ax_.collections if isinstance(c, PathCollection))
    return [len(c.get_offsets()) for c in shown]


def lane_texts(display):
    return [tick.get_text() for tick in display.ax_.get_yticklabels()]


def all_texts(display):
    legend = display.ax_.get_legend()
    texts = [text.get_text() for text in (*legend.get_texts(), legend.get_title())]
    return " ".join(" ".join([*texts, *lane_texts(display)]).split())


def test_as_many_points_are_hollow_as_were_given_up(problem):
    display = ProjectionDisplay.from_predictions(*problem, curve="support")
    slack = display.boundary.geometry.slack
    n = display.boundary.n_samples
    assert sum(slack) > 0
    assert points(display) == [n[0] - slack[0], slack[0], n[1] - slack[1], slack[1]]
    assert f"{slack[0]} given up" in lane_texts(display)[0]


@pytest.mark.parametrize(
    "claims", [{"curve": "logistic"}, {"curve": "empirical", "rule": "minimax"}]
)
def test_other_curves_have_hollow_points_on_the_wrong_side(problem, claims):
    y, scores = problem
    display = ProjectionDisplay.from_predictions(y, scores, **claims)
    t = display.boundary.threshold
    flagged = np.sum(scores[y == 0] > t)
    missed = np.sum(scores[y == 1] <= t)
    assert points(display) == [300 - flagged, flagged, 30 - missed, missed]
    assert f"{flagged} on the wrong side" in lane_texts(display)[0]
    assert f"claimed error {100 * display.boundary.errors[1]:.3g}%" in lane_texts(display)[1]
    assert not [line for line in display.ax_.lines if line.get_linestyle() == "--"]
    for word in ("given up", "kept", "radius", "confidence adds", "mean", "support of"):
        assert word not in all_texts(display)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_confidence_bars_of_both_classes_end_at_the_boundary(problem, sign):
    y, scores = problem
    display = ProjectionDisplay.from_predictions(y, sign * scores, curve="support")
    dashed = [line for line in display.ax_.lines if line.get_linestyle() == "--"]
    ends = [line.get_xdata()[1] for line in dashed]
    assert ends == pytest.approx([display.boundary.threshold] * 2)


def test_the_claims_of_reversed_scores_are_not_written_beside_their_lanes(problem):
    y, scores = problem
    with pytest.warns(BoundaryWarning):
        display = ProjectionDisplay.from_predictions(y, -scores)
    assert not any("claimed" in text for text in lane_texts(display))
    assert "once the scores are negated" in all_texts(display)


def test_a_classifier_is_drawn_by_its_scores_and_its_own_threshold():
    X, y = make_classification(400, weights=[0.9], random_state=0)
    labels = np.where(y == 1, "a sick", "well")  # the positive class is the lesser label
    model = LogisticRegression().fit(X, labels)
    shifted = BoundShiftClassifier(model, cv="prefit", pos_label="a sick").fit(X, labels)
    display = ProjectionDisplay.from_estimator(shifted, X, labels)
    expected = np.sort(model.predict_proba(X[labels == "a sick"])[:, 0])
    np.testing.assert_allclose(display.scores[1], expected)
    assert vertical_lines(display) == [shifted.threshold_, 0.5]
    assert "old boundary" in all_texts(display)
    # Scores of the user's own have no old boundary unless it is given.
    own = shifted.set_params(response_method=lambda m, X: m.decision_function(X)).fit(X, labels)
    assert vertical_lines(ProjectionDisplay.from_estimator(own, X, labels)) == [own.threshold_]


AWKWARD = {
    "one row each": ([0.0], [1.0]),
    "all alike": ([1.0, 1.0, 1.0], [1.0, 1.0]),
    "alike within": ([0.0] * 5, [1.0] * 3),
    "large offset": ([1e9, 1e9 + 1, 1e9 + 2], [1e9 + 5, 1e9 + 6]),
    "reversed": ([5.0, 6.0, 7.0], [0.0, 1.0]),
    "outlier": ([0.0, 1.0, 2.0, 1e12], [4.0, 5.0, 6.0]),
    "probabilities at the ends": ([0.0, 0.0, 0.1, 1.0], [1.0, 1.0, 0.0, 0.9]),
}
MAKERS = (ProjectionDisplay.from_predictions, ThresholdDisplay.from_predictions)


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize(
    ("make", "curve"),
    [
        *product(MAKERS, ["logistic", "support", "clopper-pearson"]),
        (ThresholdDisplay.metrics, None),
    ],
)
@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_awkward_scores_are_drawn(name, make, curve):
    negative, positive = AWKWARD[name]
    y = np.repeat([0, 1], [len(negative), len(positive)])
    figure = Figure()
    shown = make(y, [*negative, *positive], curve=curve, ax=figure.subplots())
    FigureCanvasAgg(figure).draw()
    low, high = shown.ax_.get_xlim()
    assert low < shown.boundary.threshold < high


def test_what_cannot_be_drawn_is_refused(problem, monkeypatch):
    y, scores = problem
    draw = ProjectionDisplay.from_predictions
    boundary = find_boundary(y, scores)
    with pytest.raises(InvalidInputError, match="`y_true` must hold the labels 0 and 1"):
        draw(y + 1, scores, boundary=boundary)
    with pytest.raises(InvalidInputError, match="`pos_label` must be that of the boundary"):
        draw(y, scores, boundary=boundary, pos_label=0)
    with pytest.raises(NotFittedError):
        ProjectionDisplay.from_estimator(BoundShiftClassifier(LogisticRegression()), [[0]], [0])
    X, many = make_classification(300, n_classes=3, n_informative=4, random_state=0)
    model = BoundShiftClassifier(LogisticRegression()).fit(X, many)
    with pytest.raises(InvalidInputError, match="must have two classes, but it has 3"):
        ProjectionDisplay.from_estimator(model, X, many)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r'pip install "\.\[plot\]"'):
        draw(y, scores)

import subprocess
import sys

import numpy as np
import pytest
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
from boundshift.plots import ProjectionDisplay, RecordDisplay


def vertical_lines(display):
    return [
        line.get_xdata()[0]
        for line in display.ax_.lines
        if line.get_transform() == display.ax_.get_xaxis_transform()
    ]


def points(display):
    return [c for c in display.ax_.collections if isinstance(c, PathCollection)]


def test_from_predictions_draws_the_boundary_that_find_boundary_finds(problem):
    display = ProjectionDisplay.from_predictions(*problem)
    assert vertical_lines(display) == [find_boundary(*problem).threshold]


def test_old_boundary_is_drawn_only_where_it_is_known(problem):
    display = ProjectionDisplay.from_predictions(*problem, old_threshold=2.5)
    assert 2.5 in vertical_lines(display)
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert "old boundary" in labels
    without = ProjectionDisplay.from_predictions(*problem)
    labels = [text.get_text() for text in without.ax_.get_legend().get_texts()]
    assert "old boundary" not in labels


def lane_texts(display):
    return [tick.get_text() for tick in display.ax_.get_yticklabels()]


def all_texts(display):
    legend = display.ax_.get_legend()
    texts = [text.get_text() for text in (*legend.get_texts(), legend.get_title())]
    return " ".join(" ".join([*texts, *lane_texts(display)]).split())


def test_as_many_points_are_hollow_as_were_given_up(problem):
    display = ProjectionDisplay.from_predictions(*problem, curve="support")
    sizes = [len(c.get_offsets()) for c in points(display)]
    slack, n = display.boundary.geometry.slack, display.boundary.n_samples
    assert sum(slack) > 0
    assert sizes == [n[0] - slack[0], slack[0], n[1] - slack[1], slack[1]]
    assert f"{slack[0]} given up" in lane_texts(display)[0]


@pytest.mark.parametrize("curve", ["logistic", "kth-point", "clopper-pearson"])
def test_other_curves_have_hollow_points_on_the_wrong_side(problem, curve):
    y, scores = problem
    display = ProjectionDisplay.from_predictions(y, scores, curve=curve)
    t = display.boundary.threshold
    sizes = [len(c.get_offsets()) for c in points(display)]
    flagged, missed = np.sum(scores[y == 0] > t), np.sum(scores[y == 1] <= t)
    assert sizes == [300 - flagged, flagged, 30 - missed, missed]
    assert f"{flagged} on the wrong side" in lane_texts(display)[0]
    assert f"claimed error {100 * display.boundary.errors[1]:.3g}%" in lane_texts(display)[1]


@pytest.mark.parametrize(("curve", "rule"), [("logistic", None), ("support", "minimax")])
def test_what_only_the_papers_method_has_is_not_said_of_others(problem, curve, rule):
    display = ProjectionDisplay.from_predictions(*problem, curve=curve, rule=rule)
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


def test_large_classes_are_drawn_without_points():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [50_000, 500])
    display = ProjectionDisplay.from_predictions(y, rng.standard_normal(50_500) + 4.0 * y)
    assert sum(len(c.get_offsets()) for c in points(display)) == 500
    few = ProjectionDisplay(display.boundary, display.scores, max_points=100).plot()
    assert points(few) == []


def test_from_estimator_shows_probabilities_and_the_models_own_boundary_at_one_half():
    X, y = make_classification(400, weights=[0.9], random_state=0)
    model = LogisticRegression().fit(X, y)
    shifted = BoundShiftClassifier(model, cv="prefit").fit(X, y)
    display = ProjectionDisplay.from_estimator(shifted, X, y)
    expected = np.sort(model.predict_proba(X[y == 1])[:, 1])
    np.testing.assert_allclose(display.scores[1], expected)
    assert sorted(vertical_lines(display)) == sorted([0.5, shifted.threshold_])


def test_own_response_function_has_no_old_boundary_unless_given():
    X, y = make_classification(400, weights=[0.9], random_state=0)
    model = LogisticRegression().fit(X, y)
    shifted = BoundShiftClassifier(
        model, cv="prefit", response_method=lambda m, X: m.decision_function(X) + 7
    ).fit(X, y)
    display = ProjectionDisplay.from_estimator(shifted, X, y)
    assert vertical_lines(display) == [shifted.threshold_]
    display = ProjectionDisplay.from_estimator(shifted, X, y, old_threshold=7.0)
    assert vertical_lines(display) == [7.0, shifted.threshold_]


def test_fresh_rows_are_not_said_to_be_given_up(problem):
    y, scores = problem
    boundary = find_boundary(y, scores, curve="support")
    display = ProjectionDisplay.from_predictions(y[1:], scores[1:], boundary=boundary)
    assert "given up" not in all_texts(display)
    assert "outside the support" in all_texts(display)


def test_a_boundary_brings_its_positive_class(problem):
    y, scores = problem
    labels = np.where(y == 1, "sick", "well")
    boundary = find_boundary(labels, scores, pos_label="sick")
    display = ProjectionDisplay.from_predictions(labels, scores, boundary=boundary)
    np.testing.assert_array_equal(display.scores[1], np.sort(scores[y == 1]))
    with pytest.raises(InvalidInputError, match="`pos_label` must be that of the boundary"):
        ProjectionDisplay.from_predictions(labels, scores, boundary=boundary, pos_label="well")


def test_labels_that_the_boundary_does_not_know_are_refused(problem):
    y, scores = problem
    boundary = find_boundary(y, scores)
    with pytest.raises(InvalidInputError, match="`y_true` must hold the labels 0 and 1"):
        ProjectionDisplay.from_predictions(y + 1, scores, boundary=boundary)


def test_a_model_whose_positive_class_is_the_lesser_label_is_drawn_by_its_scores():
    X, y = make_classification(400, weights=[0.9], random_state=0)
    labels = np.where(y == 1, "a sick", "well")
    model = LogisticRegression().fit(X, labels)
    shifted = BoundShiftClassifier(model, cv="prefit", pos_label="a sick").fit(X, labels)
    display = ProjectionDisplay.from_estimator(shifted, X, labels)
    expected = np.sort(model.predict_proba(X[labels == "a sick"])[:, 0])
    np.testing.assert_allclose(display.scores[1], expected)


def test_labels_name_the_lanes_and_the_title(problem):
    y, scores = problem
    labels = np.where(y == 1, "sick", "well")
    display = ProjectionDisplay.from_predictions(labels, scores, pos_label="sick")
    texts = [t.get_text() for t in display.ax_.get_yticklabels()]
    assert texts[0].startswith("class well\n300 rows")
    assert texts[1].startswith("class sick\n30 rows")
    assert display.ax_.get_title().startswith("Predict sick if")


def test_draws_on_axes_that_are_given(problem):
    axes = Figure().subplots()
    display = ProjectionDisplay.from_predictions(*problem, ax=axes)
    assert display.ax_ is axes
    assert display.figure_ is axes.figure


def test_more_than_two_classes_are_refused():
    X, y = make_classification(300, n_classes=3, n_informative=4, random_state=0)
    model = BoundShiftClassifier(LogisticRegression()).fit(X, y)
    with pytest.raises(InvalidInputError, match="must have two classes, got 3"):
        ProjectionDisplay.from_estimator(model, X, y)


def test_unfitted_estimator_is_refused():
    with pytest.raises(NotFittedError):
        ProjectionDisplay.from_estimator(BoundShiftClassifier(LogisticRegression()), [[0]], [0])


def test_missing_matplotlib_is_named_with_its_extra(problem, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r'pip install "\.\[plot\]"'):
        ProjectionDisplay.from_predictions(*problem)


def test_importing_the_plots_does_not_import_matplotlib():
    code = "import sys, boundshift.plots; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_record_alone_shows_its_counts(problem):
    boundary = find_boundary(*problem)
    display = boundary.plot(confidence=0.9)
    assert isinstance(display, RecordDisplay)
    names = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    assert f"{boundary.wrong[1]:,} of 30 rows" in names[1]


def test_a_boundary_with_scores_shows_every_threshold(problem):
    display = find_boundary(*problem).plot(*problem, old_threshold=2.0)
    assert display.old_threshold == 2.0
    assert len(display.axes_) == 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"y_true": [0, 1]}, "must be given together"),
        ({"old_threshold": 1.0}, "to draw old_threshold"),
    ],
)
def test_what_cannot_be_drawn_is_asked_for(problem, given, message):
    with pytest.raises(InvalidInputError, match=message):
        find_boundary(*problem).plot(**given)

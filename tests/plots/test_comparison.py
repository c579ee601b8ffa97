import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score, recall_score

from boundshift import InvalidInputError
from boundshift.plots import ComparisonDisplay


class Threshold:
    """A classifier of one feature."""

    def __init__(self, threshold):
        self.threshold = threshold

    def predict(self, X):
        return np.where(X[:, 0] > self.threshold, "sick", "well")


@pytest.mark.parametrize("pos_label", ["sick", None])
def test_metrics_are_those_of_scikit_learn(problem, pos_label):
    y, scores = problem
    X, labels = scores[:, None], np.where(y == 1, "sick", "well")
    models = {"untouched": Threshold(2.5), "shifted": Threshold(1.5)}
    display = ComparisonDisplay.from_estimator(models, X, labels, pos_label=pos_label)
    for i, model in enumerate(models.values()):
        predicted = model.predict(X)
        recalls = recall_score(labels, predicted, average=None)
        assert display.metrics["f1"][i] == pytest.approx(
            f1_score(labels, predicted, pos_label="sick")
        )
        assert display.metrics["balanced_accuracy"][i] == pytest.approx(
            balanced_accuracy_score(labels, predicted)
        )
        assert display.metrics["g_mean"][i] == pytest.approx(np.sqrt(np.prod(recalls)))
        assert display.metrics["recall_positive"][i] == pytest.approx(recalls[0])


def test_runs_of_a_method_become_mean_and_deviation():
    rows = [{"method": "a", "f1": v} for v in (0.2, 0.4, 0.9)] + [{"method": "b", "f1": 0.7}]
    display = ComparisonDisplay.from_rows(rows, metrics=["f1"])
    assert display.metrics["f1"] == pytest.approx([0.5, 0.7])
    assert display.spreads["f1"] == pytest.approx([np.std([0.2, 0.4, 0.9], ddof=1), 0.0])


def test_a_method_that_lacks_a_metric_keeps_its_line():
    rows = [{"method": "a", "f1": 0.5, "mcc": 0.1}, {"method": "b", "f1": 0.6, "mcc": None}]
    display = ComparisonDisplay.from_rows(rows, metrics=["f1", "mcc"])
    assert np.isnan(display.metrics["mcc"][1])
    assert [t.get_text() for t in display.axes_[0].get_yticklabels()] == ["a", "b"]


@pytest.mark.parametrize(
    ("rows", "metrics", "message"),
    [
        ([], ["f1"], "must not be empty"),
        ([{"method": "a", "f1": 1.0}], [], "must not be empty"),
        ([{"method": "a", "f1": 1.0}], ["auc"], "`metrics` must be among 'f1', got 'auc'"),
    ],
)
def test_nothing_to_compare_is_refused(rows, metrics, message):
    with pytest.raises(InvalidInputError, match=message):
        ComparisonDisplay.from_rows(rows, metrics=metrics)


def test_equally_frequent_words_are_asked_about():
    y = ["a", "a", "b", "b"]
    with pytest.raises(InvalidInputError, match="`pos_label` must name the positive class"):
        ComparisonDisplay.from_predictions(y, {"same": y})

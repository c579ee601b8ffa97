import numpy as np
import pytest
from imblearn.metrics import geometric_mean_score as imblearn_geometric_mean
from sklearn import metrics
from sklearn.metrics import f1_score, matthews_corrcoef, precision_score, recall_score

from boundshift.exceptions import InvalidInputError
from boundshift.metrics import binary_metrics, geometric_mean_score, metrics_at

RNG = np.random.default_rng(0)
Y_TRUE = RNG.integers(0, 2, 200)
Y_PRED = np.where(RNG.random(200) < 0.3, 1 - Y_TRUE, Y_TRUE)
EXPECTED = {
    "accuracy": metrics.accuracy_score,
    "g_mean": imblearn_geometric_mean,
    "f1": metrics.f1_score,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "mcc": metrics.matthews_corrcoef,
    "recall_positive": metrics.recall_score,
    "recall_negative": lambda y, p: metrics.recall_score(y, p, pos_label=0),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_agrees_with_the_library_of_record(name):
    assert binary_metrics(Y_TRUE, Y_PRED)[name] == pytest.approx(EXPECTED[name](Y_TRUE, Y_PRED))


def test_no_metric_is_left_untested():
    assert binary_metrics(Y_TRUE, Y_PRED).keys() == EXPECTED.keys()


def test_positive_label_can_be_a_word():
    words = np.array(["no", "yes"])
    scores = binary_metrics(words[Y_TRUE], words[Y_PRED], pos_label="yes")
    assert scores == binary_metrics(Y_TRUE, Y_PRED)


def test_undefined_metrics_are_zero():
    scores = binary_metrics([0, 0, 1], [0, 0, 0])
    assert scores["f1"] == scores["mcc"] == scores["g_mean"] == 0


def test_matthews_does_not_overflow():
    y = np.repeat([0, 1], 500_000)
    assert binary_metrics(y, y)["mcc"] == 1


def test_geometric_mean_of_many_classes():
    y_true = RNG.integers(0, 4, 300)
    y_pred = np.where(RNG.random(300) < 0.4, RNG.integers(0, 4, 300), y_true)
    expected = imblearn_geometric_mean(y_true, y_pred)
    assert geometric_mean_score(y_true, y_pred) == pytest.approx(expected)


def test_one_class_only_is_refused():
    with pytest.raises(InvalidInputError, match="3 negative and 0 positive"):
        binary_metrics([0, 0, 0], [0, 1, 0])


def test_lengths_must_agree():
    with pytest.raises(InvalidInputError, match=r"\(2,\) and \(3,\)"):
        geometric_mean_score([0, 1], [0, 1, 1])


@pytest.mark.parametrize("tied", [False, True])
def test_metrics_at_every_cut_are_scikit_learns(tied):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [40, 12])
    s = rng.normal(size=52) + 2 * y
    s = np.round(s) if tied else s
    table = metrics_at(y, s)
    assert len(table["threshold"]) == len(np.unique(s)) + 1
    for i, t in enumerate(table["threshold"]):
        p = (s > t).astype(int)
        expected = {
            "recall": recall_score(y, p),
            "specificity": recall_score(y, p, pos_label=0),
            "precision": precision_score(y, p, zero_division=1),
            "npv": precision_score(y, p, pos_label=0, zero_division=1),
            "flagged": p.mean(),
            "f1": f1_score(y, p),
            "mcc": max(matthews_corrcoef(y, p), 0),
        }
        found = {name: table[name][i] for name in expected}
        assert found == pytest.approx(expected, abs=1e-12)


def test_metrics_at_another_prevalence_follow_it():
    y, s = [0, 0, 0, 0, 1, 1], [0, 1, 2, 3, 2.5, 4]
    here, rare = (metrics_at(y, s, [2.2], prevalence=p) for p in (None, 0.01))
    assert rare["recall"] == here["recall"]
    assert rare["precision"][0] == pytest.approx(0.01 / (0.01 + 0.99 * 0.25))


@pytest.mark.parametrize("bad", [[np.nan], 3.0, [[1.0]]])
def test_metrics_at_bad_thresholds_are_refused(bad):
    with pytest.raises(InvalidInputError, match="`thresholds` must be"):
        metrics_at([0, 0, 1, 1], [0, 1, 2, 3], bad)

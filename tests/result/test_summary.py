"""What the summary says of the rows that decided, against scikit-learn's metrics."""

import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import f1_score, precision_score, recall_score

from boundshift import Boundary, find_boundary


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [300, 40])
    return y, rng.normal(size=340) + 1.5 * y


def said(boundary):
    line = next(x for x in boundary.summary().splitlines() if x.startswith("Rows that decided"))
    return [float(number) for number in re.findall(r" ([\d.]+)", line)]


@pytest.mark.parametrize("pos_label", [0, 1])
def test_the_summary_says_what_scikit_learn_counts(rows, pos_label):
    y, s = rows
    s = s if pos_label else -s
    boundary = find_boundary(y, s, pos_label=pos_label)
    predicted = boundary.predict(s)
    options = {"pos_label": pos_label}
    expected = [
        recall_score(y, predicted, **options),
        precision_score(y, predicted, **options),
        f1_score(y, predicted, **options),
        100 * np.mean(predicted == pos_label),
    ]
    assert said(boundary) == pytest.approx(expected, rel=5e-4)


def test_precision_is_undefined_where_no_row_is_flagged(rows):
    boundary = replace(find_boundary(*rows), wrong=(0, 40))
    line = "recall 0, precision undefined, F1 0, flagged 0.00%"
    assert line in boundary.summary()


def test_a_threshold_of_probabilities_is_called_one(rows):
    y, s = rows
    assert "if probability > 0." in find_boundary(y, 1 / (1 + np.exp(-s))).summary()
    assert "if score > " in find_boundary(y, s).summary()


def test_costs_of_the_rows_are_said_to_decide(rows):
    found = find_boundary(*rows, row_cost=np.arange(340.0))
    assert "By Empirical() and the costs of the rows." in found.summary()
    assert "the costs of the rows" in found._repr_html_()
    assert Boundary.from_json(found.to_json()).summary() == found.summary()
    assert "the costs of the rows" not in find_boundary(*rows, rule="cost").summary()

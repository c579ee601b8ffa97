"""Wrong requests get a sentence that names the argument, the value and the cure."""

import numpy as np
import pytest

from boundshift import (
    Cost,
    FBeta,
    Floors,
    InvalidInputError,
    Metric,
    Status,
    find_boundaries,
    find_boundary,
)
from boundshift.rules import Youden

N = 60
Y, S = np.tile([0, 0, 1], 20), np.arange(60) / 60


def ask(**options):
    return find_boundary(Y, S, **options)


WRONG = {
    "a floor of 1.2": (lambda: Floors(recall=1.2), "`recall` must be at most 1, got 1.2. Use 0.9"),
    "a floor of 0": (lambda: Floors(precision=0), "`precision` must be a positive"),
    "a floor in percent": (lambda: Floors(recall=90), "`recall` must be at most 1, got 90"),
    "no floor": (lambda: Floors(), "at least one of recall"),
    "a cap of 1": (lambda: Floors(flagged=1), "`flagged` must be between 0 and 1, got 1. Use 0.02"),
    "a prevalence of 0": (lambda: Cost(prevalence=0), "got 0. Use 0.001 for one in a thousand"),
    "a prevalence of 1": (lambda: FBeta(prevalence=1), "between 0 and 1, got 1"),
    "a prevalence for nothing": (lambda: Youden(prevalence=0.1), "must be left out of Youden"),
    "a cost below 0": (lambda: Cost(false_negative=-1), "got -1. Use Cost"),
    "negative weights": (lambda: ask(sample_weight=np.full(N, -1)), "at least 0, got -1"),
    "weights of another length": (lambda: ask(sample_weight=[1]), "each of 60 rows"),
    "weights that sum to 1": (lambda: ask(sample_weight=np.full(N, 1 / N)), "do not scale them"),
    "weights for a promise": (lambda: ask(sample_weight=np.ones(N), curve="dkw"), "counts rows"),
    "costs of another length": (lambda: ask(row_cost=[1, 2]), "one value for each of 60 rows"),
    "costs with a rule": (lambda: ask(row_cost=np.ones(N), rule="f1"), "any rule but 'cost'"),
    "a name that is nearly one": (lambda: ask(rule="minmax"), "Did you mean 'minimax'"),
    "another spelling": (lambda: ask(rule="F1"), "'f1'"),
    "a hyphen too many": (lambda: ask(rule="f-1"), "'f1'"),
    "three classes": (lambda: find_boundary([0, 1, 2] * 20, S), "Use BoundShiftClassifier"),
    "a metric of rankings": (lambda: Metric("roc_auc"), "has no boundary. Use 'f1'"),
    "groups of another length": (lambda: find_boundaries(Y, S, [1]), "each of 60 rows"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_request_gets_a_sentence(wrong):
    make, words = WRONG[wrong]
    with pytest.raises(InvalidInputError) as caught:
        make()
    assert words in str(caught.value)


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_floors_that_contradict_are_answered_with_what_is_reached():
    found = ask(rule=Floors(recall=0.9, precision=0.9), curve="empirical")
    assert found.status is Status.UNMET
    assert "is missed by" in found.message
    assert "Relax recall or precision" in found.message

"""One class alone: a floor on its own rate is promised, and the other class is not known."""

import numpy as np
import pytest
from scipy.stats import beta, norm, poisson

from boundshift import Boundary, Floors, InvalidInputError, Status, find_boundary


def most_allowed(n, floor, confidence):
    """Return the largest count whose Clopper-Pearson bound keeps the floor, -1 if there is none."""
    bounds = beta.ppf(confidence, np.arange(n) + 1, n - np.arange(n))
    return np.flatnonzero(bounds <= 1 - floor).max(initial=-1)


@pytest.mark.parametrize(("floor", "confidence"), [(0.99, 0.95), (0.9, 0.99), (0.5, 0.8)])
@pytest.mark.parametrize("n", [400, 1000])
def test_as_many_rows_are_wrong_as_the_bound_allows(n, floor, confidence):
    s = np.random.default_rng(0).normal(size=n)
    found = find_boundary(np.zeros(n), s, rule=Floors(specificity=floor, confidence=confidence))
    assert (s > found.threshold).sum() == found.wrong[0] == most_allowed(n, floor, confidence)
    mirrored = find_boundary(np.ones(n), -s, rule=Floors(recall=floor, confidence=confidence))
    assert (mirrored.threshold, mirrored.wrong) == (-found.threshold, found.wrong[::-1])


@pytest.mark.parametrize("tied", [False, True])
def test_the_floor_holds_on_fresh_rows_as_often_as_promised(tied):
    rng = np.random.default_rng(1)
    runs = 400
    kept = 0
    for _ in range(runs):
        s = rng.poisson(3, 200) if tied else rng.normal(size=200)
        t = find_boundary(np.zeros(200), s, rule=Floors(specificity=0.9), scale="raw").threshold
        kept += (poisson(3) if tied else norm).sf(t) <= 0.1
    assert kept / runs >= 0.95 - 2 * (0.05 * 0.95 / runs) ** 0.5


@pytest.mark.parametrize("scores", ["normal", "probabilities", "ties"])
def test_the_other_class_is_not_known_in_every_form(scores):
    s = np.random.default_rng(0).normal(size=500)
    s = {"normal": s, "probabilities": norm.cdf(s), "ties": s.round()}[scores]
    found = find_boundary(["ok"] * 500, s, rule=Floors(specificity=0.9), pos_label="fraud")
    assert (found.labels, found.n_samples) == (("ok", "fraud"), (500, 0))
    assert (found.status, found.guaranteed) == (Status.OPTIMAL, True)
    assert found.errors[0] <= 0.1
    assert np.isnan(found.errors[1])
    assert "No rows of class 'fraud' were given: its error is not known." in found.message
    assert found.to_dict()["errors"][1] == "NaN"
    assert Boundary.from_json(found.to_json()) == found
    assert found.to_sql("score").endswith("THEN 'ok' END")
    for text in (found.summary(), found._repr_html_()):
        assert "not known" in text
        assert "nan" not in text
    assert set(found.predict(s)) == {"ok", "fraud"}


def test_too_few_rows_are_counted_and_nothing_is_promised():
    with pytest.warns(UserWarning, match="needs at least 299 negative rows"):
        found = find_boundary(np.zeros(298), np.arange(298.0), rule=Floors(specificity=0.99))
    assert (found.status, found.guaranteed, found.wrong) == (Status.UNMET, False, (0, 0))
    enough = find_boundary(np.zeros(299), np.arange(299.0), rule=Floors(specificity=0.99))
    assert enough.status is Status.OPTIMAL


NORMAL = {"y_true": np.zeros(100), "y_score": np.arange(100.0), "rule": Floors(specificity=0.9)}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"rule": None}, "must hold two classes, got only 0"),
        ({"rule": Floors(recall=0.9)}, "Floors.specificity=0.9. or"),
        ({"rule": Floors(precision=0.9)}, "Pass rows of class 1"),
        ({"rule": Floors(specificity=0.9, then="sum")}, "`rule` must be"),
        ({"curve": "blend"}, "with a curve that counts rows"),
        ({"y_true": ["ok"] * 100}, "`pos_label` must be given"),
        ({"sample_weight": np.ones(100)}, "`sample_weight` must be left out where only"),
        ({"sample_weight": np.zeros(100)}, "`sample_weight` must be finite"),
        ({"cluster": np.arange(100)}, "must hold two classes, got only 0"),
    ],
)
def test_what_one_class_cannot_answer_is_refused(options, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        find_boundary(**(NORMAL | options))

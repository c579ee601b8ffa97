import warnings

import numpy as np
import pandas as pd
import pytest

from boundshift import (
    BoundShiftClassifier,
    ClopperPearson,
    Cost,
    Floors,
    InvalidInputError,
    certify,
    find_boundary,
    threshold_interval,
)
from boundshift.app.workflow import fit_table
from boundshift.app.workflow.prediction import _unseen_categories
from boundshift.datasets import load_pima
from boundshift.metrics import binary_metrics
from boundshift.models.mean import MeanOfModels


@pytest.fixture(scope="module")
def frame():
    return load_pima(as_frame=True).frame


@pytest.fixture(scope="module")
def fitted(frame):
    return fit_table(frame, "target", seed=3)


def test_the_model_is_plain_and_decided_on_the_scores_shown(fitted):
    assert type(fitted.model) is BoundShiftClassifier
    again = find_boundary(*fitted.deciding.to_rows())
    assert fitted.model.threshold_ == again.threshold
    assert fitted.boundary == again


def test_the_models_that_decided_are_deployed(fitted, frame):
    mean = fitted.model.estimator_
    assert isinstance(mean, MeanOfModels)
    X = frame.drop(columns="target")
    parts = [part.decision_function(X) for part in mean.estimators]
    assert len(parts) == 5
    assert np.allclose(fitted.model.positive_scores(X), np.mean(parts, axis=0))


def test_a_category_that_one_part_has_not_seen_is_known(frame):
    table = frame.assign(town=np.where(np.arange(len(frame)) % 2, "Rome", "Bonn"))
    table.loc[0, "town"] = "Oslo"  # one row, which one part of the five leaves out
    found = fit_table(table, "target")
    seen = [
        set(part[0].named_transformers_["categories"][-1].categories_[0])
        for part in found.model.estimator_.estimators
    ]
    assert not all("Oslo" in towns for towns in seen)
    assert any("Oslo" in towns for towns in seen)
    assert _unseen_categories(found.model, table, found.columns) == []
    elsewhere = table.assign(town="Lima")
    assert (
        "not seen in training: Lima" in _unseen_categories(found.model, elsewhere, found.columns)[0]
    )


def test_no_row_is_used_twice(fitted, frame):
    assert sum(fitted.deciding.n_samples) + sum(fitted.test.n_samples) == len(frame)
    share = fitted.test.positive.n / sum(fitted.test.n_samples)
    assert share == pytest.approx(frame["target"].mean(), abs=0.01)


def test_the_certificate_is_of_the_test_rows(fitted):
    assert fitted.certificate == certify(*fitted.test.to_rows(), fitted.boundary)
    assert fitted.certificate.method == "clopper-pearson"


def test_our_row_of_the_comparison_is_the_model_s(fitted):
    y, scores = fitted.test.to_rows()
    expected = binary_metrics(y, fitted.boundary.predict(scores), pos_label=1)
    row = fitted.comparison[0]
    assert row["method"] == "boundshift"
    assert {name: row[name] for name in expected} == expected


def test_the_interval_is_of_the_rows_that_decided(fitted):
    low, high = fitted.interval
    expected = threshold_interval(*fitted.deciding.to_rows(), n_resamples=100, random_state=0)
    assert (low, high) == expected
    assert low < fitted.boundary.threshold < high


def test_a_seed_repeats_the_fit(fitted, frame):
    again = fit_table(frame, "target", seed=3)
    assert again.boundary == fitted.boundary
    assert fit_table(frame, "target", seed=4).boundary != fitted.boundary


def test_a_recall_floor_is_kept_on_fresh_rows(frame):
    found = fit_table(frame, "target", rule=Floors(recall=0.9))
    assert found.boundary.rule == Floors(recall=0.9)
    assert found.boundary.curve == ClopperPearson()
    assert found.comparison[0]["recall_positive"] > 0.85


def test_one_class_of_several_against_the_rest(frame):
    three = frame.assign(target=np.where(frame["Age"] > 60, "old", frame["target"]))
    found = fit_table(three, "target", positive="1")
    assert found.labels == ("not 1", "1")
    with pytest.raises(InvalidInputError, match="--positive"):
        fit_table(three, "target")


def test_rivals_that_retrain_see_what_the_model_sees(frame):
    """Categories and gaps reach SMOTE as numbers, and no warning is left over."""
    odd = frame.assign(town=np.resize(["Rome", "Bonn", None], len(frame)))
    odd.loc[::7, "BMI"] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        methods = [row["method"] for row in fit_table(odd, "target").comparison]
    assert "SMOTE, retrained" in methods


def test_categories_that_do_not_occur_are_no_classes(frame):
    labels = pd.Categorical.from_codes(frame["target"], ["no", "yes", "unknown"])
    assert fit_table(frame.assign(target=labels), "target").labels == ("no", "yes")


def test_empty_targets_are_refused():
    with pytest.raises(InvalidInputError, match="is empty"):
        fit_table(pd.DataFrame({"a": [1, 2], "y": [None, None]}), "y")


def test_the_rarer_word_is_positive_and_that_is_said(frame):
    words = frame.assign(target=np.where(frame["target"] == 1, "diabetes", "none"))
    found = fit_table(words, "target")
    assert found.labels == ("none", "diabetes")
    assert "The positive class is 'diabetes', the rarer one (268 of 768 rows)" in found.notes[0]
    named = fit_table(words, "target", positive="none")
    assert named.labels == ("diabetes", "none")
    assert named.notes == ()


def test_equally_frequent_words_are_asked_for_by_a_rule_for_one_of_them(frame):
    some = frame.groupby("target").head(60)
    words = some.assign(target=np.where(some["target"] == 1, "sick", "well"))
    with pytest.raises(InvalidInputError, match="Use --positive well"):
        fit_table(words, "target", rule=Cost(false_negative=20))
    found = fit_table(words, "target", rule=Cost(false_negative=20), positive="sick")
    assert found.labels == ("well", "sick")

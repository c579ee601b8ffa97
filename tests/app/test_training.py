"""A table fitted in Python: rows, model and certificate."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from boundshift import (
    BoundaryWarning,
    BoundShiftClassifier,
    Floors,
    InvalidInputError,
    certify,
    find_boundary,
    threshold_interval,
)
from boundshift._app.fit import fit_table, split_rows
from boundshift._app.folder import report_facts
from boundshift._app.options import Goal
from boundshift._app.prepare import find_copies
from boundshift.datasets import load_pima
from boundshift.metrics import binary_metrics


@pytest.fixture(scope="module")
def frame():
    return load_pima(as_frame=True).frame


@pytest.fixture(scope="module")
def fitted(frame):
    return fit_table(frame, "target", seed=3)


def test_the_model_is_plain_and_decided_on_the_scores_shown(fitted, frame):
    assert type(fitted.model) is BoundShiftClassifier
    again = find_boundary(*fitted.deciding.to_rows())
    assert fitted.model.threshold_ == again.threshold
    assert fitted.boundary == again
    assert fit_table(frame, "target", seed=3).boundary == again


def test_with_many_rare_rows_one_model_of_all_training_rows_is_deployed(fitted, frame):
    model = fitted.model.estimator_
    X = frame.drop(columns="target")
    y = frame["target"].to_numpy()
    train, _ = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=3)
    alone = clone(model).fit(X.iloc[train], y[train])
    assert np.allclose(fitted.model.positive_scores(X), alone.predict_proba(X)[:, 1])


def test_the_certificate_and_our_row_are_of_rows_that_did_not_decide(fitted, frame):
    y, scores = fitted.judged
    assert sum(fitted.deciding.n_samples) + len(y) == len(frame)
    assert np.mean(y) == pytest.approx(frame["target"].mean(), abs=0.01)
    assert fitted.certificate == certify(y, scores, fitted.boundary)
    expected = binary_metrics(y, fitted.boundary.predict(scores), pos_label=1)
    row = fitted.comparison[0]
    assert row["method"] == "boundshift"
    compared = [name for name in expected if name in row]
    assert len(compared) >= 5
    assert {name: row[name] for name in compared} == {n: expected[n] for n in compared}
    interval = threshold_interval(*fitted.deciding.to_rows(), n_resamples=100, random_state=0)
    assert fitted.interval == interval


def test_a_caution_of_a_promise_is_said_once_with_the_table_s_labels():
    rng = np.random.default_rng(0)
    noise = pd.DataFrame(rng.normal(size=(1200, 2)), columns=["a", "b"])
    noise["ill"] = np.where(rng.random(1200) < 0.4, "sick", "well")
    with pytest.warns(BoundaryWarning) as told:
        found = fit_table(noise, "ill", rule=Floors(recall=0.97), positive="sick")
    assert [str(warning.message) for warning in told] == [found.boundary.message]
    assert "rows of class 'well' are on the wrong side" in found.boundary.message
    assert found.boundary.message.count("on the wrong side") == 1


def test_a_third_label_is_refused_or_left_out(frame):
    three = frame.assign(target=np.where(frame["Age"] > 60, "unknown", frame["target"]))
    n = int((frame["Age"] > 60).sum())
    with pytest.raises(InvalidInputError, match=rf"holds 3: .*'unknown' \({n} rows\).*--ignore"):
        fit_table(three, "target")
    found = fit_table(three, "target", ignore=["unknown"])
    known = fit_table(frame[frame["Age"] <= 60], "target")
    assert (found.boundary.labels, found.boundary.threshold) == ((0, 1), known.boundary.threshold)
    note = f"{n} rows with the label 'unknown' are left out, as asked."
    assert note in found.notes
    assert note in report_facts(found, "out")["verdict"]["note"]
    with pytest.raises(InvalidInputError, match=r"'unknown'\), got 'unsure'"):
        fit_table(three, "target", ignore=["unsure"])
    with pytest.raises(InvalidInputError, match="holds 0"):
        fit_table(three.assign(target=None), "target")


def test_copies_stay_on_one_side_of_the_split(frame):
    twice = pd.concat([frame, frame.sample(300, random_state=0)], ignore_index=True)
    X = twice.drop(columns="target")
    y = twice["target"].to_numpy()
    copies, told = find_copies(X, y)
    train, test = split_rows(y, 0, copies)
    learned, judged = (set(map(tuple, X.to_numpy()[part])) for part in (train, test))
    assert not learned & judged
    assert sorted([*train, *test]) == list(range(len(y)))
    assert len(test) == pytest.approx(0.3 * len(y), rel=0.1)
    n = len(twice) - len(X.drop_duplicates())
    assert f"an earlier row stay on its side of the split: {n}." in told[0]
    plain = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=0)[1]
    assert len(learned & set(map(tuple, X.to_numpy()[plain]))) > 50


def test_rows_of_features_with_few_values_are_no_copies():
    rng = np.random.default_rng(0)
    few = pd.DataFrame(rng.integers(0, 2, (600, 3)))
    y = rng.integers(0, 2, 600)
    copies, told = find_copies(few, y)
    assert told == []
    drawn = train_test_split(np.arange(600), test_size=0.3, stratify=y, random_state=0)
    for part, expected in zip(split_rows(y, 0, copies), drawn, strict=True):
        assert part.tolist() == expected.tolist()


def test_the_tuned_thresholds_are_best_on_the_rows_that_decided(frame):
    """Every cut is tried; categories and gaps leave no warning over."""
    odd = frame.assign(town=np.resize(["Rome", "Bonn", None], len(frame)))
    odd.loc[::7, "BMI"] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = fit_table(odd, "target")
    y, scores = found.deciding.to_rows()
    cuts = {row["method"]: row["threshold"] for row in found.comparison}
    every = [binary_metrics(y, (scores > cut).astype(int)) for cut in np.unique(scores)]
    for title, metric in (("balanced accuracy", "balanced_accuracy"), ("G-mean", "g_mean")):
        flagged = (scores > cuts[f"tuned threshold, {title}"]).astype(int)
        best = max(each[metric] for each in every)
        assert binary_metrics(y, flagged)[metric] == pytest.approx(best)
    assert len(cuts) == 4
    assert cuts["untouched"] == 0.5


def test_the_rarer_word_is_positive_and_that_is_said(frame):
    labels = pd.Categorical.from_codes(frame["target"], ["none", "diabetes", "unknown"])
    words = frame.assign(target=labels)  # categories that do not occur are no classes
    found = fit_table(words, "target")
    assert found.boundary.labels == ("none", "diabetes")
    assert "The positive class is 'diabetes', the rarer one (268 of 768 rows)" in found.notes[0]


def test_a_model_is_chosen_on_rows_that_do_not_judge_it(frame):
    names = ["logistic", "boosting"]
    found = fit_table(frame, "target", model=",".join(names), seed=1)
    alone = {name: fit_table(frame, "target", model=name, seed=1) for name in names}
    best = min(names, key=lambda name: alone[name].boundary.loss)
    assert found.boundary == alone[best].boundary
    assert found.comparison == alone[best].comparison
    for row, name in zip(found.models, sorted(names, key=lambda name: name != best), strict=True):
        assert row["method"] == alone[name].name
        y, scores = alone[name].judged
        flagged = scores > alone[name].boundary.threshold
        assert row["recall_positive"] == pytest.approx(np.mean(flagged[y == 1]))
        assert row["recall_negative"] == pytest.approx(np.mean(~flagged[y == 0]))
    assert "before the test rows were used" in report_facts(found, "out")["verdict"]["note"]


def test_the_whole_capacity_is_used(frame):
    curve, rule = Goal(capacity="50/400").claims()
    found = fit_table(frame, "target", curve=curve, rule=rule)
    scores = found.deciding.to_rows()[1]
    flagged = int(np.sum(scores > found.boundary.threshold))
    assert flagged == int(0.125 * len(scores))  # scores are distinct

"""Columns of weights and of costs by row in a fit: where they count."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from boundshift import (
    BoundaryWarning,
    BoundShiftClassifier,
    InvalidInputError,
    certify,
    find_boundary,
    save,
)
from boundshift._app.columns import Role
from boundshift._app.fit import fit_table, make_model
from boundshift._app.folder import predict_table, report_facts, write_folder


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    ill = (rng.random(400) < 0.3).astype(int)
    return pd.DataFrame(
        {
            "age": rng.normal(50, 9, 400).round(3) + 6 * ill,
            "dose": rng.normal(size=400).round(3) + ill,
            "times": rng.choice([0.7, 1.0, 1.3], 400) * np.where(ill, 1.4, 0.8),
            "loss": rng.gamma(2, 30, 400).round(2),
            "ill": ill,
        }
    )


@pytest.fixture(scope="module")
def weighted(table):
    return fit_table(table.drop(columns="loss"), "ill", weight="times", rule="cost")


@pytest.fixture(scope="module")
def costed(table):
    return fit_table(table.drop(columns="times"), "ill", cost_column="loss")


def split(y):
    return train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=0)


def by_hand(table, fitted, **known):
    """Fit the model that the table's fit should have fitted, row by row from the classifier."""
    y = table["ill"].to_numpy()
    train, test = split(y)
    X = table[["age", "dose"]]
    model = BoundShiftClassifier(
        make_model("logistic", fitted.columns),
        rule=fitted.model.rule,
        pos_label=1,
        random_state=0,
    )
    model.fit(X.iloc[train], y[train], **{k: v.to_numpy()[train] for k, v in known.items()})
    return model, X.iloc[test], y[test], test


def test_weights_count_in_training_and_in_the_boundary(table, weighted):
    model, X, *_ = by_hand(table, weighted, classifier__sample_weight=table["times"])
    assert weighted.boundary.threshold == pytest.approx(model.boundary_.threshold)
    assert weighted.judged[1] == pytest.approx(model.positive_scores(X))
    plain = fit_table(table[["age", "dose", "ill"]], "ill", rule="cost")
    assert weighted.boundary.threshold != pytest.approx(plain.boundary.threshold, abs=1e-3)
    assert weighted.judged[1] != pytest.approx(plain.judged[1], abs=1e-3)


def test_the_certificate_of_weighted_rows_counts_each_once_and_says_so(weighted):
    expected = certify(*weighted.judged, weighted.boundary.threshold)
    assert weighted.certificate.wrong == expected.wrong
    assert weighted.certificate.error_bounds == expected.error_bounds
    assert weighted.certificate.reason.endswith("every row counts once, whatever its weight")
    facts = report_facts(weighted, "ill")
    assert "the pictures count every row once" in facts["verdict"]["note"]
    assert weighted.interval is None


def test_equal_weights_are_none_and_a_row_of_weight_0_is_no_row(table):
    frame = table[["age", "dose", "ill"]].assign(times=1)
    plain = fit_table(frame.drop(columns="times"), "ill")
    wild = frame.assign(age=frame["age"] * 100, ill=1 - frame["ill"], times=0).iloc[:150]
    unlabelled = frame.iloc[:3].assign(ill=None, times=None)  # needs no weight
    both = fit_table(pd.concat([frame, wild, unlabelled]), "ill", weight="times")
    alone = fit_table(frame, "ill", weight="times")
    assert alone.boundary.threshold == pytest.approx(plain.boundary.threshold)
    assert alone.certificate.wrong == plain.certificate.wrong
    assert both.boundary.threshold == alone.boundary.threshold
    assert sum(both.test.n_samples) == sum(alone.test.n_samples)
    assert "150 rows with a weight of 0 are left out." in both.notes


def test_a_warning_of_uneven_weights_names_the_table_s_class(table):
    words = table[["age", "dose"]].assign(ill=np.where(table["ill"] == 1, "sick", "well"))
    words["times"] = np.where(np.arange(400) % 40, 1.0, 90.0)
    with pytest.warns(BoundaryWarning) as told:
        fit_table(words, "ill", weight="times", positive="sick")
    said = " ".join(str(warning.message) for warning in told)
    assert "weights of class 'sick' sum" in said
    assert "weights of class 'well' sum" in said


def test_costs_by_row_set_the_boundary_and_not_the_model(table, costed):
    model, X, y, test = by_hand(table, costed, row_cost=table["loss"])
    assert costed.boundary.threshold == pytest.approx(model.boundary_.threshold)
    plain = fit_table(table[["age", "dose", "ill"]], "ill")
    assert costed.judged[1] == pytest.approx(plain.judged[1])
    wrong = (model.positive_scores(X) > costed.boundary.threshold) != (y == 1)
    lost = table["loss"].to_numpy()[test][wrong].sum()
    assert f"On the test rows they cost {lost:,.6g}, and" in costed.counted


def test_the_report_of_costs_by_row_says_them_first(table, costed):
    facts = report_facts(costed, "ill")
    _, test = split(table["ill"].to_numpy())
    y, s = costed.judged
    wrong = (s > costed.boundary.threshold) != (y == costed.labels[1])
    paid = 1000 * np.mean(table["loss"].to_numpy()[test] * wrong)
    start = "Goal: the least cost of wrong decisions, by column 'loss'. "
    assert facts["goal"]["sentence"].startswith(start)
    assert f"1,000 decisions cost {paid:,.0f} on the test rows" in facts["goal"]["sentence"]
    assert "wrong decisions cost least by column 'loss'" in facts["verdict"]["note"]


def test_the_report_of_weights_says_the_goal_by_weight(table, weighted):
    facts = report_facts(weighted, "ill")
    _, test = split(table["ill"].to_numpy())
    y, s = weighted.judged
    wrong = (s > weighted.boundary.threshold) != (y == weighted.labels[1])
    paid = 1000 * np.average(wrong, weights=table["times"].to_numpy()[test])
    assert "each row counted by its weight in column 'times'. " in facts["goal"]["sentence"]
    assert f"1,000 decisions cost {paid:.4g} on the test rows" in facts["goal"]["sentence"]


def test_a_goal_that_is_taken_back_is_not_spoken_of(costed):
    # Nothing is certified on rows that the model has seen, so nothing has to be qualified.
    facts = report_facts(replace(costed, unseen=False), "ill")
    assert facts["goal"] is None
    assert "goal is met" not in str(facts)


@pytest.mark.parametrize("name", ["times", "loss"])
def test_predictions_neither_need_nor_read_it(table, weighted, costed, name, tmp_path):
    fitted = weighted if name == "times" else costed
    write_folder(fitted, report_facts(fitted, tmp_path / "ill"), tmp_path / "ill")
    assert name in json.loads((tmp_path / "ill" / "columns.json").read_text())["left_out"]
    features = table[["age", "dose"]]
    features.to_csv(tmp_path / "new.csv", index=False)
    features.assign(**{name: "?"}).to_csv(tmp_path / "odd.csv", index=False)
    found = [predict_table(tmp_path / "ill", tmp_path / f"{n}.csv")[0] for n in ("new", "odd")]
    assert found[0].equals(found[1])


@pytest.mark.parametrize("named", [True, False])
def test_a_model_that_came_trained_takes_weights_in_the_boundary_only(table, tmp_path, named):
    X, y = table[["age", "dose"]], table["ill"].to_numpy()
    model = LogisticRegression().fit(X if named else X.to_numpy(), y)
    save(model, tmp_path / "m.skops")
    frame = table.drop(columns="loss")
    fitted = fit_table(frame, "ill", model=tmp_path / "m.skops", weight="times")
    train, _ = train_test_split(np.arange(400), test_size=0.5, stratify=y, random_state=0)
    s = model.predict_proba(X if named else X.to_numpy())[:, 1]
    w = table["times"].to_numpy()
    expected = find_boundary(y[train], s[train], sample_weight=w[train])
    assert fitted.boundary.threshold == pytest.approx(expected.threshold)
    assert "count in the boundary and in" in fitted.counted


def test_a_column_that_a_trained_model_reads_is_refused(table, tmp_path):
    save(LogisticRegression().fit(table[["age", "dose"]], table["ill"]), tmp_path / "m.skops")
    with pytest.raises(InvalidInputError, match="--weight must name a column that the model does"):
        fit_table(table, "ill", model=tmp_path / "m.skops", weight="age")


WRONG = {
    "no such column": ({"weight": "time"}, {}, "time"),
    "the target": ({"weight": "ill"}, {}, "'ill' as --weight and as the target"),
    "a role besides": (
        {"cost_column": "loss", "roles": {"loss": Role.DROP}},
        {},
        "'loss' as --cost-column and as --drop",
    ),
    "both": ({"weight": "times", "cost_column": "loss"}, {}, "a weight or a cost"),
    "missing": ({"weight": "times"}, {"times": np.nan}, "got nan in 1 rows in column 'times'"),
    "negative": ({"cost_column": "loss"}, {"loss": -2.5}, "at least 0, .* got -2.5 in 1 rows"),
    "zeros": ({"cost_column": "loss"}, {"loss": [0] * 400}, "got zeros only in column 'loss'"),
    "no weight": ({"weight": "times"}, {"times": [0] * 400}, "got zeros only in column 'times'"),
    "infinite": ({"weight": "times"}, {"times": np.inf}, "finite numbers .* got inf"),
    "words": ({"weight": "times"}, {"times": "often"}, "'times' .* got 'often'"),
    "a promise": (
        {"weight": "times", "curve": "clopper-pearson"},
        {},
        "must be left out",
    ),
    "the paper": ({"weight": "times", "curve": "paper"}, {}, "must be left out"),
    "costs with a rule": ({"cost_column": "loss", "rule": "f1"}, {}, "`row_cost` must go without"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_cannot_be_gets_a_sentence(table, wrong):
    options, cell, words = WRONG[wrong]
    frame = table.astype(dict.fromkeys(cell, object))
    for name, value in cell.items():
        frame.loc[7 if np.isscalar(value) else slice(None), name] = value
    with pytest.raises(InvalidInputError, match=words):
        fit_table(frame, "ill", **options)

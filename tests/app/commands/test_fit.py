import csv
import json
import pickle
import shutil

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import boundshift
from boundshift import Boundary, BoundShiftClassifier, Cost, Floors, Zone
from boundshift.app import app
from boundshift.app.workflow import TRUSTED
from boundshift.app.workflow.folder import FILES
from boundshift.datasets import load_hepatitis, load_pima
from boundshift.datasets.catalogue import load_table
from boundshift.words import number

FIT = ["fit", "pima.csv", "--target", "target"]


@pytest.fixture(scope="module")
def rows():
    """Return real rows with the faults of real files."""
    frame = load_table("pima")
    frame.insert(0, "patient_id", np.arange(len(frame)) * 3 + 7)
    frame["visited"] = pd.date_range("2020-01-01", periods=len(frame)).strftime("%Y-%m-%d")
    frame["clinic"] = np.resize(["north", "south", None, "<b>east</b>"], len(frame))
    frame["country"] = "X"
    frame.loc[frame["BloodPressure"] == 0, "BloodPressure"] = None
    frame.loc[5:9, "target"] = None
    return frame


@pytest.fixture
def pima(tmp_path, rows):
    rows.to_csv(tmp_path / "pima.csv", index=False)
    return rows.copy()


@pytest.fixture(scope="module")
def fitted_once(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("fitted")
    rows.to_csv(folder / "pima.csv", index=False)
    out = ["--out", str(folder / "ill"), "--unit", "patients"]
    result = CliRunner().invoke(app, [FIT[0], str(folder / FIT[1]), *FIT[2:], *out])
    assert result.exit_code == 0, result.output
    return folder / "ill", result


@pytest.fixture
def fitted(fitted_once, pima, tmp_path):
    folder, result = fitted_once
    shutil.copytree(folder, tmp_path / "ill")
    return result


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_fit_writes_all_files(fitted, tmp_path):
    assert sorted(p.name for p in (tmp_path / "ill").iterdir()) == sorted(FILES)
    assert "<!doctype html" in (tmp_path / "ill" / "report.html").read_text().lower()


def test_the_user_is_told_what_was_left_out_and_why(fitted):
    notes = " ".join(fitted.stderr.split())
    assert "'patient_id' is left out: it counts or names the rows" in notes
    assert "'visited' is left out: it holds dates" in notes
    assert "'country' is left out: it never varies" in notes
    assert "5 rows without a value of 'target' are left out" in notes


def test_every_column_stands_in_the_report_and_on_the_terminal(fitted, tmp_path):
    page = (tmp_path / "ill" / "report.html").read_text(encoding="utf-8")
    shown = " ".join(fitted.stdout.split())
    for name, made in (("Glucose", "number"), ("clinic", "category"), ("visited", "left out")):
        assert f'<th scope="row">{name}</th><td>{made}</td>' in page
        assert f"{name} {made}" in shown


def test_the_verdict_is_a_sentence(fitted):
    said = " ".join(fitted.stdout.split())
    assert "Of 100 patients of class diabetes the shifted model is expected to miss" in said
    assert "Certified: It holds if the model has not seen these rows" in said


def test_classes_may_have_names(run, pima):
    names = ["--positive-name", "sick", "--negative-name", "healthy", "--unit", "patients"]
    said = " ".join(run(*FIT, *names).stdout.split())
    assert "Of 100 sick patients the shifted model is expected to miss" in said


def test_the_boundary_is_the_model_s(fitted, tmp_path):
    stored = Boundary.from_json((tmp_path / "ill" / "boundary.json").read_text())
    model = boundshift.load(tmp_path / "ill" / "model.skops", trusted=TRUSTED)
    assert stored.threshold == model.threshold_
    assert stored.labels == ("no diabetes", "diabetes")


def test_the_comparison_names_ours_and_the_rivals(fitted, tmp_path):
    rows = {row["method"]: row for row in rows_of(tmp_path / "ill" / "comparison.csv")}
    assert {"boundshift", "untouched", "SMOTE, retrained", "class weights, retrained"} <= set(rows)
    assert float(rows["boundshift"]["recall_positive"]) > float(
        rows["untouched"]["recall_positive"]
    )


def test_predictions_are_the_model_s_on_prepared_rows(run, fitted, pima, tmp_path):
    run("predict", "ill", "pima.csv", "--out", "p.csv", "--keep", "patient_id")
    rows = rows_of(tmp_path / "p.csv")
    stored = Boundary.from_json((tmp_path / "ill" / "boundary.json").read_text())
    assert [int(row["patient_id"]) for row in rows] == pima["patient_id"].tolist()
    expected = stored.predict([float(row["score"]) for row in rows]).tolist()
    assert [row["prediction"] for row in rows] == expected
    known = pima["target"].notna().to_numpy()
    right = np.array([row["prediction"] for row in rows])[known] == pima["target"][known]
    assert right.mean() > 0.7


def test_probabilities_are_the_model_s_own(run, fitted, pima, tmp_path):
    """Only labels move; how likely a class is does not change with a decision."""
    run("predict", "ill", "pima.csv", "--out", "p.csv")
    rows = rows_of(tmp_path / "p.csv")
    scores = np.array([float(row["score"]) for row in rows])
    found = np.array([float(row["probability"]) for row in rows])
    assert found == pytest.approx(scores, rel=1e-12)
    model = boundshift.load(tmp_path / "ill" / "model.skops").estimator_
    own = model.predict_proba(pima[list(model.feature_names_in_)])[:, 1]
    assert found == pytest.approx(own, rel=1e-9)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], {}),
        (["--curve", "paper"], {"curve": "paper"}),
        (["--rule", "minimax"], {"rule": "minimax"}),
        (["--costs", "1,20"], {"rule": Cost(false_negative=20)}),
        (["--recall-floor", "0.9"], {"rule": Floors(recall=0.9)}),
    ],
)
def test_the_same_fit_in_python_has_the_same_boundary(run, tmp_path, options, expected):
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split

    frame = load_pima(as_frame=True).frame
    X, y = frame.drop(columns="target"), frame["target"].to_numpy()
    model = LogisticRegression(max_iter=5000).fit(X[:300], y[:300])
    boundshift.save(model, tmp_path / "own.skops")
    frame[300:].to_csv(tmp_path / "rest.csv", index=False)
    run("fit", "rest.csv", "--target", "target", "--model", "own.skops", *options)
    stored = Boundary.from_json((tmp_path / "boundshift-fit" / "boundary.json").read_text())
    rows, _ = train_test_split(
        np.arange(300, len(y)), test_size=0.5, stratify=y[300:], random_state=0
    )
    shifted = BoundShiftClassifier(model, cv="prefit", **expected).fit(X.iloc[rows], y[rows])
    assert stored.to_dict() == shifted.boundary_.to_dict()


def test_new_rows_may_have_columns_in_another_order(run, fitted, pima, tmp_path):
    first = run("predict", "ill", "pima.csv").stdout
    pima.drop(columns="target")[pima.columns[:-1][::-1].drop("target")].to_csv(
        tmp_path / "new.csv", index=False
    )
    assert run("predict", "ill", "new.csv").stdout == first
    piped = run("predict", "ill", "-", input=(tmp_path / "new.csv").read_bytes())
    assert piped.stdout == first


@pytest.mark.parametrize("ending", ["tsv", "parquet", "feather", "jsonl"])
def test_predictions_in_every_format(run, fitted, tmp_path, ending):
    from boundshift.app.tables import read_frame

    run("predict", "ill", "pima.csv", "--out", f"p.{ending}")
    run("predict", "ill", "pima.csv", "--out", "p.csv")
    written, plain = (read_frame(tmp_path / f"p.{e}") for e in (ending, "csv"))
    assert written["prediction"].tolist() == plain["prediction"].tolist()
    scores = [found["score"].astype(float).tolist() for found in (written, plain)]
    assert scores[0] == pytest.approx(scores[1])


def test_an_unseen_category_is_said_and_predicted(run, fitted, pima, tmp_path):
    pima.assign(clinic="west").to_csv(tmp_path / "new.csv", index=False)
    result = run("predict", "ill", "new.csv")
    assert "Column 'clinic' has values not seen in training: west" in result.stderr
    assert len(result.stdout.splitlines()) == len(pima) + 1


def test_a_missing_column_is_named_with_its_nearest(run, fitted, pima, tmp_path):
    pima.rename(columns={"Glucose": "glucose"}).to_csv(tmp_path / "new.csv", index=False)
    answer = run("predict", "ill", "new.csv", code=1).stderr
    assert "no column 'Glucose'. Did you mean 'glucose'?" in answer


def test_text_in_a_column_of_numbers_is_refused(run, fitted, pima, tmp_path):
    new = pima.astype({"Glucose": object})
    new.loc[3, "Glucose"] = "high"
    new.to_csv(tmp_path / "new.csv", index=False)
    answer = run("predict", "ill", "new.csv", code=1).stderr
    assert "Column 'Glucose' of new.csv must hold numbers, got 'high'" in answer


def test_nothing_is_replaced_without_force(run, fitted, tmp_path):
    before = {p.name: p.read_bytes() for p in (tmp_path / "ill").iterdir()}
    assert "--force" in run(*FIT, "--out", "ill", code=1).stderr
    assert {p.name: p.read_bytes() for p in (tmp_path / "ill").iterdir()} == before
    run(*FIT, "--out", "ill", "--force", "--costs", "1,20")
    after = Boundary.from_json((tmp_path / "ill" / "boundary.json").read_text())
    assert after.rule == Cost(false_positive=1, false_negative=20)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["ill", "pima.csv"]


def test_a_zone_is_found_on_the_test_rows_told_of_and_used_by_predict(run, pima, tmp_path):
    said = run(*FIT, "--out", "ill", "--zone", "0.2,0.2").stdout
    zone = Zone.from_json((tmp_path / "ill" / "zone.json").read_text())
    certificate = json.loads((tmp_path / "ill" / "certificate.json").read_text())
    assert list(zone.n_samples) == certificate["n_samples"]
    assert f"up to {number(zone.low)}" in said
    assert "The unsure zone" in (tmp_path / "ill" / "report.html").read_text(encoding="utf-8")
    run("predict", "ill", "pima.csv", "--zone", "ill/zone.json", "--out", "new.csv")
    predicted = pd.read_csv(tmp_path / "new.csv")
    unsure = (predicted["score"] > zone.low) & (predicted["score"] <= zone.high)
    assert 0 < unsure.sum() < len(predicted)
    assert ((predicted["prediction"] == "unsure") == unsure).all()
    # A fit without a zone may take its place, and leaves none of it.
    run(*FIT, "--out", "ill", "--force")
    assert sorted(p.name for p in (tmp_path / "ill").iterdir()) == sorted(FILES)


def test_a_failure_on_the_way_leaves_nothing(run, pima, tmp_path, monkeypatch):
    import boundshift.app.workflow.folder as folder

    def full_disk(rows):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folder, "comparison_csv", full_disk)
    assert "No space left" in run(*FIT, "--out", "ill", code=1).stderr
    assert [p.name for p in tmp_path.iterdir()] == ["pima.csv"]


@pytest.mark.parametrize("model", ["svm", "forest", "boosting", "mlp"])
def test_every_model_can_be_fitted_and_loaded(run, tmp_path, model):
    bunch = load_hepatitis(as_frame=True)
    bunch.frame.to_csv(tmp_path / "h.csv", index=False)
    run("fit", "h.csv", "--target", "target", "--model", model, "--out", "fit")
    assert len(run("predict", "fit", "h.csv").stdout.splitlines()) == len(bunch.frame) + 1


@pytest.fixture
def trained(tmp_path):
    from sklearn.linear_model import LogisticRegression

    frame = load_pima(as_frame=True).frame
    model = LogisticRegression(max_iter=5000).fit(frame.iloc[:300, :-1], frame["target"][:300])
    frame[300:].to_csv(tmp_path / "rest.csv", index=False)
    boundshift.save(model, tmp_path / "own.skops")
    (tmp_path / "own.pkl").write_bytes(pickle.dumps(model))
    return model


@pytest.mark.parametrize("more", [["own.skops"], ["own.pkl", "--trust"]])
def test_a_trained_model_is_taken_as_it_is(run, trained, tmp_path, more):
    result = run("fit", "rest.csv", "--target", "target", "--model", *more, "--out", "fit")
    kept = boundshift.load(tmp_path / "fit" / "model.skops").estimator_
    assert kept.coef_.tolist() == trained.coef_.tolist()
    assert "Certified" in result.stdout
    methods = [row["method"] for row in rows_of(tmp_path / "fit" / "comparison.csv")]
    assert not any("retrained" in method for method in methods)


def test_a_model_that_has_seen_the_rows_certifies_nothing(run, trained):
    result = run("fit", "rest.csv", "--target", "target", "--model", "own.skops", "--seen")
    assert "Nominal: The model was fitted on these rows" in result.stdout


def test_a_model_of_other_columns_is_refused(run, trained, tmp_path):
    frame = pd.read_csv(tmp_path / "rest.csv").rename(columns={"BMI": "bmi"})
    frame.to_csv(tmp_path / "other.csv", index=False)
    answer = run("fit", "other.csv", "--target", "target", "--model", "own.skops", code=1).stderr
    assert "no column 'BMI'. Did you mean 'bmi'?" in answer


def test_a_model_of_other_labels_is_refused(run, trained, tmp_path):
    frame = pd.read_csv(tmp_path / "rest.csv")
    frame.assign(target=np.where(frame["target"] == 1, "yes", "no")).to_csv(
        tmp_path / "words.csv", index=False
    )
    command = ["fit", "words.csv", "--target", "target", "--model", "own.skops"]
    assert "'no' and 'yes'; it has 0, 1" in run(*command, code=1).stderr


@pytest.mark.parametrize("named", [[], ["--positive", "a"], ["--positive", "b"]])
def test_any_class_of_a_trained_model_can_be_the_positive_one(run, tmp_path, named):
    """The rarer one is the model's first, to which its scores do not point."""
    from sklearn.linear_model import LogisticRegression

    frame = load_pima(as_frame=True).frame
    frame["target"] = np.where(frame["target"] == 1, "a", "b")
    model = LogisticRegression(max_iter=5000).fit(frame.iloc[:300, :-1], frame["target"][:300])
    boundshift.save(model, tmp_path / "own.skops")
    frame[300:].to_csv(tmp_path / "rest.csv", index=False)
    options = ["--model", "own.skops", "--recall-floor", "0.9", "--out", "fit", *named]
    result = run("fit", "rest.csv", "--target", "target", *options)
    positive = named[-1] if named else "a"
    stored = Boundary.from_json((tmp_path / "fit" / "boundary.json").read_text())
    assert stored.labels[1] == positive
    assert stored.rule == Floors(recall=0.9)
    assert ("the rarer one" in result.stderr) == (not named)
    run("predict", "fit", "rest.csv", "--out", "p.csv")
    rows = rows_of(tmp_path / "p.csv")
    predicted = np.array([row["prediction"] for row in rows])
    scores = [float(row["score"]) for row in rows]
    assert predicted.tolist() == stored.predict(scores).tolist()
    truth = frame["target"][300:].to_numpy()
    assert (predicted[truth == positive] == positive).mean() > 0.85
    own = model.predict_proba(frame.iloc[300:, :-1])[:, list(model.classes_).index(positive)]
    assert [float(row["probability"]) for row in rows] == pytest.approx(own.tolist())


def test_columns_json_is_plain(fitted, tmp_path):
    facts = json.loads((tmp_path / "ill" / "columns.json").read_text())
    assert facts["labels"] == ["no diabetes", "diabetes"]
    assert facts["columns"]["clinic"] == {"kind": "word", "why": "words", "complete": False}
    assert set(facts["left_out"]) == {"patient_id", "visited", "country"}


def test_weights_and_costs_by_row_are_columns_and_no_features(run, pima, tmp_path):
    pima["times"], pima["amount"] = np.resize([1, 2, 3], len(pima)), np.arange(len(pima)) + 0.5
    pima.to_csv(tmp_path / "pima.csv", index=False)
    weighed = run(*FIT, "--weight", "times", "--drop", "amount", "--out", "w")
    assert "count in training, in the boundary and in the report's goal" in weighed.stderr
    assert "each row counted by its weight in column 'times'" in weighed.stdout
    assert "every row counts once, whatever its weight" in weighed.stdout
    costed = run(*FIT, "--cost-column", "amount", "--drop", "times", "--out", "c")
    assert "wrong decisions cost least by column 'amount'" in costed.stderr
    assert "Goal: the least cost of wrong decisions, by column 'amount'." in costed.stdout
    boundary = json.loads((tmp_path / "c" / "boundary.json").read_text())
    assert boundary["rule"]["name"] == "cost"
    for folder, name in (("w", "times"), ("c", "amount")):
        columns = json.loads((tmp_path / folder / "columns.json").read_text())
        assert name in columns["left_out"]
        assert name not in columns["columns"]


def test_costs_by_row_go_without_a_rule(run, pima):
    result = run(*FIT, "--cost-column", "Age", "--rule", "f1", code=1)
    assert "--cost-column must go without a rule or a curve, got 'Age'" in result.stderr

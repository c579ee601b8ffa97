import json
import math
import pickle
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    StandardScaler,
)

from boundshift import (
    Boundary,
    BoundShiftClassifier,
    ClassFloors,
    Cost,
    CostMatrix,
    InvalidInputError,
    Metric,
    MissingExtraError,
    SupportRadius,
    find_boundary,
    load,
    save,
)
from boundshift.curves import Claim, ClopperPearson, CountCurve, Logistic
from boundshift.models import trusted_types
from boundshift.rules import Sum

STORED = Path(__file__).parents[1] / "data" / "stored" / "version_4"


@pytest.fixture(scope="module")
def boundary():
    return find_boundary(["no"] * 5 + ["yes"] * 2, [0, 1, 1, 2, 1, 5, 6], pos_label="yes")


@pytest.fixture(scope="module")
def fitted(data):
    return BoundShiftClassifier(LogisticRegression(), cv=3).fit(*data)


def shout(X):
    return X


class Bomb:
    """A pickle that runs code."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


# The boundary as JSON.


def test_json_has_no_word_that_json_does_not_know(boundary):
    text = replace(boundary, loss=math.inf, errors=(math.nan, math.nan)).to_json()

    def refuse(word):
        raise AssertionError(word)

    stored = json.loads(text, parse_constant=refuse)
    assert (stored["loss"], stored["errors"]) == ("Infinity", ["NaN", "NaN"])
    assert all(math.isnan(error) for error in Boundary.from_json(text).errors)


def test_the_page_on_formats_names_every_field(boundary):
    page = Path(__file__).parents[2] / "docs" / "reference" / "file_formats.md"
    text = page.read_text(encoding="utf-8")
    assert [name for name in boundary.to_dict() if f"`{name}`" not in text] == []


# Models.


def same(a, b, X):
    np.testing.assert_array_equal(a.predict(X), b.predict(X))
    assert hasattr(a, "predict_proba") == hasattr(b, "predict_proba")
    if hasattr(a, "predict_proba"):
        np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X))


@pytest.mark.parametrize(
    ("curve", "rule"),
    [
        (ClopperPearson(confidence=0.9), Cost(false_negative=9)),
        (SupportRadius(gamma=2.0), Sum()),
        (Logistic(), Metric("f1")),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_curves_rules_and_splitters_as_parameters_need_no_trust(data, tmp_path, curve, rule):
    model = BoundShiftClassifier(
        LogisticRegression(), cv=StratifiedKFold(3), curve=curve, rule=rule
    )
    copy = load(save(model.fit(*data), tmp_path / "model.skops"))
    same(copy, model, data[0])
    assert (copy.curve, copy.rule) == (curve, rule)
    for name in ("boundary_", "certificate_", "threshold_"):
        assert getattr(copy, name) == getattr(model, name)


# Other models of scikit-learn are stored in `test_matrix.py`.
PARTS = {
    "hist boosting": HistGradientBoostingClassifier(max_iter=5),
    "gaussian process": GaussianProcessClassifier(),
    "isotonic": CalibratedClassifierCV(GaussianNB(), method="isotonic", cv=2),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
@pytest.mark.parametrize("name", PARTS)
def test_a_pipeline_of_parts_of_scikit_learn_needs_no_trust(name, tmp_path):
    X, y = make_classification(120, 5, random_state=0)
    frame = pd.DataFrame(X, columns=list("abcde")).assign(town=np.where(X[:, 0] > 0, "r", "b"))
    frame.loc[::10, "a"] = np.nan
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler(), SelectKBest(k=4))
    prepare = ColumnTransformer(
        [
            ("numbers", numbers, list("abc")),
            ("bins", KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf"), ["d"]),
            ("towns", OneHotEncoder(handle_unknown="ignore"), ["town"]),
        ],
        remainder="passthrough",
        sparse_threshold=0,
    )
    inner = make_pipeline(prepare, PARTS[name])
    model = BoundShiftClassifier(inner, cv=2).fit(frame, y)
    same(load(save(model, tmp_path / "model.skops")), model, frame)


@dataclass(frozen=True)
class Mine(CountCurve):
    """A curve of somebody's own."""

    name = "mine"
    claim = Claim.AVERAGE_CASE
    more: float = 0.5

    def bound(self, wrong, n):
        return (np.asarray(wrong) + self.more) / (n + 1)


def test_a_pickle_keeps_curves_of_ones_own_and_labels_of_any_kind(data):
    X, y = data
    model = BoundShiftClassifier(LogisticRegression(), curve=Mine(0.25)).fit(X, y)
    model.boundary_ = replace(model.boundary_, labels=(b"no", b"yes"))
    copy = pickle.loads(pickle.dumps(model))
    assert copy.boundary_ == model.boundary_
    assert copy.boundary_.curve == Mine(0.25)


def test_a_type_that_is_not_trusted_is_named(data, tmp_path):
    model = make_pipeline(FunctionTransformer(shout), BoundShiftClassifier(LogisticRegression()))
    path = save(model.fit(*data), tmp_path / "model.skops")
    with pytest.raises(InvalidInputError, match=r"without \['.*shout'\]") as caught:
        load(path)
    name = str(caught.value).split("['")[1].split("']")[0]
    same(load(path, trusted=[name]), model, data[0])
    same(load(path, trusted=True), model, data[0])


def test_what_cannot_be_stored_leaves_no_file(data, tmp_path):
    model = BoundShiftClassifier(LogisticRegression(), response_method=lambda m, X: X[:, 0])
    with pytest.raises(InvalidInputError, match="that skops can store"):
        save(model.fit(*data), tmp_path / "model.skops")
    assert list(tmp_path.iterdir()) == []


# Files.


def test_a_file_is_not_replaced_unless_asked(boundary, tmp_path):
    path = save(boundary, tmp_path / "b.json")
    other = replace(boundary, threshold=1.0)
    with pytest.raises(InvalidInputError, match="must not exist yet"):
        save(other, path)
    assert load(path) == boundary
    assert load(save(other, path, overwrite=True)) == other


def test_a_pickle_is_refused_and_not_run(tmp_path):
    path = tmp_path / "x.pkl"
    mark = tmp_path / "ran"
    path.write_bytes(pickle.dumps(Bomb(mark)))
    for trusted in (None, ["pathlib.Path"]):
        with pytest.raises(InvalidInputError, match="can run any code"):
            load(path, trusted=trusted)
    assert not mark.exists()
    load(path, trusted=True)
    assert mark.exists()


def test_a_file_of_a_newer_release_says_so(tmp_path):
    stored = {"format": "boundshift.object", "version": 5, "object": 1}
    (tmp_path / "x").write_bytes(skops.io.dumps(stored))
    with pytest.raises(InvalidInputError, match="upgrade"):
        load(tmp_path / "x")


@pytest.mark.parametrize("content", [b"PK\x03\x04 and no more", b"", b"{]"])
def test_a_spoiled_file_is_refused(tmp_path, content):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(InvalidInputError):
        load(tmp_path / "x")


def test_without_a_safe_skops_the_extra_is_named(fitted, tmp_path, monkeypatch):
    monkeypatch.setattr(skops, "__version__", "0.11.1")
    with pytest.raises(MissingExtraError, match=r"0\.12"):
        save(fitted, tmp_path / "model.skops")
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(MissingExtraError, match=r"\.\[files\]"):
        save(fitted, tmp_path / "model.skops")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
def test_files_of_this_version_load():
    expected = json.loads((STORED / "expected.json").read_text(encoding="utf-8"))
    boundary = load(STORED / "boundary.json")
    rows = np.array(expected["rows"])
    assert boundary.predict(expected["scores"]).tolist() == expected["boundary"]
    models = {name: load(STORED / f"{name}.skops") for name in ("two_classes", "three_classes")}
    for name, model in models.items():
        assert model.predict(rows).tolist() == expected[name]
        repr(model)
    assert models["two_classes"].rule == Cost(false_negative=20)


def test_a_curve_that_the_package_does_not_have_is_kept_as_it_was_stored(boundary):
    stored = boundary.to_dict() | {"curve": {"name": "dkw", "confidence": 0.9}}
    again = Boundary.from_dict(stored)
    assert dict(again.curve.settings) == stored["curve"]
    assert again.to_dict() == stored


@pytest.mark.parametrize(
    "rule",
    [
        CostMatrix([[0, 1, 4], [5, 0, 3], [50, 10, 0]], [0, 1, 2]),
        ClassFloors(recall={2: 0.6}),
        None,
    ],
)
def test_rules_and_boundaries_of_many_classes_come_back_with_their_model(tmp_path, rule):
    X, y = make_classification(460, n_informative=4, n_classes=3, random_state=0)
    model = BoundShiftClassifier(LogisticRegression(), rule=rule).fit(X, y)
    again = load(save(model, tmp_path / "model.skops"))
    same(again, model, X)
    assert (again.rule, again.boundaries_) == (rule, model.boundaries_)


def test_types_that_nobody_trusts_are_named_and_then_taken(data):
    clf = BoundShiftClassifier(KNeighborsClassifier(algorithm="kd_tree")).fit(*data)
    names = [
        "sklearn.neighbors._kd_tree.KDTree",
        "sklearn.metrics._dist_metrics.EuclideanDistance64",
    ]
    with pytest.raises(InvalidInputError, match=r"the model holds, .*_kd_tree\.KDTree"):
        trusted_types(clf)
    assert {*names} < {*trusted_types(clf, names)}

import pickle

import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from boundshift import BoundShiftClassifier

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks from 1.9 on")
X, Y = make_classification(400, weights=[0.8], class_sep=0.7, random_state=0)


class Diary:
    """Writes down what it is told."""

    def __init__(self):
        self.lines = []

    def setup(self, estimator, context):
        self.lines.append("setup")

    def on_fit_task_begin(self, estimator, context, **_):
        self.lines.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, **_):
        self.lines.append(f"end {context.task_name}")

    def teardown(self, estimator, context):
        self.lines.append("teardown")


class PropagatedDiary(Diary):
    max_propagation_depth = None


def read(model, kind=Diary):
    diary = kind()
    model.set_callbacks(diary).fit(X, Y)
    return diary.lines


FOLDS = ["begin folds", *["begin fold", "end fold"] * 3, "end folds"]
ALL_ROWS = ["begin all rows", "end all rows"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"cv": 3}, FOLDS),
        ({"cv": 3, "ensemble": False}, [*FOLDS, *ALL_ROWS]),
        ({"cv": None}, ALL_ROWS),
    ],
    ids=str,
)
def test_callbacks_hear_of_every_fit(options, told):
    lines = read(BoundShiftClassifier(LogisticRegression(), **options))
    assert lines == ["setup", "begin fit", *told, "end fit", "teardown"]


def test_one_fit_of_a_forest_is_heard_of():
    forest = RandomForestClassifier(60, random_state=0)
    lines = read(BoundShiftClassifier(forest, cv="oob"))
    assert lines == ["setup", "begin fit", *ALL_ROWS, "end fit", "teardown"]


def test_models_that_have_callbacks_are_heard_too():
    lines = read(BoundShiftClassifier(LogisticRegression(), cv=3), PropagatedDiary)
    assert lines.count("begin lbfgs-iter") > 3


def test_a_search_hears_of_the_folds_inside():
    search = GridSearchCV(
        BoundShiftClassifier(LogisticRegression(), cv=3), {"estimator__C": [1]}, cv=2
    )
    assert read(search, PropagatedDiary).count("begin fold") == 9


def test_a_bar_of_progress_is_drawn_from_two_processes(capfd):
    model = BoundShiftClassifier(LogisticRegression(), cv=3, n_jobs=2)
    model.set_callbacks(callback.ProgressBar()).fit(X, Y)
    assert capfd.readouterr().out.count("LogisticRegression - fit") == 3


def test_a_fit_that_fails_is_torn_down():
    diary = Diary()
    model = BoundShiftClassifier(LogisticRegression(C=-1), cv=3).set_callbacks(diary)
    with pytest.raises(ValueError, match="C"):
        model.fit(X, Y)
    assert diary.lines[-1] == "teardown"
    assert "_callback_fit_ctx" not in vars(model)


def test_a_fitted_model_with_a_callback_travels():
    model = BoundShiftClassifier(LogisticRegression(), cv=3).set_callbacks(Diary()).fit(X, Y)
    assert (pickle.loads(pickle.dumps(model)).predict(X) == model.predict(X)).all()

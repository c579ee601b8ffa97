import numpy as np
import pytest

from lab.suite.rows import Results

FITS = [
    ("a1", "a", "logistic", 0),
    ("a1", "a", "logistic", 1),
    ("a2", "a", "logistic", 0),
    ("a1", "a", "svm", 0),
    ("b1", "b", "logistic", 0),
    ("b1", "b", "svm", 0),
]


KEYS = ("dataset", "family", "model", "seed")


@pytest.fixture
def rows(row):
    rng = np.random.default_rng(0)
    metrics = ("g_mean", "f1", "balanced_accuracy", "mcc")
    return [
        row(
            method=method, **dict(zip(KEYS, fit, strict=True)), **{m: rng.random() for m in metrics}
        )
        for fit in FITS
        for method in ("smote", "untouched")
    ]


def _value(rows, method, *fit):
    return next(r.f1 for r in rows if (r.dataset, r.family, r.model, r.seed) == fit
                and r.method == method)  # fmt: skip


def test_seeds_are_averaged_before_data_sets(rows):
    found = Results(rows).blocks("f1", ["untouched"])
    a1 = np.mean([_value(rows, "untouched", *fit) for fit in FITS[:2]])
    expected = np.mean([a1, _value(rows, "untouched", *FITS[2])])
    assert found.values[found.names.index(("a", "logistic")), 0] == pytest.approx(expected)
    assert found.names == [("a", "logistic"), ("a", "svm"), ("b", "logistic"), ("b", "svm")]


def test_models_are_averaged_last(rows):
    results = Results(rows)
    both = results.blocks("f1", unit="family")
    each = results.blocks("f1")
    assert both.names == [("a",), ("b",)]
    np.testing.assert_allclose(both.values[0], each.values[:2].mean(axis=0))


def test_the_order_of_rows_does_not_matter(rows):
    shuffled = [rows[i] for i in np.random.default_rng(1).permutation(len(rows))]
    ours, theirs = (Results(r).blocks("f1", ["smote", "untouched"]) for r in (rows, shuffled))
    for name, values in zip(ours.names, ours.values, strict=True):
        np.testing.assert_allclose(theirs.values[theirs.names.index(name)], values)


def test_a_failure_counts_as_a_useless_classifier(row):
    failed = row(method="smote", status="FAILED", solved=False, message="ValueError: no")
    fine = row(method="untouched", g_mean=0.4, balanced_accuracy=0.6, f1=0.3, mcc=0.1)
    results = Results([failed, fine])
    assert results.blocks("balanced_accuracy", ["smote"]).values.item() == 0.5
    assert results.blocks("g_mean", ["smote", "untouched"]).values.tolist() == [[0.0, 0.4]]


def test_parts_are_chosen_by_training(rows):
    part = Results(rows).where(lambda fit: fit.model == "svm")
    assert part.blocks("f1").names == [("a", "svm"), ("b", "svm")]
    assert Results(rows).only(["smote"]).methods == ["smote"]

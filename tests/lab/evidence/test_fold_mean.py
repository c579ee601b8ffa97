import numpy as np
import pytest

from lab.evidence.fold_mean import compare, narrowed
from lab.suite.train import RawScores

FOLDS = 5


def draw(noise: float) -> RawScores:
    """Scores of five models that agree but for noise of their own."""
    rng = np.random.default_rng(0)
    y_train, y_test = (np.repeat([0, 1], sizes) for sizes in ((2000, 200), (20_000, 5_000)))
    train, test = (rng.normal(size=len(y)) + 3 * y for y in (y_train, y_test))
    nothing = np.zeros(0)
    return RawScores(
        y_train=y_train,
        y_test=y_test,
        train=nothing,
        test=nothing,
        out_of_fold=train + noise * rng.normal(size=len(train)),
        fold=np.arange(len(y_train)) % FOLDS,
        fold_tests=test + noise * rng.normal(size=(FOLDS, len(test))),
        held=np.zeros(0, dtype=np.intp),
        held_part=nothing,
        held_test=nothing,
        smote_test=nothing,
        balanced_test=nothing,
        seconds=np.zeros(6),
        parameters="",
    )


def test_models_that_agree_have_no_shift() -> None:
    found = compare(draw(0.0), "margin")
    assert [found["narrower_usual"], found["narrower_rare"]] == pytest.approx([1.0, 1.0])
    assert found["shift"] == pytest.approx(0.0, abs=1e-12)
    assert found["lost"] == pytest.approx(0.0, abs=1e-3)
    assert found["g_mean_mended"] == pytest.approx(found["g_mean"], abs=1e-3)


def test_the_mean_is_narrower_by_what_models_disagree_on() -> None:
    found = compare(draw(1.0), "margin")
    expected = np.sqrt((1 + 1 / FOLDS) / (1 + 1))
    assert found["narrower_usual"] == pytest.approx(expected, abs=0.02)
    assert found["narrower_rare"] == pytest.approx(expected, abs=0.02)


def test_narrowed_scores_keep_the_middle_of_their_class() -> None:
    y, scores = np.array([0, 0, 1, 1]), np.array([0.0, 2.0, 5.0, 9.0])
    assert narrowed(y, scores, (0.5, 0.25)).tolist() == [0.5, 1.5, 6.5, 7.5]

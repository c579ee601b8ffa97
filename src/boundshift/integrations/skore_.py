"""A check for skore's reports, of a threshold that nobody moved though one class is rare."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from boundshift.classifier import BoundShiftClassifier
from boundshift.exceptions import MissingExtraError

__all__ = ["ThresholdCheck"]

# The larger class has at least so many times the rows of the smaller one.
_IMBALANCE = 3.0
# Shares of the two classes that are missed, the smaller against the larger: a difference beyond
# chance by so many standard errors.
_STANDARD_ERRORS = 2.0


class ThresholdCheck:
    """Finds classifiers that miss the rare class while their threshold was never moved.

    It stands beside skore's own checks: ``report.checks.add([ThresholdCheck()])``. It speaks
    where one of two classes has at least three times the rows of the other, the model is no
    :class:`~boundshift.BoundShiftClassifier`, and it misses the rare class more often than the
    other by two standard errors.

    Examples
    --------
    >>> import skore  # doctest: +SKIP
    >>> report = skore.EstimatorReport(model, X_test=X, y_test=y)  # doctest: +SKIP
    >>> report.checks.add([ThresholdCheck()])  # doctest: +SKIP
    >>> report.checks.summarize()  # doctest: +SKIP
    """

    code: ClassVar[str] = "BOUND001"
    title: ClassVar[str] = "Decision threshold not tuned for an imbalanced target"
    report_types: ClassVar[list[str]] = ["estimator"]
    docs_url: ClassVar[str | None] = None
    severity: ClassVar[str] = "issue"
    slow: ClassVar[bool] = False

    def check_function(self, report: Any) -> str | None:
        """Return what is wrong and the line that mends it, None if nothing is.

        Parameters
        ----------
        report : skore.EstimatorReport
            With test rows.
        """
        try:
            from skore import CheckNotApplicable
        except ImportError:
            raise MissingExtraError("skore", "skore") from None
        model, X, y = report.estimator_, report.X_test, report.y_test
        if X is None or y is None or len(getattr(model, "classes_", ())) != 2:
            raise CheckNotApplicable("No test rows, or not two classes.")
        if _holds_a_shift(model):
            return None
        y = np.asarray(y)
        counts = [int(np.count_nonzero(y == label)) for label in model.classes_]
        if min(counts) == 0 or max(counts) < _IMBALANCE * min(counts):
            return None
        missed = [
            float(np.mean(np.asarray(model.predict(X))[y == label] != label))
            for label in model.classes_
        ]
        rare = int(np.argmin(counts))
        spread = np.sqrt(sum(m * (1 - m) / n for m, n in zip(missed, counts, strict=True)))
        if missed[rare] - missed[1 - rare] <= _STANDARD_ERRORS * spread:
            return None
        return (
            f"{missed[rare]:.0%} of {model.classes_[rare]!r} ({counts[rare]} of {len(y)} test "
            f"rows) are missed, against {missed[1 - rare]:.0%} of {model.classes_[1 - rare]!r}. "
            "Move the threshold without training another kind of model: "
            f"boundshift.BoundShiftClassifier({type(model).__name__}(...)).fit(X_train, y_train), "
            "or, with rows that the model has not seen, cv='prefit'."
        )


def _holds_a_shift(model: Any) -> bool:
    """Return whether a model, or the last step of a pipeline, has a boundary that was moved."""
    while hasattr(model, "steps"):
        model = model.steps[-1][1]
    return isinstance(getattr(model, "best_estimator_", model), BoundShiftClassifier)

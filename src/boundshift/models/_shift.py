"""Copies of a model whose own intercept carries the new boundary, and need nothing of boundshift.

The paper moves the bias b of a classifier to b'. A model with an intercept of its own can hold b',
and is then deployed like any other.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import logit
from sklearn.utils.validation import check_is_fitted

from boundshift._result.boundary import Boundary
from boundshift._typing import FloatArray
from boundshift.exceptions import InvalidInputError
from boundshift.models._scoring import MeanOfModels, Response, class_columns, look_up, unwrap


class ShiftExportMixin:
    """Exports a fitted classifier's shift into the intercept of its model."""

    estimator_: Any
    estimators_: list[Any]
    classes_: Any
    boundary_: Boundary
    biases_: Any
    _response: Response

    def shifted_estimator(self) -> Any:
        """Return a copy of the model whose own intercept carries the shift.

        It predicts what this classifier predicts, and does not need boundshift. Linear models,
        SVC with two classes and MLPClassifier can carry the shift, and pipelines that end in one of
        them. Margins and probabilities of the copy move with its labels.

        Returns
        -------
        fitted model

        Raises
        ------
        InvalidInputError
            If the model has no intercept, is a mean of models that are not linear, the scores
            are not its own margins or their probabilities, or the threshold is no probability
            between 0 and 1.

        Notes
        -----
        The paper's b' = b − threshold, in log-odds where ``threshold_`` is a probability; with
        more classes each class's bias is added to its own.
        The intercept is added before the sum is rounded and the threshold after it, so that rows
        closer to the boundary than that rounding (10⁻¹⁵ of the score, 10⁻⁶ in float32) may fall
        on either side.

        Examples
        --------
        >>> from sklearn.datasets import make_classification
        >>> from sklearn.linear_model import LogisticRegression
        >>> from boundshift import BoundShiftClassifier
        >>> X, y = make_classification(500, weights=[0.9], random_state=0)
        >>> shifted = BoundShiftClassifier(LogisticRegression()).fit(X, y)
        >>> plain = shifted.shifted_estimator()
        >>> type(plain).__name__, bool((plain.predict(X) == shifted.predict(X)).all())
        ('LogisticRegression', True)
        """
        check_is_fitted(self)
        if isinstance(self.estimator_, MeanOfModels):
            kind = type(unwrap(self.estimators_[0]).last).__name__
            raise InvalidInputError(
                "`estimator_` must be one model for its intercept to carry the shift, got the mean "
                f"of {len(self.estimators_)} {kind}s. Fit "
                "with ensemble=False, which trains one model on all rows."
            )
        if self._response.method not in ("margin", "decision_function"):
            raise InvalidInputError(
                "Scores must be the model's own margins for its intercept to carry the shift, got "
                f"{self._response.method!r} of {type(self.estimator_).__name__}. Ask for margins "
                "with response_method='decision_function' or 'margin', if it has any."
            )
        columns = class_columns(self.estimator_, self.classes_)
        if len(columns) > 2:
            return _shift_intercept(self.estimator_, self.biases_[columns])
        boundary = self.boundary_
        threshold = boundary.threshold
        if boundary.scale == "probability":
            if not 0 < threshold < 1:
                raise InvalidInputError(
                    "`threshold_` must lie between 0 and 1 for an intercept to carry it, got "
                    f"{threshold!r}, at which all rows get one label. Keep the "
                    "BoundShiftClassifier itself, or use another rule."
                )
            threshold = float(logit(threshold))
        if boundary.labels[1] == self.classes_[0]:
            # A row at the boundary is negative: here it belongs to the second class.
            threshold = float(np.nextafter(-threshold, -np.inf))
        sign = 1.0 if columns[0] < columns[1] else -1.0
        return _shift_intercept(self.estimator_, np.array([-sign * threshold]))


def _shift_intercept(estimator: Any, offsets: FloatArray) -> Any:
    """Return a copy of a model that adds minus the threshold, or each class's bias, to margins."""
    whole = copy.deepcopy(unwrap(estimator).whole)
    last = unwrap(whole).last
    add = look_up(last, _ADDERS)
    if add is None:
        raise InvalidInputError(
            "`estimator` must be a model whose intercept can carry the shift, got "
            f"{type(last).__name__}. Linear models, SVC with two classes and MLPClassifier can, "
            "and pipelines that end in one. Keep the BoundShiftClassifier itself, or compare the "
            "model's own scores with threshold_."
        )
    add(last, offsets)
    return whole


def _add_to_intercept(model: Any, offsets: FloatArray) -> None:
    model.intercept_ = np.asarray(model.intercept_, dtype=np.float64) + offsets


def _add_to_machine(model: Any, offsets: FloatArray) -> None:
    if len(model.classes_) > 2:
        raise InvalidInputError(
            f"`estimator` must be a support vector machine of two classes, got one of "
            f"{len(model.classes_)}, which decides by votes of pairs. Use LinearSVC, or keep the "
            "BoundShiftClassifier itself."
        )
    model.intercept_ = model.intercept_ + offsets
    model._intercept_ = model._intercept_ - offsets  # libsvm's own, of the opposite sign


def _add_to_last_layer(model: Any, offsets: FloatArray) -> None:
    model.intercepts_[-1] = model.intercepts_[-1].astype(np.float64) + offsets


_ADDERS: dict[tuple[str, str], Callable[[Any, FloatArray], None]] = {
    ("sklearn", "LinearClassifierMixin"): _add_to_intercept,
    ("sklearn", "BaseSVC"): _add_to_machine,
    ("sklearn", "MLPClassifier"): _add_to_last_layer,
}

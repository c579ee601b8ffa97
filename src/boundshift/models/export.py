"""Copies of a fitted classifier's model that carry the shift and need nothing of boundshift."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from boundshift.exceptions import InvalidInputError
from boundshift.models.intercept import shift_intercept
from boundshift.models.margins import innermost
from boundshift.models.mean import MeanOfModels
from boundshift.models.response import Response, class_columns

__all__ = ["ShiftExportMixin"]


class ShiftExportMixin:
    """Exports a fitted classifier's shift into the intercept of its model."""

    estimator_: Any
    estimators_: list[Any]
    classes_: Any
    threshold_: float
    biases_: Any
    _response: Response

    def shifted_estimator(self) -> Any:
        """Return a copy of the model whose own intercept carries the shift.

        It predicts what this classifier predicts, and needs nothing of boundshift. Linear models,
        SVC with two classes, MLPClassifier, gradient boosting, XGBoost, LightGBM, CatBoost,
        PyTorch and skorch can carry it, and pipelines that end in one of them. The copy's
        probabilities are those of this classifier, where it has any.

        Returns
        -------
        fitted model

        Raises
        ------
        InvalidInputError
            If the model has no intercept, is a mean of models that are not linear, or the scores
            are not its own margins.

        Notes
        -----
        The paper's b' = b − threshold; with more classes each class's bias is added to its own.
        The intercept is added before the sum is rounded and the threshold after it, so that rows
        closer to the boundary than that rounding (10⁻¹⁵ of the score, 10⁻⁶ for models that
        compute in float32: XGBoost, PyTorch) may fall on either side.

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
            raise InvalidInputError(
                "`estimator_` must be one model for its intercept to carry the shift, got the mean "
                f"of {len(self.estimators_)} {type(innermost(self.estimators_[0])).__name__}s. Fit "
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
            return shift_intercept(self.estimator_, self.biases_[columns])
        sign = 1.0 if columns[0] < columns[1] else -1.0
        return shift_intercept(self.estimator_, np.array([-sign * self.threshold_]))

    def to_linear(self) -> Any:
        """Return :meth:`shifted_estimator` of a linear model: weights, and the paper's b'.

        Returns
        -------
        fitted linear model, or a pipeline that ends in one
            Its last step has ``coef_`` and ``intercept_``.

        Raises
        ------
        InvalidInputError
            If the model is not linear.

        Examples
        --------
        >>> from sklearn.svm import LinearSVC
        >>> from boundshift import BoundShiftClassifier
        >>> X, y = [[0.0], [1.0], [1.5], [2.0], [6.0], [7.0]], [0, 0, 0, 0, 1, 1]
        >>> shifted = BoundShiftClassifier(LinearSVC(), cv=None).fit(X, y)
        >>> new = shifted.to_linear().intercept_ - shifted.estimator_.intercept_
        >>> bool(abs(new + shifted.threshold_) < 1e-12)
        True
        """
        check_is_fitted(self)
        last = innermost(getattr(self, "estimators_", [self.estimator_])[0])
        if not hasattr(last, "coef_"):
            raise InvalidInputError(
                f"`estimator` must be a linear model with `coef_`, got {type(last).__name__}. "
                "Use shifted_estimator()."
            )
        return self.shifted_estimator()

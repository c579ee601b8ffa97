"""Copies of a model whose own intercept carries the new boundary, and need nothing of boundshift.

The paper moves the bias b of a classifier to b'. A model with an intercept of its own can hold b',
and is then deployed like any other.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from scipy.special import logit
from sklearn.utils.validation import check_is_fitted

from boundshift._result.boundary import Boundary
from boundshift._typing import FloatArray, IndexArray
from boundshift.exceptions import InvalidInputError
from boundshift.models._scoring import MeanOfModels, Response, class_columns, is_a, unwrap


class ShiftExportMixin:
    """Exports a fitted classifier's shift into the intercept of its model."""

    estimator_: Any
    classes_: Any
    boundary_: Boundary
    biases_: Any
    _response: Response

    def shifted_estimator(self) -> Any:
        """Return a copy of the model whose own intercept carries the shift.

        It predicts what this classifier predicts, and does not need boundshift. Linear models and
        MLPClassifier can carry the shift, and pipelines that end in one of them. Margins and
        probabilities of the copy move with its labels.

        Returns
        -------
        fitted model

        Raises
        ------
        InvalidInputError
            If the model is another one, is a mean of models that are not linear, or the scores
            are not its own margins or their probabilities.

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
        whole = copy.deepcopy(unwrap(self.estimator_).whole)
        last = unwrap(whole).last
        has_margins = self._response.method in ("margin", "decision_function")
        is_linear = is_a(last, "sklearn", "LinearClassifierMixin")
        if not has_margins or not (is_linear or is_a(last, "sklearn", "MLPClassifier")):
            name = type(last).__name__
            if isinstance(last, MeanOfModels):
                name = f"a mean of {type(unwrap(last.estimators[0]).last).__name__}s"
            raise InvalidInputError(
                "`estimator_` must be one linear model or MLPClassifier, scored by its own "
                f"margins, for its intercept to carry the shift, got {name}. Fit with "
                "ensemble=False, or keep the BoundShiftClassifier itself."
            )
        offsets = self._offsets(class_columns(self.estimator_, self.classes_))
        if is_linear:
            last.intercept_ = np.asarray(last.intercept_, dtype=np.float64) + offsets
        else:
            last.intercepts_[-1] = last.intercepts_[-1].astype(np.float64) + offsets
        return whole

    def _offsets(self, columns: IndexArray) -> FloatArray:
        """Return minus the threshold, or each class's bias, to be added to the margins."""
        if len(columns) > 2:
            return np.asarray(self.biases_[columns])
        threshold = self.boundary_.threshold
        if self.boundary_.scale == "probability":
            threshold = float(logit(np.clip(threshold, 0.0, 1.0)))
        if self.boundary_.labels[1] == self.classes_[0]:
            # A row at the boundary is negative: here it belongs to the second class.
            threshold = float(np.nextafter(-threshold, -np.inf))
        return np.array([-threshold if columns[0] < columns[1] else threshold])

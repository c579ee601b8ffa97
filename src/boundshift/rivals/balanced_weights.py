"""Balanced weights: train with errors on small classes made dear."""

from typing import Any

from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import has_fit_parameter

from boundshift.exceptions import InvalidInputError
from boundshift.rivals.delegate import DelegatingClassifier

__all__ = ["BalancedWeights"]


class BalancedWeights(DelegatingClassifier):
    """Train with weights in inverse proportion to the class sizes.

    Sets ``class_weight="balanced"`` wherever the classifier, or one inside it (a pipeline's step, a
    grid search's estimator), has that parameter; otherwise passes balanced ``sample_weight`` to
    ``fit``, which `MLPClassifier` and most boosters take.

    Parameters
    ----------
    estimator : classifier
        A classifier with ``class_weight``, or whose ``fit`` takes ``sample_weight``.

    Attributes
    ----------
    estimator_ : classifier
        The classifier, fitted with weights.
    classes_ : ndarray of shape (n_classes,)
        Labels.

    References
    ----------
    G. King, L. Zeng, "Logistic regression in rare events data", Political Analysis 9, 2001.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from boundshift.datasets import make_gaussians
    >>> from boundshift.rivals import BalancedWeights
    >>> X, y = make_gaussians(random_state=0)
    >>> weighted = BalancedWeights(LogisticRegression()).fit(X, y)
    >>> weighted.estimator_.class_weight
    'balanced'
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def _train(self, X: Any, y: NDArray[Any]) -> Any:
        fresh = clone(self.estimator)
        weights = [name for name in fresh.get_params() if _is_class_weight(name)]
        if weights:
            return fresh.set_params(**dict.fromkeys(weights, "balanced")).fit(X, y)
        balanced = compute_sample_weight("balanced", y)
        return fresh.fit(X, y, **{_weight_argument(fresh): balanced})


def _is_class_weight(name: str) -> bool:
    """Say whether a parameter, maybe nested, is a class weight."""
    return name.rpartition("__")[2] == "class_weight"


def _weight_argument(estimator: Any) -> str:
    """Name under which ``fit`` takes sample weights."""
    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    if not has_fit_parameter(last, "sample_weight"):
        raise InvalidInputError(
            "`estimator` must have `class_weight` or take `sample_weight` in fit, got "
            f"{type(last).__name__}. Use SMOTEClassifier or a rival that moves the threshold."
        )
    return f"{estimator.steps[-1][0]}__sample_weight" if last is not estimator else "sample_weight"

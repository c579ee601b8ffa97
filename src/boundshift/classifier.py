"""`BoundShiftClassifier`: any scikit-learn classifier with its decision boundary moved."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import update_wrapper
from types import MethodType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Bunch, assert_all_finite, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_method_params, check_is_fitted, column_or_1d

from boundshift.boundary import find_boundary
from boundshift.curves import ErrorCurve
from boundshift.curves.support import SupportRadius
from boundshift.decision import choose_claims
from boundshift.exceptions import BoundaryWarning, InvalidInputError
from boundshift.models.baked import Bakes
from boundshift.models.folds import Deciding, RowScorer, has_weight, set_random_states
from boundshift.models.log_odds import log_probabilities, probabilities
from boundshift.models.margins import is_native
from boundshift.models.response import (
    ResponseMethod,
    check_response_method,
    known_classes,
)
from boundshift.models.state import pack, unpack
from boundshift.multiclass import fit_biases, joint_biases
from boundshift.promises.certificate import certify_counts
from boundshift.result.boundary import Boundary
from boundshift.rules import GMean, Rule
from boundshift.validation import as_choice

__all__ = ["BoundShiftClassifier"]

FloatArray = NDArray[np.float64]


# What `fit` learns; none of it outlives the next one.
_LEARNED = (
    "estimator_",
    "classes_",
    "boundary_",
    "threshold_",
    "boundaries_",
    "biases_",
    "certificate_",
    "n_features_in_",
    "feature_names_in_",
    "_response",
)


class _WithProbabilities:
    """A method that is there iff shifted probabilities are; if not, the error says why."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method
        update_wrapper(self, method)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self.method
        reason = instance._why_no_probabilities()
        if reason:
            raise AttributeError(f"`{self.method.__name__}` is not there: {reason}")
        return MethodType(self.method, instance)


class BoundShiftClassifier(Bakes, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier whose decision boundary stands where class-wise confidence bounds put it.

    The wrapped classifier gives every row a score; `find_boundary` says where on that score the
    decision belongs. Nothing is resampled, and a trained model need not be trained again.

    Parameters
    ----------
    estimator : estimator object
        A classifier with ``decision_function`` or ``predict_proba``; with ``cv="prefit"`` also a
        Booster of XGBoost, LightGBM or CatBoost, a PyTorch module, or any function that gives
        rows their scores.
    cv : "prefit", None, int, splitter or iterable, default=5
        Which scores decide. An int or a splitter: scores of rows left out of training, as in
        cross-validation; the final model is then trained on all rows. This is the default since
        flexible models (boosting, forests, networks) know their training rows by heart, and
        their training scores say little. None: scores of the training rows, as in the paper; one
        fit only, good for linear models. "prefit", or a
        :class:`~sklearn.frozen.FrozenEstimator`: the trained model as it is, never refitted; pass
        ``fit`` rows that it has not seen.
    response_method : {"auto", "margin", "decision_function", "predict_proba"} or callable, \
default="auto"
        Where the scores come from: margins of models known to hide them behind probabilities
        (boosters, networks, naive Bayes), else ``decision_function``, else probabilities, which
        are turned into log-odds. A callable is called with (estimator, X) and returns scores: one
        column for two classes, or one per class.
    multi_class : {"joint", "pairwise", "one-vs-rest"}, default="joint"
        How more than two classes get one bias each. "joint": the biases that are best for all
        pairs of classes together, by the curves of each pair. "pairwise": each pair's boundary,
        reconciled by least squares; "joint" is the same with the bound "support", which has no
        curve to share, and with rules that do not treat classes alike. "one-vs-rest": each class
        against all others.
    bound, rule
        The claim on each class's error and how both become one number; None, the default, is
        "logistic" with "g-mean". See :func:`~boundshift.find_boundary`.
    preset, gamma, constant, radius, slack, penalty, alpha, budget, centre, stop_at_zero, solver, \
fallback
        See :func:`~boundshift.find_boundary`.
    random_state : int, RandomState instance or None, default=None
        Seeds every random state of the estimator that is None, so that fits can be repeated.
    n_jobs : int, default=None
        Folds to fit at once; None means 1, -1 all processors.

    Attributes
    ----------
    estimator_ : estimator object
        The classifier whose scores are shifted.
    classes_ : array of shape (n_classes,)
        Labels, in sorted order; the second of two is the positive class.
    boundary_ : Boundary
        The boundary with two classes.
    threshold_ : float
        Its threshold: with two classes, predict the second iff score > threshold.
    boundaries_ : dict
        With more classes, the boundary of each binary problem, by labels.
    biases_ : array of shape (n_classes,)
        With more classes, what is added to each class's score before the largest one wins.
    certificate_ : Certificate
        Upper bounds of each class's error rate at 95%, from the scores that decided, with the
        price of having decided on them; "nominal" where these are training scores. With "prefit"
        it holds if the model has not seen the rows given to ``fit``.
    n_features_in_ : int
        Number of features seen by the estimator.
    feature_names_in_ : array of shape (n_features,)
        Names of features, where they are strings.

    See Also
    --------
    boundshift.find_boundary : The same decision from labels and scores.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.metrics import balanced_accuracy_score
    >>> from boundshift import BoundShiftClassifier
    >>> X, y = make_classification(2000, weights=[0.95], random_state=0)
    >>> untouched = LogisticRegression().fit(X[:1000], y[:1000])
    >>> shifted = BoundShiftClassifier(LogisticRegression()).fit(X[:1000], y[:1000])
    >>> for model in untouched, shifted:
    ...     print(round(balanced_accuracy_score(y[1000:], model.predict(X[1000:])), 2))
    0.9
    0.94
    """

    def __init__(
        self,
        estimator: Any,
        *,
        cv: Any = 5,
        response_method: ResponseMethod = "auto",
        multi_class: Literal["joint", "pairwise", "one-vs-rest"] = "joint",
        bound: str | ErrorCurve | None = None,
        rule: str | Rule | None = None,
        preset: Literal["paper", "authors"] | None = None,
        gamma: float | None = None,
        constant: float | None = None,
        radius: Literal["one-sided", "two-sided"] | None = None,
        slack: Literal["binary", "continuous"] | None = None,
        penalty: Literal["proportional", "count"] | None = None,
        alpha: float | tuple[float, float] | None = None,
        budget: int | float | Literal["all"] | None = None,
        centre: Literal["median", "mean"] | None = None,
        stop_at_zero: bool | None = None,
        solver: Literal["exact", "slsqp"] = "exact",
        fallback: Literal["edges", "means"] | float = "edges",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.cv = cv
        self.response_method = response_method
        self.multi_class = multi_class
        self.bound = bound
        self.rule = rule
        self.preset = preset
        self.gamma = gamma
        self.constant = constant
        self.radius = radius
        self.slack = slack
        self.penalty = penalty
        self.alpha = alpha
        self.budget = budget
        self.centre = centre
        self.stop_at_zero = stop_at_zero
        self.solver = solver
        self.fallback = fallback
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, **fit_params: Any) -> BoundShiftClassifier:
        """Fit the classifier, unless it is fitted already, and find its boundary.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels.
        **fit_params : dict
            Passed to the estimator's ``fit``, for example ``sample_weight``; with metadata
            routing enabled, as requested there.

        Returns
        -------
        self : object
        """
        X, y = indexable(X, column_or_1d(y, warn=True))
        as_choice("multi_class", self.multi_class, ("joint", "pairwise", "one-vs-rest"))
        check_response_method(self.response_method, self.estimator)
        params = self._route(fit_params)
        collect = self._collect_prefit if self._prefit else self._collect
        estimator, classes, deciding = collect(X, y, params)
        learned: dict[str, Any] = {
            "estimator_": estimator,
            "classes_": classes,
            "_response": deciding.response,
            **self._decide(classes, deciding),
        }
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(estimator, name):
                learned[name] = getattr(estimator, name)
        # A fit that fails leaves what there was.
        for name in _LEARNED:
            vars(self).pop(name, None)
        vars(self).update(learned)
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return shifted scores.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
            Score minus threshold, above zero for the second of two classes; or each class's
            score plus its bias.
        """
        check_is_fitted(self)
        return self._shift(self._response.read(self.estimator_, X, self.classes_))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return labels: the sign, or the largest, of the shifted scores.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        array of shape (n_samples,)
        """
        winner = _winner(self.decision_function(X))
        labels: NDArray[Any] = self.classes_[winner]
        return labels

    @_WithProbabilities
    def predict_proba(self, X: Any) -> FloatArray:
        """Return probabilities shifted with the boundary: above one half iff predicted.

        The logistic function of :meth:`decision_function`, or its softmax. They are there if the
        model has probabilities and the scores are their log-odds; the model's own, which say how
        likely a class is, are those of ``estimator_``.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        return probabilities(self.decision_function(X))

    @_WithProbabilities
    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return the logarithms of :meth:`predict_proba`.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        return log_probabilities(self.decision_function(X))

    def get_metadata_routing(self) -> MetadataRouter:
        """Return how metadata is routed to the estimator and the splitter."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=self).add_self_request(self)  # for `score`
        router.add(estimator=self.estimator, method_mapping=mapping)
        if hasattr(self.cv, "split"):
            mapping = MethodMapping().add(caller="fit", callee="split")
            router.add(splitter=self.cv, method_mapping=mapping)
        return router

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if not hasattr(self.estimator, "__sklearn_tags__"):
            return tags  # A Booster, a network, a function.
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.classifier_tags.multi_class = inner.classifier_tags is None or (
            inner.classifier_tags.multi_class
        )
        return tags

    def __getstate__(self) -> dict[str, Any]:
        return pack(super().__getstate__())

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(unpack(state))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_response")

    @property
    def _prefit(self) -> bool:
        return isinstance(self.estimator, FrozenEstimator) or (
            isinstance(self.cv, str) and self.cv == "prefit"
        )

    def _route(self, fit_params: dict[str, Any]) -> Bunch:
        """Return the parameters of the estimator's fit and of the splitter's split."""
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", **fit_params)
            splitter = routed.get("splitter", Bunch(split={}))
            return Bunch(fit=routed.estimator.fit, split=splitter.split)
        return Bunch(fit=fit_params, split={})

    def _why_no_probabilities(self) -> str:
        """Return why there are no shifted probabilities, or nothing if there are."""
        model = getattr(self, "estimator_", self.estimator)
        if not hasattr(model, "predict_proba"):
            return f"{type(model).__name__} has none. Calibrate it with CalibratedClassifierCV."
        if not hasattr(self, "_response") or self._response.is_log_odds:
            return ""
        return (
            f"the scores of response_method={self.response_method!r} are not the log-odds of "
            f"{type(model).__name__}'s probabilities, which cannot shift with them. Use "
            "response_method='auto', or the model's own at estimator_.predict_proba."
        )

    def _check_labels(self, y: NDArray[Any], fit_params: dict[str, Any]) -> NDArray[Any]:
        """Return the labels; raise if there are not at least two classes to learn from."""
        labels = np.unique(y)
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        weighs = has_weight(fit_params, len(y))
        seen = labels if weighs.all() else np.unique(y[weighs])
        if len(seen) < 2:
            where = "`y`" if weighs.all() else "`y` with a `sample_weight` above 0"
            raise InvalidInputError(
                f"{where} must hold at least two classes, got {len(seen)} class(es): "
                f"{seen.tolist()}. Pass rows of every class that predictions should tell apart."
            )
        return labels

    def _collect_prefit(
        self, X: Any, y: NDArray[Any], params: Bunch
    ) -> tuple[Any, NDArray[Any], Deciding]:
        """Score the rows with the model as it is."""
        labels = self._check_labels(y, params.fit)
        if not is_native(self.estimator):
            check_is_fitted(self.estimator)
        classes = np.unique(known_classes(self.estimator, labels))
        unknown = np.setdiff1d(labels, classes)
        if len(unknown):
            raise InvalidInputError(
                f"`y` must hold labels that the fitted estimator knows ({classes.tolist()}), "
                f"got {unknown.tolist()} too. Encode the labels as the model was trained on them."
            )
        scorer = RowScorer(classes, self.response_method, params.fit)
        return self.estimator, classes, scorer.by_model(self.estimator, X, y, "held-out")

    def _collect(
        self, X: Any, y: NDArray[Any], params: Bunch
    ) -> tuple[Any, NDArray[Any], Deciding]:
        """Fit the estimator, and score rows by it or by models fitted without them."""
        if is_native(self.estimator):
            raise InvalidInputError(
                f"`cv` must be 'prefit' for a {type(self.estimator).__name__}, which cannot be "
                f"fitted again, got {self.cv!r}. Pass `fit` rows that the model has not seen."
            )
        classes = self._check_labels(y, params.fit)
        scorer = RowScorer(classes, self.response_method, params.fit, params.split)
        estimator = set_random_states(clone(self.estimator), self.random_state)
        deciding = None
        if self.cv is not None:
            deciding = scorer.out_of_fold(estimator, X, y, self.cv, self.n_jobs)
        fitted = clone(estimator).fit(X, y, **_check_method_params(X, params.fit))
        return fitted, classes, deciding or scorer.by_model(fitted, X, y, "training")

    def _decide(self, classes: NDArray[Any], deciding: Deciding) -> dict[str, Any]:
        """Return the boundary or one bias per class, and what is certified there."""
        y, scores = deciding.y, deciding.scores
        if len(classes) == 2:
            boundary = replace(self._find(y == 1, scores), labels=tuple(classes.tolist()))
            found = {"boundary_": boundary, "threshold_": boundary.threshold}
            shifted = scores - boundary.threshold
        else:
            biases, boundaries = self._find_biases(classes, y, scores)
            found = {"biases_": biases, "boundaries_": boundaries}
            # A fold's model cannot choose a class that it did not know.
            shifted = np.nan_to_num(scores, nan=-np.inf) + biases
        wrong = y[_winner(shifted) != y]
        found["certificate_"] = certify_counts(
            tuple(np.bincount(wrong, minlength=len(classes)).tolist()),
            tuple(np.bincount(y, minlength=len(classes)).tolist()),
            tuple(classes.tolist()),
            chosen_here=True,
            scores=deciding.origin,
        )
        return found

    def _find_biases(
        self, classes: NDArray[Any], y: NDArray[np.intp], scores: FloatArray
    ) -> tuple[FloatArray, dict[tuple[Any, Any], Boundary]]:
        """Return one bias per class, and the boundaries behind them by labels."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", BoundaryWarning)
            biases, found = self._fit_biases(y, scores)
        if caught:
            warnings.warn(
                f"{len(caught)} of the {len(found)} binary problems behind the class biases need a "
                f"second look; see the status of each of `boundaries_`. First: {caught[0].message}",
                BoundaryWarning,
                stacklevel=4,
            )
        label = dict(enumerate(classes.tolist())) | {-1: "rest"}
        return biases, {(label[i], label[j]): b for (i, j), b in found.items()}

    def _shift(self, scores: FloatArray) -> FloatArray:
        """Return scores minus the threshold, or plus each class's bias."""
        return scores - self.threshold_ if len(self.classes_) == 2 else scores + self.biases_

    def _fit_biases(
        self, indices: NDArray[np.intp], scores: FloatArray
    ) -> tuple[FloatArray, dict[tuple[int, int], Boundary]]:
        """Return one bias per class, and the boundaries of the binary problems."""
        if self.multi_class == "one-vs-rest":
            return fit_biases(indices, scores, self._find, "one-vs-rest")
        biases, found = fit_biases(indices, scores, self._find, "pairwise")
        curve, rule = choose_claims(self.bound, self.rule)
        is_paper = any(b.bound == SupportRadius.name for b in found.values())
        if self.multi_class == "joint" and rule.is_balanced and not is_paper:
            # One class is not rare in every pair, so F1 has no part here.
            plain = GMean(f1_weight=0) if isinstance(rule, GMean) else rule
            biases = joint_biases(indices, scores, curve, plain)
        return biases, found

    def _find(self, is_positive: NDArray[np.bool_], scores: FloatArray) -> Boundary:
        """Find the boundary of a binary problem with this classifier's options."""
        return find_boundary(
            is_positive,
            scores,
            bound=self.bound,
            rule=self.rule,
            preset=self.preset,
            gamma=self.gamma,
            constant=self.constant,
            radius=self.radius,
            slack=self.slack,
            penalty=self.penalty,
            alpha=self.alpha,
            budget=self.budget,
            centre=self.centre,
            stop_at_zero=self.stop_at_zero,
            solver=self.solver,
            fallback=self.fallback,
        )


def _winner(shifted: FloatArray) -> NDArray[np.intp]:
    """Return the number of the class that shifted scores speak for."""
    if shifted.ndim == 1:
        return (shifted > 0).astype(np.intp)
    return np.asarray(shifted.argmax(axis=1))

"""`BoundShiftClassifier`: any scikit-learn classifier with its decision boundary moved."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import check_cv
from sklearn.utils import (
    Bunch,
    assert_all_finite,
    get_tags,
    indexable,
)
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import (
    _check_method_params,
    check_is_fitted,
    column_or_1d,
)

from boundshift.boundary import find_boundary
from boundshift.curves import ErrorCurve
from boundshift.curves.support import SupportRadius
from boundshift.decision import DEFAULT_RULE, choose_claims
from boundshift.exceptions import BoundaryWarning, InvalidInputError
from boundshift.models.baked import Bakes
from boundshift.models.folds import (
    class_indices,
    has_weight,
    one_response_a_row,
    score_fold,
    seeded,
)
from boundshift.models.margins import is_native
from boundshift.models.response import (
    Response,
    ResponseMethod,
    choose_response,
    known_classes,
    read_response,
)
from boundshift.models.state import pack, unpack
from boundshift.multiclass import fit_biases, joint_biases
from boundshift.promises.certificate import Certificate, certify_counts
from boundshift.result.boundary import Boundary
from boundshift.rules import GMean, Rule, as_rule
from boundshift.status import Status
from boundshift.validation import as_choice

__all__ = ["BoundShiftClassifier"]

FloatArray = NDArray[np.float64]


class _Deciding(NamedTuple):
    """Class indices and raw responses of the rows that decide, and where they come from."""

    y: NDArray[np.intp]
    raw: FloatArray
    origin: Literal["held-out", "out-of-fold", "training"]


def _estimator_has(name: str) -> Any:
    """Return a check that the wrapped estimator has a method."""

    def check(self: BoundShiftClassifier) -> bool:
        getattr(getattr(self, "estimator_", self.estimator), name)
        return True

    return check


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
    keep_balanced : bool, default=True
        Whether the model's own boundary stays where all classes are equally frequent and the
        rule ("g-mean", "sum" or "minimax") treats them alike: there is no imbalance to correct
        then, and predictions go on to agree with ``predict_proba``.
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
        keep_balanced: bool = True,
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
        self.keep_balanced = keep_balanced
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
        params = self._route(fit_params)
        self.classes_ = self._check_classes(y, params.fit)
        self._method = choose_response(self.estimator, self.response_method)
        if is_native(self.estimator) and not self._prefit:
            raise InvalidInputError(
                f"`cv` must be 'prefit' for a {type(self.estimator).__name__}, which cannot be "
                f"fitted again, got {self.cv!r}. Pass `fit` rows that the model has not seen."
            )
        collect = self._collect_prefit if self._prefit else self._collect
        deciding = collect(X, y, params)
        self._response = Response.learn(deciding.raw, self._method)
        scores = self._response.scores(deciding.raw)
        self._decide(deciding.y, scores)
        self.certificate_ = self._certify(deciding.y, scores, deciding.origin)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
            else:
                self.__dict__.pop(name, None)
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
        raw = read_response(self.estimator_, X, self._method, self.classes_)
        return self._shift(self._response.scores(raw))

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
        winner = self._winner(self.decision_function(X))
        labels: NDArray[Any] = self.classes_[winner]
        return labels

    @available_if(_estimator_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return the estimator's own probabilities, which the shift does not change.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        probabilities: NDArray[Any] = self.estimator_.predict_proba(X)
        return probabilities

    @available_if(_estimator_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Return the estimator's own log-probabilities.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        probabilities: NDArray[Any] = self.estimator_.predict_log_proba(X)
        return probabilities

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
            splitter = routed.splitter.split if "splitter" in routed else {}
            return Bunch(fit=routed.estimator.fit, split=splitter)
        return Bunch(fit=fit_params, split={})

    def _check_classes(self, y: NDArray[Any], fit_params: dict[str, Any]) -> NDArray[Any]:
        """Return the labels; raise if there are not at least two classes to learn from."""
        weight = fit_params.get("sample_weight")
        labels = np.unique(y)
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        seen = labels if weight is None else np.unique(y[np.asarray(weight) > 0])
        if len(seen) < 2:
            where = "`y`" if weight is None else "`y` with a `sample_weight` above 0"
            raise InvalidInputError(
                f"{where} must hold at least two classes, got {len(seen)} class(es): "
                f"{seen.tolist()}. Pass rows of every class that predictions should tell apart."
            )
        return labels

    def _collect_prefit(self, X: Any, y: NDArray[Any], params: Bunch) -> _Deciding:
        """Score the rows with the model as it is."""
        if not is_native(self.estimator):
            check_is_fitted(self.estimator)
        self.estimator_ = self.estimator
        known = known_classes(self.estimator, self.classes_)
        unknown = np.setdiff1d(self.classes_, known)
        if len(unknown):
            raise InvalidInputError(
                f"`y` must hold labels that the fitted estimator knows ({known.tolist()}), "
                f"got {unknown.tolist()} too. Encode the labels as the model was trained on them."
            )
        self.classes_ = known
        raw = read_response(self.estimator, X, self._method, self.classes_)
        counts = has_weight(params.fit, len(y))
        return _Deciding(class_indices(y, self.classes_)[counts], raw[counts], "held-out")

    def _collect(self, X: Any, y: NDArray[Any], params: Bunch) -> _Deciding:
        """Fit the estimator, and return the raw responses that decide."""
        indices = class_indices(y, self.classes_)
        estimator = seeded(clone(self.estimator), self.random_state)
        deciding = None
        if self.cv is not None:
            deciding = self._collect_out_of_fold(estimator, X, y, indices, params)
        fit_params = _check_method_params(X, params.fit)
        self.estimator_ = clone(estimator).fit(X, y, **fit_params)
        if deciding is None:
            raw = read_response(self.estimator_, X, self._method, self.classes_)
            counts = has_weight(params.fit, len(y))
            deciding = _Deciding(indices[counts], raw[counts], "training")
        return deciding

    def _collect_out_of_fold(
        self, estimator: Any, X: Any, y: NDArray[Any], indices: NDArray[np.intp], params: Bunch
    ) -> _Deciding | None:
        """Score rows with models fitted without them, or return None if that cannot be."""
        counts = np.bincount(indices)
        if len(counts) == 2 and counts.min() == 1:
            return None  # The only row of a class cannot be left out.
        cv = self.cv
        if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
            cv = min(int(cv), max(int(counts.max()), 2))
        with warnings.catch_warnings():
            # A class with fewer rows than folds is missing from some test parts, which is fine.
            warnings.filterwarnings("ignore", message="The least populated class")
            splits = list(check_cv(cv, y, classifier=True).split(X, y, **params.split))
        self._check_folds(indices, splits)
        parts = Parallel(n_jobs=self.n_jobs)(
            delayed(score_fold)(
                estimator, X, y, train, test, params.fit, self._method, self.classes_
            )
            for train, test in splits
        )
        rows, raw = one_response_a_row([test for _, test in splits], parts)
        decides = has_weight(params.fit, len(y))[rows]
        return _Deciding(indices[rows[decides]], raw[decides], "out-of-fold")

    def _check_folds(self, indices: NDArray[np.intp], splits: list[Any]) -> None:
        """Raise if a fold would train a two-class model on one class."""
        for number, (train, _) in enumerate(splits, start=1):
            seen = np.unique(indices[train])
            if len(self.classes_) == 2 and len(seen) < 2:
                raise InvalidInputError(
                    "`cv` must leave rows of both classes in every training part, got only "
                    f"{self.classes_[seen].tolist()} in part {number} of {len(splits)}. "
                    "Use an int or StratifiedKFold, which keep the classes' shares."
                )

    def _decide(self, indices: NDArray[np.intp], scores: FloatArray) -> None:
        """Find the boundary, or one bias per class."""
        for name in ("boundary_", "threshold_", "boundaries_", "biases_"):
            self.__dict__.pop(name, None)  # of an earlier fit with another number of classes
        if len(self.classes_) == 2:
            self.boundary_ = self._find(indices == 1, scores)
            if self._keeps_own(indices):
                self.boundary_ = replace(self.boundary_, threshold=0.0, status=Status.BALANCED)
            self.threshold_ = self.boundary_.threshold
            return
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", BoundaryWarning)
            self.biases_, found = self._fit_biases(indices, scores)
        if self._keeps_own(indices):
            self.biases_ = np.zeros_like(self.biases_)
        label = dict(enumerate(self.classes_.tolist())) | {-1: "rest"}
        self.boundaries_ = {(label[i], label[j]): b for (i, j), b in found.items()}
        if caught:
            warnings.warn(
                f"{len(caught)} of the {len(found)} binary problems behind the class biases need a "
                f"second look; see the status of each of `boundaries_`. First: {caught[0].message}",
                BoundaryWarning,
                stacklevel=3,
            )

    def _certify(self, y: NDArray[np.intp], scores: FloatArray, origin: Any) -> Certificate:
        """Bound each class's error rate from the rows that decided."""
        n_classes = len(self.classes_)
        if n_classes > 2:  # A fold's model cannot choose a class that it did not know.
            scores = np.nan_to_num(scores, nan=-np.inf)
        winner = self._winner(self._shift(scores))
        return certify_counts(
            tuple(np.bincount(y[winner != y], minlength=n_classes).tolist()),
            tuple(np.bincount(y, minlength=n_classes).tolist()),
            tuple(self.classes_.tolist()),
            chosen_here=not self._keeps_own(y),
            scores=origin,
        )

    def _shift(self, scores: FloatArray) -> FloatArray:
        """Return scores minus the threshold, or plus each class's bias."""
        return scores - self.threshold_ if len(self.classes_) == 2 else scores + self.biases_

    def _winner(self, shifted: FloatArray) -> NDArray[np.intp]:
        """Return the index of the class that shifted scores speak for."""
        if shifted.ndim == 1:
            return (shifted > 0).astype(np.intp)
        return np.asarray(shifted.argmax(axis=1))

    def _keeps_own(self, indices: NDArray[np.intp]) -> bool:
        """Return whether the estimator's own boundary, which is at 0, stays."""
        counts = np.bincount(indices, minlength=len(self.classes_))
        applies = not callable(self._method) and as_rule(self.rule or DEFAULT_RULE).is_balanced
        return bool(self.keep_balanced and applies and counts.min() == counts.max())

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
        labels = (False, True) if len(self.classes_) > 2 else tuple(self.classes_.tolist())
        boundary = find_boundary(
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
        return replace(boundary, labels=labels)

"""`BoundShiftClassifier`: any scikit-learn classifier with its decision boundary moved."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import MethodType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import check_is_fitted, column_or_1d

from boundshift.boundary import choose_claims
from boundshift.curves import ErrorCurve
from boundshift.exceptions import BoundaryWarning, InvalidInputError
from boundshift.models.callbacks import CALLER, CallbackSupportMixin, begin_fit, with_callbacks
from boundshift.models.collected import Collector
from boundshift.models.decision import Decided, Decider
from boundshift.models.export import ShiftExportMixin
from boundshift.models.folds import Deciding
from boundshift.models.log_odds import find_winner, log_probabilities, probabilities
from boundshift.models.mean import MeanOfModels
from boundshift.models.response import ResponseMethod, check_response_method
from boundshift.models.routing import read_rows, route_fit
from boundshift.models.state import pack, unpack
from boundshift.promises.zone import Zone
from boundshift.rules import Rule
from boundshift.typing import FloatArray
from boundshift.validation import as_choice, check_labels

__all__ = ["BoundShiftClassifier"]


# What `fit` learns; none of it outlives the next one.
_LEARNED = (
    "estimator_",
    "estimators_",
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
        self.__doc__ = method.__doc__

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self.method
        reason = instance._why_no_probabilities()
        if reason:
            raise AttributeError(f"`{self.method.__name__}` is not there: {reason}")
        return MethodType(self.method, instance)


class BoundShiftClassifier(
    CallbackSupportMixin, ShiftExportMixin, ClassifierMixin, MetaEstimatorMixin, BaseEstimator
):
    """A classifier whose decision boundary stands where class-wise error curves put it.

    The wrapped classifier gives every row a score; `find_boundary` says where on that score the
    decision belongs. A trained model need not be trained again. Labels, scores and probabilities
    shift together; the model's own are those of ``estimator_``.

    Parameters
    ----------
    estimator : estimator object
        A classifier; with ``cv="prefit"`` also a Booster of XGBoost, LightGBM or CatBoost, a
        PyTorch module, or any function that gives rows their scores.
    curve, rule : str, ErrorCurve, Rule or None, default=None
        As in :func:`~boundshift.find_boundary`.
    cv : "prefit", "oob", None, int, splitter or iterable, default=5
        Which scores decide. An int or a splitter: those of rows left out of training, since
        flexible models know their training rows by heart. None: those of the training rows, as in
        the paper; good for linear models. "prefit", or a
        :class:`~sklearn.frozen.FrozenEstimator`: those of the trained model as it is, for which
        ``fit`` wants rows that it has not seen. "oob": of forests and bagging, those of the
        members that did not see a row, at the price of one fit.

        With floors that shall be promised, an int or a splitter keeps a fifth to a half of the
        rows out of all training, and these alone decide; ``boundary_.n_samples`` says how many.
        With too few rows for that the status is NOT_PROMISED.
    ensemble : bool or "auto", default="auto"
        True deploys the mean of the folds' models, whose scores decided; of linear ones it is one
        model, of others K, which take K times the time and space. False trains one more model, on
        all rows. "auto": True where the folds together train on every row, each on every class.
    pos_label : label, default=None
        The class that a floor, a cost or F1 speaks of. None: the greater of 0 and 1, -1 and 1,
        False and True; of other labels the rarer one.
    response_method : {"auto", "margin", "decision_function", "predict_proba"} or callable, \
default="auto"
        Where the scores come from. "auto": the log-odds, or the margin of a model without
        probabilities. A callable is called with (estimator, X) and returns one column for two
        classes, or one per class.
    multi_class : {"joint", "pairwise", "one-vs-rest"}, default="joint"
        How more than two classes get one bias each: for all pairs of classes together, from each
        pair's own boundary by least squares (with the curve "support" always), or from each class
        against all others.
    random_state : int, RandomState instance or None, default=None
        Seeds every random state of the estimator that is None, so that fits can be repeated.
    n_jobs : int, default=None
        Folds to fit at once; None means 1, -1 all processors.

    Attributes
    ----------
    estimator_ : estimator object
        The classifier whose scores are shifted, without the shift: a trained model, linear models
        averaged into one, or a mean of models.
    estimators_ : list of estimator objects
        The models of the folds, where their mean is deployed.
    classes_ : array of shape (n_classes,)
        Labels, in sorted order.
    threshold_ : float
        Of two classes: what is subtracted from the score of the second.
    boundary_ : Boundary
        Of two classes: the boundary on :meth:`positive_scores`.
    biases_ : array of shape (n_classes,)
        Of more classes: what is added to each class's score before the largest one wins.
    boundaries_ : dict
        Of more classes: for each pair of labels the boundary that the biases give them, on the
        score of the second minus that of the first.
    certificate_ : Certificate
        Upper bounds of each class's error rate at 95%, from the scores that decided: *certified*
        if the model has not seen their rows, *cross-fitted* or *nominal* if not.
    n_features_in_, feature_names_in_ : int, array
        What the estimator says of its features.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.metrics import balanced_accuracy_score
    >>> from boundshift import BoundShiftClassifier
    >>> X, y = make_classification(2000, weights=[0.95], random_state=0)
    >>> for model in LogisticRegression(), BoundShiftClassifier(LogisticRegression()):
    ...     predicted = model.fit(X[:1000], y[:1000]).predict(X[1000:])
    ...     print(round(balanced_accuracy_score(y[1000:], predicted), 2))
    0.9
    0.94
    """

    # Requests by metadata, not by the signature: folds make a weight of 2 another thing than the
    # row twice, which scikit-learn expects of an estimator whose `fit` names the argument.
    __metadata_request__fit = {"sample_weight": True, "row_cost": True}  # noqa: RUF012

    def __init__(
        self,
        estimator: Any,
        *,
        curve: str | ErrorCurve | None = None,
        rule: str | Rule | None = None,
        cv: Any = 5,
        ensemble: bool | Literal["auto"] = "auto",
        pos_label: Any = None,
        response_method: ResponseMethod = "auto",
        multi_class: Literal["joint", "pairwise", "one-vs-rest"] = "joint",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.curve = curve
        self.rule = rule
        self.cv = cv
        self.ensemble = ensemble
        self.pos_label = pos_label
        self.response_method = response_method
        self.multi_class = multi_class
        self.random_state = random_state
        self.n_jobs = n_jobs

    @with_callbacks
    def fit(self, X: Any, y: Any, **fit_params: Any) -> BoundShiftClassifier:
        """Fit the classifier, unless it is fitted already, and find its boundary.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels.
        **fit_params : dict
            Passed to the estimator's ``fit``; with metadata routing enabled, as requested there.
            Two of them count in the decision too:

            ``sample_weight`` is how often each row counts, as a frequency, in every fit and in the
            boundary; also as a pipeline's ``step__sample_weight``. With metadata routing
            ``set_fit_request(sample_weight=False)`` keeps it out of the boundary.

            ``row_cost`` is what is lost if the row is decided wrongly, an amount. Of two classes,
            with no curve and no rule but "cost": the boundary is where the rows that decide cost
            least together. The model does not see it.

        Returns
        -------
        self : object
        """
        check_labels(y, "y")
        X, y = indexable(X, column_or_1d(y, warn=True))
        as_choice("multi_class", self.multi_class, ("joint", "pairwise", "one-vs-rest"))
        check_response_method(self.response_method, self.estimator)
        if self.ensemble != "auto" and not isinstance(self.ensemble, bool | np.bool_):
            raise InvalidInputError(
                f"`ensemble` must be True, False or 'auto', got {self.ensemble!r}."
            )
        if isinstance(self.cv, str):
            as_choice("cv", self.cv, ("prefit", "oob"))
        is_prefit = isinstance(self.estimator, FrozenEstimator) or (
            isinstance(self.cv, str) and self.cv == "prefit"
        )
        params = route_fit(self, fit_params, is_prefit=is_prefit)
        weights, costs = read_rows(params.own, y, self.curve, self.rule)
        curve, rule = choose_claims(self.curve, self.rule)
        task = begin_fit(self)
        collector = Collector(
            self.estimator,
            curve,
            rule,
            self.cv,
            self.ensemble,
            self.pos_label,
            self.response_method,
            self.random_state,
            self.n_jobs,
            task,
        )
        with task.run(X, y):
            found = collector.collect(X, y, params, is_prefit=is_prefit)
        estimator, classes = found.estimator, found.classes
        decided = self._decide(classes, found.deciding.weighed(weights, costs), found.guide)
        for doubt in decided.doubts:
            warnings.warn(doubt, BoundaryWarning, stacklevel=CALLER)
        learned: dict[str, Any] = {
            "estimator_": estimator,
            "classes_": classes,
            "_response": found.response,
            **decided.learned,
        }
        if found.estimators is not None:
            learned["estimators_"] = found.estimators
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(estimator, name):
                learned[name] = getattr(estimator, name)
        # A fit that fails leaves what there was.
        for name in _LEARNED:
            self.__dict__.pop(name, None)
        self.__dict__.update(learned)
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
        winner = find_winner(self.decision_function(X))
        labels: NDArray[Any] = self.classes_[winner]
        return labels

    def predict_zone(self, X: Any, zone: Zone, unsure: object = None) -> NDArray[Any]:
        """Return labels by the two limits of a zone, and another one for rows between them.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Rows.
        zone : Zone
            From :func:`~boundshift.find_zone` on labels and :meth:`positive_scores` of rows that
            the model has not seen, with the same positive class.
        unsure : label, default=None
            For rows that nobody should decide by the score alone. ``zone.is_unsure`` of
            :meth:`positive_scores` is the mask of them.

        Returns
        -------
        array of shape (n_samples,)

        Examples
        --------
        >>> from sklearn.datasets import make_classification
        >>> from sklearn.linear_model import LogisticRegression
        >>> from boundshift import BoundShiftClassifier, find_zone
        >>> X, y = make_classification(3000, weights=[0.8], random_state=0)
        >>> model = BoundShiftClassifier(LogisticRegression()).fit(X[:1000], y[:1000])
        >>> zone = find_zone(y[1000:2000], model.positive_scores(X[1000:2000]))
        >>> decided = model.predict_zone(X[2000:], zone, unsure=-1)
        >>> sorted(set(decided.tolist())), round(float((decided == -1).mean()), 2)
        ([-1, 0, 1], 0.43)
        """
        check_is_fitted(self)
        if not isinstance(zone, Zone):
            raise InvalidInputError(
                f"`zone` must be a Zone, got {zone!r}. Use find_zone(y, "
                "model.positive_scores(X)) on rows that the model has not seen."
            )
        scores = self.positive_scores(X)
        if tuple(zone.labels) != tuple(self.boundary_.labels):
            raise InvalidInputError(
                f"`zone` must be about {self.boundary_.labels!r}, (negative, positive), as the "
                f"model is, got {zone.labels!r}. Pass pos_label={self.boundary_.labels[1]!r} to "
                "find_zone."
            )
        return np.asarray(zone.predict(scores, unsure))

    @_WithProbabilities
    def predict_proba(self, X: Any) -> FloatArray:
        """Return probabilities shifted with the boundary: above one half iff predicted.

        The logistic function of :meth:`decision_function`, or its softmax. They are there if the
        model has probabilities and the scores are their log-odds; the model's own, which say how
        likely a class is, are those of ``estimator_``. Rows as in :meth:`predict`, one column a
        class.
        """
        return probabilities(self.decision_function(X))

    @_WithProbabilities
    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return the logarithms of :meth:`predict_proba`."""
        return log_probabilities(self.decision_function(X))

    def positive_scores(self, X: Any) -> FloatArray:
        """Return the unshifted scores of the positive one of two classes.

        They are what ``boundary_`` is about: ``boundary_.predict`` of them is :meth:`predict`.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        array of shape (n_samples,)

        Raises
        ------
        InvalidInputError
            If there are more than two classes.
        """
        check_is_fitted(self)
        if len(self.classes_) > 2:
            raise InvalidInputError(
                f"`classes_` must be two for one class to be positive, got {len(self.classes_)}. "
                "Use decision_function and biases_."
            )
        scores = self._response.read(self.estimator_, X, self.classes_)
        return scores if self.boundary_.labels[1] == self.classes_[1] else -scores

    def report(
        self,
        X: Any,
        y: Any,
        *,
        names: Mapping[str, object] | None = None,
        confidence: float = 0.95,
        prevalence: float | None = None,
        by: str | Sequence[str] | None = None,
        row_cost: Any = None,
        sample_weight: Any = None,
    ) -> Any:
        """Report on two classes, by rows that ``fit`` has not seen.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Rows that were used for nothing else: the verdict is certified on them.
        y : array-like of shape (n_samples,)
            Their labels.
        names : mapping, default=None
            What things are called: "positive", "negative", "unit" and "title".
        confidence : float, default=0.95
            Of every certified claim.
        prevalence : float, default=None
            Share of the positive class where decisions are made; None takes that of the rule, else
            that of these rows.
        by : str or sequence of str, default=None
            Columns of X for the table of groups; None takes those of words with few values.
        row_cost, sample_weight : array-like of shape (n_samples,), default=None
            What each row costs or how often it counts, if ``fit`` had the like: the goal is
            then told in them. What is certified counts every row once.

        Returns
        -------
        boundshift.report.Report
            Shown as a page in notebooks; ``save(path)`` writes it, one file that needs no network.

        Raises
        ------
        MissingExtraError
            If Jinja2 is not installed, when the page is made.

        Examples
        --------
        >>> from sklearn.datasets import make_classification
        >>> from sklearn.linear_model import LogisticRegression
        >>> X, y = make_classification(2000, weights=[0.9], random_state=0)
        >>> shifted = BoundShiftClassifier(LogisticRegression()).fit(X[:1000], y[:1000])
        >>> shifted.report(X[1000:], y[1000:], names={"positive": "sick"})
        Of 100 sick rows the shifted model is expected to miss ...
        """
        check_is_fitted(self)
        # A report stands above the classifier that it is about, so it is found by name.
        make = import_module("boundshift.report").report_classifier
        rows = {"by": by, "row_cost": row_cost, "sample_weight": sample_weight}
        return make(self, X, y, names=names, confidence=confidence, prevalence=prevalence, **rows)

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

    def _decide(self, classes: NDArray[Any], deciding: Deciding, guide: Deciding | None) -> Decided:
        """Return the boundary or one bias per class, and what is certified there."""
        curve, rule = choose_claims(self.curve, self.rule)
        return Decider(curve, rule, self.pos_label, self.multi_class).decide(
            classes, deciding, guide
        )

    def _why_no_probabilities(self) -> str:
        """Return why there are no shifted probabilities, or nothing if there are."""
        model = getattr(self, "estimator_", self.estimator)
        if isinstance(model, MeanOfModels):
            name = type(model.estimators[0]).__name__
        else:
            name = type(model).__name__
        if not hasattr(model, "predict_proba"):
            return f"{name} has none. Calibrate it with CalibratedClassifierCV."
        if not hasattr(self, "_response") or self._response.is_log_odds:
            return ""
        return (
            f"the scores of response_method={self.response_method!r} are not the log-odds of "
            f"{name}'s probabilities, which cannot shift with them. Use "
            "response_method='auto', or the model's own at estimator_.predict_proba."
        )

    def _shift(self, scores: FloatArray) -> FloatArray:
        """Return scores minus the threshold, or plus each class's bias."""
        moved = self.threshold_ if len(self.classes_) == 2 else self.biases_
        if np.any(np.isnan(moved)):
            raise InvalidInputError(
                f"The fitted threshold and biases must be numbers, got {moved!r}: no score is on "
                "a side of NaN. Fit the classifier again."
            )
        return scores - self.threshold_ if len(self.classes_) == 2 else scores + self.biases_

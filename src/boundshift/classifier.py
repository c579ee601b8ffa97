"""`BoundShiftClassifier`: any scikit-learn classifier with its decision boundary moved."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from importlib import import_module
from inspect import signature
from types import MethodType
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Bunch, _safe_indexing, assert_all_finite, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_method_params,
    _num_samples,
    check_is_fitted,
    column_or_1d,
    has_fit_parameter,
)

from boundshift.boundary import (
    check_row_cost,
    choose_claims,
    decide_by_row,
    make_decision,
    warn_of,
)
from boundshift.curves import ErrorCurve, SupportRadius
from boundshift.curves.confidence import ConfidenceCurve
from boundshift.exceptions import BoundaryWarning, InvalidInputError
from boundshift.models.by_class import check_by_class, decide_by_class
from boundshift.models.collapse import collapse_linear
from boundshift.models.export import ShiftExportMixin
from boundshift.models.folds import (
    CrossFitted,
    Deciding,
    RowScorer,
    find_weights,
    given_splits,
    has_weight,
    is_listed,
    set_random_states,
)
from boundshift.models.holdout import (
    held_share,
    held_share_of_classes,
    hold_out,
    qualify_promise,
    splits_within,
)
from boundshift.models.log_odds import find_winner, log_probabilities, probabilities
from boundshift.models.margins import is_native
from boundshift.models.mean import MeanOfModels
from boundshift.models.nested import shift_loses
from boundshift.models.response import (
    Response,
    ResponseMethod,
    check_response_method,
    known_classes,
)
from boundshift.models.state import pack, unpack
from boundshift.multiclass import ClassBiases, boundary_at, find_biases
from boundshift.promises.certificate import Certificate, certify_counts, certify_shares
from boundshift.promises.zone import Zone
from boundshift.rules import ClassFloors, ClassRule, Rule
from boundshift.scores.sample import ScoreSample
from boundshift.scores.weighted import collect_weighted, judge_weights
from boundshift.search.row_costs import as_row_cost
from boundshift.status import QUIET, Status
from boundshift.validation import as_choice, check_labels, order_labels

__all__ = ["BoundShiftClassifier"]

FloatArray = NDArray[np.float64]


# Rows on which a collapsed model is compared with the mean that it stands for.
_CHECKED = 32
# Parts of which rows are kept apart where there are no folds.
_HELD_PARTS = 5
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


class _Collected(NamedTuple):
    """The model to deploy, the rows that decide, and how to read the model's scores.

    `guide` has rows scored by fold models, where others are kept apart to test what they propose.
    """

    estimator: Any
    classes: NDArray[Any]
    deciding: Deciding
    response: Response
    estimators: list[Any] | None = None
    guide: Deciding | None = None


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


class BoundShiftClassifier(ShiftExportMixin, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
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
        params = self._route(fit_params)
        weights, costs = self._read_rows(params.own, y)
        collect = self._collect_prefit if self._prefit else self._collect_for_promise
        found = collect(X, y, params)
        estimator, classes = found.estimator, found.classes
        learned: dict[str, Any] = {
            "estimator_": estimator,
            "classes_": classes,
            "_response": found.response,
            **self._decide(classes, found.deciding.weighed(weights, costs), found.guide),
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
        return zone.predict(scores, unsure)

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
        return make(self, X, y, names=names, confidence=confidence, prevalence=prevalence, by=by)

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

    @property
    def _out_of_bag(self) -> bool:
        return isinstance(self.cv, str) and self.cv == "oob"

    def _route(self, fit_params: dict[str, Any]) -> Bunch:
        """Return the parameters of the estimator's fit, of the splitter's split, and our own."""
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", **fit_params)
            splitter = routed.get("splitter", Bunch(split={}))
            requests = self._get_metadata_request().fit.requests
            names = {ours: ours if asked is True else asked for ours, asked in requests.items()}
            own = {ours: fit_params[name] for ours, name in names.items() if name in fit_params}
            return Bunch(fit=routed.estimator.fit, split=splitter.split, own=own)
        own = {"row_cost": fit_params["row_cost"]} if "row_cost" in fit_params else {}
        fit_params = {name: value for name, value in fit_params.items() if name != "row_cost"}
        own |= {name: value for name, value in fit_params.items() if "sample_weight" in name}
        if not self._prefit:
            self._check_takes_weights(fit_params)
        if "groups" not in fit_params or not hasattr(self.cv, "split"):
            if "groups" in fit_params and not has_fit_parameter(self.estimator, "groups"):
                raise InvalidInputError(
                    "`groups` must go with a `cv` that splits by groups, got "
                    f"cv={self.cv!r}. Use cv=GroupKFold(5) or StratifiedGroupKFold(5)."
                )
            return Bunch(fit=fit_params, split={}, own=own)
        to_fit = {name: value for name, value in fit_params.items() if name != "groups"}
        if has_fit_parameter(self.estimator, "groups"):
            to_fit = fit_params
        return Bunch(fit=to_fit, split={"groups": fit_params["groups"]}, own=own)

    def _check_takes_weights(self, fit_params: dict[str, Any]) -> None:
        """Raise if weights are given to a model that cannot be fitted with them."""
        if fit_params.get("sample_weight") is None or not hasattr(self.estimator, "fit"):
            return
        parameters = signature(self.estimator.fit).parameters.values()
        if not any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters):
            raise InvalidInputError(
                "`sample_weight` must be something that the estimator's fit takes, got weights for "
                f"{type(self.estimator).__name__}, which takes none. Use another model, or fit it "
                "without and give the weights to the boundary alone, with cv='prefit'."
            )

    def _read_rows(
        self, own: dict[str, Any], y: NDArray[Any]
    ) -> tuple[FloatArray | None, FloatArray | None]:
        """Return how often each row counts in the decision and what it costs, None for neither."""
        weights = find_weights(own, len(y))
        costs = own.get("row_cost")
        costs = None if costs is None else as_row_cost(costs, len(y))
        if costs is not None:
            check_row_cost(self.curve, self.rule, weights)
            if len(np.unique(y)) > 2:
                raise InvalidInputError(
                    f"`row_cost` must go with two classes, got {len(np.unique(y))}. Fit on "
                    "y == label to tell one from the rest."
                )
        curve, rule = choose_claims(self.curve, self.rule)
        if weights is not None and isinstance(rule, ClassRule) and len(np.unique(y)) > 2:
            raise InvalidInputError(
                f"`sample_weight` must be left out with {rule!r}, which counts rows, got weights. "
                "Use 'g-mean', 'sum' or 'minimax'."
            )
        if weights is not None and isinstance(curve, ConfidenceCurve | SupportRadius):
            raise InvalidInputError(
                f"`sample_weight` must be left out with the curve {curve.name!r}, which counts "
                "rows, got weights. Use 'blend' or 'smoothed', or keep the weights out of the "
                "decision: enable metadata routing and set_fit_request(sample_weight=False)."
            )
        return weights, costs

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

    def _check_labels(self, y: NDArray[Any], fit_params: dict[str, Any]) -> NDArray[Any]:
        """Return the labels; raise if there are not at least two classes to learn from."""
        labels = np.unique(y)
        assert_all_finite(labels, input_name="y")
        # Labels alone look like numbers to be predicted where they are many and each met once.
        check_classification_targets(np.repeat(labels, 3))
        weighs = has_weight(fit_params, len(y))
        seen = labels if weighs.all() else np.unique(y[weighs])
        if len(seen) < 2:
            where = "`y`" if weighs.all() else "`y` with a `sample_weight` above 0"
            raise InvalidInputError(
                f"{where} must hold at least two classes, got {len(seen)} class(es): "
                f"{seen.tolist()}. Pass rows of every class that predictions should tell apart."
            )
        return labels

    def _collect_prefit(self, X: Any, y: NDArray[Any], params: Bunch) -> _Collected:
        """Score the rows with the model as it is."""
        self._refuse_mean("a model that is trained already", "Train it with cv=5 instead")
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
        deciding = scorer.by_model(self.estimator, X, y, "held-out")
        return _Collected(self.estimator, classes, deciding, deciding.response)

    def _collect(self, X: Any, y: NDArray[Any], params: Bunch) -> _Collected:
        """Fit the estimator, and score rows by it or by models fitted without them."""
        if is_native(self.estimator):
            raise InvalidInputError(
                f"`cv` must be 'prefit' for a {type(self.estimator).__name__}, which cannot be "
                f"fitted again, got {self.cv!r}. Pass `fit` rows that the model has not seen."
            )
        classes = self._check_labels(y, params.fit)
        scorer = RowScorer(classes, self.response_method, params.fit, params.split)
        estimator = set_random_states(clone(self.estimator), self.random_state)
        crossed = None
        if self._out_of_bag:
            self._refuse_mean("cv='oob'", "Use cv=5")
            deciding = scorer.out_of_bag(estimator, X, y)
            return _Collected(estimator, classes, deciding, deciding.response)
        if self.cv is None:
            self._refuse_mean("cv=None", "Use cv=5")
        else:
            crossed = scorer.cross_fit(estimator, X, y, self.cv, self.n_jobs)
            if crossed is None:
                self._refuse_mean("a class of one row, which no fold can leave out", "Collect more")
            elif self._deploys_mean(crossed):
                return _mean_of(crossed, classes, X)
        fitted = clone(estimator)
        fitted.fit(X, y, **_check_method_params(X, params.fit))
        deciding = crossed.deciding if crossed else scorer.by_model(fitted, X, y, "training")
        return _Collected(fitted, classes, deciding, deciding.response)

    def _refuse_mean(self, where: str, cure: str) -> None:
        """Raise if a mean of fold models is asked for where there are no folds."""
        if self.ensemble is True:
            raise InvalidInputError(
                f"`ensemble` must be False or 'auto' with {where}, got True: there are no models "
                f"of folds. {cure}, or ensemble=False."
            )

    def _deploys_mean(self, crossed: CrossFitted) -> bool:
        """Return whether the models of the folds are deployed, and none is fitted on all rows."""
        if get_tags(self.estimator).input_tags.pairwise:
            # Each would want a kernel with the rows of its own training part.
            self._refuse_mean("a precomputed kernel", "Compute it inside the model")
            return False
        return crossed.complete if self.ensemble == "auto" else bool(self.ensemble)

    def _collect_for_promise(self, X: Any, y: NDArray[Any], params: Bunch) -> _Collected:
        """Collect as ever, or, where floors shall be promised, keep rows apart that decide."""
        weighs = has_weight(params.fit, len(y))
        classes = np.unique(y[weighs])
        share = None if self.cv is None else self._share_to_hold_out(classes, y[weighs])
        if share is None:
            return self._collect(X, y, params)
        number = np.searchsorted(classes, y)
        inner = copy(self)  # its splits are those of the rows that are left to train on
        cv = given_splits(self.cv) if is_listed(self.cv) else self.cv
        if self._out_of_bag:
            cv = _HELD_PARTS
        train, held = hold_out(number, share, cv, self.random_state, X, params.split)
        inner.cv = "oob" if self._out_of_bag else splits_within(cv, train)
        held = held[weighs[held]]
        fit, split = (_check_method_params(X, p, indices=train) for p in (params.fit, params.split))
        found = inner._collect(_safe_indexing(X, train), y[train], Bunch(fit=fit, split=split))
        scores = found.response.read(found.estimator, _safe_indexing(X, held), found.classes)
        decided = Deciding(number[held], scores, found.response, "held-out", rows=held)
        return found._replace(deciding=decided, guide=found.deciding)

    def _share_to_hold_out(self, classes: NDArray[Any], y: NDArray[Any]) -> float | None:
        """Return the share of rows that a promise needs, None if there is none to be had."""
        curve, rule = choose_claims(self.curve, self.rule)
        labels = classes.tolist()
        floors = rule if isinstance(rule, ClassFloors) and len(labels) > 2 else None
        if (len(labels) != 2 and floors is None) or is_native(self.estimator):
            return None
        if getattr(get_tags(self.estimator).input_tags, "pairwise", False):
            return None  # A kernel has a column for every row that it was computed with.
        counts = {label: int(np.count_nonzero(y == label)) for label in labels}
        if floors is not None:
            floors.check_classes(labels)
            return held_share_of_classes(floors, counts)
        ends = order_labels(labels, self.pos_label, counts=counts, alike=rule.alike)
        return held_share(curve, rule, (counts[ends[0]], counts[ends[1]]))

    def _decide(
        self, classes: NDArray[Any], deciding: Deciding, guide: Deciding | None
    ) -> dict[str, Any]:
        """Return the boundary or one bias per class, and what is certified there."""
        y, scores = deciding.y, deciding.scores
        if deciding.factors is not None:
            _warn_of_scales(deciding.factors)
        if len(classes) == 2:
            found = self._decide_two(classes, deciding)
            shifted = scores - found["threshold_"]
            decided = found["boundary_"]
            found["boundary_"] = qualify_promise(decided, deciding.origin)
            if found["boundary_"] is not decided:
                warn_of(found["boundary_"], stacklevel=4)
        else:
            found = self._decide_many(classes, deciding, guide)
            # A fold's model cannot choose a class that it did not know.
            shifted = np.nan_to_num(scores, nan=-np.inf) + found["biases_"]
        is_wrong = find_winner(shifted) != y
        if deciding.weights is not None:
            found["certificate_"] = _certify_weighted(
                y, is_wrong, deciding.weights, classes, found.get("threshold_")
            )
            return found
        wrong = y[is_wrong]
        found["certificate_"] = certify_counts(
            tuple(np.bincount(wrong, minlength=len(classes)).tolist()),
            tuple(np.bincount(y, minlength=len(classes)).tolist()),
            tuple(classes.tolist()),
            chosen_here=True,
            scores=deciding.origin,
            threshold=found.get("threshold_"),
        )
        return found

    def _decide_two(self, classes: NDArray[Any], deciding: Deciding) -> dict[str, Any]:
        """Find the boundary on the positive class's score, and the threshold on the second's."""
        curve, rule = choose_claims(self.curve, self.rule)
        labels = classes.tolist()
        weights = deciding.weights
        sizes = np.bincount(deciding.y, weights, minlength=2).tolist()
        counts = dict(zip(labels, sizes, strict=True))
        ends = order_labels(labels, self.pos_label, counts=counts, alike=rule.alike)
        is_mirrored = ends[1] == labels[0]
        decide = make_decision(curve, rule)

        def orient(y: NDArray[np.intp], scores: FloatArray) -> tuple[Any, FloatArray]:
            return (y == 0, -scores) if is_mirrored else (y == 1, scores)

        def gather(
            y: NDArray[np.intp], scores: FloatArray, weights: FloatArray | None = None
        ) -> ScoreSample:
            rows = orient(y, scores)
            if weights is None:
                sample = ScoreSample.from_labels(*rows)
            else:
                sample = collect_weighted(*rows, weights)
            # Weights by label need the names.
            return replace(sample, labels=ends) if rule.alike else sample

        def choose(
            y: NDArray[np.intp], scores: FloatArray, weights: FloatArray | None = None
        ) -> float:
            return _mirror(decide(gather(y, scores, weights)).threshold, is_mirrored)

        if deciding.costs is not None:
            boundary = decide_by_row(*orient(deciding.y, deciding.scores), deciding.costs)
            boundary = replace(boundary, labels=ends)
            warn_of(boundary, stacklevel=5)
            return {
                "boundary_": boundary,
                "threshold_": _mirror(boundary.threshold, is_mirrored),
            }
        sample = gather(deciding.y, deciding.scores, weights)
        if weights is not None:
            judge_weights(replace(sample, labels=ends), stacklevel=6)
        boundary = replace(decide(sample), labels=ends)
        if self._keeps_own(deciding, choose, rule):
            own = _mirror(0.0, is_mirrored)
            kept = boundary_at(replace(sample, labels=ends), curve, rule, own)
            boundary = replace(kept, status=Status.KEPT)
        warn_of(boundary, stacklevel=5)
        threshold = _mirror(boundary.threshold, is_mirrored)
        return {"boundary_": boundary, "threshold_": threshold}

    def _decide_many(
        self, classes: NDArray[Any], deciding: Deciding, guide: Deciding | None
    ) -> dict[str, Any]:
        """Find one bias per class."""
        if self.pos_label is not None:
            raise InvalidInputError(
                f"`pos_label` must be None with more than two classes, got {self.pos_label!r}, of "
                f"{len(classes)}. Fit on y == {self.pos_label!r} to tell one from the rest."
            )
        curve, rule = choose_claims(self.curve, self.rule)
        if isinstance(rule, ClassRule):
            check_by_class(rule, curve, self.multi_class, classes.tolist())
            by_class = decide_by_class(classes.tolist(), deciding, guide, curve, rule)
            if by_class.message:
                warnings.warn(by_class.message, BoundaryWarning, stacklevel=4)
            return {"biases_": by_class.biases, "boundaries_": by_class.boundaries}

        def find(
            y: NDArray[np.intp],
            scores: FloatArray,
            weights: FloatArray | None = None,
            own: bool = False,
        ) -> ClassBiases:
            strategy = "own" if own else self.multi_class
            return find_biases(y, scores, curve, rule, strategy, classes.tolist(), weights)

        lone = classes[np.bincount(deciding.y, minlength=len(classes)) == 1]
        if len(lone) and deciding.parts is not None:
            warnings.warn(
                f"The only row of {', '.join(map(repr, lone.tolist()))} cannot be left out of "
                "training and score itself; the largest bias of the other classes stands in. "
                "Collect more rows of that class.",
                BoundaryWarning,
                stacklevel=5,
            )
        rows = (deciding.y, deciding.scores, deciding.weights)
        found = find(*rows)
        if self._keeps_own(deciding, lambda *rows: find(*rows).biases, rule):
            found = find(*rows, own=True)
        doubts = [status for status in found.statuses if status not in QUIET]
        if doubts:
            warnings.warn(
                f"{len(doubts)} of the {len(found.statuses)} binary problems behind the class "
                f"biases need a second look. First: {doubts[0].value}",
                BoundaryWarning,
                stacklevel=5,
            )
        return {"biases_": found.biases, "boundaries_": found.boundaries}

    def _keeps_own(
        self,
        deciding: Deciding,
        choose: Callable[..., Any],
        rule: Rule,
    ) -> bool:
        """Return whether left-out rows say that the model's own boundary should stay."""
        if deciding.parts is None or not rule.alike:
            return False
        if callable(deciding.response.method) and not deciding.response.is_log_odds:
            return False  # Nobody knows where a function's own boundary is.
        rows = (deciding.y, deciding.scores, deciding.parts)
        return shift_loses(*rows, choose, rule, deciding.weights)

    def _shift(self, scores: FloatArray) -> FloatArray:
        """Return scores minus the threshold, or plus each class's bias."""
        moved = self.threshold_ if len(self.classes_) == 2 else self.biases_
        if np.any(np.isnan(moved)):
            raise InvalidInputError(
                f"The fitted threshold and biases must be numbers, got {moved!r}: no score is on "
                "a side of NaN. Fit the classifier again."
            )
        return scores - self.threshold_ if len(self.classes_) == 2 else scores + self.biases_


def _certify_weighted(
    y: NDArray[np.intp],
    is_wrong: NDArray[np.bool_],
    weights: FloatArray,
    classes: NDArray[Any],
    threshold: float | None,
) -> Certificate:
    """Return what may be said of the errors among rows with weights."""
    n = len(classes)
    total, squares = (np.bincount(y, weights**power, minlength=n) for power in (1, 2))
    wrong = np.bincount(y, weights * is_wrong, minlength=n)
    safe = np.where(total > 0, total, 1.0)
    return certify_shares(
        (wrong / safe).tolist(),
        (total**2 / np.where(squares > 0, squares, 1.0)).tolist(),
        tuple(classes.tolist()),
        chosen_here=True,
        threshold=threshold,
    )


def _mirror(threshold: float, is_mirrored: bool) -> float:
    """Return a threshold of one class's scores as one of the other's."""
    # A row at the very boundary is negative, which is the second class where all is mirrored.
    return float(np.nextafter(-threshold, -np.inf)) if is_mirrored else threshold


def _warn_of_scales(factors: tuple[float, ...]) -> None:
    """Warn of fold models whose scores had to be put on one scale."""
    warnings.warn(
        f"The scores of one fold's model spread {max(factors) / min(factors):.3g} times as wide as "
        "those of another; they were put on one scale. Scale the features, hold the model back "
        "(more regularisation, fewer features), or calibrate it with CalibratedClassifierCV.",
        BoundaryWarning,
        stacklevel=5,
    )


def _mean_of(crossed: CrossFitted, classes: NDArray[Any], X: Any) -> _Collected:
    """Return the mean of the folds' models as one model."""
    response = crossed.deciding.response
    mean = MeanOfModels(
        crossed.models,
        classes,
        response.method,
        response.floor,
        response.is_log_odds,
        crossed.deciding.factors,
    )
    if response.method == "decision_function":
        one = collapse_linear(crossed.models, crossed.deciding.factors)
        if one is not None and _agree(one, mean, X, response, classes):
            return _Collected(one, classes, crossed.deciding, response, crossed.models)
    own = Response("decision_function", is_log_odds=response.is_log_odds)
    return _Collected(mean, classes, crossed.deciding, own, crossed.models)


def _agree(one: Any, mean: MeanOfModels, X: Any, response: Response, classes: NDArray[Any]) -> bool:
    """Return whether a collapsed model decides as the mean does, on some of the rows."""
    rows = _safe_indexing(X, np.arange(min(_CHECKED, _num_samples(X))))
    found, expected = response.read(one, rows, classes), mean.decision_function(rows)
    if found.ndim == 2:
        found, expected = (s - s.mean(axis=1, keepdims=True) for s in (found, expected))
    return bool(np.allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max()))

"""`BoundShiftClassifier`: any scikit-learn classifier with its decision boundary moved."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logit
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Tags, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import check_is_fitted, column_or_1d

from boundshift._boundary import choose_claims
from boundshift._guarantees.certificate import Certificate, CertificateStatus
from boundshift._guarantees.certify import certify
from boundshift._guarantees.folds import certify_by_folds
from boundshift._guarantees.zone import Zone, find_zone
from boundshift._result.boundary import Boundary
from boundshift._sklearn_internals import exists_if
from boundshift._typing import (
    FloatArray,
    IndexArray,
    Label,
    LabelArray,
    Model,
    RandomState,
    Rows,
    Splitting,
)
from boundshift._validation import as_choice, check_labels, find_distinct, name_remedy
from boundshift._words import column_name
from boundshift.curves import ErrorCurve, as_curve
from boundshift.exceptions import BoundaryWarning, InvalidInputError
from boundshift.models._cross_fit import Settings
from boundshift.models._deciding import DecidingRows, DecidingSample, Origin
from boundshift.models._decision import (
    certify_rows,
    decide_model,
    find_own_threshold,
    remember_training,
)
from boundshift.models._fingerprint import Fingerprint, explain_copies, explain_training
from boundshift.models._holdout import check_chosen_among, check_holdout, share_risk
from boundshift.models._mean import MeanOfModels
from boundshift.models._parts import is_a, unwrap
from boundshift.models._routing import route_fit
from boundshift.models._scoring import (
    Response,
    ResponseMethod,
    check_response_method,
    class_columns,
    find_winner,
    positive_scores,
    read_response,
)
from boundshift.models._store import pack, unpack
from boundshift.models._training import Claims, train
from boundshift.rules import Rule, as_rule


def _model_has(name: str) -> Callable[[BoundShiftClassifier], bool]:
    """Return a check whether the deployed model, or before `fit` the given one, has a method."""
    return lambda clf: hasattr(getattr(clf, "estimator_", clf.estimator), name)


def _as_nominal(certificate: Certificate, reason: str) -> Certificate:
    """Return a certificate that guarantees nothing, and why."""
    return replace(certificate, status=CertificateStatus.NOMINAL, reason=reason)


def _as_labelled_rows(X: Rows, y: ArrayLike) -> tuple[Rows, LabelArray]:
    """Return rows that can be indexed, and a label for each; raise if labels are doubtful."""
    check_labels(y, "y")
    rows, labels = indexable(X, column_or_1d(y, warn=True))
    return rows, labels


class BoundShiftClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Wrap a classifier and move its threshold using estimated per-class error rates.

    The wrapped classifier scores every row; `find_boundary` chooses the threshold on that score. As
    in scikit-learn's ``TunedThresholdClassifierCV``, only :meth:`predict` moves: ``predict_proba``,
    ``predict_log_proba`` and ``decision_function`` are the model's own.

    Parameters
    ----------
    estimator : estimator object
        A classifier; with ``cv="prefit"`` also a Booster of XGBoost, LightGBM or CatBoost, a
        PyTorch module, or any function from rows to scores.
    curve, rule : str, ErrorCurve, Rule or None, default=None
        As in :func:`~boundshift.find_boundary`.
    cv : "prefit", None, int, splitter or iterable, default=5
        Which scores decide. An int or a splitter: those of rows left out of training. None: those
        of the training rows, as in the paper; good for linear models. "prefit", or a
        :class:`~sklearn.frozen.FrozenEstimator`: those of a trained model, for which ``fit`` needs
        rows that the model has not seen.

        With guaranteed floors, rows are first held out at random, or whole `groups`, and only they
        set the threshold; `cv` splits the others. With too few rows for that the status is
        NOT_GUARANTEED. Copies of a row are held out together, and count once.
    ensemble : bool or "auto", default="auto"
        True deploys the mean of the folds' models, whose scores decided: one model if they are
        linear, else K models, which take K times the time and space. False trains one more model,
        on all rows. "auto" deploys the mean if the folds together train on every row, each on every
        class, and the mean is one linear model or the rarest class has fewer than 100 rows. Models
        with at most ten distinct scores, such as a decision tree, then repeat the folds five times.
        A row of which a model is surer than a float64 probability can say has the median instead.
    pos_label : label, default=None
        The positive class, to which a floor, a cost or F1 refers. None: the greater of 0 and 1, -1
        and 1, False and True; of other labels the rarer one, while find_boundary takes the greater
        one, to which its scores point.
    response_method : {"auto", "margin", "decision_function", "predict_proba"} or callable, \
default="auto"
        Where the scores come from. "auto": the probabilities, or the margin of a model without
        them. A callable is called with (estimator, X) and returns one column for two classes, or
        one per class.
    multi_class : {"joint", "pairwise"}, default="joint"
        How more than two classes get one bias each: for all pairs of classes together, or from
        each pair's own boundary by least squares (always with the curve "support"). With more than
        50 classes, each class is compared with the six that are hardest to tell from it, and with
        the largest one.
    random_state : int, RandomState instance or None, default=None
        Seeds every random state of the estimator that is None, so that fits can be repeated.
    n_jobs : int, default=None
        Folds to fit at once; None means 1, -1 all processors.
    holdout : float, default=None
        Share of the rows, or of the groups, that is held out for guaranteed floors, between 0 and
        1. None: as many as the floors need, 20–50%.
    chosen_among : int, default=1
        Number of fits of which you will deploy one, such as the models that you compare or the
        candidates of a search. The risk of guaranteed floors, and of `certificate_`, is divided
        among them, so that they hold for whichever you choose.

    Attributes
    ----------
    estimator_ : estimator object
        The deployed model: a trained model, linear models averaged into one, or a mean of models.
    estimators_ : list of estimator objects
        The models of the folds, if their mean is deployed.
    classes_ : array of shape (n_classes,)
        Labels, in sorted order.
    threshold_ : float
        For two classes: a row is positive iff its :meth:`positive_scores` exceeds it.
    boundary_ : Boundary
        For two classes: the boundary on :meth:`positive_scores`; ``boundary_.labels[1]`` is the
        positive class.
    biases_ : array of shape (n_classes,)
        For more classes: added to each class's score before the largest one wins.
    boundaries_ : dict
        For more classes: the boundary that the biases give each pair of labels that was compared,
        on the score of the second minus that of the first.
    certificate_ : Certificate
        Upper bounds of each class's error rate at 95%, from the scores that decided: *certified*
        if the model has not seen their rows, else *cross-fitted* or *nominal*. *Nominal* too if
        it counts rows of groups.
    curve_, rule_ : ErrorCurve, Rule
        The curve and the rule that decided. Like all that follows, they stay what they were in
        ``fit`` if parameters are set later.
    origin_ : {"held-out", "out-of-fold", "training"}
        Whether the scores that decided come from models trained without their rows.
    prefit_ : bool
        Whether the model was trained before ``fit``, whose rows then only chose the threshold.
    deployment_ : str
        Which model is deployed, and why.
    own_threshold_ : float or None
        For two classes: where the deployed model's own ``predict`` cuts :meth:`positive_scores`.
        None if that is not known, as with a function, or is no single threshold.
    fingerprint_ : Fingerprint
        Hashes of at most 10,000 rows of ``fit``, by which these rows are recognised later.
    deciding_sample_ : DecidingSample
        The labelled scores that chose the boundary. Files and pickles do not hold it.
    n_features_in_, feature_names_in_ : int, array
        Those of the estimator.

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

    # Requested here and not in the signature of `fit`: scikit-learn would then expect that a weight
    # of 2 equals two copies of the row. Weights are importances here.
    __metadata_request__fit = {"sample_weight": True, "row_cost": True}  # noqa: RUF012
    boundary_: Boundary

    @name_remedy
    def __init__(
        self,
        estimator: Model,
        *,
        curve: str | ErrorCurve | None = None,
        rule: str | Rule | None = None,
        cv: Splitting = 5,
        ensemble: bool | Literal["auto"] = "auto",
        pos_label: Label = None,
        response_method: ResponseMethod = "auto",
        multi_class: Literal["joint", "pairwise"] = "joint",
        random_state: RandomState = None,
        n_jobs: int | None = None,
        holdout: float | None = None,
        chosen_among: int = 1,
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
        self.holdout = holdout
        self.chosen_among = chosen_among

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """Return the parameters and, after `fit`, the positive class and the deployed model."""
        given = super().__repr__(N_CHAR_MAX)
        if not hasattr(self, "deployment_"):
            return str(given)
        positive = ""
        if hasattr(self, "boundary_"):
            positive = f" The positive class is {self.boundary_.labels[1]!r}."
        return f"{given}\n# {self.deployment_}{positive}"

    def set_params(self, **params: Any) -> BoundShiftClassifier:
        """Set parameters of this estimator, its model, its rule and its curve.

        Rules and curves are immutable: ``rule__false_negative=5`` replaces the rule.

        Parameters
        ----------
        **params : dict
            Parameters by name, such as ``estimator__C`` or ``rule__false_negative``.

        Returns
        -------
        self : object
        """
        for key in sorted(key for key in params if key.startswith(("rule__", "curve__"))):
            name, _, setting = key.partition("__")
            claim = params.get(name, getattr(self, name))
            if claim is None:
                raise InvalidInputError(
                    f"must be an object before {key!r} can be set, got None. Pass {name}= with it.",
                    argument=name,
                )
            claim = as_rule(claim) if name == "rule" else as_curve(claim)
            params[name] = replace(claim, **{setting: params.pop(key)})
        super().set_params(**params)
        return self

    def fit(self, X: Rows, y: ArrayLike, **fit_params: object) -> BoundShiftClassifier:
        """Fit the classifier, unless it is fitted already, and find its boundary.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels.
        **fit_params : dict
            Passed to the estimator's ``fit``; with metadata routing enabled, as requested there.
            Two of them also count in the decision:

            ``sample_weight`` is the importance of each row, in every fit and in the boundary; of a
            pipeline it is called ``step__sample_weight``. With metadata routing
            ``set_fit_request(sample_weight=False)`` keeps it out of the boundary.

            ``row_cost`` is the loss if the row is decided wrongly: one amount per row, or two
            columns (false positive, false negative). The boundary is where the rows that decide
            cost least in total. For two classes, without a curve or any rule but "cost". The
            model does not see it.

            ``groups`` go to a `cv` that splits by them, such as ``StratifiedGroupKFold(5)``. For
            guaranteed floors of recall and specificity whole groups are then held out, and the
            rates are averages over groups. With ``cv="prefit"`` they are the groups of
            the rows given.

        Returns
        -------
        self : object
        """
        X, labels = _as_labelled_rows(X, y)
        as_choice("multi_class", self.multi_class, ("joint", "pairwise"))
        as_choice("ensemble", self.ensemble, (True, False, "auto"))
        check_response_method(self.response_method, self.estimator)
        check_holdout(self.holdout)
        n_fits = check_chosen_among(self.chosen_among)
        curve, rule = share_risk(*choose_claims(self.curve, self.rule), n_fits)
        params = route_fit(self, labels, fit_params, curve, rule)
        claims = Claims(curve, rule, self.pos_label)
        deciding, deployed = train(self._settings, claims, X, labels, params)
        decision = decide_model(deciding, claims, self.multi_class, n_fits)
        certificate = decision.certificate
        doubts = decision.doubts
        if self._is_prefit and certificate.certified and not deciding.n_copies:
            copies = explain_copies(X, labels)
            if copies:
                certificate = _as_nominal(certificate, copies)
                doubts = [*doubts, f"`certificate_` is nominal: {copies}."]
        for doubt in doubts:
            warnings.warn(doubt, BoundaryWarning, stacklevel=2)
        own_threshold = None
        if decision.boundary is not None:
            own_threshold = find_own_threshold(deployed, deciding, X, decision.boundary)
        learned: dict[str, object] = {
            "estimator_": deployed.estimator,
            "classes_": deciding.classes,
            "certificate_": certificate,
            "curve_": curve,
            "rule_": rule,
            "origin_": deciding.origin,
            "prefit_": self._is_prefit,
            "deployment_": deployed.reason,
            "own_threshold_": own_threshold,
            "fingerprint_": Fingerprint.of(X, labels, params.weights),
            "_response": deployed.response,
            "_deciding": deciding,
        }
        boundary = decision.boundary
        if boundary is not None:
            if not self._is_prefit and deciding.origin != "training":
                boundary = remember_training(deployed, deciding, X, labels, boundary)
            learned["boundary_"] = boundary
        else:
            learned["biases_"] = decision.biases
            learned["boundaries_"] = decision.boundaries
        if deployed.fold_models is not None:
            learned["estimators_"] = deployed.fold_models
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(deployed.estimator, name):
                learned[name] = getattr(deployed.estimator, name)
        # A fit that fails changes nothing; one that succeeds keeps nothing of an earlier one.
        kept = {n: v for n, v in vars(self).items() if not n.endswith("_") and n not in learned}
        self.__dict__.clear()
        self.__dict__.update(kept | learned)
        return self

    @property
    def threshold_(self) -> float:
        """Threshold on :meth:`positive_scores`, for two classes."""
        if not hasattr(self, "boundary_"):
            raise AttributeError(
                "`threshold_` exists after fit on two classes. With more, read `biases_`: each is "
                "added to its class's score before the largest one wins."
            )
        return float(self.boundary_.threshold)

    @property
    def deciding_sample_(self) -> DecidingSample:
        """Labelled scores that chose the threshold, for two classes."""
        if not hasattr(self, "_deciding"):
            raise AttributeError("`deciding_sample_` exists after fit, not in a loaded model")
        used = self._deciding
        is_binary = len(self.classes_) == 2
        scores = used.scores_of(self._positive_column) if is_binary else used.scores
        y = self.classes_[used.y]
        return DecidingSample(y, scores, used.weights, used.costs, used.rows, used.origin)

    def predict(self, X: Rows) -> LabelArray:
        """Return labels: by the threshold, or for many classes by the largest score plus bias.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        if len(self.classes_) == 2:
            is_positive = self.positive_scores(X) > self.threshold_
            winner = np.where(is_positive, self._positive_column, 1 - self._positive_column)
        else:
            scores = self._response.read(self.estimator_, X, self.classes_)
            winner = find_winner(scores + self.biases_)
        return np.asarray(self.classes_[winner])

    @exists_if(_model_has("predict_proba"))
    def predict_proba(self, X: Rows) -> FloatArray:
        """Return the model's own probabilities, a column per class.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
        """
        check_is_fitted(self)
        return read_response(self.estimator_, X, "predict_proba", self.classes_)

    @exists_if(_model_has("predict_log_proba"))
    def predict_log_proba(self, X: Rows) -> FloatArray:
        """Return the logarithms of the model's own probabilities.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
        """
        check_is_fitted(self)
        return read_response(self.estimator_, X, "predict_log_proba", self.classes_)

    @exists_if(_model_has("decision_function"))
    def decision_function(self, X: Rows) -> FloatArray:
        """Return the model's own margins; :meth:`predict` is not their sign.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
        """
        check_is_fitted(self)
        return read_response(self.estimator_, X, "decision_function", self.classes_)

    def positive_scores(self, X: Rows) -> FloatArray:
        """Return the scores of the positive one of two classes.

        ``boundary_`` applies to them: ``boundary_.predict`` of them is :meth:`predict`. If
        ``boundary_.scale`` is "probability" they are a column of :meth:`predict_proba`.

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
                f"must be two for one class to be positive, got {len(self.classes_)}. "
                "Use predict_proba and biases_.",
                argument="classes_",
            )
        return self._positive_of(self.estimator_, self._response, X)

    def _positive_of(self, model: Model, response: Response, X: Rows) -> FloatArray:
        """Return the positive class's scores by a model."""
        is_probability = self.boundary_.scale == "probability"
        column = self._positive_column
        return positive_scores(model, response, X, self.classes_, column, is_probability)

    @property
    def _positive_column(self) -> int:
        return int(self.boundary_.labels[1] == self.classes_[1])

    def certify(
        self,
        X: Rows,
        y: ArrayLike,
        confidence: float = 0.95,
        *,
        joint: bool = False,
        chosen_here: bool = False,
        origin: Origin = "held-out",
        cluster: ArrayLike | None = None,
        probability: ArrayLike | None = None,
        least_probability: float | None = None,
        about: Literal["average", "new clusters"] = "average",
        unlabelled: Rows | None = None,
        unlabelled_cluster: ArrayLike | None = None,
    ) -> Certificate:
        """Bound each class's error rate, on rows that ``fit`` has not seen.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Rows used for nothing else.
        y : array-like of shape (n_samples,)
            Their labels.
        confidence, joint, chosen_here, origin
            As in :func:`~boundshift.certify`.
        cluster, probability, least_probability, about, unlabelled_cluster
            As there, for two classes; `cluster` says which rows are of one patient, for example.
        unlabelled : array-like, sparse matrix or dataframe of shape (n_unlabelled, n_features)
            Rows without labels, as their scores are there.

        Returns
        -------
        Certificate
            *Nominal* if some of the rows were used in ``fit``, or are copies of others; a warning
            says how many. Only a model that was trained elsewhere may be certified on rows of
            ``fit``, with ``chosen_here=True``.

        Examples
        --------
        >>> from sklearn.datasets import make_classification
        >>> from sklearn.linear_model import LogisticRegression
        >>> X, y = make_classification(2000, weights=[0.9], random_state=0)
        >>> shifted = BoundShiftClassifier(LogisticRegression()).fit(X[:1000], y[:1000])
        >>> shifted.certify(X[1000:], y[1000:]).status
        'certified'
        """
        check_is_fitted(self)
        X, y = self._check_known(X, y)
        if len(self.classes_) == 2:
            certificate = certify(
                y,
                self.positive_scores(X),
                self.boundary_,
                confidence,
                joint=joint,
                chosen_here=chosen_here,
                origin=origin,
                cluster=cluster,
                probability=probability,
                least_probability=least_probability,
                about=about,
                unlabelled=None if unlabelled is None else self.positive_scores(unlabelled),
                unlabelled_cluster=unlabelled_cluster,
            )
        else:
            only_two = {
                "cluster": cluster,
                "probability": probability,
                "least_probability": least_probability,
                "about": None if about == "average" else about,
                "unlabelled": unlabelled,
                "unlabelled_cluster": unlabelled_cluster,
            }
            for name, value in only_two.items():
                if value is not None:
                    raise InvalidInputError(
                        f"must go with two classes, got {len(self.classes_)}. Leave it "
                        "out, or fit on y == label to tell one from the rest.",
                        argument=name,
                    )
            certificate = certify_rows(
                np.searchsorted(self.classes_, y),
                self.predict(X) != y,
                tuple(self.classes_.tolist()),
                confidence=confidence,
                joint=joint,
                chosen_here=chosen_here,
                origin=origin,
            )
        may_reuse = chosen_here and self.prefit_
        reason = self._warn_of_reuse(X, y, may_reuse=may_reuse, are_single=cluster is None)
        return _as_nominal(certificate, reason) if reason else certificate

    def certify_unlabelled(self, X: Rows, confidence: float = 0.95) -> Certificate:
        """Bound the more frequent class's error rate, on rows without labels.

        The rows show how often the deployed mean of the folds' models (``ensemble=True``) decides
        otherwise than each of these models, which were tested on labelled rows in ``fit``.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Rows used for nothing else.
        confidence : float, default=0.95
            Of the bound.

        Returns
        -------
        Certificate
            *Nominal* as in :meth:`certify`.

        Raises
        ------
        InvalidInputError
            Unless two classes without weights or groups were fitted in this session, and the mean
            of the folds' models is deployed.
        """
        check_is_fitted(self)
        deciding: DecidingRows | None = getattr(self, "_deciding", None)
        is_counted = deciding is not None and deciding.weights is None and deciding.cluster is None
        fold = deciding.fold if deciding is not None and is_counted else None
        if fold is None or len(self.classes_) > 2 or not hasattr(self, "estimators_"):
            raise InvalidInputError(
                "Rows without labels certify two classes without weights or groups that were "
                "fitted in this session, if the mean of the folds' models is deployed, got another "
                "fit. Use certify with labels, or fit with ensemble=True."
            )
        sample = self.deciding_sample_
        threshold = self.threshold_
        is_positive = sample.y == self.boundary_.labels[1]
        flagged = self.positive_scores(X) > threshold
        response: Response = self._response
        if isinstance(self.estimator_, MeanOfModels):
            response = self.estimator_.response  # of its parts
        by_fold = [self._positive_of(model, response, X) > threshold for model in self.estimators_]
        certificate = certify_by_folds(
            self.boundary_,
            is_positive,
            fold,
            (sample.scores > threshold) != is_positive,
            flagged,
            np.array(by_fold),
            confidence,
        )
        # Rows of fit are known by their labels: those of the more frequent class tell.
        common = np.full(len(flagged), self.boundary_.labels[int(2 * is_positive.mean() > 1)])
        reason = self._warn_of_reuse(X, common)
        return _as_nominal(certificate, reason) if reason else certificate

    def find_zone(
        self,
        X: Rows,
        y: ArrayLike,
        errors: float | tuple[float, float] | None = None,
        confidence: float = 0.95,
        *,
        precision: float | None = None,
        npv: float | None = None,
        cluster: ArrayLike | None = None,
    ) -> Zone:
        """Find the limits beyond which each of two classes' error rate is bounded.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Rows that the model has not seen.
        y : array-like of shape (n_samples,)
            Their labels.
        errors, confidence, precision, npv, cluster
            As in :func:`~boundshift.find_zone`.

        Returns
        -------
        Zone
            On :meth:`positive_scores`: ``zone.predict(shifted.positive_scores(X), unsure=-1)``
            gives labels, and -1 between the limits. *Nominal* if some of the rows were used in
            ``fit``, unless the model was trained elsewhere; a warning says how many.
        """
        scores = self.positive_scores(X)
        X, y = self._check_known(X, y)
        zone = find_zone(
            y,
            scores,
            errors,
            confidence,
            precision=precision,
            npv=npv,
            pos_label=self.boundary_.labels[1],
            scale="probability" if self.boundary_.scale == "probability" else "raw",
            cluster=cluster,
        )
        is_trained_elsewhere = self.prefit_
        reason = self._warn_of_reuse(
            X, y, may_reuse=is_trained_elsewhere, are_single=cluster is None
        )
        return replace(zone, reason=reason) if reason else zone

    def shifted_estimator(self) -> Model:
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
        more classes each class's bias is added to its own. Rows closer to the boundary than
        rounding (10⁻¹⁵ of the score, 10⁻⁶ in float32) may fall on either side.

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
            remedy = "Keep the BoundShiftClassifier itself."
            if isinstance(last, MeanOfModels):
                name = f"a mean of {type(unwrap(last.estimators[0]).last).__name__}s"
                remedy = "Fit with ensemble=False, or keep the BoundShiftClassifier itself."
            raise InvalidInputError(
                "must be one linear model or MLPClassifier, scored by its own "
                f"margins, for its intercept to carry the shift, got {name}. {remedy}",
                argument="estimator_",
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

    def report(
        self,
        X: Rows,
        y: ArrayLike,
        *,
        case_name: str | None = None,
        positive_name: str | None = None,
        negative_name: str | None = None,
        title: str | None = None,
        confidence: float = 0.95,
        prevalence: float | None = None,
        by: str | Sequence[str] | None = None,
        row_cost: ArrayLike | None = None,
        cluster: ArrayLike | None = None,
    ) -> Any:
        """Report on rows that ``fit`` has not seen.

        For more than two classes the page has the recall, precision and bound of each class, and
        the confusion matrix. Only `case_name`, `title` and `confidence` apply.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Rows used for nothing else: the report certifies the threshold on them.
        y : array-like of shape (n_samples,)
            Their labels.
        case_name : str, default=None
            What a row is, in the plural: "customers". None says "rows".
        positive_name : str, default=None
            What the positive class is called: "who churn", "ill" or "churners". None uses the
            label and, if `y` has a name, that name: "customers with churn = yes".
        negative_name : str, default=None
            The same for the negative class; with a `positive_name`, None says "other customers".
        title : str, default=None
            Title of the page.
        confidence : float, default=0.95
            Of every certified claim.
        prevalence : float, default=None
            Share of the positive class in deployment; None takes that of the rule, else that of
            these rows.
        by : str or sequence of str, default=None
            Columns of X for the table of groups; None takes those of words with few values.
        row_cost : array-like of shape (n_samples,), default=None
            Cost of each row, if ``fit`` had it: the goal is then stated in its unit. Certificates
            count every row once.
        cluster : array-like of shape (n_samples,), default=None
            Which rows belong together, such as visits of one patient; as in :meth:`certify`.

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
        >>> shifted.report(X[1000:], y[1000:], positive_name="sick")
        Out of 100 sick rows, the new threshold misses about ...
        """
        check_is_fitted(self)
        target = column_name(y)
        X, y = self._check_known(X, y)
        # The room of reports imports this one.
        make = import_module("boundshift.report").report_classifier
        nominal = self._warn_of_reuse(X, y, are_single=cluster is None)
        names = {
            "case_name": case_name,
            "positive_name": positive_name,
            "negative_name": negative_name,
            "title": title,
            "target": target,
        }
        return make(
            self,
            X,
            y,
            names=names,
            confidence=confidence,
            prevalence=prevalence,
            by=by,
            row_cost=row_cost,
            cluster=cluster,
            nominal=nominal,
        )

    @property
    def _settings(self) -> Settings:
        """The parameters that say how the model is trained."""
        return Settings(
            estimator=self.estimator,
            cv=self.cv,
            ensemble=self.ensemble,
            response_method=self.response_method,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            holdout=self.holdout,
            is_prefit=self._is_prefit,
        )

    @property
    def _is_prefit(self) -> bool:
        """Whether the model was trained elsewhere, and rows of `fit` only choose the boundary."""
        is_named = isinstance(self.cv, str) and self.cv == "prefit"
        return is_named or isinstance(self.estimator, FrozenEstimator)

    def _check_known(self, X: Rows, y: ArrayLike) -> tuple[Rows, LabelArray]:
        """Return rows and their labels; raise if some labels are not those of `fit`."""
        X, labels = _as_labelled_rows(X, y)
        classes = self.classes_.tolist()
        other = [label for label in find_distinct(labels, "y").tolist() if label not in classes]
        if other:
            raise InvalidInputError(
                f"must hold labels of `fit`, {classes}, got {str(other[:5])[1:-1]}. Name the "
                "classes as in fit.",
                argument="y",
            )
        return X, labels

    def _warn_of_reuse(
        self, X: Rows, y: LabelArray, *, may_reuse: bool = False, are_single: bool = True
    ) -> str:
        """Warn if rows were used in fit or are copies of others; return the reason, else nothing.

        `are_single` is false for rows in clusters, which may hold copies.
        """
        fingerprint: Fingerprint | None = getattr(self, "fingerprint_", None)
        reason = "" if fingerprint is None or may_reuse else fingerprint.explain(X, y)
        reason = reason or explain_training(self.estimator_, X, y)
        if are_single:
            reason = reason or explain_copies(X, y)
        if reason:
            warnings.warn(f"The result is nominal: {reason}.", BoundaryWarning, stacklevel=3)
        return reason

    def get_metadata_routing(self) -> MetadataRouter:
        """Return how metadata is routed to the estimator and the splitter."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=self).add_self_request(self)  # for `score`
        router.add(estimator=self.estimator, method_mapping=mapping)
        if hasattr(self.cv, "split"):
            mapping = MethodMapping().add(caller="fit", callee="split")
            router.add(splitter=self.cv, method_mapping=mapping)
        return router

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if not hasattr(self.estimator, "__sklearn_tags__"):
            return tags  # A Booster, a network, a function.
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        if inner.classifier_tags is not None:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        return tags

    def __getstate__(self) -> dict[str, object]:
        state = super().__getstate__()
        return pack({name: value for name, value in state.items() if name != "_deciding"})

    def __setstate__(self, state: dict[str, object]) -> None:
        super().__setstate__(unpack(state))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_response")

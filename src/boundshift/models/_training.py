"""Which model is deployed, and which rows decide, scored by it or by models fitted without them.

Floors that the models of a cross-validation meet are not a promise about another model. Where
floors are to be promised, some rows of each class are held out of all training, and the boundary is
put where these rows promise the floors.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.model_selection._split import GroupsConsumerMixin
from sklearn.utils import Bunch, _safe_indexing, assert_all_finite, check_random_state, get_tags
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params, check_is_fitted, has_fit_parameter

from boundshift._boundary import check_row_cost, choose_claims
from boundshift._promises.planning import rows_needed
from boundshift._typing import FloatArray, IndexArray
from boundshift._validation import as_column, as_row_cost, as_weights, find_distinct, order_labels
from boundshift.curves import ClopperPearson, ErrorCurve, SupportRadius
from boundshift.curves._counts import ConfidenceCurve
from boundshift.curves._floors import start_of
from boundshift.exceptions import InvalidInputError
from boundshift.models._scoring import (
    MeanOfModels,
    Method,
    Response,
    ResponseMethod,
    choose_method,
    collapse_linear,
    find_methods,
    is_native,
    known_classes,
    mean_scores,
    probabilities,
    read_response,
    unwrap,
)
from boundshift.rules import ClassFloors, ClassRule, Floors, Rule

Origin = Literal["held-out", "out-of-fold", "training"]
Split = tuple[IndexArray, IndexArray]

# With fewer rows of the rarest class, the mean of the folds' models is deployed.
MANY_RARE_ROWS = 100
# A tree's scores have few distinct values, the mean of several trees has more. Where to cut those
# shows only if the rows that decide are scored by a mean too, so the folds are repeated.
_FEW_VALUES, _REPEATS, _MOST_ROWS_TO_REPEAT = 10, 5, 10_000
# Parts of out-of-bag rows: some are held out, or judge whether the shift helps.
_BAG_PARTS = 5
# Share of the rows that is held out: not too little for the boundary, nor too much for the model.
_LEAST_SHARE, _MOST_SHARE = 0.2, 0.5
_WEIGHT = "sample_weight"


class DecidingSample(NamedTuple):
    """The labelled scores that chose a classifier's boundary.

    `scores` are the positive class's, on the scale of ``boundary_``; for more than two classes one
    per class, before the biases are added. `sample_weight` and `row_cost` are what ``fit`` was
    given for these rows, `rows` their places there. `origin` is "held-out", "out-of-fold" or
    "training": whether the model that scored a row was trained without it.
    """

    y: NDArray[Any]
    scores: FloatArray
    sample_weight: FloatArray | None
    row_cost: FloatArray | None
    rows: IndexArray
    origin: Origin


class Scored(NamedTuple):
    """The rows that decide, with their scores, and the model that is deployed.

    `y` numbers each row's class among `classes`. Scores of two classes are both probabilities, or
    one margin of the second class; for more classes there is one score per class. `rows` are the
    places among the rows of `fit`, `parts` the number of the test part, None without parts; a row
    in several parts has the mean of its scores, and `repeated` says so.
    `response` reads a model's scores, `deployed` those of `estimator`, which may be a mean. `guide`
    has rows scored by fold models, if others are held out to test what they propose. `cluster` has
    the groups of the rows, if `fit` was given some.
    """

    y: IndexArray
    scores: FloatArray
    response: Response
    origin: Origin
    classes: NDArray[Any]
    rows: IndexArray
    parts: IndexArray | None = None
    repeated: bool = False
    weights: FloatArray | None = None
    costs: FloatArray | None = None
    estimator: Any = None
    estimators: list[Any] | None = None
    guide: Scored | None = None
    cluster: NDArray[Any] | None = None

    @property
    def deployed(self) -> Response:
        """How the deployed model's response becomes its score."""
        if isinstance(self.estimator, MeanOfModels):
            return Response("decision_function", is_log_odds=self.response.is_log_odds)
        return self.response

    @property
    def are_probabilities(self) -> bool:
        """Whether these are the probabilities of two classes."""
        return self.scores.ndim == 2 and self.scores.shape[1] == 2

    def scores_of(self, k: int) -> FloatArray:
        """Return the scores of one of two classes."""
        if self.are_probabilities:
            return self.scores[:, k]
        return self.scores if k == 1 else -self.scores


# What `fit` is given beside rows and labels.


class FitParameters(NamedTuple):
    """What the estimator's fit, the splitter and the decision get; `decides`: rows with weight."""

    fit: Mapping[str, Any]
    split: Mapping[str, Any]
    weights: FloatArray | None
    costs: FloatArray | None
    decides: NDArray[np.bool_]


def route_fit(classifier: Any, y: NDArray[Any], given: dict[str, Any]) -> FitParameters:
    """Route the parameters of `fit` to the estimator's fit, the split and the decision."""
    split: Mapping[str, Any] = {}
    fit: Mapping[str, Any]
    given = {name: v for name, v in given.items() if name != "groups" or v is not None}
    if classifier._is_prefit and "groups" in given:
        split = {"groups": given.pop("groups")}
    if get_config()["enable_metadata_routing"]:
        routed = process_routing(classifier, "fit", **given)
        fit, split = routed.estimator.fit, split or routed.get("splitter", Bunch(split={})).split
        requests = classifier._get_metadata_request().fit.requests
        names = {ours: ours if asked is True else asked for ours, asked in requests.items()}
        own = {ours: given[name] for ours, name in names.items() if name in given}
    else:
        own = {name: v for name, v in given.items() if name == "row_cost" or _WEIGHT in name}
        fit = {name: value for name, value in given.items() if name != "row_cost"}
        estimator, cv = classifier.estimator, classifier.cv
        if not classifier._is_prefit:
            fit = _name_last_step(estimator, fit)
        takes_groups = "groups" in fit and has_fit_parameter(estimator, "groups")
        if "groups" in fit and hasattr(cv, "split") and not isinstance(cv, str):
            split = {"groups": fit["groups"]}
            fit = {n: v for n, v in fit.items() if takes_groups or n != "groups"}
        elif "groups" in fit and not (takes_groups and cv is None):
            raise InvalidInputError(
                "`groups` must go with a `cv` that splits by groups, got "
                f"cv={cv!r}. Use cv=GroupKFold(5) or StratifiedGroupKFold(5)."
            )
    if split.get("groups") is not None:
        groups = as_column("groups", split["groups"], "Pass the group of each row.", len(y))
        split = {**split, "groups": groups}
    weights, costs, n_classes = _find_weights(own, len(y)), own.get("row_cost"), len(np.unique(y))
    if costs is not None:
        costs = as_row_cost(costs, len(y))
        check_row_cost(classifier.curve, classifier.rule, weights)
        if n_classes > 2:
            raise InvalidInputError(
                f"`row_cost` must go with two classes, got {n_classes}. Fit on "
                "y == label to tell one from the rest."
            )
    curve, rule = choose_claims(classifier.curve, classifier.rule)
    if split.get("groups") is not None:
        _check_floors_of_groups(classifier.curve, curve, rule)
    by_class = isinstance(rule, ClassRule) and n_classes > 2
    if weights is not None and (by_class or isinstance(curve, ConfidenceCurve | SupportRadius)):
        counting = repr(rule) if by_class else f"the curve {curve.name!r}"
        raise InvalidInputError(
            f"`sample_weight` must be left out with {counting}, which counts rows, got weights. "
            "Use the default curve and rule, or keep the weights out of the decision: enable "
            "metadata routing and set_fit_request(sample_weight=False)."
        )
    decides = np.ones(len(y), dtype=np.bool_)
    for known in (weights, _find_weights(fit, len(y))):
        decides &= True if known is None else known > 0
    return FitParameters(fit, split, weights, costs, decides)


def _check_floors_of_groups(given: Any, curve: ErrorCurve, rule: Rule) -> None:
    """Raise if floors are to be promised that only independent rows can promise."""
    if isinstance(rule, ClassFloors):
        raise InvalidInputError(
            f"`groups` must go without ClassFloors, which count rows, got {rule!r}. Pass one row "
            "of each group, or use CostMatrix, which promises nothing."
        )
    if is_promise(curve, rule) and not counts_groups(curve, rule):
        named = "" if given is None else f" and curve={given!r}"
        raise InvalidInputError(
            "`rule` must have floors of recall or specificity only, and no other curve, where "
            f"`groups` are given and floors are promised, got {rule!r}{named}. Use "
            "Floors(recall=0.9), or curve='empirical' for an estimate."
        )


def _name_last_step(estimator: Any, fit_params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Name the weights for the last step of a pipeline, if that step takes weights."""
    if fit_params.get(_WEIGHT) is None or not hasattr(estimator, "fit"):
        return fit_params
    parts = unwrap(estimator, pipelines_only=True)
    parameters = signature(parts.last.fit).parameters.values()
    if not any(p.name == _WEIGHT or p.kind is p.VAR_KEYWORD for p in parameters):
        raise InvalidInputError(
            "`sample_weight` must be something that the estimator's fit takes, got weights for "
            f"{type(parts.last).__name__}, which takes none. Use another model, or fit it "
            "without and give the weights to the boundary alone, with cv='prefit'."
        )
    return {parts.prefix + name if name == _WEIGHT else name: v for name, v in fit_params.items()}


def _find_weights(fit_params: Mapping[str, Any], n_rows: int) -> FloatArray | None:
    """Return the weights among the parameters of a fit, also those of a pipeline's step."""
    names = [name for name in fit_params if name == _WEIGHT or name.endswith(f"__{_WEIGHT}")]
    if len(names) > 1:
        raise InvalidInputError(
            "`sample_weight` must be given once, since it counts in the decision too, got "
            f"{' and '.join(names)}. Pass one of them."
        )
    given = fit_params[names[0]] if names else None
    return None if given is None else as_weights(given, n_rows)


# Rows that are held out of all training.


def is_promise(curve: ErrorCurve, rule: Rule) -> bool:
    """Return whether floors are to hold with high probability, not as estimates."""
    return isinstance(rule, Floors) and isinstance(curve, ConfidenceCurve)


def counts_groups(curve: ErrorCurve, rule: Rule) -> bool:
    """Return whether promised floors can be counted by groups."""
    if not isinstance(rule, Floors) or rule.level is None:
        return False
    return set(rule.asked) <= {"recall", "specificity"} and curve == ClopperPearson(rule.level)


def find_demands(
    curve: ErrorCurve, rule: Rule, counts: Mapping[Any, int]
) -> list[tuple[float, float, int]] | None:
    """Return (fewest rows, good number of rows, rows there are) for each promised floor.

    A good number of rows shows half of the errors that the floor allows. None: nothing is
    promised. `counts` has the negative class first.
    """
    if isinstance(rule, ClassFloors):
        risk = 1.0 - rule.confidence
        return [
            (rows_needed(1.0 - floor, 1.0 - risk), start_of(floor, risk, 10**9), counts[label])
            for label, floor in rule.recall.items()
        ]
    if not isinstance(rule, Floors) or not isinstance(curve, ConfidenceCurve):
        return None
    each = curve.delta / len(rule.promised)
    negative, positive = counts.values()
    rows = {"recall": positive, "specificity": negative, "precision": positive, "npv": negative}
    demands: list[tuple[float, float, int]] = []
    for name in rule.promised:
        value = rule.asked[name]
        floor = 1.0 - value if name == "flagged" else value
        if floor >= 1.0:
            return [(math.inf, math.inf, 1)]
        # About this share of the rows behind precision and npv are of the class.
        share = floor if name in ("precision", "npv") else 1.0
        least, good = rows_needed(1.0 - floor, 1.0 - each), start_of(floor, each, 10**9)
        if rule.prevalence is not None and name in ("precision", "npv", "flagged"):
            good = 10**9
        n = rows.get(name, negative + positive)
        demands.append((math.ceil(share * least), share * good, n))
    return demands


def can_promise(least: float, rows: int) -> bool:
    """Return whether half of the rows suffice for a promise."""
    return least <= math.floor(_MOST_SHARE * rows)


def _share_to_hold_out(clf: Any, labels: list[Any], y: NDArray[Any]) -> float | None:
    """Return the share of rows that a promise needs, between a fifth and a half.

    None if no promise is asked for, or a half would be too few.
    """
    curve, rule = choose_claims(clf.curve, clf.rule)
    if isinstance(rule, ClassFloors) != (len(labels) > 2) or len(labels) < 2:
        return None
    if is_native(clf.estimator) or get_tags(clf.estimator).input_tags.pairwise:
        return None
    counts = {label: int(np.count_nonzero(y == label)) for label in labels}
    if isinstance(rule, ClassFloors):
        rule.check_classes(labels)
    else:
        ends = order_labels(labels, clf.pos_label, counts=counts, symmetric=rule.symmetric)
        counts = {label: counts[label] for label in ends}
    demands = find_demands(curve, rule, counts)
    if demands is None or not all(can_promise(least, rows) for least, _, rows in demands):
        return None
    wanted = max((good / rows for _, good, rows in demands), default=0.0)
    return min(max(wanted, _LEAST_SHARE), _MOST_SHARE)


def hold_out(
    number: IndexArray, share: float, cv: Any, random_state: Any, X: Any, split: Mapping[str, Any]
) -> Split:
    """Return rows to train on and rows held out, in about the classes' proportion.

    `number` is the class of each row, `share` the share of each class to hold out. With an int as
    `cv`, rows are drawn, the same every time if `random_state` is None. A splitter knows which rows
    belong together, so as many of its test parts are held out as are needed.
    """
    totals = np.bincount(number, minlength=2)
    goals = np.ceil(share * totals - 1e-9).astype(int)
    if isinstance(cv, int | np.integer):
        random = check_random_state(0 if random_state is None else random_state)
        order = random.permutation(len(number))
        held = np.concatenate([order[number[order] == k][:m] for k, m in enumerate(goals)])
    else:
        held = np.empty(0, dtype=np.intp)
        for _, test in find_splits(cv, X, number, split):
            held = np.union1d(held, test)
            if np.all(np.bincount(number[held], minlength=len(totals)) >= goals):
                break
    train = np.setdiff1d(np.arange(len(number)), held)
    if len(totals) == 2 and totals[0] != totals[1]:
        # The rarer class is the positive one by default, so it must be the rarer one here, too.
        is_rarer = number[held] == np.argmin(totals)
        most = np.count_nonzero(~is_rarer) - 1
        held = held[~is_rarer | (np.cumsum(is_rarer) <= most)]
    return train, np.sort(held)


# Training.


def train(classifier: Any, X: Any, y: NDArray[Any], params: FitParameters) -> Scored:
    """Train a classifier's model, unless it is trained, and score the rows that decide.

    If floors are to be promised, some rows are held out of training, and these alone decide.
    """
    trainer = _Trainer(classifier, classifier.cv, find_distinct(y), params)
    if classifier._is_prefit:
        return trainer.read_trained(X, y)
    decides, cv, share = params.decides, classifier.cv, None
    if cv is not None:
        share = _share_to_hold_out(classifier, np.unique(y[decides]).tolist(), y[decides])
    if share is None:
        return trainer.train(X, y)
    number = np.searchsorted(np.unique(y[decides]), y)
    is_listed = isinstance(cv, Iterable) and not isinstance(cv, str)
    if is_listed:
        cv = find_splits(cv, X, y, {})
    parts = _BAG_PARTS if isinstance(cv, str) else cv
    kept, held = hold_out(number, share, parts, classifier.random_state, X, params.split)
    if is_listed:  # the same splits among the rows to train on
        within = [
            tuple(np.searchsorted(kept, np.intersect1d(part, kept)) for part in s) for s in cv
        ]
        cv = [split for split in within if all(len(part) for part in split)]
    fit, split = (_check_method_params(X, p, indices=kept) for p in (params.fit, params.split))
    weights, costs = (None if v is None else v[kept] for v in (params.weights, params.costs))
    inner = FitParameters(fit, split, weights, costs, decides[kept])
    rows = _safe_indexing(X, kept)
    guide = _Trainer(classifier, cv, np.unique(y[kept]), inner).train(rows, y[kept])
    held = held[decides[held]]
    rows = _safe_indexing(X, held)
    if guide.are_probabilities:
        scores = read_response(guide.estimator, rows, "predict_proba", guide.classes)
    else:
        scores = guide.deployed.read(guide.estimator, rows, guide.classes)
    return guide._replace(
        y=number[held],
        scores=scores,
        origin="held-out",
        rows=held,
        parts=None,
        guide=guide,
        cluster=_groups_of(params, held),
    )


def _groups_of(params: FitParameters, rows: IndexArray) -> NDArray[Any] | None:
    groups = params.split.get("groups")
    return None if groups is None else np.asarray(groups)[rows]


@dataclass(frozen=True)
class _Trainer:
    """Trains with the settings of `clf`, on rows of sorted `classes`."""

    clf: Any
    cv: Any
    classes: NDArray[Any]
    params: FitParameters

    def read_trained(self, X: Any, y: NDArray[Any]) -> Scored:
        """Score rows by a model that was trained elsewhere."""
        self._refuse_mean("a model that is trained already")
        self._check_labels(y)
        estimator = self.clf.estimator
        if not is_native(estimator):
            check_is_fitted(estimator)
        classes = np.unique(known_classes(estimator, self.classes))
        unknown = np.setdiff1d(self.classes, classes)
        if len(unknown):
            raise InvalidInputError(
                f"`y` must hold labels that the fitted estimator knows ({classes.tolist()}), "
                f"got {unknown.tolist()} too. Encode the labels as the model was trained on them."
            )
        return replace(self, classes=classes)._by_model(estimator, X, y, "held-out")

    def train(self, X: Any, y: NDArray[Any]) -> Scored:
        """Fit the estimator, and score rows by it or by models fitted without them."""
        if is_native(self.clf.estimator):
            raise InvalidInputError(
                f"`cv` must be 'prefit' for a {type(self.clf.estimator).__name__}, which cannot be "
                f"fitted again, got {self.cv!r}. Pass `fit` rows that the model has not seen."
            )
        self._check_labels(y)
        estimator = set_random_states(clone(self.clf.estimator), self.clf.random_state)
        fit = _check_method_params(X, self.params.fit)
        numbers, crossed = np.searchsorted(self.classes, y), None
        if isinstance(self.cv, str):
            self._refuse_mean("cv='oob'")
            return self._out_of_bag(estimator, X, y, fit)
        if self.cv is None:
            self._refuse_mean("cv=None")
        elif len(self.classes) == 2 and np.bincount(numbers).min() == 1:
            self._refuse_mean("a class of one row, which no fold can leave out")
        else:
            crossed, is_complete = self._cross_fit(estimator, X, y, numbers)
            if self._may_deploy_mean(is_complete):
                mean = _deploy_mean(crossed)
                rarest = np.bincount(crossed.y, minlength=len(self.classes)).min()
                is_one_model = not isinstance(mean.estimator, MeanOfModels)
                if self.clf.ensemble != "auto" or is_one_model or rarest < MANY_RARE_ROWS:
                    return mean
        fitted = clone(estimator)
        fitted.fit(X, y, **fit)
        if crossed is None:
            return self._by_model(fitted, X, y, "training")
        return crossed._replace(estimator=fitted, estimators=None)

    def _check_labels(self, y: NDArray[Any]) -> None:
        """Raise if there are not at least two classes to learn from."""
        assert_all_finite(self.classes, input_name="y")
        # Many labels that occur once each would look like a regression target.
        check_classification_targets(np.repeat(self.classes, 3))
        decides = self.params.decides
        seen = np.unique(y[decides])
        if len(seen) < 2:
            where = "`y`" if decides.all() else "`y` with a `sample_weight` above 0"
            raise InvalidInputError(
                f"{where} must hold at least two classes, got {len(seen)} class(es): "
                f"{seen.tolist()}. Pass rows of every class that predictions should tell apart."
            )

    def _refuse_mean(self, where: str) -> None:
        """Raise if a mean of fold models is asked for but there are no folds."""
        if self.clf.ensemble not in (False, "auto"):
            raise InvalidInputError(
                f"`ensemble` must be False or 'auto' with {where}, got True: there are no models "
                "of folds. Use cv=5, or ensemble=False."
            )

    def _may_deploy_mean(self, is_complete: bool) -> bool:
        if get_tags(self.clf.estimator).input_tags.pairwise:
            # Each model would want a kernel with the rows of its own training part.
            self._refuse_mean("a precomputed kernel")
            return False
        return is_complete if self.clf.ensemble == "auto" else bool(self.clf.ensemble)

    def _by_model(self, model: Any, X: Any, y: NDArray[Any], origin: Origin) -> Scored:
        responses = _read(model, X, self.clf.response_method, self.classes)
        found = self._settle(y, [np.arange(len(y))], [responses], origin)
        return found._replace(parts=None, estimator=model)

    def _out_of_bag(self, estimator: Any, X: Any, y: NDArray[Any], fit: Any) -> Scored:
        """Fit a bagging ensemble, and score each row by the members that did not see it."""
        has_bags = hasattr(estimator, "oob_score") and getattr(estimator, "bootstrap", False)
        if not has_bags or self.clf.response_method not in ("auto", "predict_proba"):
            raise InvalidInputError(
                "`cv` must be 'oob' only for the probabilities of RandomForestClassifier, "
                "BaggingClassifier or ExtraTreesClassifier(bootstrap=True), not inside a pipeline, "
                f"got {type(estimator).__name__}. Use cv=5."
            )
        with warnings.catch_warnings():
            # Rows without a score do not decide.
            warnings.filterwarnings("ignore", message="Some inputs do not have OOB scores")
            warnings.filterwarnings("ignore", message="invalid value encountered in divide")
            estimator.set_params(oob_score=True).fit(X, y, **fit)
        found = np.array(estimator.oob_decision_function_, dtype=np.float64)
        rows = np.flatnonzero(found.sum(axis=1) > 0.5)
        scored = self._settle(y, [rows], [{"predict_proba": found[rows]}], "out-of-fold")
        parts = np.empty(len(scored.y), dtype=np.intp)
        parts[np.argsort(scored.y, kind="stable")] = np.arange(len(parts)) % _BAG_PARTS
        return scored._replace(parts=parts, estimator=estimator)

    def _cross_fit(
        self, estimator: Any, X: Any, y: NDArray[Any], numbers: IndexArray
    ) -> tuple[Scored, bool]:
        """Score rows by models fitted without them.

        Also returns whether the models together saw every row, and each saw every class.
        """
        cv, fit, asked = self.cv, self.params.fit, self.clf.response_method
        is_number = isinstance(cv, int | np.integer) and not isinstance(cv, bool)
        if is_number:
            cv = StratifiedKFold(min(int(cv), max(int(np.bincount(numbers).max()), 2)))
        splits = find_splits(cv, X, y, self.params.split)
        is_complete = self._check_splits(numbers, splits)

        def fit_folds(splits: list[Split]) -> Any:
            return Parallel(n_jobs=self.clf.n_jobs)(
                delayed(_fit_fold)(estimator, X, y, split, fit, asked, self.classes)
                for split in splits
            )

        folds = fit_folds(splits)
        if is_number and is_complete and self._should_repeat(numbers, [part for _, part in folds]):
            random = self.clf.random_state
            random = check_random_state(0 if random is None else random)
            for _ in range(_REPEATS - 1):
                seed = random.randint(2**31 - 1)
                again = StratifiedKFold(cv.n_splits, shuffle=True, random_state=seed)
                splits += find_splits(again, X, y, {})
            folds += fit_folds(splits[len(folds) :])
        models, parts = zip(*folds, strict=True)
        found = self._settle(y, [test for _, test in splits], parts, "out-of-fold")
        return found._replace(estimators=list(models)), is_complete

    def _should_repeat(
        self, numbers: IndexArray, parts: Sequence[Mapping[Method, FloatArray]]
    ) -> bool:
        """Return whether few rare rows decide for a mean of models with few distinct scores."""
        counts = np.bincount(numbers)
        is_small = counts.min() < MANY_RARE_ROWS and len(numbers) <= _MOST_ROWS_TO_REPEAT
        if len(counts) != 2 or not is_small or not self._may_deploy_mean(True):
            return False
        method, _ = choose_method(parts, self.clf.response_method)
        n_values = len(np.unique(np.concatenate([part[method] for part in parts])))
        return 1 < n_values <= min(_FEW_VALUES, len(numbers) / _FEW_VALUES)

    def _check_splits(self, numbers: IndexArray, splits: list[Split]) -> bool:
        """Raise unless every part trains on both classes, and tests rows that it has not seen.

        Returns whether all parts together train on every row, and each on every class.
        """

        def refuse_one_class(rows: IndexArray, where: str) -> None:
            found = self.classes[np.unique(numbers[rows[self.params.decides[rows]]])]
            if len(found) < 2:
                raise InvalidInputError(
                    f"`cv` must leave rows of at least two classes in {where}, got only "
                    f"{found.tolist()}. Use an int or StratifiedKFold, which keep the classes' "
                    "shares."
                )

        for number, (train, test) in enumerate(splits, start=1):
            of = f"part {number} of {len(splits)}"
            shared = len(np.intersect1d(train, test))
            if shared:
                raise InvalidInputError(
                    "`cv` must leave the rows of a test part out of its training part, got "
                    f"{shared} row(s) in both of {of}. Use an int or a "
                    "splitter, or cv=None to decide on training rows."
                )
            refuse_one_class(train, f"every training part: {of}")
        refuse_one_class(np.concatenate([test for _, test in splits]), "all test parts together")
        sees_all = all(len(np.unique(numbers[t])) == len(self.classes) for t, _ in splits)
        trained = np.concatenate([train for train, _ in splits])
        return sees_all and len(np.unique(trained)) == len(numbers)

    def _settle(
        self,
        y: NDArray[Any],
        tests: Sequence[IndexArray],
        parts: Sequence[Mapping[Method, FloatArray]],
        origin: Origin,
    ) -> Scored:
        """Turn the responses of all models into one score for each row that decides."""
        asked, params = self.clf.response_method, self.params
        method, is_log_odds = choose_method(parts, asked)
        every = np.concatenate(tests)
        decides = params.decides[every]
        number = np.repeat(np.arange(len(tests)), [len(test) for test in tests])[decides]
        rows, first, place = np.unique(every[decides], return_index=True, return_inverse=True)
        raw = np.concatenate([part[method] for part in parts])[decides]
        response = Response.learn(method, raw, is_log_odds=is_log_odds)
        # Two classes are decided on the model's own probabilities, if there are any.
        on_probabilities = (
            len(self.classes) == 2
            and all("predict_proba" in part for part in parts)
            and asked in ("auto", "predict_proba")
        )
        if len(rows) < len(place):  # No row counts twice.
            scores = mean_scores(response.scores(raw), place, is_log_odds=is_log_odds)
            scores = probabilities(scores) if on_probabilities else scores
        elif on_probabilities:
            scores = np.concatenate([part["predict_proba"] for part in parts])[decides][first]
        else:
            scores = response.scores(raw)[first]
        weights, costs = (None if v is None else v[rows] for v in (params.weights, params.costs))
        return Scored(
            y=np.searchsorted(self.classes, y[rows]),
            scores=scores,
            response=response,
            origin=origin,
            classes=self.classes,
            rows=rows,
            parts=number[first],
            repeated=len(rows) < len(place),
            weights=weights,
            costs=costs,
            cluster=_groups_of(params, rows),
        )


def _fit_fold(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    split: Split,
    fit_params: Mapping[str, Any],
    asked: ResponseMethod,
    classes: NDArray[Any],
) -> tuple[Any, dict[Method, FloatArray]]:
    """Fit a copy of the estimator on one part and read its responses to the other."""
    train, test = split
    # A kernel has a column for every row that it was computed with.
    rows, labels = _safe_split(estimator, X, y, train)
    left_out, _ = _safe_split(estimator, X, None, test, train)
    fold = clone(estimator)
    fold.fit(rows, labels, **_check_method_params(X, fit_params, indices=train))
    return fold, _read(fold, left_out, asked, classes)


def _read(
    model: Any, X: Any, asked: ResponseMethod, classes: NDArray[Any]
) -> dict[Method, FloatArray]:
    return {m: read_response(model, X, m, classes) for m in find_methods(model, asked)}


def _deploy_mean(crossed: Scored) -> Scored:
    """Deploy the mean of the folds' models, as one linear model if there is one."""
    response, models = crossed.response, crossed.estimators or []
    one = collapse_linear(models) if response.method == "decision_function" else None
    if one is not None:
        return crossed._replace(estimator=one)
    mean = MeanOfModels(
        models, crossed.classes, response.method, response.floor, response.is_log_odds
    )
    if crossed.are_probabilities and response.floor is not None and (crossed.scores == 0).any():
        # The mean has no exact 0 or 1, so the rows that decide must not have one either. Rows that
        # several models have scored have none already.
        crossed = crossed._replace(scores=probabilities(response.scores(crossed.scores)))
    return crossed._replace(estimator=mean)


# Splits and seeds.


def find_splits(cv: Any, X: Any, y: NDArray[Any], params: Mapping[str, Any]) -> list[Split]:
    """Return the splits of a `cv`: a number of folds, a splitter, or pairs of rows or masks."""
    places, splits_groups = np.arange(len(y)), isinstance(cv, GroupsConsumerMixin)
    groups: Any = params.get("groups")
    try:
        with warnings.catch_warnings():
            # A class with fewer rows than folds is missing from some test parts, which is fine.
            warnings.filterwarnings("ignore", message="The least populated class")
            # Groups that are split in spite of it are refused below.
            warnings.filterwarnings("ignore", message="The groups parameter is ignored")
            given = list(check_cv(cv, y, classifier=True).split(X, y, **params))
        found = [(places[np.asarray(train)], places[np.asarray(test)]) for train, test in given]
        if any(np.ndim(part) != 1 for split in found for part in split):
            raise TypeError("a part is no list of rows")
    except (IndexError, TypeError) as error:
        raise InvalidInputError(
            "`cv` must be an int, a splitter or pairs of row numbers (train, test), got "
            f"{str(cv)[:100]} ({error}). Use cv=5."
        ) from None
    except ValueError:
        if groups is not None or not splits_groups:
            raise
        raise InvalidInputError(
            f"`groups` must be given with cv={type(cv).__name__}, which splits by them, got none. "
            "Pass fit(X, y, groups=...), or use cv=5."
        ) from None
    for train, test in found if groups is not None and not splits_groups else ():
        shared = set(groups[train].tolist()) & set(groups[test].tolist())
        if shared:
            raise InvalidInputError(
                "`cv` must keep groups together where `groups` are given, got rows of "
                f"{len(shared)} group(s) on both sides of a split. Use StratifiedGroupKFold(5)."
            )
    if not found:
        raise InvalidInputError(
            "`cv` must give at least one split, got none. A generator gives its splits only "
            "once: pass list(splits), or an int."
        )
    return found


def set_random_states(estimator: Any, random_state: Any) -> Any:
    """Set every random state of an estimator that is None, unless `random_state` is None."""
    if random_state is None:
        return estimator
    random = check_random_state(random_state)
    for name, value in sorted(estimator.get_params(deep=True).items()):
        if value is None and (name == "random_state" or name.endswith("__random_state")):
            estimator.set_params(**{name: int(random.randint(2**31 - 1))})
    return estimator

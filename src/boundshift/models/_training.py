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
from sklearn.utils.validation import _check_method_params, check_is_fitted

from boundshift._boundary import check_row_cost, choose_claims
from boundshift._typing import FloatArray, IndexArray
from boundshift._validation import as_column, as_row_cost, as_weights, find_distinct, order_labels
from boundshift.curves import ClopperPearson, ErrorCurve
from boundshift.curves._sequence import start_of
from boundshift.exceptions import InvalidInputError
from boundshift.models._scoring import (
    MeanOfModels,
    Method,
    Response,
    choose_method,
    collapse_linear,
    find_methods,
    is_native,
    known_classes,
    mean_scores,
    probabilities,
    read_response,
)
from boundshift.rules import ClassFloors, ClassRule, Floors, Rule

Origin = Literal["held-out", "out-of-fold", "training"]
Split = tuple[IndexArray, IndexArray]

# With fewer rows of the rarest class, the mean of the folds' models is deployed.
MANY_RARE_ROWS = 100
# A tree's scores have few distinct values, the mean of several trees has more. Where to cut those
# shows only if the rows that decide are scored by a mean too, so the folds are repeated.
_FEW_VALUES, _REPEATS, _MOST_ROWS_TO_REPEAT = 10, 5, 10_000
# Rows that are as good as any number, for where a sequence of tests starts.
_MANY_ROWS = 10**9
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
    places among the rows of `fit`; a row in several test parts has the mean of its scores, else
    `fold` numbers its part. `cluster` has the groups of the rows. `response` reads the scores of
    `estimator`. `guide` has rows scored by fold models, if others are held out to test what they
    propose.
    """

    y: IndexArray
    scores: FloatArray
    response: Response
    origin: Origin
    classes: NDArray[Any]
    rows: IndexArray
    weights: FloatArray | None
    costs: FloatArray | None
    cluster: NDArray[Any] | None
    fold: IndexArray | None = None
    estimator: Any = None
    estimators: list[Any] | None = None
    guide: Scored | None = None

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


def route_fit(clf: Any, y: NDArray[Any], given: dict[str, Any]) -> FitParameters:
    """Route the parameters of `fit` to the estimator's fit, the splitter and the decision."""
    given = {name: v for name, v in given.items() if name != "groups" or v is not None}
    fit: Mapping[str, Any]
    split: Mapping[str, Any] = {}
    if clf._is_prefit and "groups" in given:
        split = {"groups": given.pop("groups")}
    if get_config()["enable_metadata_routing"]:
        routed = process_routing(clf, "fit", **given)
        fit, split = routed.estimator.fit, split or routed.get("splitter", Bunch(split={})).split
        requests = clf._get_metadata_request().fit.requests
        names = {ours: ours if asked is True else asked for ours, asked in requests.items()}
        own = {ours: given[name] for ours, name in names.items() if name in given}
    else:
        own = {name: v for name, v in given.items() if name == "row_cost" or _WEIGHT in name}
        fit = {name: v for name, v in given.items() if name not in ("row_cost", "groups")}
        if "groups" in given:
            split = {"groups": given["groups"]}
        if "groups" in given and (isinstance(clf.cv, str) or not hasattr(clf.cv, "split")):
            raise InvalidInputError(
                "`groups` must go with a `cv` that splits by groups, got "
                f"cv={clf.cv!r}. Use cv=GroupKFold(5) or StratifiedGroupKFold(5)."
            )
    curve, rule = choose_claims(clf.curve, clf.rule)
    weights, costs, n_classes = _find_weights(own, len(y)), own.get("row_cost"), len(np.unique(y))
    if split.get("groups") is not None:
        groups = as_column("groups", split["groups"], "Pass the group of each row.", len(y))
        split = {**split, "groups": groups}
        is_counted = not is_promise(curve, rule) or counts_groups(curve, rule)
        if isinstance(rule, ClassFloors) or not is_counted:
            named = "" if clf.curve is None else f" and curve={clf.curve!r}"
            raise InvalidInputError(
                "`rule` must have floors of recall or specificity of two classes only, and no "
                f"other curve, where `groups` are given and floors are promised, got {rule!r}"
                f"{named}. Use Floors(recall=0.9); curve='empirical' or CostMatrix for an estimate."
            )
    if costs is not None:
        costs = as_row_cost(costs, len(y))
        check_row_cost(clf.curve, clf.rule, weights)
        if n_classes > 2:
            raise InvalidInputError(
                f"`row_cost` must go with two classes, got {n_classes}. Fit on "
                "y == label to tell one from the rest."
            )
    by_class = isinstance(rule, ClassRule) and n_classes > 2
    if weights is not None and (by_class or not curve.accepts_weights):
        counting = repr(rule) if by_class else f"the curve {curve.name!r}"
        raise InvalidInputError(
            f"`sample_weight` must be left out with {counting}, which counts rows, got weights. "
            "Use the default curve and rule, or keep the weights out of the decision: enable "
            "metadata routing and set_fit_request(sample_weight=False)."
        )
    known = [w > 0 for w in (weights, _find_weights(fit, len(y))) if w is not None]
    decides = np.logical_and.reduce([np.ones(len(y), dtype=np.bool_), *known])
    return FitParameters(fit, split, weights, costs, decides)


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
    return isinstance(rule, Floors) and curve.delta is not None


def counts_groups(curve: ErrorCurve, rule: Rule) -> bool:
    """Return whether promised floors can be counted by groups."""
    if not isinstance(rule, Floors) or rule.level is None:
        return False
    return set(rule.asked) <= {"recall", "specificity"} and curve == ClopperPearson(rule.level)


Demand = tuple[float, float, int]  # fewest rows, a good number of rows, rows there are


def can_promise(demand: Demand) -> bool:
    """Return whether half of the rows suffice for a promise."""
    return demand[0] <= math.floor(_MOST_SHARE * demand[2])


def find_demands(curve: ErrorCurve, rule: Rule, counts: Mapping[Any, int]) -> list[Demand] | None:
    """Return what each guarantee takes, None if there is none.

    A good number of rows shows half of the errors that the floor allows. `counts` has the rows of
    each class, the negative class first.
    """
    guarantees = rule.guarantees(curve.delta)
    if not guarantees:
        return None
    if any(guarantee.error_rate <= 0.0 for guarantee in guarantees):
        return [(math.inf, math.inf, 1)]
    rows = counts
    if not isinstance(rule, ClassFloors):
        negative, positive = counts.values()
        rows = {
            "recall": positive,
            "specificity": negative,
            "precision": positive,
            "npv": negative,
            "flagged": negative + positive,
        }
    return [
        (each.rows_needed, start_of(1.0 - each.error_rate, each.delta, _MANY_ROWS), rows[each.rate])
        for each in guarantees
    ]


def _share_to_hold_out(clf: Any, labels: list[Any], y: NDArray[Any]) -> float | None:
    """Return the share of rows that a promise needs, between a fifth and a half.

    None if no promise is asked for, or a half would be too few.
    """
    curve, rule = choose_claims(clf.curve, clf.rule)
    is_kernel = get_tags(clf.estimator).input_tags.pairwise
    if clf.cv is None or is_kernel or isinstance(rule, ClassFloors) != (len(labels) > 2):
        return None
    counts = {label: int(np.count_nonzero(y == label)) for label in labels}
    if isinstance(rule, ClassFloors):
        rule.check_classes(labels)
    else:
        ends = order_labels(labels, clf.pos_label, counts=counts, symmetric=rule.symmetric)
        counts = {label: counts[label] for label in ends}
    demands = find_demands(curve, rule, counts)
    if demands is None or not all(map(can_promise, demands)):
        return None
    wanted = max((good / n for _, good, n in demands), default=0.0)
    return min(max(wanted, _LEAST_SHARE), _MOST_SHARE)


def hold_out(
    number: IndexArray, share: float, cv: Any, random_state: Any, X: Any, split: Mapping[str, Any]
) -> Split:
    """Return rows to train on and rows held out, about a share of each class.

    With an int as `cv`, rows are drawn, the same every time if `random_state` is None. A splitter
    knows which rows belong together, so as many of its test parts are held out as are needed.
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


def train(clf: Any, X: Any, y: NDArray[Any], params: FitParameters) -> Scored:
    """Train a classifier's model, unless it is trained, and score the rows that decide.

    If floors are to be promised, some rows are held out of training, and these alone decide.
    """
    classes, decides = find_distinct(y), params.decides
    assert_all_finite(classes, input_name="y")
    # Many labels that occur once each would look like a regression target.
    check_classification_targets(np.repeat(classes, 3))
    seen = np.unique(y[decides])
    if len(seen) < 2:
        where = "`y`" if decides.all() else "`y` with a `sample_weight` above 0"
        raise InvalidInputError(
            f"{where} must hold at least two classes, got {len(seen)} class(es): "
            f"{seen.tolist()}. Pass rows of every class that predictions should tell apart."
        )
    trainer = _Trainer(clf, clf.cv, classes, X, y, params)
    if clf._is_prefit:
        return trainer.read_trained()
    if isinstance(clf.cv, str):
        raise InvalidInputError(
            "`cv` must be 'prefit', a number of folds, a splitter, pairs of rows or None, got "
            f"{clf.cv!r}. Use cv=5."
        )
    if is_native(clf.estimator):
        raise InvalidInputError(
            f"`cv` must be 'prefit' for a {type(clf.estimator).__name__}, which cannot be trained "
            f"again here, got {clf.cv!r}. Pass `fit` rows that the model has not seen."
        )
    share = _share_to_hold_out(clf, seen.tolist(), y[decides])
    return trainer.train() if share is None else trainer.train_without(share)


@dataclass(frozen=True)
class _Trainer:
    """Trains with the settings of `clf`, on rows of sorted `classes`."""

    clf: Any
    cv: Any
    classes: NDArray[Any]
    X: Any
    y: NDArray[Any]
    params: FitParameters

    @property
    def number(self) -> IndexArray:
        return np.searchsorted(self.classes, self.y)

    def read_trained(self) -> Scored:
        """Score rows by a model that was trained elsewhere."""
        estimator = self.clf.estimator
        self._refuse_mean("a model that is trained already")
        if not is_native(estimator):
            check_is_fitted(estimator)
        classes = np.unique(known_classes(estimator, self.classes))
        unknown = np.setdiff1d(self.classes, classes)
        if len(unknown):
            raise InvalidInputError(
                f"`y` must hold labels that the fitted estimator knows ({classes.tolist()}), "
                f"got {unknown.tolist()} too. Encode the labels as the model was trained on them."
            )
        return replace(self, classes=classes)._by_model(estimator, "held-out")

    def train_without(self, share: float) -> Scored:
        """Hold rows out, train on the others, and let those held out decide."""
        X, cv, params, number = self.X, self.cv, self.params, self.number
        is_listed = isinstance(cv, Iterable)
        if is_listed:
            cv = find_splits(cv, X, self.y, {})
        kept, held = hold_out(number, share, cv, self.clf.random_state, X, params.split)
        if is_listed:  # the same splits among the rows to train on
            cv = [
                tuple(np.searchsorted(kept, np.intersect1d(part, kept)) for part in split)
                for split in cv
            ]
            cv = [split for split in cv if all(len(part) for part in split)]
        fit, split = (_check_method_params(X, p, indices=kept) for p in params[:2])
        inner, decides = FitParameters(fit, split, None, None, params.decides[kept]), params.decides
        rows = _safe_indexing(X, kept)
        guide = replace(self, cv=cv, X=rows, y=self.y[kept], params=inner).train()
        held = held[decides[held]]
        rows = _safe_indexing(X, held)
        if guide.are_probabilities:
            scores = read_response(guide.estimator, rows, "predict_proba", self.classes)
        else:
            scores = guide.response.read(guide.estimator, rows, self.classes)
        found = guide._replace(scores=scores, origin="held-out", fold=None, guide=guide)
        return found._replace(y=number[held], rows=held, cluster=self._groups_of(held))

    def train(self) -> Scored:
        """Train the model that is deployed, and score all rows."""
        clf, X, y, crossed = self.clf, self.X, self.y, None
        estimator = set_random_states(clone(clf.estimator), clf.random_state)
        counts = np.bincount(self.number)
        if self.cv is None:
            why = "cv=None"
        elif len(counts) == 2 and counts.min() == 1:
            why = "a class of one row, which no fold can leave out"
        else:
            # Each model would want a kernel with the rows of its own training part.
            is_kernel = get_tags(clf.estimator).input_tags.pairwise
            why = "a precomputed kernel" if is_kernel else ""
            crossed, is_complete = self._cross_fit(estimator, may_deploy_mean=not why)
        self._refuse_mean(why)
        if crossed and not why and (is_complete if clf.ensemble == "auto" else clf.ensemble):
            mean = _deploy_mean(crossed)
            is_one_model = not isinstance(mean.estimator, MeanOfModels)
            rarest = np.bincount(crossed.y, minlength=len(self.classes)).min()
            if clf.ensemble != "auto" or is_one_model or rarest < MANY_RARE_ROWS:
                return mean
        fitted = clone(estimator)
        fitted.fit(X, y, **_check_method_params(X, self.params.fit))
        if crossed is None:
            return self._by_model(fitted, "training")
        return crossed._replace(estimator=fitted, estimators=None)

    def _refuse_mean(self, where: str) -> None:
        if where and self.clf.ensemble not in (False, "auto"):
            raise InvalidInputError(
                f"`ensemble` must be False or 'auto' with {where}, got True: there are no models "
                "of folds. Use cv=5, or ensemble=False."
            )

    def _by_model(self, model: Any, origin: Origin) -> Scored:
        found = self._settle([np.arange(len(self.y))], [self._read(model, self.X)], origin)
        return found._replace(estimator=model)

    def _read(self, model: Any, X: Any) -> dict[Method, FloatArray]:
        methods = find_methods(model, self.clf.response_method)
        return {m: read_response(model, X, m, self.classes) for m in methods}

    def _cross_fit(self, estimator: Any, may_deploy_mean: bool) -> tuple[Scored, bool]:
        """Score rows by models fitted without them.

        Also returns whether the models together saw every row, and each saw every class.
        """
        clf, cv, X, y, number = self.clf, self.cv, self.X, self.y, self.number
        is_number = isinstance(cv, int | np.integer) and not isinstance(cv, bool)
        if is_number:
            cv = StratifiedKFold(min(int(cv), max(int(np.bincount(number).max()), 2)))
        splits = find_splits(cv, X, y, self.params.split)
        self._check_splits(splits)
        trained = np.concatenate([train for train, _ in splits])
        is_complete = len(np.unique(trained)) == len(y) and all(
            len(np.unique(number[train])) == len(self.classes) for train, _ in splits
        )

        def fit_folds(splits: list[Split]) -> Any:
            jobs = (delayed(self._fit_fold)(estimator, split) for split in splits)
            return Parallel(n_jobs=clf.n_jobs)(jobs)

        folds = fit_folds(splits)
        may_repeat = is_number and is_complete and may_deploy_mean and clf.ensemble
        if may_repeat and self._has_few_values([part for _, part in folds]):
            random = check_random_state(0 if clf.random_state is None else clf.random_state)
            for _ in range(_REPEATS - 1):
                seed = random.randint(2**31 - 1)
                again = StratifiedKFold(cv.n_splits, shuffle=True, random_state=seed)
                splits += find_splits(again, X, y, {})
            folds += fit_folds(splits[len(folds) :])
        models, parts = zip(*folds, strict=True)
        found = self._settle([test for _, test in splits], parts, "out-of-fold")
        return found._replace(estimators=list(models)), is_complete

    def _fit_fold(self, estimator: Any, split: Split) -> tuple[Any, dict[Method, FloatArray]]:
        """Fit a copy of the estimator on one part and read its responses to the other."""
        train, test = split
        # A kernel has a column for every row that it was computed with.
        rows, labels = _safe_split(estimator, self.X, self.y, train)
        left_out, _ = _safe_split(estimator, self.X, None, test, train)
        fold = clone(estimator)
        fold.fit(rows, labels, **_check_method_params(self.X, self.params.fit, indices=train))
        return fold, self._read(fold, left_out)

    def _has_few_values(self, parts: Sequence[Mapping[Method, FloatArray]]) -> bool:
        """Return whether few rare rows of two classes have few distinct scores."""
        counts, n = np.bincount(self.number), len(self.y)
        if len(counts) != 2 or counts.min() >= MANY_RARE_ROWS or n > _MOST_ROWS_TO_REPEAT:
            return False
        method, _ = choose_method(parts, self.clf.response_method)
        n_values = len(np.unique(np.concatenate([part[method] for part in parts])))
        return 1 < n_values <= min(_FEW_VALUES, n / _FEW_VALUES)

    def _check_splits(self, splits: list[Split]) -> None:
        """Raise unless every part trains on both classes, and tests rows that it has not seen."""
        for k, (train, test) in enumerate(splits, start=1):
            shared = len(np.intersect1d(train, test))
            found = np.unique(self.y[train[self.params.decides[train]]]).tolist()
            if shared or len(found) < 2:
                raise InvalidInputError(
                    "`cv` must train on rows of at least two classes and test other rows, got "
                    f"{shared} row(s) in both of part {k} of {len(splits)}, which trains on "
                    f"{found}. Use an int or StratifiedKFold, or cv=None for training rows."
                )

    def _groups_of(self, rows: IndexArray) -> NDArray[Any] | None:
        groups = self.params.split.get("groups")
        return None if groups is None else np.asarray(groups)[rows]

    def _settle(
        self,
        tests: Sequence[IndexArray],
        parts: Sequence[Mapping[Method, FloatArray]],
        origin: Origin,
    ) -> Scored:
        """Turn the responses of all models into one score for each row that decides."""
        asked, params = self.clf.response_method, self.params
        method, is_log_odds = choose_method(parts, asked)
        every = np.concatenate(tests)
        decides = params.decides[every]
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
        y = np.searchsorted(self.classes, self.y[rows])
        weights, costs = (None if v is None else v[rows] for v in (params.weights, params.costs))
        given = (weights, costs, self._groups_of(rows))
        number = np.repeat(np.arange(len(tests)), [len(test) for test in tests])[decides]
        fold = number[first] if len(rows) == len(place) else None
        return Scored(y, scores, response, origin, self.classes, rows, *given, fold)


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
    deployed = Response("decision_function", is_log_odds=response.is_log_odds)
    return crossed._replace(estimator=mean, response=deployed)


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
            pairs = list(check_cv(cv, y, classifier=True).split(X, y, **params))
        found = [tuple(np.atleast_1d(places[np.asarray(p)]) for p in (a, b)) for a, b in pairs]
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
    may_tear = groups is not None and not splits_groups
    if may_tear and any({*groups[a].tolist()} & {*groups[b].tolist()} for a, b in found):
        raise InvalidInputError(
            "`cv` must keep groups together where `groups` are given, got rows of one "
            "group on both sides of a split. Use StratifiedGroupKFold(5)."
        )
    if not found:
        raise InvalidInputError(
            "`cv` must give at least one split, got none. A generator gives its splits only "
            "once: pass list(splits), or an int."
        )
    return found  # type: ignore[return-value]


def set_random_states(estimator: Any, random_state: Any) -> Any:
    """Set every random state of an estimator that is None, unless `random_state` is None."""
    if random_state is None:
        return estimator
    random = check_random_state(random_state)
    for name, value in sorted(estimator.get_params(deep=True).items()):
        if value is None and name.rpartition("__")[2] == "random_state":
            estimator.set_params(**{name: int(random.randint(2**31 - 1))})
    return estimator

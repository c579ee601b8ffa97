"""Which model is deployed, and which rows decide, scored by it or by models fitted without them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import Bunch, _safe_indexing, assert_all_finite, get_tags
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params, _num_samples, check_is_fitted

from boundshift.curves import ErrorCurve
from boundshift.exceptions import InvalidInputError
from boundshift.models.callbacks import Task
from boundshift.models.holdout import (
    as_random_state,
    held_share,
    held_share_of_classes,
    hold_out,
    splits_within,
)
from boundshift.models.mean import MeanOfModels, collapse_linear, mean_scores
from boundshift.models.routing import FitParameters, find_weights, last_step
from boundshift.models.scoring import (
    Method,
    Response,
    choose_method,
    class_columns,
    is_a,
    is_native,
    known_classes,
    probabilities,
    read_response,
    read_responses,
)
from boundshift.rules import ClassFloors, Rule
from boundshift.typing import FloatArray, IndexArray
from boundshift.validation import find_distinct, order_labels

__all__ = ["MANY_RARE_ROWS", "DecidingSample", "Scored", "set_random_states", "train"]

Split = tuple[IndexArray, IndexArray]

# Rows on which a collapsed model is compared with the mean that it stands for.
_CHECKED = 32
# Parts into which out-of-bag rows are dealt, and of which some are held out.
_BAG_PARTS = 5
# Rows of the rarest class from which on one model on all rows is deployed, not a mean.
MANY_RARE_ROWS = 100


class DecidingSample(NamedTuple):
    """The labelled scores that chose a classifier's boundary.

    Parameters
    ----------
    y : array of shape (n_samples,)
        Labels.
    scores : array of shape (n_samples,) or (n_samples, n_classes)
        Of two classes: the positive class's, on the scale of ``boundary_``. Of more: one score per
        class, before the biases are added.
    sample_weight, row_cost : array or None
        As ``fit`` was given them, for these rows.
    rows : array of shape (n_samples,)
        Numbers of the rows among those given to ``fit``.
    origin : {"held-out", "out-of-fold", "training"}
        Whether the model that scored a row was trained without it.
    """

    y: NDArray[Any]
    scores: FloatArray
    sample_weight: FloatArray | None
    row_cost: FloatArray | None
    rows: IndexArray
    origin: Literal["held-out", "out-of-fold", "training"]


class Scored(NamedTuple):
    """The rows that decide, with their scores, and the model that is deployed.

    `y` numbers each row's class among `classes`. Scores of two classes are both probabilities, or
    one margin of the second class; of more classes there is one score per class. `parts` numbers
    the test part that each row was left out with, None where nothing was left out. `rows` are their
    numbers among those given, `weights` how often each counts, `costs` what is lost if it is
    decided wrongly. `deployed` reads the scores of `estimator`, `response` those of the rows.
    `guide` has rows scored by fold models, where others are held out to test what they propose.
    """

    y: IndexArray
    scores: FloatArray
    response: Response
    origin: Literal["held-out", "out-of-fold", "training"]
    classes: NDArray[Any]
    rows: IndexArray
    parts: IndexArray | None = None
    weights: FloatArray | None = None
    costs: FloatArray | None = None
    estimator: Any = None
    deployed: Response | None = None
    estimators: list[Any] | None = None
    guide: Scored | None = None

    @property
    def are_probabilities(self) -> bool:
        """Whether, of two classes, the scores are probabilities."""
        return self.scores.ndim == 2 and self.scores.shape[1] == 2

    def scores_of(self, k: int) -> FloatArray:
        """Return the scores of one of two classes."""
        if self.are_probabilities:
            return self.scores[:, k]
        return self.scores if k == 1 else -self.scores

    def sample(self, positive: int | None) -> DecidingSample:
        """Return the rows for users, with the scores of one of two classes, or of all of many."""
        scores = self.scores if positive is None else self.scores_of(positive)
        y = self.classes[self.y]
        return DecidingSample(y, scores, self.weights, self.costs, self.rows, self.origin)

    def weighed(self, weights: FloatArray | None, costs: FloatArray | None) -> Scored:
        """Return the rows with their weights and costs; those without weight are out."""
        found = self if costs is None else self._replace(costs=costs[self.rows])
        if weights is None:
            return found
        mine = weights[self.rows]
        used = mine > 0
        return found._replace(
            y=self.y[used],
            scores=self.scores[used],
            parts=None if self.parts is None else self.parts[used],
            rows=self.rows[used],
            weights=mine[used],
        )


def train(
    classifier: Any,
    X: Any,
    y: NDArray[Any],
    params: FitParameters,
    curve: ErrorCurve,
    rule: Rule,
    task: Task,
) -> Scored:
    """Train a classifier's model, unless it is trained, and score the rows that decide.

    Where floors shall be promised, some rows are held out of training, and these alone decide.
    """
    labels = find_distinct(y)
    trainer = _Trainer(classifier, classifier.cv, labels, params.fit, params.split, task)
    if classifier._is_prefit:
        return trainer.read_trained(X, y)
    weighs = trainer.weighs(len(y))
    classes = labels if weighs.all() else np.unique(y[weighs])
    share = None
    if classifier.cv is not None:
        share = _share_to_hold_out(classifier, curve, rule, classes, y[weighs])
    if share is None:
        return trainer.train(X, y)
    number = np.searchsorted(classes, y)
    is_out_of_bag = trainer.is_out_of_bag
    cv = _given_splits(classifier.cv) if _is_listed(classifier.cv) else classifier.cv
    kept, held = hold_out(
        number, share, _BAG_PARTS if is_out_of_bag else cv, classifier.random_state, X, params.split
    )
    fit, split = (_check_method_params(X, p, indices=kept) for p in (params.fit, params.split))
    inner = replace(
        trainer,
        cv=cv if is_out_of_bag else splits_within(cv, kept),
        classes=np.unique(y[kept]),
        fit_params=fit,
        split_params=split,
    )
    guide = inner.train(_safe_indexing(X, kept), y[kept])
    assert guide.deployed is not None
    held = held[weighs[held]]
    rows = _safe_indexing(X, held)
    if guide.are_probabilities:
        scores = read_response(guide.estimator, rows, "predict_proba", guide.classes)
    else:
        scores = guide.deployed.read(guide.estimator, rows, guide.classes)
    return guide._replace(
        y=number[held], scores=scores, origin="held-out", rows=held, parts=None, guide=guide
    )


def _share_to_hold_out(
    classifier: Any, curve: ErrorCurve, rule: Rule, classes: NDArray[Any], y: NDArray[Any]
) -> float | None:
    """Return the share of rows that a promise needs, None if there is none to be had."""
    labels, estimator = classes.tolist(), classifier.estimator
    floors = rule if isinstance(rule, ClassFloors) and len(labels) > 2 else None
    if (len(labels) != 2 and floors is None) or is_native(estimator):
        return None
    if getattr(get_tags(estimator).input_tags, "pairwise", False):
        return None  # A kernel has a column for every row that it was computed with.
    counts = {label: int(np.count_nonzero(y == label)) for label in labels}
    if floors is not None:
        floors.check_classes(labels)
        return held_share_of_classes(floors, counts)
    ends = order_labels(labels, classifier.pos_label, counts=counts, alike=rule.alike)
    return held_share(curve, rule, (counts[ends[0]], counts[ends[1]]))


@dataclass(frozen=True)
class _Trainer:
    """Trains with the settings of `clf`, on rows of sorted `classes`."""

    clf: Any
    cv: Any
    classes: NDArray[Any]
    fit_params: Mapping[str, Any]
    split_params: Mapping[str, Any]
    task: Task

    @property
    def is_out_of_bag(self) -> bool:
        return isinstance(self.cv, str) and self.cv == "oob"

    def weighs(self, n_rows: int) -> NDArray[np.bool_]:
        """Return which rows decide: those without weight do not."""
        weights = find_weights(self.fit_params, n_rows)
        return np.ones(n_rows, dtype=np.bool_) if weights is None else weights > 0

    def read_trained(self, X: Any, y: NDArray[Any]) -> Scored:
        """Score the rows with the model as it is."""
        self._refuse_mean("a model that is trained already", "Train it with cv=5 instead")
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
        if self.is_out_of_bag:
            self._refuse_mean("cv='oob'", "Use cv=5")
            with self.task.part("all rows").run(X, y, estimator):
                return self._out_of_bag(estimator, X, y)
        crossed: Scored | None = None
        if self.cv is None:
            self._refuse_mean("cv=None", "Use cv=5")
        else:
            crossed, is_complete = self._cross_fit(estimator, X, y)
            if crossed is None:
                self._refuse_mean("a class of one row, which no fold can leave out", "Collect more")
            elif self._may_deploy_mean(is_complete):
                mean = _mean_of(crossed, X)
                rarest = np.bincount(crossed.y, minlength=len(self.classes)).min()
                is_one_model = not isinstance(mean.estimator, MeanOfModels)
                if self.clf.ensemble is True or is_one_model or rarest < MANY_RARE_ROWS:
                    return mean
        fitted = clone(estimator)
        with self.task.part("all rows").run(X, y, fitted):
            fitted.fit(X, y, **_check_method_params(X, self.fit_params))
        if crossed is None:
            return self._by_model(fitted, X, y, "training")
        return crossed._replace(estimator=fitted, deployed=crossed.response, estimators=None)

    def _check_labels(self, y: NDArray[Any]) -> None:
        """Raise if there are not at least two classes to learn from."""
        assert_all_finite(self.classes, input_name="y")
        # Labels alone look like numbers to be predicted where they are many and each met once.
        check_classification_targets(np.repeat(self.classes, 3))
        weighs = self.weighs(len(y))
        seen = self.classes if weighs.all() else np.unique(y[weighs])
        if len(seen) < 2:
            where = "`y`" if weighs.all() else "`y` with a `sample_weight` above 0"
            raise InvalidInputError(
                f"{where} must hold at least two classes, got {len(seen)} class(es): "
                f"{seen.tolist()}. Pass rows of every class that predictions should tell apart."
            )

    def _refuse_mean(self, where: str, remedy: str) -> None:
        """Raise if a mean of fold models is asked for where there are no folds."""
        if self.clf.ensemble is True:
            raise InvalidInputError(
                f"`ensemble` must be False or 'auto' with {where}, got True: there are no models "
                f"of folds. {remedy}, or ensemble=False."
            )

    def _may_deploy_mean(self, is_complete: bool) -> bool:
        """Return whether the mean of the fold models may be deployed."""
        if get_tags(self.clf.estimator).input_tags.pairwise:
            # Each would want a kernel with the rows of its own training part.
            self._refuse_mean("a precomputed kernel", "Compute it inside the model")
            return False
        return is_complete if self.clf.ensemble == "auto" else bool(self.clf.ensemble)

    def _by_model(
        self, model: Any, X: Any, y: NDArray[Any], origin: Literal["held-out", "training"]
    ) -> Scored:
        """Score rows by one fitted model."""
        asked = self.clf.response_method
        part = read_responses(model, X, asked, self.classes)
        method, is_log_odds = choose_method([part], asked)
        rows = np.flatnonzero(self.weighs(len(y)))
        response = Response.learn(method, part[method][rows], is_log_odds=is_log_odds)
        if self._decides_on_probabilities([part]):
            scores = part["predict_proba"][rows]
        else:
            scores = response.scores(part[method][rows])
        numbers = np.searchsorted(self.classes, y[rows])
        found = Scored(numbers, scores, response, origin, self.classes, rows)
        return found._replace(estimator=model, deployed=response)

    def _out_of_bag(self, estimator: Any, X: Any, y: NDArray[Any]) -> Scored:
        """Fit a bagging ensemble, and score each row by the members that did not see it."""
        asked = self.clf.response_method
        if asked not in ("auto", "predict_proba"):
            raise InvalidInputError(
                "`response_method` must be 'auto' or 'predict_proba' with cv='oob', got "
                f"{asked!r}: bags vote with probabilities. Use cv=5."
            )
        found = _fit_with_bags(estimator, X, y, self.fit_params)
        found = found[:, np.argsort(class_columns(estimator, self.classes))]
        rows = np.flatnonzero(self.weighs(len(y)) & ~np.isnan(found).any(axis=1))
        found, numbers = found[rows], np.searchsorted(self.classes, y[rows])
        if len(np.unique(numbers)) < 2:
            raise InvalidInputError(
                "Out-of-bag scores must be there for rows of at least two classes, got "
                f"{len(rows)} row(s) with one. Use more members (n_estimators=100), or cv=5."
            )
        response = Response.learn("predict_proba", found, is_log_odds=True)
        # Parts for the question whether the shift helps rows that did not choose it.
        parts = np.empty(len(numbers), dtype=np.intp)
        for k in np.unique(numbers):
            of_class = numbers == k
            parts[of_class] = np.arange(np.count_nonzero(of_class)) % _BAG_PARTS
        scores = found if len(self.classes) == 2 else response.scores(found)
        scored = Scored(numbers, scores, response, "out-of-fold", self.classes, rows, parts)
        return scored._replace(estimator=estimator, deployed=response)

    def _cross_fit(self, estimator: Any, X: Any, y: NDArray[Any]) -> tuple[Scored | None, bool]:
        """Score rows by models fitted without them, or return None if that cannot be.

        Also returns whether the models together saw every row, and each saw every class.
        """
        numbers, cv = np.searchsorted(self.classes, y), self.cv
        counts = np.bincount(numbers)
        if len(counts) == 2 and counts.min() == 1:
            return None, False  # The only row of a class cannot be left out.
        if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
            cv = StratifiedKFold(min(int(cv), max(int(counts.max()), 2)))
        with warnings.catch_warnings():
            # A class with fewer rows than folds is missing from some test parts, which is fine.
            warnings.filterwarnings("ignore", message="The least populated class")
            if not _is_listed(cv):
                cv = check_cv(cv, y, classifier=True).split(X, y, **self.split_params)
                cv = list(cv)
            splits = _given_splits(cv)
        is_complete = self._check_splits(numbers, splits)
        folds = self.task.part("folds", 0, len(splits))
        # Made beforehand: a task must not change while another process is handed its copy.
        tasks = [folds.part("fold", number) for number in range(len(splits))]
        worker = replace(self, clf=Bunch(response_method=self.clf.response_method), task=Task(None))
        with folds.run(X, y):
            fitted = Parallel(n_jobs=self.clf.n_jobs)(
                delayed(worker._fit_fold)(estimator, X, y, *split, fold)
                for split, fold in zip(splits, tasks, strict=True)
            )
        models, parts = map(list, zip(*fitted, strict=True))
        found = self._settle(y, [test for _, test in splits], parts)
        return found._replace(estimators=models), is_complete

    def _fit_fold(
        self,
        estimator: Any,
        X: Any,
        y: NDArray[Any],
        train: IndexArray,
        test: IndexArray,
        task: Task,
    ) -> tuple[Any, dict[Method, FloatArray]]:
        """Fit a copy of the estimator on one part and read its responses to the other."""
        params = _check_method_params(X, self.fit_params, indices=train)
        # A kernel has a column for every row that it was computed with.
        rows, labels = _safe_split(estimator, X, y, train)
        left_out, _ = _safe_split(estimator, X, None, test, train)
        fold = clone(estimator)
        with task.run(rows, labels, fold):
            fold.fit(rows, labels, **params)
        return fold, read_responses(fold, left_out, self.clf.response_method, self.classes)

    def _settle(
        self, y: NDArray[Any], tests: Sequence[IndexArray], parts: list[dict[Method, FloatArray]]
    ) -> Scored:
        """Turn the responses of all folds, to rows with weight, into scores of each row once."""
        method, is_log_odds = choose_method(parts, self.clf.response_method)
        # -1 may stand for the last row.
        every = np.concatenate([np.arange(len(y))[test] for test in tests])
        decides = self.weighs(len(y))[every]
        together = every[decides]
        number = np.repeat(np.arange(len(tests)), [len(test) for test in tests])[decides]

        def collect(name: Method) -> FloatArray:
            return np.asarray(np.concatenate([part[name] for part in parts])[decides])

        response = Response.learn(method, collect(method), is_log_odds=is_log_odds)
        on_probabilities = self._decides_on_probabilities(parts)
        rows, first, place = np.unique(together, return_index=True, return_inverse=True)
        if len(rows) == len(together):
            own = collect("predict_proba") if on_probabilities else response.scores(collect(method))
            scores = own[first]
        else:
            scores = _average(response.scores(collect(method)), place, is_log_odds)
            scores = probabilities(scores) if on_probabilities else scores
        numbers = np.searchsorted(self.classes, y[rows])
        origin: Literal["out-of-fold"] = "out-of-fold"
        return Scored(numbers, scores, response, origin, self.classes, rows, number[first])

    def _decides_on_probabilities(self, parts: Sequence[Mapping[Method, FloatArray]]) -> bool:
        """Return whether two classes are told apart by the model's own probabilities."""
        has_them = all("predict_proba" in part for part in parts)
        asked = self.clf.response_method
        return len(self.classes) == 2 and has_them and asked in ("auto", "predict_proba")

    def _check_splits(self, numbers: IndexArray, splits: list[Split]) -> bool:
        """Raise unless every part trains on both classes, and tests rows that it has not seen.

        Returns whether all parts together train on every row, and each on every class.
        """
        weighs = self.weighs(len(numbers))
        ever_seen = np.zeros(len(numbers), dtype=np.bool_)
        sees_all_classes = True
        for number, (train, test) in enumerate(splits, start=1):
            of = f"part {number} of {len(splits)}"
            is_seen = np.zeros(len(numbers), dtype=np.bool_)
            is_seen[train] = True
            if is_seen[test].any():
                raise InvalidInputError(
                    "`cv` must leave the rows of a test part out of its training part, got "
                    f"{np.count_nonzero(is_seen[test])} row(s) in both of {of}. Use an int or a "
                    "splitter, or cv=None to decide on training rows."
                )
            ever_seen |= is_seen
            sees_all_classes &= len(self._labels_of(numbers[train])) == len(self.classes)
            seen = self._labels_of(numbers[is_seen & weighs])
            if len(self.classes) == 2 and len(seen) < 2:
                raise InvalidInputError(
                    "`cv` must leave rows of both classes in every training part, got only "
                    f"{seen.tolist()} in {of}. "
                    "Use an int or StratifiedKFold, which keep the classes' shares."
                )
        tested = np.concatenate([test for _, test in splits])
        left_out = self._labels_of(numbers[tested[weighs[tested]]])
        if len(left_out) < 2:
            raise InvalidInputError(
                "`cv` must leave out rows of at least two classes in all, got "
                f"{left_out.tolist()}. Use an int or StratifiedKFold, which keep the classes' "
                "shares."
            )
        return sees_all_classes and bool(ever_seen.all())

    def _labels_of(self, numbers: IndexArray) -> NDArray[Any]:
        labels: NDArray[Any] = self.classes[np.bincount(numbers, minlength=len(self.classes)) > 0]
        return labels


def _average(scores: FloatArray, place: IndexArray, is_log_odds: bool) -> FloatArray:
    """Average the scores of rows that were left out more than once: no row counts twice."""
    n = int(place.max()) + 1
    order = np.argsort(place, kind="stable")
    turn = np.empty(len(place), dtype=np.intp)
    turn[order] = np.arange(len(place)) - np.searchsorted(place[order], place[order])
    repeats = np.full((int(turn.max()) + 1, n, *scores.shape[1:]), np.nan)
    repeats[turn, place] = scores
    if scores.ndim == 1:
        return np.asarray(np.nanmean(repeats, axis=0))
    return mean_scores(list(repeats), is_log_odds=is_log_odds)


def _mean_of(crossed: Scored, X: Any) -> Scored:
    """Deploy the mean of the folds' models as one model."""
    response, models, classes = crossed.response, crossed.estimators, crossed.classes
    assert models is not None
    mean = MeanOfModels(models, classes, response.method, response.floor, response.is_log_odds)
    if response.method == "decision_function":
        one = collapse_linear(models)
        if one is not None and _agree(one, mean, X, response):
            return crossed._replace(estimator=one, deployed=response)
    if crossed.are_probabilities and response.floor is not None:
        # The mean has no exact 0 or 1, so the rows that decide must not have one either.
        crossed = crossed._replace(scores=probabilities(response.scores(crossed.scores)))
    own = Response("decision_function", is_log_odds=response.is_log_odds)
    return crossed._replace(estimator=mean, deployed=own)


def _agree(one: Any, mean: MeanOfModels, X: Any, response: Response) -> bool:
    """Return whether a collapsed model decides as the mean does, on some of the rows."""
    rows = _safe_indexing(X, np.arange(min(_CHECKED, _num_samples(X))))
    found, expected = response.read(one, rows, mean.classes_), mean.decision_function(rows)
    if found.ndim == 2:
        found, expected = (s - s.mean(axis=1, keepdims=True) for s in (found, expected))
    return bool(np.allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max()))


# Splits and seeds.


def _is_listed(cv: Any) -> bool:
    """Return whether a `cv` gives its splits one by one, as neither a number nor a splitter."""
    return isinstance(cv, Iterable) and not isinstance(cv, str) and not hasattr(cv, "split")


def _given_splits(splits: Any) -> list[Split]:
    """Return splits as pairs of row numbers, which masks may stand for; raise if there is none."""
    try:
        found = [(_as_rows(train), _as_rows(test)) for train, test in splits]
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            "`cv` must be an int, a splitter or pairs of row numbers (train, test), got "
            f"{str(splits)[:100]} ({error}). Use cv=5."
        ) from None
    if not found:
        raise InvalidInputError(
            "`cv` must give at least one split, got none. A generator gives its splits only "
            "once: pass list(splits), or an int."
        )
    return found


def _as_rows(part: Any) -> IndexArray:
    part = np.asarray(part)
    if part.ndim != 1 or (part.dtype.kind not in "biu" and part.size):
        raise TypeError(f"{part.dtype} of shape {part.shape} are no row numbers")
    return np.flatnonzero(part) if part.dtype == np.bool_ else part.astype(np.intp, copy=False)


def set_random_states(estimator: Any, random_state: Any) -> Any:
    """Set every random state that is None, if there is a seed to do it with."""
    if random_state is None:
        return estimator
    if isinstance(random_state, np.random.Generator):
        raise InvalidInputError(
            "`random_state` must be an int, a RandomState or None, as scikit-learn's are, got a "
            "Generator. Draw an int from it: int(rng.integers(2**31))."
        )
    random = as_random_state(random_state)
    for name, value in sorted(estimator.get_params(deep=True).items()):
        if value is None and (name == "random_state" or name.endswith("__random_state")):
            estimator.set_params(**{name: int(random.randint(2**31 - 1))})
    return estimator


# Out-of-bag scores.


def _fit_with_bags(
    estimator: Any, X: Any, y: NDArray[Any], fit_params: Mapping[str, Any]
) -> FloatArray:
    """Fit a bagging ensemble, or a pipeline that ends in one, and return out-of-bag probabilities.

    A row that every member has seen, or that none has judged, is NaN.
    """
    prefix, before, model = last_step(estimator)
    _check_bags(before, model)
    if not model.oob_score:
        estimator.set_params(**{f"{prefix}oob_score": True})
    with warnings.catch_warnings():
        # Rows without a score do not decide.
        warnings.filterwarnings("ignore", message="Some inputs do not have OOB scores")
        warnings.filterwarnings("ignore", message="invalid value encountered in divide")
        estimator.fit(X, y, **_check_method_params(X, fit_params))
    found = np.array(last_step(estimator)[2].oob_decision_function_, dtype=np.float64)
    found[~(found.sum(axis=1) > 0.5)] = np.nan
    return found


def _check_bags(before: list[tuple[str, Any]], model: Any) -> None:
    """Raise if there are no bags, or a step before them knows the labels of rows out of a bag."""
    for name, step in before:
        inside = step.get_params(deep=True).values() if hasattr(step, "get_params") else ()
        if any(_learns_from_labels(part) for part in (step, *inside)):
            raise InvalidInputError(
                f"Steps before the ensemble must not learn from labels for cv='oob', got {name!r} "
                f"({type(step).__name__}), which has seen those of every row. Use cv=5."
            )
    if not all(hasattr(model, name) for name in ("oob_score", "bootstrap", "get_params")):
        raise InvalidInputError(
            "`cv` must not be 'oob' for a model without bags, got "
            f"{type(model).__name__}. Use RandomForestClassifier, ExtraTreesClassifier("
            "bootstrap=True) or BaggingClassifier, alone or at the end of a pipeline; or cv=5."
        )
    if not model.bootstrap:
        raise InvalidInputError(
            "`bootstrap` must be True for cv='oob', got False: every member of "
            f"{type(model).__name__} sees every row. Set bootstrap=True, or use cv=5."
        )


def _learns_from_labels(step: Any) -> bool:
    if hasattr(step, "fit_resample"):
        return True
    if not hasattr(step, "__sklearn_tags__"):
        return False
    is_selector = is_a(step, "sklearn", "SelectorMixin")
    selects = is_selector and not is_a(step, "sklearn", "VarianceThreshold")
    return selects or bool(get_tags(step).target_tags.required)

"""From the responses of models to the rows that decide."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boundshift._typing import BoolArray, FloatArray, IndexArray, LabelArray, Model
from boundshift.models._cross_fit import Task
from boundshift.models._deciding import DecidingRows, Origin
from boundshift.models._holdout import Shortage
from boundshift.models._mean import mean_scores
from boundshift.models._scoring import (
    Response,
    ResponseMethod,
    Responses,
    choose_method,
    probabilities,
    read_responses,
)


@dataclass(frozen=True, eq=False)
class PooledResponses:
    """Responses of all models to the rows that decide, below each other.

    `rows` are the places of the rows, each once, and `first` and `place` where they are among the
    responses and the other way round. `part` numbers the model of each response. Two classes are
    decided on the models' own probabilities, if there are any.
    """

    response: Response
    raw: FloatArray
    own_probabilities: FloatArray | None
    rows: IndexArray
    first: IndexArray
    place: IndexArray
    part: IndexArray

    @classmethod
    def pool(
        cls,
        parts: list[Responses],
        tests: list[IndexArray],
        decides: BoolArray,
        response_method: ResponseMethod,
    ) -> PooledResponses:
        """Pool the responses of each model to its test part."""
        method, is_log_odds = choose_method(parts, response_method)
        every = np.concatenate(tests)
        is_used = decides[every]
        every = every[is_used]
        is_tested = np.zeros(len(decides), dtype=np.bool_)
        is_tested[every] = True
        rows = np.flatnonzero(is_tested)
        place = (np.cumsum(is_tested) - 1)[every]
        first = np.empty(len(rows), dtype=np.intp)
        first[place[::-1]] = np.arange(len(place))[::-1]
        raw = np.concatenate([part[method] for part in parts])[is_used]
        own = None
        may_be_own = response_method in ("auto", "predict_proba")
        if may_be_own and all(_has_two_probabilities(part) for part in parts):
            own = np.concatenate([part["predict_proba"] for part in parts])[is_used]
        number = np.repeat(np.arange(len(tests)), [len(test) for test in tests])[is_used]
        response = Response.learn(method, raw, is_log_odds=is_log_odds)
        return cls(response, raw, own, rows, first, place, number)

    @property
    def is_repeated(self) -> bool:
        """Whether a row has several responses."""
        return len(self.rows) < len(self.place)

    def scores(self, *, of_mean: bool) -> FloatArray:
        """Return one score for each row: no row counts twice.

        The mean of models has no probability of exactly 0 or 1, so the rows that decide about it
        must not have one either.
        """
        response = self.response
        own = self.own_probabilities
        if self.is_repeated:
            is_log_odds = response.is_log_odds
            means = mean_scores(response.scores(self.raw), self.place, is_log_odds=is_log_odds)
            scores = means if own is None else probabilities(means)
        else:
            scores = response.scores(self.raw)[self.first] if own is None else own[self.first]
        has_ends = own is not None and response.floor is not None and bool((scores == 0).any())
        return probabilities(response.scores(scores)) if of_mean and has_ends else scores


def _has_two_probabilities(part: Responses) -> bool:
    return "predict_proba" in part and part["predict_proba"].shape[1] == 2


def read_all(task: Task, model: Model, decide: IndexArray) -> PooledResponses:
    """Read one model's responses to the rows that decide."""
    response_method = task.settings.response_method
    part = read_responses(model, task.X, response_method, task.classes)
    decides = np.zeros(len(task.y), dtype=np.bool_)
    decides[decide] = True
    return PooledResponses.pool([part], [np.arange(len(task.y))], decides, response_method)


def record(
    task: Task,
    pooled: PooledResponses,
    origin: Origin,
    *,
    of_mean: bool = False,
    cluster: LabelArray | None = None,
    n_copies: int = 0,
    shortage: Shortage | None = None,
) -> DecidingRows:
    rows = pooled.rows
    params = task.params
    return DecidingRows(
        y=task.number[rows],
        scores=pooled.scores(of_mean=of_mean),
        origin=origin,
        classes=task.classes,
        rows=rows,
        class_sizes=weigh_classes(task),
        weights=None if params.weights is None else params.weights[rows],
        costs=None if params.costs is None else params.costs[rows],
        cluster=None if cluster is None else cluster[rows],
        fold=None if pooled.is_repeated else pooled.part[pooled.first],
        n_copies=n_copies,
        hold_out=shortage,
    )


def weigh_classes(task: Task) -> FloatArray:
    """Return the weight of each class's rows that may decide."""
    decides = task.params.decides
    weights = task.params.weights
    used = None if weights is None else weights[decides]
    return np.bincount(task.number[decides], used, len(task.classes)).astype(np.float64)

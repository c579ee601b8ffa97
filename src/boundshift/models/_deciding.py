"""What training hands on: the rows that decide, and the model that is deployed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from boundshift._typing import FloatArray, IndexArray, LabelArray, Model
from boundshift.models._holdout import HoldOut, Shortage
from boundshift.models._scoring import Response

Origin = Literal["held-out", "out-of-fold", "training"]


class DecidingSample(NamedTuple):
    """The labelled scores that chose a classifier's boundary.

    `scores` are the positive class's, on the scale of ``boundary_``; for more than two classes one
    per class, before the biases are added. `sample_weight` and `row_cost` are what ``fit`` was
    given for these rows, `rows` their places there. `origin` is "held-out", "out-of-fold" or
    "training": whether the model that scored a row was trained without it.
    """

    y: LabelArray
    scores: FloatArray
    sample_weight: FloatArray | None
    row_cost: FloatArray | None
    rows: IndexArray
    origin: Origin


@dataclass(frozen=True, eq=False)
class DecidingRows:
    """The labelled scores that decide, and where they come from.

    `y` numbers each row's class among `classes`. Scores of two classes are both probabilities, or
    one margin of the second class; for more classes there is one score per class. `rows` are the
    places among the rows of `fit`, and `class_sizes` the weights of the classes there. A row in
    several test parts has the mean of its scores, else `fold` numbers its part. `cluster` has the
    groups of the rows. `hold_out` says which rows were held out, or what is missing for that.
    `guide` has rows scored by fold models, if others are held out to test what they propose.
    """

    y: IndexArray
    scores: FloatArray
    origin: Origin
    classes: LabelArray
    rows: IndexArray
    class_sizes: FloatArray
    weights: FloatArray | None = None
    costs: FloatArray | None = None
    cluster: LabelArray | None = None
    fold: IndexArray | None = None
    n_copies: int = 0
    hold_out: HoldOut | Shortage | None = None
    guide: DecidingRows | None = None

    @property
    def are_probabilities(self) -> bool:
        """Whether these are the probabilities of two classes."""
        return self.scores.ndim == 2 and self.scores.shape[1] == 2

    def scores_of(self, k: int) -> FloatArray:
        """Return the scores of one of two classes."""
        if self.are_probabilities:
            return self.scores[:, k]
        return self.scores if k == 1 else -self.scores


@dataclass(frozen=True, eq=False)
class Deployed:
    """The model that predicts, the fold models if it is their mean, and why it is this one."""

    estimator: Model
    response: Response
    reason: str
    fold_models: list[Model] | None = None


class Trained(NamedTuple):
    """What every way of training returns."""

    deciding: DecidingRows
    deployed: Deployed

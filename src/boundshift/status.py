"""What a search for a boundary says of its answer, in sentences that name the remedy."""

from __future__ import annotations

from enum import Enum

__all__ = ["QUIET", "Status"]


class Status(Enum):
    """What happened, and what to do about it."""

    OPTIMAL = "The optimum: no other boundary is better by the rule."
    RELAXED = "The optimum, after some points were given up because the classes overlap."
    LOCAL = "A local optimum of SLSQP, which depends on its start. Use solver=Exact()."
    SHARED = (
        "The boundary that the biases of all classes give this pair, of which the best by itself "
        "may be another."
    )
    KEPT = (
        "The model's own boundaries stay: on rows left out of the choice the biases did worse. "
        "Train on more rows, or calibrate the model, to tell the classes apart better."
    )
    REVERSED = (
        "The positive class has the lower scores, so `score > threshold` is wrong for most rows. "
        "Negate the scores or pass the other label as `pos_label`."
    )
    INFEASIBLE = (
        "The classes overlap too much for the confidence bounds, even after giving up every point "
        "that the budget allows; the fallback boundary is used. Raise `budget`, use the default "
        "`constant=0` and `radius='one-sided'`, or train a model that separates the classes."
    )
    UNINFORMATIVE = (
        "Both classes have the same scores in the middle, and by that the paper's method finds no "
        "boundary between them; the fallback boundary is used. Train a model that separates the "
        "classes."
    )
    CHANCE = (
        "The positive class has no higher scores, neither in the middle nor on average, so this "
        "boundary may be no better than a guess. Train a model that separates the classes."
    )
    HARD_LABELS = (
        "The scores take two values only, as hard labels do, so there is one cut to choose. Pass "
        "probabilities or decision values for a choice."
    )
    LONE_ROW = (
        "A class has only one row, whose spread cannot be known; that of both classes stands in "
        "for it. Collect more rows of that class."
    )
    UNMET = (
        "No boundary meets the floor with the confidence asked for; the one that comes nearest "
        "is used. Collect more rows of that class, or lower the floor or the confidence."
    )
    NOT_PROMISED = (
        "The floors are met on the rows that decided, and not promised of the deployed model, "
        "which has seen them or is another one. Give `fit` more rows, so that some can be kept "
        "apart, or use cv='prefit' with rows that the model has not seen."
    )
    SINGLE_ROW = (
        "A class has only one row, and one row has no radius; the fallback boundary is used. "
        "Collect at least two rows of each class."
    )

    @property
    def solved(self) -> bool:
        """Whether the method had an answer, so that no fallback was needed."""
        return self not in _FELL_BACK

    def __repr__(self) -> str:
        return f"<Status.{self.name}>"


_FELL_BACK = (Status.INFEASIBLE, Status.UNINFORMATIVE, Status.SINGLE_ROW)
QUIET = (Status.OPTIMAL, Status.RELAXED, Status.LOCAL, Status.SHARED, Status.KEPT)
"""Statuses that need no second look and raise no warning."""

"""The status of a boundary: what happened, and the remedy."""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class TextStatus(StrEnum):
    """A status that equals its text and is shown as it."""

    def __repr__(self) -> str:
        return repr(self.value)


class Status(StrEnum):
    """What happened, and what to do about it; equal to its name, such as "OPTIMAL"."""

    message: str
    """What happened, in a sentence, and the remedy."""

    def __new__(cls, name: str, message: str) -> Self:
        member = str.__new__(cls, name)
        member._value_ = name
        member.message = message
        return member

    OPTIMAL = "OPTIMAL", "The optimum: no other boundary is better by the rule."
    RELAXED = "RELAXED", "The optimum, with some rows as slack because the classes overlap."
    SHARED = (
        "SHARED",
        "The biases decide between all classes at once, not best between these two alone.",
    )
    REVERSED = (
        "REVERSED",
        "The positive class has the lower scores on these rows: in most pairs of one row of each "
        "class, the negative one scores higher. Negate the scores, or name the other "
        "label as the positive one.",
    )
    INFEASIBLE = (
        "INFEASIBLE",
        "The classes overlap too much for the confidence bounds, even with all the slack that "
        "the budget allows; the fallback boundary is used. Raise `budget`, use the default "
        "`constant=0` and `radius='one-sided'`, or train a model that separates the classes.",
    )
    UNINFORMATIVE = (
        "UNINFORMATIVE",
        "Both classes have the same median score, so the paper's method finds no boundary "
        "between them; the fallback boundary is used. Train a model that separates the classes.",
    )
    CHANCE = (
        "CHANCE",
        "These rows do not show that the positive class has the higher scores: the 95% interval of "
        "the area under the ROC curve includes 0.5. The threshold may be no better than chance. "
        "Use more labelled rows, or a model that separates the classes better.",
    )
    HARD_LABELS = (
        "HARD_LABELS",
        "The scores take two values only, as hard labels do, so there is only one threshold. "
        "Pass probabilities or decision values.",
    )
    LONE_ROW = (
        "LONE_ROW",
        "A class has only one row, so its spread is taken from both classes. Collect more rows "
        "of that class.",
    )
    UNMET = (
        "UNMET",
        "No threshold meets the floor with the confidence asked for; the nearest one is used. "
        "Collect more rows of that class, or lower the floor or the confidence and decide on "
        "other rows.",
    )
    NOT_GUARANTEED = (
        "NOT_GUARANTEED",
        "The floors are met on the rows that decided, but not guaranteed for the deployed model, "
        "which has seen them or is another one. Give `fit` more rows, so that some can be held "
        "out, or use cv='prefit' with rows that the model has not seen.",
    )
    SINGLE_ROW = (
        "SINGLE_ROW",
        "A class has only one row, which has no radius; the fallback boundary is used. Collect "
        "at least two rows of each class.",
    )

    @property
    def solved(self) -> bool:
        """Whether the method had an answer, so that no fallback was needed."""
        return self not in _FELL_BACK

    def __repr__(self) -> str:
        return f"<Status.{self.name}>"


_FELL_BACK = (Status.INFEASIBLE, Status.UNINFORMATIVE, Status.SINGLE_ROW)
QUIET = (Status.OPTIMAL, Status.RELAXED, Status.SHARED)
"""Statuses that need no second look and raise no warning."""

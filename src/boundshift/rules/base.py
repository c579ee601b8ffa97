"""What a rule is: how two claimed error rates become one number to minimise."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from boundshift.typing import FloatArray

__all__ = ["Rule", "Sizes", "changed_repr"]

Sizes = tuple[float, float]
"""Rows of the (negative, positive) class, or the sums of their weights."""


def changed_repr(claim: Any) -> str:
    """Return how a rule or a curve of many settings is written: those that were changed."""
    values = {f.name: (getattr(claim, f.name), f.default) for f in fields(claim)}
    changed = (f"{name}={value!r}" for name, (value, plain) in values.items() if value != plain)
    return f"{type(claim).__name__}({', '.join(changed)})"


@dataclass(frozen=True)
class Rule(ABC):
    """Combines the error rates of the negative and the positive class.

    A rule of your own is a frozen dataclass with a `name` and a `value` that grows with each of
    the two error rates; the search relies on that.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from boundshift import find_boundary
    >>> @dataclass(frozen=True)
    ... class Squares(Rule):
    ...     name = "squares"
    ...     alike = True
    ...     def value(self, negative, positive, n_samples):
    ...         return negative**2 + positive**2
    >>> round(find_boundary([0, 0, 0, 0, 1, 1], [0, 1, 2, 4, 3, 5], rule=Squares()).threshold, 1)
    3.0
    """

    name: ClassVar[str]
    own_curve: ClassVar[str | None] = None
    """Name of the curve that goes with the rule where none is asked for; None for the default."""
    costly: ClassVar[bool] = False
    """Whether a value takes so long to compute that a search asks for few."""

    def tolerance_towards(self, n_samples: tuple[float, float]) -> tuple[float, int]:
        """Return by how much the best value may be missed, and in which direction.

        Of the boundaries from the best one up (1) or down (-1) whose value is higher by no more
        than this, the one with the fewest errors of the class left behind is taken, and of those
        that differ by less than a row the nearest; 0 for the middle of those that are best.
        """
        return 0.0, 0

    @property
    def alike(self) -> bool:
        """Whether both classes are treated alike, so that either may be called positive."""
        return False

    @abstractmethod
    def value(self, negative: FloatArray, positive: FloatArray, n_samples: Sizes) -> FloatArray:
        """Return what to minimise.

        Parameters
        ----------
        negative, positive : arrays
            Claimed error rates of the two classes.
        n_samples : tuple of float
            Rows of each class, for rules that use their frequencies.
        """

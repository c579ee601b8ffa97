"""What a rule is: how two claimed error rates become one number to minimise."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import ClassVar, Self

import numpy as np

from boundshift._typing import FloatArray
from boundshift.rules._guarantee import Guarantee

Sizes = tuple[float, float]
"""Rows of the (negative, positive) class, or the sums of their weights."""


class Settings:
    """The fields of a frozen dataclass as parameters that scikit-learn can search."""

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Return all settings by name; `deep` makes no difference."""
        return {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]

    def changed_repr(self) -> str:
        """Return a repr with the settings that differ from their defaults."""
        defaults = {f.name: f.default for f in fields(self)}  # type: ignore[arg-type]
        changed = (f"{k}={v!r}" for k, v in self.get_params().items() if v != defaults[k])
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_clone__(self) -> Self:
        return self


@dataclass(frozen=True)
class Rule(Settings, ABC):
    """Combine the error rates of both classes into a number to minimise.

    To write a rule of your own, define a frozen dataclass with a `name` and a `value` that grows
    with each of the two error rates. If it depends on the proportion of positives, add a setting
    `prevalence`, None for that of the sample. `title`, `maximised` and `measure` are what
    a report says of it.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from boundshift import find_boundary
    >>> @dataclass(frozen=True)
    ... class Squares(Rule):
    ...     name = "squares"
    ...     symmetric = True
    ...     def value(self, negative, positive, n_samples):
    ...         return negative**2 + positive**2
    >>> round(find_boundary([0, 0, 0, 0, 1, 1], [0, 1, 2, 4, 3, 5], rule=Squares()).threshold, 1)
    3.0
    """

    name: ClassVar[str]
    own_curve: ClassVar[str | None] = None
    """Name of the rule's default curve; None for the package's."""
    costly: ClassVar[bool] = False
    """Whether a value is slow to compute, so that a search must ask for few."""
    in_percent: ClassVar[bool] = False
    """Whether a report states `measure` in percent."""
    monotone: ClassVar[bool] = True
    """Whether `measure` is worse with each error, so that bounds of both errors bound it."""

    @property
    def title(self) -> str:
        """Name of the quantity that the rule optimises, such as "F1"."""
        return f"the value of the rule “{self.name}”"

    @property
    def maximised(self) -> bool:
        """Whether more of `measure` is better."""
        return False

    @property
    def asked(self) -> dict[str, float]:
        """The floors and the cap that come before the objective, by name; most rules have none."""
        return {}

    @property
    def objective(self) -> Rule:
        """What is made best among the thresholds that meet all floors; without any, the rule."""
        return self

    @property
    def symmetric(self) -> bool:
        """Whether the rule is symmetric in both classes, so that either may be positive."""
        return False

    @property
    def depends_on_prevalence(self) -> bool:
        """Whether the share of positives matters."""
        return hasattr(self, "prevalence")

    def guarantees(self, delta: float | None) -> tuple[Guarantee, ...]:
        """Return the guarantees for new rows; all hold together with probability 1 - `delta`.

        None is for a curve that estimates, which guarantees nothing.
        """
        return ()

    def at_prevalence(self, prevalence: float) -> Self:
        """Return the rule for a prevalence, unless the rule has its own or needs none."""
        if getattr(self, "prevalence", 0.0) is not None:
            return self
        return replace(self, prevalence=prevalence)  # type: ignore[call-arg]

    def measure(self, negative: FloatArray, positive: FloatArray, prevalence: float) -> FloatArray:
        """Return the quantity that the rule optimises, such as the G-mean.

        Parameters
        ----------
        negative, positive : arrays
            Error rates of the two classes.
        prevalence : float
            Share of positives, which comes before that of the rule.
        """
        rule = self
        if self.depends_on_prevalence:
            rule = replace(self, prevalence=None)  # type: ignore[call-arg]
        value = rule.value(negative, positive, (1.0 - prevalence, prevalence))
        return np.asarray(-value if self.maximised else value)

    @abstractmethod
    def value(self, negative: FloatArray, positive: FloatArray, n_samples: Sizes) -> FloatArray:
        """Return the number to minimise.

        Parameters
        ----------
        negative, positive : arrays
            Claimed error rates of the two classes.
        n_samples : tuple of float
            Rows of each class, for rules that depend on the prevalence.
        """

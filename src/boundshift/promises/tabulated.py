"""A costly rule, looked up instead of computed where its values are asked for again and again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boundshift.rules import Rule
from boundshift.typing import FloatArray

__all__ = ["TabulatedRule"]

# Nodes of each error, and how many standard errors around the errors found they reach.
_NODES, _REACH = 11, 8.0


@dataclass(frozen=True)
class TabulatedRule(Rule):
    """A rule's values at a grid of both errors, linear between them and rising beyond.

    Parameters
    ----------
    negative, positive : arrays
        Errors of the grid, from low to high.
    values : array
        The rule at each pair of them.
    """

    name = "tabulated"

    negative: FloatArray
    positive: FloatArray
    values: FloatArray

    @classmethod
    def near(
        cls, rule: Rule, n_samples: tuple[int, int], errors: tuple[float, float]
    ) -> TabulatedRule:
        """Tabulate a rule around the errors of a boundary that so many rows were drawn for.

        Examples
        --------
        >>> from boundshift import Cost
        >>> table = TabulatedRule.near(Cost(1, 20), (1000, 100), (0.1, 0.2))
        >>> at = np.array([0.12]), np.array([0.17]), (1000, 100)
        >>> float(table.value(*at)[0]).__round__(9) == float(Cost(1, 20).value(*at)[0]).__round__(9)
        True
        """
        axes = []
        for error, n in zip(errors, n_samples, strict=True):
            reach = _REACH * np.sqrt((error * (1.0 - error) + 1.0 / n) / n)
            axes.append(np.linspace(max(error - reach, 0.0), min(error + reach, 1.0), _NODES))
        negative, positive = np.meshgrid(*axes, indexing="ij")
        values = rule.value(negative.ravel(), positive.ravel(), n_samples)
        table = np.asarray(values, dtype=np.float64).reshape(_NODES, _NODES)
        return cls(axes[0], axes[1], table)

    def value(
        self, negative: FloatArray, positive: FloatArray, n_samples: tuple[float, float]
    ) -> FloatArray:
        """Return values between those of the grid; beyond it they rise by the distance."""
        first, second = np.asarray(negative, float), np.asarray(positive, float)
        i, a, beyond = _locate(self.negative, first)
        j, b, farther = _locate(self.positive, second)
        v = self.values
        low = v[i, j] * (1 - b) + v[i, j + 1] * b
        high = v[i + 1, j] * (1 - b) + v[i + 1, j + 1] * b
        spread = float(v.max() - v.min())
        return np.asarray(low * (1 - a) + high * a + (beyond + farther) * spread)


def _locate(nodes: FloatArray, at: FloatArray) -> tuple[np.ndarray, FloatArray, FloatArray]:
    """Return the node below, the share of the way to the next, and how far beyond the grid."""
    inside = np.clip(at, nodes[0], nodes[-1])
    i = np.clip(np.searchsorted(nodes, inside, side="right") - 1, 0, len(nodes) - 2)
    share = (inside - nodes[i]) / (nodes[i + 1] - nodes[i])
    return i, share, (at - inside) / (nodes[-1] - nodes[0])

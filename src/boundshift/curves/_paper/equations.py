r"""The paper's equations for one slack level, numbered as printed.

A level is given by its numbers of kept points :math:`N_1, N_2`, its steps :math:`a_1, a_2` and its
free space :math:`C`; see the room's docstring. `docs/explanation/the_paper.md` shows each equation
as printed and as computed here. The exact solution needs (6) only, SLSQP needs all of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from boundshift._typing import FloatArray

Pair = tuple[float, float]


def class_error(n: ArrayLike, delta: ArrayLike) -> FloatArray:
    r"""Return the average error of one class, :math:`(1 - \delta)/(N + 1) + \delta` (6)."""
    delta = np.asarray(delta, dtype=float)
    return np.asarray((1.0 - delta) * (1.0 / (np.asarray(n, dtype=float) + 1.0)) + delta)


def u_of_delta(delta: ArrayLike) -> FloatArray:
    r"""Return :math:`u = \sqrt{2 \ln 1/\delta}`."""
    return np.asarray(np.sqrt(-2.0 * np.log(np.asarray(delta, dtype=float))))


def delta2_from_delta1(delta1: ArrayLike, step: Pair, space: float) -> FloatArray:
    r"""Return the confidence left for class 2 (8), NaN if there is none.

    The printed equation squares :math:`u_2 = (C - a_1 u_1)/a_2`. It returns a number even if
    :math:`u_2` is negative and the constraint cannot be met.
    """
    u2 = (space - step[0] * u_of_delta(delta1)) / step[1]
    return np.where(u2 >= 0, np.exp(-0.5 * u2 * u2), np.nan)


def delta2_gradient(delta1: ArrayLike, step: Pair, space: float) -> FloatArray:
    r"""Return the derivative of :math:`\delta_2` with respect to :math:`\delta_1` (10), corrected.

    .. math:: -u_2 \, \frac{a_1}{a_2} \, \frac{\delta_2}{u_1 \delta_1}.

    The printed bracket has :math:`N_1, R_1` in the place of :math:`N_2, R_2` and lacks
    :math:`R_1/R_2`; finite differences refute it.
    """
    a1, a2 = step
    u1 = u_of_delta(delta1)
    u2 = (space - a1 * u1) / a2
    return np.asarray(-u2 * a1 / a2 * np.exp(-0.5 * u2 * u2) / (u1 * np.asarray(delta1)))


def loss(delta1: ArrayLike, n: Pair, step: Pair, space: float) -> FloatArray:
    """Return the sum of both classes' average errors on the constraint (6, 7)."""
    delta2 = delta2_from_delta1(delta1, step, space)
    return class_error(n[0], delta1) + class_error(n[1], delta2)


def loss_gradient(delta1: ArrayLike, n: Pair, step: Pair, space: float) -> FloatArray:
    r"""Return the derivative of the loss with respect to :math:`\delta_1` (9)."""
    return n[0] / (n[0] + 1.0) + n[1] / (n[1] + 1.0) * delta2_gradient(delta1, step, space)

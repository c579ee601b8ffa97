"""The paper's quantities at a boundary: confidences, means, radii, and the points given up."""

from __future__ import annotations

from dataclasses import dataclass, replace

__all__ = ["SupportGeometry"]

Pair = tuple[float, float]


@dataclass(frozen=True)
class SupportGeometry:
    """What the paper's method knows of a boundary; pairs are (negative, positive).

    Parameters
    ----------
    deltas, log_deltas : tuples of float
        Probabilities with which each class's bound may fail, and their natural logarithms, which
        are exact where the probabilities underflow to 0.
    means, radii, confidence_radii : tuples of float
        Of the kept points: mean, support radius, and radius with its confidence term.
    supports : tuple of tuple of float
        Smallest and largest kept score of each class.
    slack : tuple of int
        Points given up.
    """

    deltas: Pair
    log_deltas: Pair
    means: Pair
    radii: Pair
    confidence_radii: Pair
    supports: tuple[Pair, Pair]
    slack: tuple[int, int]

    def mirror_back(self) -> SupportGeometry:
        """Return the geometry of the problem whose scores have the other sign."""
        (a, b), (c, d) = self.supports
        means = (-self.means[0], -self.means[1])
        return replace(self, means=means, supports=((-b, -a), (-d, -c)))

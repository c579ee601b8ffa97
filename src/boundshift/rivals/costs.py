"""Costs of the two errors."""

from boundshift.exceptions import InvalidInputError
from boundshift.rivals.counts import ScoreCounts

__all__ = ["resolve_costs"]


def resolve_costs(
    counts: ScoreCounts, cost_fp: float | None, cost_fn: float | None
) -> tuple[float, float]:
    """Fill in the paper's costs, which give both classes the same weight.

    A false positive costs the number of positive rows, a false negative that of negative ones.
    """
    costs = (
        counts.n_positive if cost_fp is None else cost_fp,
        counts.n_negative if cost_fn is None else cost_fn,
    )
    for name, cost in zip(("cost_fp", "cost_fn"), costs, strict=True):
        if not 0 < cost < float("inf"):
            raise InvalidInputError(
                f"`{name}` must be a positive finite number, got {cost!r}. "
                "Use None for the size of the other class."
            )
    return costs

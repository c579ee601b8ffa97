"""Words that floors, costs and metrics share where a report speaks of its goal."""

from __future__ import annotations

from typing import Literal

__all__ = ["WORST", "State", "amount_text", "join_wishes", "state_word"]

State = Literal["met", "reached", "missed"]

WORST: tuple[State, ...] = ("missed", "reached", "met")
"""States, the worst first."""


def state_word(state: State, cost: bool = False) -> str:
    """Return a state in words; a lower cost is not reached, it is or is not proved."""
    reached = "Not proved" if cost else "Reached, not proved"
    return {"met": "Met", "reached": reached, "missed": "Missed"}[state]


def join_wishes(wishes: list[str]) -> str:
    """Return wishes as a list in words."""
    return " and ".join(wishes) if len(wishes) < 3 else f"{', '.join(wishes[:-1])} and {wishes[-1]}"


def amount_text(value: float) -> str:
    """Return a sum of costs, in full where it is large, with a true minus."""
    text = f"{value:,.0f}" if 1000 <= abs(value) < 1e12 else f"{value:.4g}"
    return text.replace("-", "−")

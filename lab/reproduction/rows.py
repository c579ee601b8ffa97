"""Tidy rows of the reproduction: one per problem, seed and method."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.harness.fitted import Decision
from lab.harness.methods import Method
from lab.harness.records import read_records, write_records
from lab.harness.rows import Outcome, judge
from lab.reproduction.fitted import FittedSeed

__all__ = ["Row", "evaluate", "read_rows", "write_rows"]

_NAN = float("nan")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row(Outcome):
    """What one method gave on one seed of a problem, beside what every outcome has.

    Parameters
    ----------
    protocol, slack_kind, problem : str
        What was run.
    kept : bool
        Whether the seed counts: in protocol "paper" only where the paper's method has a
        solution, in protocol "honest" always.
    accuracy : float
        On the test rows.
    delta_negative, delta_positive, loss : float
        Of the solution; NaN where the method has none.
    slack_negative, slack_positive : int
        Points given up.
    """

    protocol: str
    slack_kind: str
    problem: str
    kept: bool
    accuracy: float = _NAN
    delta_negative: float = _NAN
    delta_positive: float = _NAN
    slack_negative: int = 0
    slack_positive: int = 0
    loss: float = _NAN


def evaluate(fitted: FittedSeed, method: Method, **run: Any) -> Row:
    """Let a method decide and score its predictions.

    Parameters
    ----------
    fitted : FittedSeed
        Scores of all models of a seed.
    method : Method
        What decides.
    **run
        protocol, problem, seed and kept, as they are.
    """
    return judge(Row, fitted, method, _describe, slack_kind=fitted.slack, **run)


def _describe(
    fitted: FittedSeed, method: Method, decision: Decision, metrics: dict[str, float]
) -> dict[str, Any]:
    """Return the columns that only a reproduction has."""
    return {
        "accuracy": metrics["accuracy"],
        "delta_negative": decision.deltas[0],
        "delta_positive": decision.deltas[1],
        "slack_negative": decision.slack[0],
        "slack_positive": decision.slack[1],
        "loss": decision.loss,
    }


def write_rows(path: Path, rows: Iterable[Row], *, digits: int = 6) -> Path:
    """Write rows as comma-separated text, compressed if the name ends in ``.gz``.

    Parameters
    ----------
    path : Path
        Where to.
    rows : iterable of Row
        What.
    digits : int, default=6
        Digits of numbers: 6 are more than any metric needs, 17 lose nothing.
    """
    return write_records(path, Row, rows, digits=digits)


def read_rows(path: Path) -> list[Row]:
    """Read what :func:`write_rows` wrote."""
    return read_records(path, Row)

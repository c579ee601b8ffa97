"""Tidy rows: one per problem, seed and method, failures included."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boundshift.metrics import binary_metrics
from lab.harness.records import read_records, write_records
from lab.reproduction.collect import FittedScores
from lab.reproduction.decisions import SlackKind
from lab.reproduction.methods import Method

__all__ = ["METRICS", "Row", "evaluate", "failed_row", "read_rows", "write_rows"]

METRICS = (
    "accuracy",
    "g_mean",
    "f1",
    "balanced_accuracy",
    "mcc",
    "recall_negative",
    "recall_positive",
)
_NAN = float("nan")


@dataclass(frozen=True)
class Row:
    """What one method gave on one split.

    Parameters
    ----------
    protocol, slack_kind, problem, seed, method : str or int
        What was run.
    kept : bool
        Whether the seed counts: in protocol "paper" only where the paper's method has a
        solution, in protocol "honest" always.
    status : str
        Name of the boundary's status; "DECIDED" for methods without one; "FAILED" for an error,
        which `message` holds.
    solved : bool
        Whether the method had an answer of its own.
    accuracy, g_mean, f1, balanced_accuracy, mcc, recall_negative, recall_positive : float
        On the test rows.
    threshold : float
        Of the scores (margins of the model), or of the probabilities for methods on these.
    delta_negative, delta_positive, loss : float
        Of the solution; NaN where the method has none.
    slack_negative, slack_positive : int
        Points given up.
    fit_seconds, seconds : float
        Training, and decision.
    message : str
        The error of a failure.
    """

    protocol: str
    slack_kind: str
    problem: str
    seed: int
    method: str
    kept: bool
    status: str
    solved: bool
    accuracy: float = _NAN
    g_mean: float = _NAN
    f1: float = _NAN
    balanced_accuracy: float = _NAN
    mcc: float = _NAN
    recall_negative: float = _NAN
    recall_positive: float = _NAN
    threshold: float = _NAN
    delta_negative: float = _NAN
    delta_positive: float = _NAN
    slack_negative: int = 0
    slack_positive: int = 0
    loss: float = _NAN
    fit_seconds: float = _NAN
    seconds: float = _NAN
    message: str = ""


def evaluate(fitted: FittedScores, method: Method, slack: SlackKind, **run: Any) -> Row:
    """Let a method decide and score its predictions; an error becomes a row too.

    Parameters
    ----------
    fitted : FittedScores
        Scores of the method's model.
    method : Method
        What decides.
    slack : {"binary", "continuous"}
        Kind of slack.
    **run
        protocol, problem, seed and kept, as they are.
    """
    start = time.perf_counter()
    try:
        decision = method.decide(fitted, slack)
        metrics: dict[str, Any] = dict(binary_metrics(fitted.y_test, decision.predict(fitted)))
    except Exception as error:
        return failed_row(method, slack, error, **run)
    return Row(
        **run,
        slack_kind=slack,
        method=method.name,
        status=decision.status,
        solved=decision.solved,
        **metrics,
        threshold=decision.threshold,
        delta_negative=decision.deltas[0],
        delta_positive=decision.deltas[1],
        slack_negative=decision.slack[0],
        slack_positive=decision.slack[1],
        loss=decision.loss,
        fit_seconds=fitted.seconds,
        seconds=time.perf_counter() - start,
    )


def failed_row(method: Method, slack: SlackKind, error: Exception, **run: Any) -> Row:
    """Return the row of a method that raised an error."""
    return Row(
        **run,
        slack_kind=slack,
        method=method.name,
        status="FAILED",
        solved=False,
        message=f"{type(error).__name__}: {error}",
    )


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

"""Tidy rows: what one method gave on one split, failures included."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from boundshift.metrics import binary_metrics
from lab.harness.environment import describe_environment
from lab.harness.fitted import Decision, Fitted
from lab.harness.methods import Method

__all__ = ["METRICS", "TIMES", "Outcome", "Row", "failed_row", "judge"]

METRICS = ("g_mean", "f1", "balanced_accuracy", "mcc")
TIMES = ("fit_seconds", "seconds")
_NAN = float("nan")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one method gave on one split.

    Parameters
    ----------
    seed, method : int and str
        Which split, and which method.
    status : str
        Name of the boundary's status; "DECIDED" for methods without one; "FAILED" for an error,
        which `message` holds.
    solved : bool
        Whether the method had an answer of its own.
    g_mean, f1, balanced_accuracy, mcc, recall_negative, recall_positive : float
        On the test rows.
    threshold : float
        Of the scores (margins of the model), or of probabilities for methods that return these.
    fit_seconds, seconds : float
        All training that the decision needs, and the decision.
    message : str
        The error of a failure.
    environment : str
        Versions and machine; empty in rows that were stored before they were said.
    """

    seed: int
    method: str
    status: str = "FAILED"
    solved: bool = False
    g_mean: float = _NAN
    f1: float = _NAN
    balanced_accuracy: float = _NAN
    mcc: float = _NAN
    recall_negative: float = _NAN
    recall_positive: float = _NAN
    threshold: float = _NAN
    fit_seconds: float = _NAN
    seconds: float = _NAN
    message: str = ""
    environment: str = ""


Row = TypeVar("Row", bound=Outcome)
Describe = Callable[[Any, Method, Decision, dict[str, float]], dict[str, Any]]


def judge(kind: type[Row], fitted: Fitted, method: Method, describe: Describe, **run: Any) -> Row:
    """Let a method decide and judge it by the test rows; an error becomes a row too.

    Parameters
    ----------
    kind : type of Outcome
        The row's class.
    fitted : Fitted
        Scores of one split.
    method : Method
        What decides.
    describe : callable
        From the scores, the method, its decision and its metrics to the other columns of the row.
    **run
        Columns that say what was run.
    """
    start = time.perf_counter()
    try:
        decision = method.decide(fitted)
        seconds = time.perf_counter() - start
        metrics = binary_metrics(*fitted.predict(method.source, decision))
        described = describe(fitted, method, decision, metrics)
    except Exception as error:
        return failed_row(kind, method, error, **run)
    shared = (*METRICS, "recall_negative", "recall_positive")
    return kind(
        **run,
        method=method.name,
        status=decision.status,
        solved=decision.solved,
        **{name: metrics[name] for name in shared},  # type: ignore[arg-type]
        threshold=decision.threshold,
        fit_seconds=fitted.training_seconds(method.source),
        seconds=seconds,
        environment=describe_environment(),
        **described,
    )


def failed_row(kind: type[Row], method: Method, error: Exception, **run: Any) -> Row:
    """Return the row of a method that raised an error."""
    message = f"{type(error).__name__}: {error}"
    return kind(**run, method=method.name, message=message, environment=describe_environment())

"""What a method is: a function from the scores of one split to a threshold, judged by test rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from boundshift._boundary import find_boundary
from boundshift._typing import FloatArray, IntArray
from boundshift.metrics import binary_metrics
from lab.experiment import describe_environment, quiet

# How a model was trained and which rows it scored: "training" and "out-of-fold" are scores of the
# training rows; "fold-models" has the out-of-fold scores and predicts by the mean of the models
# that gave them; "smote" and "balanced"
# are models that were trained otherwise, which have test rows only.
Scored = Literal["training", "out-of-fold"]
Source = Scored | Literal["fold-models", "smote", "balanced"]
# The paper's own table; baselines; curves and rules of this library that treat both classes alike;
# rules that are meant for something else; the best threshold on the test rows, which nobody knows.
Group = Literal["paper", "baseline", "ours", "other aim", "clairvoyant"]
METRICS = ("g_mean", "f1", "balanced_accuracy", "mcc")
TIMES = ("fit_seconds", "seconds")
_NAN = float("nan")


class Sample(NamedTuple):
    """Labels 0 and 1, and scores."""

    y: IntArray
    s: FloatArray


@dataclass(frozen=True)
class Decision:
    """A threshold and what is known about it; pairs are (negative, positive).

    Positive is predicted above the threshold, which is one of probabilities if `probability` says
    so. `solved` says whether the method had an answer of its own; `deltas`, `slack` and `loss` are
    those of the paper's method.
    """

    threshold: float
    probability: bool = False
    status: str = "DECIDED"
    solved: bool = True
    deltas: tuple[float, float] = (_NAN, _NAN)
    slack: tuple[int, int] = (0, 0)
    loss: float = _NAN


Decide = Callable[[Any], Decision]


@dataclass(frozen=True)
class Method:
    """One way to decide: its name in rows and in tables, its group, and the scores it needs.

    `source` says which model predicts.
    """

    name: str
    group: Group
    decide: Decide
    source: Source = "training"
    title: str = ""

    @property
    def post_hoc(self) -> bool:
        """Whether it works on a model trained as usual."""
        return self.source not in ("smote", "balanced")


def keep_boundary(fitted: Any) -> Decision:
    return Decision(0.0)


def by_boundary(source: Source, **options: Any) -> Decide:
    """Return :func:`~boundshift.find_boundary` on scores of a source."""
    return lambda fitted: decide_boundary(fitted, source, **options)


def decide_boundary(fitted: Any, source: Source, **options: Any) -> Decision:
    """Find a boundary on scores of a source; the status says where there is none."""
    y, s = fitted.sample(source)
    with quiet():
        found = find_boundary(y, s / fitted.unit, **options)
    decision = Decision(
        threshold=found.threshold * fitted.unit,
        status=found.status.name,
        solved=found.status.solved,
        loss=found.loss,
    )
    if found.geometry is None:
        return decision
    return replace(decision, deltas=found.geometry.deltas, slack=found.geometry.slack)


def by_probability(rule: Callable[..., float], source: Scored) -> Decide:
    """Return a baseline's rule on probabilities of the training rows."""

    def decide(fitted: Any) -> Decision:
        y = fitted.sample(source).y
        decision: Decision = fitted.at_probability(rule(y, fitted.probabilities(source)))
        return decision

    return decide


Quality = Callable[[FloatArray, FloatArray, float], FloatArray]


def by_tuner(quality: Quality) -> Decide:
    """Return scikit-learn's tuner, on probabilities where the model has them."""

    def decide(fitted: Any) -> Decision:
        y, s = fitted.sample("out-of-fold")
        if not fitted.has_probabilities:
            return Decision(tune_as_scikit_learn(y, s, fitted.folds, quality))
        p = fitted.probabilities("out-of-fold")
        decision: Decision = fitted.at_probability(
            tune_as_scikit_learn(y, p, fitted.folds, quality)
        )
        return decision

    return decide


def tune_as_scikit_learn(
    y_true: NDArray[np.int64],
    y_score: FloatArray,
    folds: Sequence[NDArray[np.intp]],
    quality: Quality,
) -> float:
    """Return what `TunedThresholdClassifierCV` chooses, given out-of-fold scores.

    Each fold has 100 thresholds over the range of its scores; the metric's curves are interpolated
    on 100 thresholds over all of them and averaged. Positive is a score above the threshold
    returned, which is just below scikit-learn's.
    """
    if any(np.isclose(y_score[rows].min(), y_score[rows].max()) for rows in folds):
        raise ValueError("The scores of a fold are constant, which scikit-learn's tuner refuses.")
    curves = []
    for y, s in ((y_true[rows], y_score[rows]) for rows in folds):
        thresholds = np.linspace(s.min(), s.max(), 100)
        negative, positive = (np.sort(s[y == label]) for label in (0, 1))
        specificity = np.searchsorted(negative, thresholds, side="left") / len(negative)
        recall = 1 - np.searchsorted(positive, thresholds, side="left") / len(positive)
        curves.append((thresholds, quality(specificity, recall, len(positive) / len(s))))
    low = min(t[0] for t, _ in curves)
    high = max(t[-1] for t, _ in curves)
    common = np.linspace(low, high, 100)
    mean = np.mean([np.interp(common, *curve) for curve in curves], axis=0)
    return float(np.nextafter(common[np.argmax(mean)], -np.inf))


def _f1(negative: FloatArray, positive: FloatArray, share: float) -> FloatArray:
    hits = positive * share
    alarms = (1 - negative) * (1 - share)
    return 2 * hits / (hits + share + alarms)


def _mcc(negative: FloatArray, positive: FloatArray, share: float) -> FloatArray:
    flagged = positive * share + (1 - negative) * (1 - share)
    spread = np.sqrt(share * (1 - share) * flagged * (1 - flagged))
    gain = share * (1 - share) * (positive + negative - 1)
    return np.divide(gain, spread, out=np.zeros_like(spread), where=spread > 0)


# From both recalls and the share of positive rows to the metric.
QUALITIES: dict[str, Quality] = {
    "balanced-accuracy": lambda negative, positive, share: (negative + positive) / 2,
    "g-mean": lambda negative, positive, share: np.asarray(np.sqrt(negative * positive)),
    "f1": _f1,
    "mcc": _mcc,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A tidy row: what one method gave on one split, failures included.

    `status` is the name of the boundary's status, "DECIDED" for methods without one, "FAILED" for
    an error, which `message` holds. The metrics (`g_mean`, `f1`, `balanced_accuracy`, `mcc`,
    `recall_negative`, `recall_positive`) are of the test rows. The `threshold` is one of margins,
    or of probabilities for methods that return these. `fit_seconds` is all training that the
    decision needs, `seconds` the decision. `environment` has versions and machine. `seed` and
    `method` say which split and which method; `solved` whether it had an answer of its own.
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


def judge(kind: type[Row], fitted: Any, method: Method, describe: Describe, **run: Any) -> Row:
    """Let a method decide and judge it by the test rows; an error becomes a row too.

    `describe` returns the other columns of the row; `run` says what was run.
    """
    start = time.perf_counter()
    try:
        decision = method.decide(fitted)
        seconds = time.perf_counter() - start
        metrics = binary_metrics(*fitted.predict(method.source, decision))
        described = describe(fitted, method, decision, metrics)
    except Exception as error:
        return failed_row(kind, method, error, **run)
    names = (*METRICS, "recall_negative", "recall_positive")
    measured: dict[str, Any] = {name: metrics[name] for name in names}
    return kind(
        **run,
        method=method.name,
        status=decision.status,
        solved=decision.solved,
        **measured,
        threshold=decision.threshold,
        fit_seconds=fitted.training_seconds(method.source),
        seconds=seconds,
        environment=describe_environment(),
        **described,
    )


def failed_row(kind: type[Row], method: Method, error: Exception, **run: Any) -> Row:
    message = f"{type(error).__name__}: {error}"
    return kind(**run, method=method.name, message=message, environment=describe_environment())

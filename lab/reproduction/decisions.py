"""What a method is: a function from the scores of one split to a threshold, judged by test rows."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from boundshift._boundary import find_boundary
from boundshift._typing import FloatArray, IntArray
from boundshift.metrics import binary_metrics
from lab.baselines import Quality, tune_as_scikit_learn
from lab.experiment import describe_environment, quiet

# How a model was trained and which rows it scored: "training" and "out-of-fold" are scores of the
# training rows; "fold-models" has the out-of-fold scores and predicts by the mean of the models
# that gave them; "smote" and "balanced"
# are models that were trained otherwise, which have test rows only.
Scored = Literal["training", "out-of-fold"]
Source = Scored | Literal["fold-models", "smote", "balanced"]
# The paper's own table; baselines; curves and rules of this library.
Group = Literal["paper", "baseline", "ours"]
METRICS = (
    "accuracy", "g_mean", "f1", "balanced_accuracy", "mcc", "recall_negative", "recall_positive",
)  # fmt: skip
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


def by_tuner(quality: Quality) -> Decide:
    """Return scikit-learn's tuner, on out-of-fold margins."""

    def decide(fitted: Any) -> Decision:
        y, s = fitted.sample("out-of-fold")
        return Decision(tune_as_scikit_learn(y, s, fitted.folds, quality))

    return decide


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A tidy row: what one method gave on one seed of a problem, failures included.

    `status` is the name of the boundary's status, "DECIDED" for methods without one, "FAILED" for
    an error, which `message` holds; `solved` says whether the method had an answer of its own. The
    metrics (`g_mean`, `f1`, `balanced_accuracy`, `mcc`, `recall_negative`, `recall_positive`,
    `accuracy`) are of the test rows. The `threshold` is one of margins, or of probabilities for
    methods that return these. `fit_seconds` is all training that the decision needs, `seconds` the
    decision. `environment` has versions and machine.

    `kept` says whether the seed counts: in protocol "paper" only where the paper's method has a
    solution, in protocol "honest" always. `delta_negative`, `delta_positive`, `slack_negative`,
    `slack_positive` (points given up) and `loss` are of the solution, NaN where there is none.
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


def judge(fitted: Any, method: Method, **run: Any) -> Row:
    """Let a method decide and judge it by the test rows; an error becomes a row too.

    `run` says what was run.
    """
    run |= {"method": method.name, "environment": describe_environment()}
    start = time.perf_counter()
    try:
        decision = method.decide(fitted)
        seconds = time.perf_counter() - start
        metrics = binary_metrics(*fitted.predict(method.source, decision))
    except Exception as error:
        return Row(**run, message=f"{type(error).__name__}: {error}")
    measured: dict[str, Any] = {name: metrics[name] for name in METRICS}
    return Row(
        **run,
        status=decision.status,
        solved=decision.solved,
        **measured,
        threshold=decision.threshold,
        fit_seconds=fitted.training_seconds(method.source),
        seconds=seconds,
        delta_negative=decision.deltas[0],
        delta_positive=decision.deltas[1],
        slack_negative=decision.slack[0],
        slack_positive=decision.slack[1],
        loss=decision.loss,
    )

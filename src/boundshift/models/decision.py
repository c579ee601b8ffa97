"""Where the boundary stands: one threshold for two classes, one bias for each of many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boundshift.boundary import decide_by_row, make_decision
from boundshift.curves import ErrorCurve
from boundshift.exceptions import InvalidInputError
from boundshift.models.by_class import check_by_class, decide_by_class
from boundshift.models.folds import Deciding
from boundshift.models.holdout import qualify_promise
from boundshift.models.log_odds import find_winner
from boundshift.models.nested import shift_loses
from boundshift.models.sure_gain import surely_gains
from boundshift.multiclass import ClassBiases, boundary_at, find_biases
from boundshift.promises.certificate import Certificate, certify_counts, certify_shares
from boundshift.rules import ClassRule, Rule
from boundshift.scores.sample import ScoreSample
from boundshift.scores.weighted import collect_weighted, judge_weights
from boundshift.status import QUIET, Status
from boundshift.typing import FloatArray
from boundshift.validation import order_labels

__all__ = ["Decided", "Decider"]


class Decided(NamedTuple):
    """What is learned of the boundary, by attribute, and what the user should be warned of."""

    learned: dict[str, Any]
    doubts: list[str]


@dataclass(frozen=True)
class Decider:
    """Finds the shift on scores that were collected; settings as in BoundShiftClassifier."""

    curve: ErrorCurve
    rule: Rule
    pos_label: Any
    multi_class: Literal["joint", "pairwise", "one-vs-rest"]

    def decide(self, classes: NDArray[Any], deciding: Deciding, guide: Deciding | None) -> Decided:
        """Return the boundary or one bias per class, and what is certified there."""
        y, scores = deciding.y, deciding.scores
        if len(classes) == 2:
            found, doubts = self._decide_two(classes, deciding)
            shifted = scores - found["threshold_"]
            boundary = qualify_promise(found["boundary_"], deciding.origin)
            found["boundary_"] = boundary
            if boundary.status not in QUIET:
                doubts.append(boundary.message)
        else:
            found, doubts = self._decide_many(classes, deciding, guide)
            # A fold's model cannot choose a class that it did not know.
            shifted = np.nan_to_num(scores, nan=-np.inf) + found["biases_"]
        if deciding.factors is not None:
            doubts.insert(0, _doubt_scales(deciding.factors))
        is_wrong = find_winner(shifted) != y
        if deciding.weights is not None:
            found["certificate_"] = _certify_weighted(
                y, is_wrong, deciding.weights, classes, found.get("threshold_")
            )
            return Decided(found, doubts)
        wrong = y[is_wrong]
        found["certificate_"] = certify_counts(
            tuple(np.bincount(wrong, minlength=len(classes)).tolist()),
            tuple(np.bincount(y, minlength=len(classes)).tolist()),
            tuple(classes.tolist()),
            chosen_here=True,
            scores=deciding.origin,
            threshold=found.get("threshold_"),
        )
        return Decided(found, doubts)

    def _decide_two(self, classes: NDArray[Any], deciding: Deciding) -> Decided:
        """Find the boundary on the positive class's score, and the threshold on the second's."""
        curve, rule = self.curve, self.rule
        labels = classes.tolist()
        weights = deciding.weights
        sizes = np.bincount(deciding.y, weights, minlength=2).tolist()
        counts = dict(zip(labels, sizes, strict=True))
        ends = order_labels(labels, self.pos_label, counts=counts, alike=rule.alike)
        is_mirrored = ends[1] == labels[0]
        decide = make_decision(curve, rule)

        def orient(y: NDArray[np.intp], scores: FloatArray) -> tuple[Any, FloatArray]:
            return (y == 0, -scores) if is_mirrored else (y == 1, scores)

        def gather(
            y: NDArray[np.intp], scores: FloatArray, weights: FloatArray | None = None
        ) -> ScoreSample:
            rows = orient(y, scores)
            if weights is None:
                sample = ScoreSample.from_labels(*rows)
            else:
                sample = collect_weighted(*rows, weights)
            # Weights by label need the names.
            return replace(sample, labels=ends) if rule.alike else sample

        def choose(
            y: NDArray[np.intp], scores: FloatArray, weights: FloatArray | None = None
        ) -> float:
            return _mirror(decide(gather(y, scores, weights)).threshold, is_mirrored)

        doubts = []
        if deciding.costs is not None:
            boundary = decide_by_row(*orient(deciding.y, deciding.scores), deciding.costs)
        else:
            sample = gather(deciding.y, deciding.scores, weights)
            if weights is not None:
                doubts = judge_weights(replace(sample, labels=ends))
            boundary = decide(sample)

            def is_sure() -> bool:
                if weights is not None or deciding.parts is None:
                    return False
                rows = (*orient(deciding.y, deciding.scores), deciding.parts)
                return surely_gains(sample, boundary.threshold, rows, curve, rule)

            if self._keeps_own(deciding, choose, is_sure):
                own = _mirror(0.0, is_mirrored)
                kept = boundary_at(replace(sample, labels=ends), curve, rule, own)
                boundary = replace(kept, status=Status.KEPT)
        threshold = _mirror(boundary.threshold, is_mirrored)
        learned = {"boundary_": replace(boundary, labels=ends), "threshold_": threshold}
        return Decided(learned, doubts)

    def _decide_many(
        self, classes: NDArray[Any], deciding: Deciding, guide: Deciding | None
    ) -> Decided:
        """Find one bias per class."""
        if self.pos_label is not None:
            raise InvalidInputError(
                f"`pos_label` must be None with more than two classes, got {self.pos_label!r}, of "
                f"{len(classes)}. Fit on y == {self.pos_label!r} to tell one from the rest."
            )
        curve, rule = self.curve, self.rule
        if isinstance(rule, ClassRule):
            check_by_class(rule, curve, self.multi_class, classes.tolist())
            by_class = decide_by_class(classes.tolist(), deciding, guide, curve, rule)
            learned = {"biases_": by_class.biases, "boundaries_": by_class.boundaries}
            return Decided(learned, [by_class.message] if by_class.message else [])

        def find(
            y: NDArray[np.intp],
            scores: FloatArray,
            weights: FloatArray | None = None,
            own: bool = False,
        ) -> ClassBiases:
            strategy = "own" if own else self.multi_class
            return find_biases(y, scores, curve, rule, strategy, classes.tolist(), weights)

        doubts = []
        lone = classes[np.bincount(deciding.y, minlength=len(classes)) == 1]
        if len(lone) and deciding.parts is not None:
            doubts.append(
                f"The only row of {', '.join(map(repr, lone.tolist()))} cannot be left out of "
                "training and score itself; the largest bias of the other classes stands in. "
                "Collect more rows of that class."
            )
        rows = (deciding.y, deciding.scores, deciding.weights)
        found = find(*rows)
        if self._keeps_own(deciding, lambda *rows: find(*rows).biases):
            found = find(*rows, own=True)
        loud = [status for status in found.statuses if status not in QUIET]
        if loud:
            doubts.append(
                f"{len(loud)} of the {len(found.statuses)} binary problems behind the class "
                f"biases need a second look. First: {loud[0].value}"
            )
        return Decided({"biases_": found.biases, "boundaries_": found.boundaries}, doubts)

    def _keeps_own(
        self,
        deciding: Deciding,
        choose: Callable[..., Any],
        is_sure: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Return whether left-out rows say that the model's own boundary should stay.

        They need not be asked where the shift is sure to gain.
        """
        if deciding.parts is None or not self.rule.alike:
            return False
        if callable(deciding.response.method) and not deciding.response.is_log_odds:
            return False  # Nobody knows where a function's own boundary is.
        if is_sure():
            return False
        rows = (deciding.y, deciding.scores, deciding.parts)
        return shift_loses(*rows, choose, self.rule, deciding.weights)


def _certify_weighted(
    y: NDArray[np.intp],
    is_wrong: NDArray[np.bool_],
    weights: FloatArray,
    classes: NDArray[Any],
    threshold: float | None,
) -> Certificate:
    """Return what may be said of the errors among rows with weights."""
    n = len(classes)
    total, squares = (np.bincount(y, weights**power, minlength=n) for power in (1, 2))
    wrong = np.bincount(y, weights * is_wrong, minlength=n)
    safe = np.where(total > 0, total, 1.0)
    return certify_shares(
        (wrong / safe).tolist(),
        (total**2 / np.where(squares > 0, squares, 1.0)).tolist(),
        tuple(classes.tolist()),
        chosen_here=True,
        threshold=threshold,
    )


def _mirror(threshold: float, is_mirrored: bool) -> float:
    """Return a threshold of one class's scores as one of the other's."""
    # A row at the very boundary is negative, which is the second class where all is mirrored.
    return float(np.nextafter(-threshold, -np.inf)) if is_mirrored else threshold


def _doubt_scales(factors: tuple[float, ...]) -> str:
    """Return a sentence on fold models whose scores had to be put on one scale."""
    return (
        f"The scores of one fold's model spread {max(factors) / min(factors):.3g} times as wide as "
        "those of another; they were put on one scale. Scale the features, hold the model back "
        "(more regularisation, fewer features), or calibrate it with CalibratedClassifierCV."
    )

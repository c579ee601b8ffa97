"""All facts of a report as one plain dict; nothing here knows of markup."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

import boundshift
from boundshift.boundary import find_boundary
from boundshift.exceptions import InvalidInputError
from boundshift.promises.certificate import Certificate, Scores, certify_counts
from boundshift.report.claims import collect_claims
from boundshift.report.comparison import collect_comparison, compare_thresholds
from boundshift.report.diagnosis import diagnose
from boundshift.report.space import collect_space
from boundshift.report.stops import collect_stops
from boundshift.report.verdict import Source, decide_verdict
from boundshift.result.boundary import Boundary
from boundshift.status import Status
from boundshift.validation import as_choice, as_share
from boundshift.view.axis import choose_axis, is_probability
from boundshift.view.rows import ScoredRows, read_rows
from boundshift.view.words import read_names

__all__ = ["collect_facts"]

Pair = tuple[ArrayLike, ArrayLike]
Origin = Literal["held-out", "out-of-fold", "training"]


def collect_facts(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: object = None,
    boundary: Boundary | None = None,
    baseline_threshold: float | None = None,
    test: Pair | None = None,
    training: Pair | None = None,
    out_of_sample: bool | Origin = True,
    comparison: Iterable[Mapping[str, Any]] | None = None,
    confidence: float = 0.95,
    model: str | None = None,
    names: Mapping[str, object] | None = None,
    interval: tuple[float, float] | None = None,
    deploy: str | Sequence[str] | None = None,
) -> dict[str, Any]:
    """Collect everything that a report says, as plain values that JSON can hold.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n_samples,)
        Two labels, and the scores on which the boundary was chosen.
    pos_label : label, default=None
        The positive class; None takes that of the boundary, or the greater label.
    boundary : Boundary, default=None
        What was chosen; None finds it with :func:`~boundshift.find_boundary`.
    baseline_threshold : float, default=None
        The model's own threshold; None takes 0.5 if all scores lie from 0 to 1, and 0 otherwise.
    test : pair (labels, scores), default=None
        Rows that were used for nothing else. The verdict is certified on them; without them it
        says what is nominal.
    training : pair (labels, scores), default=None
        Scores of the rows that the model was fitted on, to show how much they flatter it.
    out_of_sample : bool or {"held-out", "out-of-fold", "training"}, default=True
        Where `y_score` comes from: rows that the model has not seen (True is "held-out"), rows
        left out in cross-validation, or rows that it was fitted on (False is "training").
    comparison : iterable of mappings, default=None
        Rows of the table of methods: "method", and a number for each metric. None compares the
        model's own threshold with the boundary on the rows of the verdict.
    confidence : float, default=0.95
        Of every certified claim, between 0 and 1.
    model : str, default=None
        What the model is called.
    names : mapping, default=None
        What things are called: "positive" and "negative" ("sick", "healthy"), "unit"
        ("patients"), "title". Labels stand in for those that are missing.
    interval : pair of float, default=None
        What :func:`~boundshift.threshold_interval` returned.
    deploy : str or sequence of str, default=None
        Lines of code that put the boundary to use; None shows how to compare scores with it.

    Returns
    -------
    dict
        Strings, numbers, lists and dicts only, without NaN or infinity.

    See Also
    --------
    boundshift.report.write_report : Write the page.

    Examples
    --------
    >>> import numpy as np
    >>> from boundshift.report import collect_facts
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [500, 50])
    >>> scores = [rng.normal(3 * y - 2, 1) for _ in range(2)]
    >>> facts = collect_facts(y, scores[0], test=(y, scores[1]), names={"positive": "sick"})
    >>> print(facts["verdict"]["sentence"])
    Of 100 sick rows the shifted model is expected to miss 12 instead of 20, and at most 23 with 95%
    confidence; 2 more rows of class 0 per 100 are flagged.
    """
    confidence = as_share("confidence", confidence)
    origin = _origin(out_of_sample)
    if pos_label is None and boundary is not None:
        pos_label = boundary.labels[1]
    deciding = read_rows(y_true, y_score, pos_label)
    if boundary is None:
        boundary = find_boundary(y_true, y_score, pos_label=pos_label)
    labels = deciding.labels
    test_rows, training_rows = (
        _read_pair(name, pair, labels) for name, pair in (("test", test), ("training", training))
    )
    baseline = _baseline(baseline_threshold, deciding)
    interval = _interval(interval)
    told = read_names(names, labels)
    source: Source = "deciding" if test_rows is None else "test"
    evidence = deciding if test_rows is None else test_rows
    moved = source == "deciding" and boundary.status is not Status.BALANCED
    seen: Scores = origin if source == "deciding" else "held-out"
    shifted = _certify(evidence, boundary.threshold, confidence, moved, seen)
    before = _certify(evidence, baseline, confidence, False, seen)
    drawn = [deciding] if test_rows is None else [deciding, test_rows]
    axis = choose_axis(drawn, [boundary.threshold, baseline, *boundary.means])
    table = comparison
    if table is None:
        table = compare_thresholds(
            evidence, {"model's own threshold": baseline, "shifted": boundary.threshold}
        )
    facts = {
        "format": 1,
        "version": boundshift.__version__,
        "model": None if model is None else str(model),
        "names": asdict(told),
        "labels": [str(label) for label in labels],
        "confidence": confidence,
        "origin": origin,
        "source": source,
        "rows": {
            "deciding": deciding.n,
            "test": None if test_rows is None else test_rows.n,
            "training": None if training_rows is None else training_rows.n,
        },
        "boundary": boundary.to_dict() | {"explanation": boundary.status.value},
        "baseline": {"threshold": baseline},
        "interval": interval,
        "certificates": {"shifted": _as_dict(shifted), "baseline": _as_dict(before)},
        "verdict": decide_verdict(shifted, before, source, told),
        "comparison": collect_comparison(table),
        "diagnosis": diagnose(
            boundary=boundary,
            deciding=deciding,
            evidence=evidence,
            certificate=shifted,
            training=training_rows,
            trained_on=origin == "training",
            interval=interval,
            baseline_threshold=baseline,
            names=told,
        ),
        "claims": collect_claims(shifted, before, boundary, source, origin, told),
        "deploy": _deploy(deploy, boundary.threshold, deciding),
        "axis": {"kind": axis.kind, "low": axis.low, "high": axis.high, "ticks": axis.ticks()},
        "space": collect_space(deciding, boundary, axis),
        "stops": collect_stops(
            evidence, axis, {"baseline": baseline, "shifted": boundary.threshold}, confidence
        ),
    }
    return dict(_plain(facts))


def _origin(out_of_sample: object) -> Origin:
    """Return where the deciding scores come from."""
    if isinstance(out_of_sample, bool):
        return "held-out" if out_of_sample else "training"
    choices = ("held-out", "out-of-fold", "training")
    return as_choice("out_of_sample", out_of_sample, (True, False, *choices))  # type: ignore[no-any-return]


def _read_pair(name: str, pair: object, labels: tuple[Any, Any]) -> ScoredRows | None:
    """Return a pair of labels and scores as rows."""
    if pair is None:
        return None
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise InvalidInputError(
            f"`{name}` must be a pair (labels, scores), got {type(pair).__name__}. "
            f"Use {name}=(y, scores)."
        )
    return read_rows(pair[0], pair[1], labels[1], name=name, labels=labels)


def _baseline(threshold: float | None, rows: ScoredRows) -> float:
    """Return the model's own threshold."""
    if threshold is None:
        return 0.5 if is_probability(rows) else 0.0
    return _finite("baseline_threshold", threshold)


def _finite(name: str, value: object) -> float:
    """Return a finite float."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        number = float(value)
        if np.isfinite(number):
            return number
    raise InvalidInputError(f"`{name}` must be a finite number, got {value!r}.")


def _interval(interval: object) -> tuple[float, float] | None:
    """Return an interval in order."""
    if interval is None:
        return None
    if not isinstance(interval, Sequence) or len(interval) != 2:
        raise InvalidInputError(
            f"`interval` must be a pair (low, high), got {interval!r}. "
            "Pass what threshold_interval returned."
        )
    low, high = (_finite("interval", end) for end in interval)
    if low > high:
        raise InvalidInputError(f"`interval` must have low <= high, got {interval!r}.")
    return low, high


def _certify(
    rows: ScoredRows, threshold: float, confidence: float, chosen_here: bool, scores: Scores
) -> Certificate:
    """Bound both error rates at a threshold."""
    return certify_counts(
        rows.wrong(threshold),
        rows.n,
        rows.labels,
        confidence=confidence,
        chosen_here=chosen_here,
        scores=scores,
    )


def _as_dict(certificate: Certificate) -> dict[str, Any]:
    """Return a certificate's fields, with its status in one word."""
    return asdict(certificate) | {"status": certificate.status}


def _deploy(lines: str | Sequence[str] | None, threshold: float, rows: ScoredRows) -> list[str]:
    """Return the lines of code that put the boundary to use."""
    if isinstance(lines, str):
        return lines.splitlines()
    if lines is not None:
        return [str(line) for line in lines]
    negative, positive = rows.labels
    scores = "predict_proba(X_new)[:, 1]" if is_probability(rows) else "decision_function(X_new)"
    return [
        "import numpy as np",
        f"scores = model.{scores}  # as in this report",
        f"decisions = np.where(scores > {threshold!r}, {positive!r}, {negative!r})",
    ]


def _plain(value: Any) -> Any:
    """Return a value that JSON can hold; what is not finite becomes None."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value) if np.isfinite(float(value)) else None
    return value if value is None else str(value)

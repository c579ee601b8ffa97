"""All facts of a report as one plain dict; nothing here knows of markup."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift import __version__
from boundshift.curves.uniform import clopper_pearson, uniform_bound
from boundshift.exceptions import InvalidInputError
from boundshift.promises.certificate import Certificate, Scores, certify_counts
from boundshift.report.calibration import collect_calibration
from boundshift.report.claims import collect_claims
from boundshift.report.comparison import collect_comparison, compare_thresholds
from boundshift.report.diagnosis import diagnose
from boundshift.report.goal import judge_goal
from boundshift.report.paired import compare_pairs
from boundshift.report.paired_rows import PairedRows
from boundshift.report.projection import collect_projection
from boundshift.report.row_details import RowDetails
from boundshift.report.stops import collect_stops
from boundshift.report.subgroups import collect_subgroups
from boundshift.report.trade_offs import collect_decision_curve, collect_precision_recall
from boundshift.report.verdict import JudgedOn, decide_verdict
from boundshift.result.boundary import Boundary
from boundshift.result.text import class_rows
from boundshift.rules import Rule
from boundshift.scores.sample import ScoreSample
from boundshift.validation import as_choice, as_scores, as_share, is_finite
from boundshift.view.axis import choose_axis, is_probability
from boundshift.view.rows import as_score, count_wrong_at, read_sample, settle_boundary
from boundshift.view.words import claim_text, read_names

__all__ = ["collect_facts"]

Pair = tuple[ArrayLike, ArrayLike]


def collect_facts(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: object = None,
    boundary: Boundary | None = None,
    old_threshold: float | None = None,
    test: Pair | None = None,
    training: Pair | None = None,
    scores: Scores = "held-out",
    comparison: Iterable[Mapping[str, Any]] | None = None,
    confidence: float = 0.95,
    model: str | None = None,
    names: Mapping[str, object] | None = None,
    interval: tuple[float, float] | None = None,
    deploy: str | Sequence[str] | None = None,
    chosen_here: bool = True,
    prevalence: float | None = None,
    details: RowDetails | None = None,
    columns: Sequence[Sequence[str]] | None = None,
    shell: str | None = None,
    top: str | None = None,
) -> dict[str, Any]:
    """Collect everything that a report says, as plain values that JSON can hold.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n_samples,)
        Two labels, and the scores on which the boundary was chosen.
    pos_label : label, default=None
        The positive class; None takes that of the boundary, or the greater label.
    boundary : Boundary, default=None
        What was chosen, with its labels; None finds it with :func:`~boundshift.find_boundary`.
    old_threshold : float, default=None
        The model's own threshold; None takes 0.5 if all scores lie from 0 to 1, and 0 otherwise.
    test : pair (labels, scores), default=None
        Rows that were used for nothing else. The verdict is certified on them; without them it
        says what is nominal.
    training : pair (labels, scores), default=None
        Scores of the rows that the model was fitted on, to show how much they flatter it.
    scores : {"held-out", "out-of-fold", "training"}, default="held-out"
        Where `y_score` comes from: rows that the model has not seen, rows left out in
        cross-validation, or rows that it was fitted on.
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
    chosen_here : bool, default=True
        Whether `boundary` was chosen on `y_true` and `y_score`. If not, they are test rows, and
        `test` is left out.
    prevalence : float, default=None
        Share of the positive class where decisions are made, for precision and alarms; None takes
        that of the rule, else that of the rows of the verdict.
    details : RowDetails, default=None
        The model's own probabilities, groups, decisions of other methods, and the costs or weights
        that chose the boundary, for the rows of the verdict in their order.
    columns : sequence of (name, made of it, why, missing values), default=None
        What was made of the columns of a table.
    shell : str, default=None
        A line of the shell that predicts with a threshold, where it says ``{threshold}``.
    top : str, default=None
        A line of the shell that finds the rows with the highest scores, as many as ``{top}``.

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
    Of 100 sick rows the shifted model is expected to miss 14 instead of 20, in the long run at most
    24.7% with 95% confidence. Of 1,000 rows, with 91 sick rows among them, it flags ...
    """
    confidence = as_share("confidence", confidence)
    as_choice("scores", scores, ("held-out", "out-of-fold", "training"))
    boundary, deciding = settle_boundary(y_true, y_score, boundary, pos_label=pos_label)
    labels = boundary.labels
    tested, trained = (
        _read_pair(name, pair, labels) for name, pair in (("test", test), ("training", training))
    )
    old = _old_threshold(old_threshold, deciding)
    interval = _interval(interval)
    told = read_names(names, labels)
    tested = _test_rows(tested, deciding, chosen_here, boundary)
    judged_on: JudgedOn = "deciding" if tested is None else "test"
    judging = deciding if tested is None else tested
    is_positive, judged_scores = _in_order(test or (y_true, y_score), labels)
    details = (details or RowDetails()).check(len(judged_scores))
    share = _prevalence(prevalence, boundary.rule, judging.n_samples)
    seen: Scores = scores if tested is None else "held-out"
    after = _certify(judging, boundary.threshold, confidence, judged_on == "deciding", seen)
    before = _certify(judging, old, confidence, False, seen)
    geometry = boundary.geometry
    means = [as_score(boundary, mean) for mean in geometry.means] if geometry else []
    drawn = [deciding] if tested is None else [deciding, tested]
    axis = choose_axis(drawn, [boundary.threshold, old, *means])
    if comparison is None:
        methods = {"model's own threshold": old, "shifted": boundary.threshold}
        comparison = compare_thresholds(judging, methods)
    comparison = list(comparison)
    table = collect_comparison(comparison)
    verdict = decide_verdict(after, before, judged_on, share, told)
    diagnosis = diagnose(
        boundary=boundary,
        judging=judging,
        certificate=after,
        training=trained,
        trained_on=scores == "training",
        interval=interval,
        old_threshold=old,
        precision=verdict["alarms"]["precision"],
        names=told,
    )
    rows = _pair_rows(is_positive, judged_scores > old, judged_scores > boundary.threshold, details)
    aimed_at = _weighted_prevalence(prevalence, boundary.rule, rows, share)
    goal = judge_goal(boundary, rows, after, judged_on, aimed_at, told, details.column)
    stops = collect_stops(judging, axis, {"old": old, "shifted": boundary.threshold}, confidence)
    own = None if details.probability is None else np.asarray(details.probability)
    facts = {
        "format": 1,
        "version": __version__,
        "model": None if model is None else str(model),
        "names": asdict(told),
        "labels": [str(label) for label in labels],
        "confidence": confidence,
        "scores": scores,
        "judged_on": judged_on,
        "rows": {
            "deciding": deciding.n_samples if chosen_here else boundary.n_samples,
            "test": None if tested is None else tested.n_samples,
            "training": None if trained is None else trained.n_samples,
        },
        "boundary": boundary.to_dict() | _explain(boundary),
        "old": {"threshold": old},
        "interval": interval,
        "rates": {
            name: {
                "precision": c.rates(share).precision,
                "together": _together(c),
            }
            for name, c in (("shifted", after), ("old", before))
        },
        "certificates": {"shifted": _as_dict(after), "old": _as_dict(before)},
        "prevalence": {"share": share, "rows": judging.n_samples[1] / sum(judging.n_samples)},
        "goal": goal,
        "zone": None,
        "verdict": verdict | {"caution": _caution(after, diagnosis, goal)},
        "comparison": table
        | {
            "paired": compare_pairs(
                comparison,
                rows,
                judged_scores,
                details.decisions,
                confidence,
                told,
                boundary.rule,
                aimed_at,
            )
        },
        "diagnosis": diagnosis,
        "claims": collect_claims(after, before, boundary, judged_on, scores, told),
        "columns": columns or [],
        "deploy": _deploy(deploy, boundary, deciding),
        "shell": shell or _shell(boundary),
        "top": top,
        "axis": {"kind": axis.kind, "low": axis.low, "high": axis.high, "ticks": axis.ticks()},
        "drawn": deciding.n_samples,
        "rows_drawn": "deciding" if chosen_here else "test",
        "projection": collect_projection(deciding, replace(boundary, geometry=None), axis),
        "paper": geometry and collect_projection(deciding, boundary, axis),
        "stops": stops,
        "precision_recall": collect_precision_recall(stops, judging.n_samples, share),
        "decision_curve": collect_decision_curve(
            {"shifted": after.errors, "old": before.errors},  # type: ignore[dict-item]
            share,
            None if own is None else (is_positive, own),
        ),
        "calibration": None
        if own is None
        else collect_calibration(is_positive, own, confidence, told),
        "subgroups": collect_subgroups(
            is_positive, judged_scores > boundary.threshold, details.groups, confidence
        ),
    }
    return dict(_plain(facts))


def _test_rows(
    tested: ScoreSample | None, deciding: ScoreSample, chosen_here: bool, boundary: Boundary | None
) -> ScoreSample | None:
    """Return the rows that test, which are the only ones where the boundary was chosen before."""
    if chosen_here:
        return tested
    if tested is not None or boundary is None:
        raise InvalidInputError(
            "`chosen_here` must be True where `test` is given or no boundary is, got False. Pass "
            "the test rows as y_true and y_score, with the boundary."
        )
    return deciding


def _in_order(
    pair: Sequence[ArrayLike], labels: tuple[Any, Any]
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return which rows are positive, and their scores, in the order in which they were given."""
    return np.asarray(np.asarray(pair[0]) == labels[1], dtype=np.bool_), as_scores(pair[1])


def _prevalence(given: float | None, rule: Rule, n_samples: tuple[int, int]) -> float:
    """Return the share of the positive class where decisions are made."""
    asked = getattr(rule, "prevalence", None) if given is None else given
    if asked is None:
        return n_samples[1] / sum(n_samples)
    return as_share("prevalence", asked, "Use 0.02 for one in fifty.")


def _pair_rows(
    is_positive: NDArray[np.bool_],
    old: NDArray[np.bool_],
    new: NDArray[np.bool_],
    details: RowDetails,
) -> PairedRows:
    """Return the rows that judge, with what each counts or costs."""
    amount = details.sample_weight if details.row_cost is None else details.row_cost
    counted = None if amount is None else np.asarray(amount, dtype=np.float64)
    return PairedRows(is_positive, old, new, counted, shares=details.row_cost is None)


def _weighted_prevalence(given: float | None, rule: Rule, rows: PairedRows, share: float) -> float:
    """Return the share of positives for the goal, by weight where rows have weights."""
    if rows.amount is None or not rows.shares or given is not None:
        return share
    if getattr(rule, "prevalence", None) is not None:
        return share
    return float(rows.amount[rows.is_positive].sum() / rows.amount.sum())


def _caution(
    certificate: Certificate, diagnosis: Mapping[str, Any], goal: Mapping[str, Any] | None
) -> str | None:
    """Say beside a claim that holds what it does not amount to."""
    proof = next(f for f in diagnosis["findings"] if f["key"] == "proof")
    if not certificate.certified or proof["level"] != "bad":
        return None
    despite = "That the goal is met" if goal and goal["state"] == "met" else "What is certified"
    return (
        f"{despite} does not make the model good: these rows do not show that it is better than "
        "guessing."
    )


def _together(certificate: Certificate) -> list[float]:
    """Return bounds of false alarms, misses and hits that hold together, as its rates have them."""
    flagged, missed = certificate.wrong
    negative, positive = certificate.n_samples
    counts = ((flagged, negative), (missed, positive), (positive - missed, positive))
    bound = uniform_bound if certificate.method == "uniform" else clopper_pearson
    delta = (1 - certificate.confidence) / len(counts)
    return [float(bound(k, n, delta)) for k, n in counts]


def _shell(boundary: Boundary) -> str:
    """Return a line that decides with a threshold, where there is no model to predict with."""
    negative, positive = boundary.labels
    return f"decisions = np.where(scores > {{threshold}}, {positive!r}, {negative!r})"


def _read_pair(name: str, pair: object, labels: tuple[Any, Any]) -> ScoreSample | None:
    """Return a pair of labels and scores as a sample."""
    if pair is None:
        return None
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise InvalidInputError(
            f"`{name}` must be a pair (labels, scores), got {type(pair).__name__}. "
            f"Use {name}=(y, scores)."
        )
    return read_sample(pair[0], pair[1], labels, name)


def _old_threshold(threshold: float | None, sample: ScoreSample) -> float:
    """Return the model's own threshold."""
    if threshold is None:
        return 0.5 if is_probability(sample) else 0.0
    return _finite("old_threshold", threshold)


def _finite(name: str, value: object) -> float:
    """Return a finite float."""
    if is_finite(value) and not isinstance(value, bool):
        return float(value)  # type: ignore[arg-type]
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
    sample: ScoreSample, threshold: float, confidence: float, chosen_here: bool, scores: Scores
) -> Certificate:
    """Bound both error rates at a threshold."""
    flagged, missed = count_wrong_at(sample, threshold)
    return certify_counts(
        (int(flagged), int(missed)),
        sample.n_samples,
        sample.labels,
        confidence=confidence,
        chosen_here=chosen_here,
        scores=scores,
        threshold=threshold,
    )


def _explain(boundary: Boundary) -> dict[str, Any]:
    """Return what a boundary says of itself, in words and as rows of a table."""
    return {
        "message": boundary.message,
        "claim": claim_text(boundary),
        "made_by": f"{boundary.curve} and {boundary.rule}",
        "table": [{"title": title, "values": pair} for title, pair in class_rows(boundary)],
    }


def _as_dict(certificate: Certificate) -> dict[str, Any]:
    """Return a certificate's fields, and whether it holds for the deployed model."""
    return asdict(certificate) | {"certified": certificate.certified}


def _deploy(
    lines: str | Sequence[str] | None, boundary: Boundary, sample: ScoreSample
) -> list[str]:
    """Return the lines of code that put the boundary to use."""
    if isinstance(lines, str):
        return lines.splitlines()
    if lines is not None:
        return [str(line) for line in lines]
    negative, positive = boundary.labels
    # Responses of scikit-learn point to the greater label, which is the last column.
    points_up = bool(positive > negative)
    scores = f"{'' if points_up else '-'}model.decision_function(X_new)"
    if is_probability(sample):
        scores = f"model.predict_proba(X_new)[:, {int(points_up)}]"
    return [
        "import numpy as np",
        f"scores = {scores}  # as in this report",
        f"decisions = np.where(scores > {boundary.threshold!r}, {positive!r}, {negative!r})",
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

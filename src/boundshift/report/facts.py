"""All facts of a report as one plain dict; nothing here knows of markup."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift import __version__
from boundshift.curves import Empirical
from boundshift.curves.uniform import clopper_pearson, uniform_bound
from boundshift.exceptions import InvalidInputError
from boundshift.promises.certificate import Certificate, Scores, certify_counts
from boundshift.report.evidence import Evidence, JudgedOn, PairedRows, RowDetails
from boundshift.report.goal import judge_goal
from boundshift.report.page import Report
from boundshift.report.panels import (
    MOST_LEVELS,
    collect_calibration,
    collect_comparison,
    collect_decision_curve,
    collect_precision_recall,
    collect_projection,
    collect_stops,
    collect_subgroups,
    compare_pairs,
)
from boundshift.report.sentences import collect_claims, diagnose, say_verdict
from boundshift.result.boundary import Boundary
from boundshift.rules import Cost
from boundshift.scores import ScoreSample
from boundshift.validation import as_choice, as_labels, as_scores, as_share, is_finite, own_cost
from boundshift.view.axis import choose_axis, is_probability
from boundshift.view.rows import (
    as_score,
    count_wrong_at,
    metrics_at,
    read_sample,
    settle_boundary,
)
from boundshift.words import claim_text, class_rows, read_names

__all__ = ["check_levels", "collect_facts", "own_probability", "report_classifier"]


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
    nominal: str = "",
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
    nominal : str, default=""
        Why nothing is certified on the rows of the verdict, such as rows used in training.

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
    labels, threshold = boundary.labels, boundary.threshold
    tested, trained = (
        _read_pair(name, pair, labels) for name, pair in (("test", test), ("training", training))
    )
    if old_threshold is None:
        old_threshold = 0.5 if is_probability(deciding) else 0.0
    old = _finite("old_threshold", old_threshold)
    interval = _read_interval(interval)
    if not chosen_here and tested is not None:
        raise InvalidInputError(
            "`chosen_here` must be True where `test` is given or no boundary is, got False. Pass "
            "the test rows as y_true and y_score, with the boundary."
        )
    tested = tested if chosen_here else deciding
    judging, judged_on = (
        (deciding, JudgedOn.DECIDING) if tested is None else (tested, JudgedOn.TEST)
    )
    judged_labels, judged_scores = test or (y_true, y_score)
    is_positive = np.asarray(as_labels(judged_labels) == labels[1], dtype=np.bool_)
    judged_scores = as_scores(judged_scores)
    details = (details or RowDetails()).check(len(judged_scores))
    amount = details.sample_weight
    if details.row_cost is not None:
        amount = own_cost(np.asarray(details.row_cost), is_positive)
    rows = PairedRows(
        is_positive,
        judged_scores > old,
        judged_scores > threshold,
        None if amount is None else np.asarray(amount),
        shares=details.row_cost is None,
    )
    share = judging.n_samples[1] / sum(judging.n_samples)
    asked = getattr(boundary.rule, "prevalence", None) if prevalence is None else prevalence
    if asked is not None:
        share = as_share("prevalence", asked, "Use 0.02 for one in fifty.")
    weighted_share = share
    if rows.amount is not None and rows.shares and asked is None:
        weighted_share = float(rows.amount[is_positive].sum() / rows.amount.sum())
    shifted, own = (
        certify_counts(
            tuple(map(int, count_wrong_at(judging, cut))),
            judging.n_samples,
            labels,
            confidence=confidence,
            chosen_here=chosen and judged_on == JudgedOn.DECIDING,
            scores=scores if tested is None else "held-out",
            threshold=cut,
        )
        for cut, chosen in ((threshold, True), (old, False))
    )
    if nominal:
        shifted, own = (replace(c, status="nominal", reason=nominal) for c in (shifted, own))
    evidence = Evidence(
        boundary=boundary,
        names=read_names(names, labels),
        confidence=confidence,
        origin=scores,
        judged_on=judged_on,
        deciding=deciding,
        judging=judging,
        training=trained,
        old_threshold=old,
        interval=interval,
        prevalence=share,
        weighted_prevalence=weighted_share,
        shifted=shifted,
        old=own,
        rows=rows,
        scores=judged_scores,
        details=details,
    )
    if comparison is None:
        comparison = [
            {"method": name} | metrics_at(judging, cut) | {"threshold": cut}
            for name, cut in (("model's own threshold", old), ("shifted", threshold))
        ]
    facts = {
        "format": 1,
        "version": __version__,
        "model": None if model is None else str(model),
        "names": asdict(evidence.names),
        "labels": [str(label) for label in labels],
        "confidence": confidence,
        "scores": scores,
        "judged_on": judged_on,
        "rows": {
            "deciding": deciding.n_samples if chosen_here else boundary.n_samples,
            "test": None if tested is None else tested.n_samples,
            "training": None if trained is None else trained.n_samples,
        },
        "boundary": boundary.to_dict()
        | {
            "message": boundary.message,
            "claim": claim_text(boundary),
            "made_by": f"{boundary.curve} and {boundary.rule}",
            "table": [{"title": title, "values": pair} for title, pair in class_rows(boundary)],
        },
        "old": {"threshold": old},
        "interval": interval,
        **_judge(evidence, list(comparison)),
        "columns": columns or [],
        "deploy": _deploy(deploy, boundary, deciding),
        "shell": shell
        or f"decisions = np.where(scores > {{threshold}}, {labels[1]!r}, {labels[0]!r})",
        "top": top,
        "drawn": deciding.n_samples,
        "rows_drawn": "deciding" if chosen_here else "test",
        **_draw(evidence),
    }
    return dict(_plain(facts))


def _judge(evidence: Evidence, comparison: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what is said about the boundary."""
    certificates = {"shifted": evidence.shifted, "old": evidence.old}
    share, n = evidence.prevalence, evidence.judging.n_samples
    table = collect_comparison(comparison)
    diagnosis, goal = diagnose(evidence), judge_goal(evidence)
    return {
        "rates": {
            name: {"precision": c.rates(share).precision, "together": _together(c)}
            for name, c in certificates.items()
        },
        "certificates": {
            name: asdict(c) | {"certified": c.certified} for name, c in certificates.items()
        },
        "prevalence": {"share": share, "rows": n[1] / sum(n)},
        "goal": goal,
        "zone": None,
        "verdict": say_verdict(evidence, diagnosis, goal),
        "comparison": table | {"paired": compare_pairs(comparison, evidence)},
        "diagnosis": diagnosis,
        "claims": collect_claims(evidence),
    }


def _draw(evidence: Evidence) -> dict[str, Any]:
    """Return what is drawn."""
    boundary, deciding, judging = evidence.boundary, evidence.deciding, evidence.judging
    names, confidence, share = evidence.names, evidence.confidence, evidence.prevalence
    is_positive, probability = evidence.rows.is_positive, evidence.details.probability
    marks = {"old": evidence.old_threshold, "shifted": boundary.threshold}
    geometry = boundary.geometry
    means = [as_score(boundary, mean) for mean in geometry.means] if geometry else []
    axis = choose_axis([deciding, judging], [*marks.values(), *means])
    stops = collect_stops(judging, axis, marks, confidence)
    own = None if probability is None else (is_positive, np.asarray(probability))
    errors = {"shifted": evidence.shifted.errors, "old": evidence.old.errors}
    groups = evidence.details.groups
    return {
        "axis": {"kind": axis.kind, "low": axis.low, "high": axis.high, "ticks": axis.ticks()},
        "projection": collect_projection(deciding, replace(boundary, geometry=None), axis),
        "paper": geometry and collect_projection(deciding, boundary, axis),
        "stops": stops,
        "precision_recall": collect_precision_recall(stops, judging.n_samples, share),
        "decision_curve": collect_decision_curve(errors, share, own),
        "calibration": own and collect_calibration(*own, confidence, names),
        "subgroups": collect_subgroups(is_positive, evidence.rows.new, groups, confidence),
    }


def _together(certificate: Certificate) -> list[float]:
    """Return bounds of false alarms, misses and hits that hold together, as its rates have them."""
    flagged, missed = certificate.wrong
    negative, positive = certificate.n_samples
    counts = ((flagged, negative), (missed, positive), (positive - missed, positive))
    bound = uniform_bound if certificate.method == "uniform" else clopper_pearson
    delta = (1 - certificate.confidence) / len(counts)
    return [float(bound(k, n, delta)) for k, n in counts]


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


def _finite(name: str, value: object) -> float:
    """Return a finite float."""
    if is_finite(value) and not isinstance(value, bool):
        return float(value)  # type: ignore[arg-type]
    raise InvalidInputError(f"`{name}` must be a finite number, got {value!r}.")


def _read_interval(interval: object) -> tuple[float, float] | None:
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
    if is_dataclass(value):
        return {key: _plain(item) for key, item in vars(value).items()}
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


def report_classifier(
    classifier: Any,
    X: Any,
    y: ArrayLike,
    *,
    names: Mapping[str, object] | None = None,
    confidence: float = 0.95,
    prevalence: float | None = None,
    by: str | Sequence[str] | None = None,
    row_cost: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    nominal: str = "",
) -> Report:
    """Report on a fitted :class:`~boundshift.BoundShiftClassifier`; see its method ``report``.

    `nominal` is why nothing is certified on these rows; empty where it is.
    """
    if len(classifier.classes_) > 2:
        raise InvalidInputError(
            f"`report` must have a classifier of two classes, got {len(classifier.classes_)}: "
            f"{', '.join(map(repr, classifier.classes_.tolist()))}. Use `certificate_`, which "
            "bounds the errors of each class, or fit and report on one class against the rest."
        )
    scores = classifier.positive_scores(X)
    inner = classifier.estimator_
    steps = getattr(inner, "steps", [(None, inner)])
    _check_row_cost(classifier, row_cost)
    details = RowDetails(
        probability=own_probability(classifier, X),
        groups=_groups(X, by),
        row_cost=row_cost,
        sample_weight=sample_weight,
    )
    facts = collect_facts(
        y,
        scores,
        boundary=classifier.boundary_,
        old_threshold=0.5 if classifier.boundary_.scale == "probability" else 0.0,
        chosen_here=False,
        confidence=confidence,
        prevalence=prevalence,
        model=type(steps[-1][1]).__name__,
        names=names,
        details=details,
        deploy=["labels = shifted.predict(X_new)  # the classifier that this report is about"],
        shell="shifted.positive_scores(X_new) > {threshold}",
        nominal=nominal,
    )
    return Report(facts)


def _check_row_cost(classifier: Any, row_cost: ArrayLike | None) -> None:
    """Raise unless costs by row are given if and only if they chose the boundary."""
    boundary = classifier.boundary_
    # No other goal has a cost and counts, unless a curve that counts was asked for.
    chosen_by = boundary.rule == Cost() and boundary.curve == Empirical()
    if row_cost is None and chosen_by and classifier.curve is None:
        raise InvalidInputError(
            "`row_cost` must be given, since what rows cost chose the boundary, got None. Use "
            "report(X, y, row_cost=amount) with the amounts of these rows."
        )
    if row_cost is not None and not chosen_by:
        raise InvalidInputError(
            "`row_cost` must be left out, since it did not choose the boundary, got one. Use "
            "fit(X, y, row_cost=amount) first."
        )


def own_probability(classifier: Any, X: Any) -> NDArray[np.float64] | None:
    """Return the inner model's probability of the positive class, None where it has none."""
    inner, positive = classifier.estimator_, classifier.boundary_.labels[1]
    if not hasattr(inner, "predict_proba"):
        return None
    place = list(inner.classes_).index(positive)
    return np.asarray(inner.predict_proba(X), dtype=np.float64)[:, place]


def _groups(X: Any, by: str | Sequence[str] | None) -> dict[str, Any]:
    """Return the columns that divide rows into groups: those named, else words with few values."""
    columns = [str(name) for name in getattr(X, "columns", ())]
    if by is None:
        words = {name: np.asarray(X[name], dtype=object) for name in getattr(X, "columns", ())}
        return {
            str(name): values
            for name, values in words.items()
            if not all(isinstance(value, int | float | np.number) for value in values)
            and len({str(value) for value in values}) <= MOST_LEVELS
        }
    wanted = [by] if isinstance(by, str) else [str(name) for name in by]
    for name in wanted:
        if name not in columns:
            known = ", ".join(columns) or "none: X is no dataframe"
            raise InvalidInputError(
                f"`by` must name columns of X, got {name!r}. The columns are {known}."
            )
    return {name: check_levels(name, X[name]) for name in wanted}


def check_levels(name: str, values: Any) -> NDArray[Any]:
    """Return a column of groups; raise if it has too many, or only one."""
    column = np.asarray(values, dtype=object)
    levels = len({str(value) for value in column})
    if not 2 <= levels <= MOST_LEVELS:
        raise InvalidInputError(
            f"`by` must name a column with 2 to {MOST_LEVELS} different values, got {name!r} with "
            f"{levels}. Cut numbers into classes first, or name another column."
        )
    return column

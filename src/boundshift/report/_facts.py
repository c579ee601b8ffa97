"""Everything that a report says, as plain values that JSON can hold."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from boundshift import __version__
from boundshift._guarantees.certificate import Certificate, Origin
from boundshift._guarantees.zone import Zone
from boundshift._result.boundary import Boundary
from boundshift._typing import Facts
from boundshift._words import claim_text, class_rows, column_name, sentence
from boundshift.curves._uniform import clopper_pearson, uniform_bound
from boundshift.report._evidence import ColumnUse, Doubt, Evidence, RowDetails, gather_evidence
from boundshift.report._goal import Aim
from boundshift.report._judgement import (
    OF_RANKING,
    Ranking,
    Separation,
    diagnose,
    reach_verdict,
)
from boundshift.report._panels import Lead, compare, panels
from boundshift.report._sentences import (
    WHERE,
    diagnosis_facts,
    explain_metrics,
    goal_facts,
    lead_text,
    verdict_facts,
    zone_facts,
)

_CERTIFICATE = ("status", "certified", "method", "errors", "error_bounds", "wrong")


def collect_facts(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: object = None,
    boundary: Boundary | None = None,
    old_threshold: float | Literal["auto"] | None = "auto",
    test: tuple[ArrayLike, ArrayLike] | None = None,
    scores: Origin = "held-out",
    comparison: Iterable[Facts] | None = None,
    confidence: float = 0.95,
    model: str | None = None,
    case_name: str | None = None,
    positive_name: str | None = None,
    negative_name: str | None = None,
    title: str | None = None,
    target: str | None = None,
    interval: tuple[float, float] | None = None,
    chosen_here: bool = True,
    prevalence: float | None = None,
    details: RowDetails | None = None,
    columns: Sequence[ColumnUse] = (),
    shell: str | None = None,
    top: str | None = None,
    doubt: Doubt | None = None,
    zone: Zone | None = None,
) -> Facts:
    """Collect everything that a report says, as plain values that JSON can hold.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n_samples,)
        Two labels, and the scores on which the boundary was chosen.
    pos_label : label, default=None
        The positive class; None takes that of the boundary, or the greater label.
    boundary : Boundary, default=None
        What was chosen, with its labels; None finds it with :func:`~boundshift.find_boundary`.
    old_threshold : float, "auto" or None, default="auto"
        The model's own threshold. "auto" takes 0.5 if all scores lie from 0 to 1, as
        probabilities do. Of other scores nothing is known, as with None: the report then compares
        with nothing.
    test : pair (labels, scores), default=None
        Rows that were used for nothing else, on which the verdict is certified.
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
    case_name : str, default=None
        What a row is, in the plural: "customers". None says "rows".
    positive_name : str, default=None
        What the positive class is called: an adjective ("sick"), a relative clause ("who churn"),
        or a noun in the plural ("churners", "ill patients"). None uses `target` and the label, as
        in "customers with churn = yes".
    negative_name : str, default=None
        The same for the negative class; with a `positive_name`, None says "other customers".
    title : str, default=None
        Title of the page.
    target : str, default=None
        Name of the column of labels; None takes that of `y_true`, if it has one.
    interval : pair of float, default=None
        What :func:`~boundshift.threshold_interval` returned.
    chosen_here : bool, default=True
        Whether `boundary` was chosen on `y_true` and `y_score`. If not, they are test rows, and
        `test` is left out.
    prevalence : float, default=None
        Share of the positive class where decisions are made, for precision and alarms; None takes
        that of the rule, else that of the rows of the verdict.
    details : RowDetails, default=None
        The model's own probabilities, groups, costs and clusters of the rows of the verdict, in
        their order.
    columns : sequence of ColumnUse, default=()
        How the columns of a table were used.
    shell : str, default=None
        A line that predicts with a threshold, written as ``{threshold}``.
    top : str, default=None
        A shell command that finds the ``{top}`` rows with the highest scores.
    doubt : Doubt, default=None
        Why nothing can be certified on the rows of the verdict, such as rows used in training.
    zone : Zone, default=None
        Two limits, found on scores of rows that the model has not seen, to be counted on the rows
        of the verdict.

    Returns
    -------
    dict
        Strings, numbers, lists and dicts only, without NaN or infinity.

    See Also
    --------
    boundshift.report.Report : The page.

    Examples
    --------
    >>> import numpy as np
    >>> from boundshift.report import collect_facts
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [500, 50])
    >>> scores = [rng.normal(3 * y - 2, 1) for _ in range(2)]
    >>> facts = collect_facts(y, scores[0], test=(y, scores[1]), positive_name="sick")
    >>> print(facts["verdict"]["sentences"][0])
    Out of 100 sick rows, the new threshold misses about 8, in the long run at most 17.4% with 95%
    confidence. Out of 100 other rows, the new threshold flags about 4, ...
    """
    evidence = gather_evidence(
        y_true,
        y_score,
        pos_label=pos_label,
        boundary=boundary,
        old_threshold=old_threshold,
        test=test,
        scores=scores,
        confidence=confidence,
        names={
            "case_name": case_name,
            "positive_name": positive_name,
            "negative_name": negative_name,
            "title": title,
            "target": target or column_name(y_true),
        },
        interval=interval,
        chosen_here=chosen_here,
        prevalence=prevalence,
        details=details,
        doubt=doubt,
        zone=zone,
    )
    compared, lead = compare(None if comparison is None else list(comparison), evidence)
    labels = f"{evidence.boundary.labels[1]!r}, {evidence.boundary.labels[0]!r}"
    return as_plain(
        {
            **_facts_of(evidence, compared, lead),
            "model": model,
            "importance_of": Aim(evidence).title,
            "columns": sorted(columns, key=lambda column: column.used),
            "shell": shell or f"decisions = np.where(scores > {{threshold}}, {labels})",
            "top": top,
        }
    )


def _facts_of(evidence: Evidence, compared: Facts, lead: Lead | None) -> Facts:
    """Return what follows from evidence, counted, judged and in sentences."""
    verdict = reach_verdict(evidence)
    diagnosis = diagnose(evidence, lead.best if lead and lead.is_better_method else None)
    goal = goal_facts(evidence, diagnosis.goal)
    return {
        "kind": "two classes",
        "version": __version__,
        "names": evidence.names,
        "labels": [str(label) for label in evidence.boundary.labels],
        "confidence": evidence.confidence,
        "judged_on": evidence.judged_on,
        "counted_on": WHERE[evidence.judged_on],
        "n": evidence.sample.n_samples,
        "chosen_on": evidence.boundary.n_samples,
        "clusters": evidence.certificate.n_clusters,
        "boundary": _boundary_facts(evidence.boundary, diagnosis.separation),
        "old": {"threshold": evidence.own_threshold},
        "interval": evidence.interval,
        "certificate": _certificate_facts(evidence),
        "prevalence": evidence.prevalence,
        "goal": goal,
        "verdict": verdict_facts(verdict, evidence),
        "diagnosis": diagnosis_facts(diagnosis, evidence),
        "zone": None if evidence.zone is None else zone_facts(evidence.zone, evidence),
        "judgement": {**vars(verdict), **vars(diagnosis), "lead": lead},
        "comparison": {**compared, "lead": lead_text(lead, evidence)},
        "words": explain_metrics(("g_mean", *compared["metrics"]), evidence.names),
        **panels(evidence),
    }


def _boundary_facts(boundary: Boundary, separation: Separation) -> Facts:
    texts = [boundary.detail or boundary.status.message]
    texts += [remark.message for remark in boundary.remarks]
    hidden = () if separation.ranking == Ranking.SEPARATES else OF_RANKING
    shown = [t for status, t in zip(boundary.statuses, texts, strict=True) if status not in hidden]
    return {
        "threshold": boundary.threshold,
        "message": " ".join(filter(None, [*shown, boundary.caution])),
        "claim": claim_text(boundary),
        "table": [{"title": title, "values": pair} for title, pair in class_rows(boundary)],
    }


def _certificate_facts(evidence: Evidence) -> Facts:
    """Return the certificate of single rows, with what follows from its counts."""
    certificate = evidence.by_row
    together = _together(certificate)
    hits = evidence.prevalence * (1 - together[1])
    alarmed = (1 - evidence.prevalence) * together[0]
    return {
        **{key: getattr(certificate, key) for key in _CERTIFICATE},
        "precision": hits / (hits + alarmed) if hits > 0 else 0.0,
        "together": together,
        "reason": sentence(certificate.reason),
    }


def _together(certificate: Certificate) -> list[float]:
    """Return bounds of false alarms, misses and hits that hold together, as its rates have them."""
    flagged, missed = certificate.wrong
    negative, positive = certificate.n_samples
    counts = ((flagged, negative), (missed, positive), (positive - missed, positive))
    bound = uniform_bound if certificate.method == "uniform" else clopper_pearson
    delta = (1 - certificate.confidence) / len(counts)
    return [float(bound(k, n, delta)) for k, n in counts]


def as_plain(facts: Mapping[str, object]) -> Facts:
    """Return facts whose records are mappings and whose numbers are finite or None."""
    return {name: _plain(value) for name, value in facts.items()}


def _plain(value: object) -> object:
    """Return a value that JSON can hold; what is not finite becomes None."""
    if is_dataclass(value):
        value = vars(value)
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

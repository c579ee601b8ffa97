"""The boundary and the certificate of data bigger than memory, whatever engine reads it."""

from __future__ import annotations

from typing import Any, get_args

from boundshift.boundary import choose_claims, decide_on, make_decision, warn_of
from boundshift.curves import ErrorCurve
from boundshift.exceptions import InvalidInputError
from boundshift.promises.certificate import (
    Certificate,
    Scores,
    certify_counts,
    certify_weights,
    count_at_threshold,
    read_threshold,
)
from boundshift.promises.zone import Zone, as_errors, zone_of
from boundshift.result.boundary import Boundary
from boundshift.rules import Rule
from boundshift.scores.log_odds import Scale
from boundshift.streaming.dispatch import open_columns
from boundshift.streaming.driver import decide_in_passes
from boundshift.streaming.source import ColumnNames, Progress
from boundshift.validation import as_choice, as_share

__all__ = ["scan_boundary", "scan_certificate", "scan_zone"]


def scan_boundary(
    data: Any,
    *,
    label: str = "label",
    score: str = "score",
    weight: str | None = None,
    pos_label: object = None,
    element: int = -1,
    max_passes: int | None = None,
    progress: Progress | None = None,
    curve: str | ErrorCurve | None = None,
    rule: str | Rule | None = None,
    scale: Scale = "auto",
) -> Boundary:
    """Find the decision boundary of data that is read in passes and never held in memory.

    Parameters
    ----------
    data : path, glob, folder, list of them, frame, table, relation, or iterable of pairs
        Parquet, Feather, CSV, TSV or JSON lines, text also compressed; a DuckDB relation, such as
        ``connection.sql("SELECT ...")``; a Polars frame, lazy or not; a Spark or Dask frame; an
        Arrow table; or pairs (labels, scores), or triples with weights, as an iterable that can
        be read again or a function that makes one.
    label : str, default="label"
        Name of the column of labels.
    score : str, default="score"
        Name of the column of scores; in Spark also a column of vectors, such as
        ``rawPrediction``.
    weight : str, default=None
        Name of the column that says how often each row counts, as `sample_weight` does in
        :func:`boundshift.find_boundary`; None for once. Rows that count 0 times are left out.
    pos_label : label, default=None
        The positive class. None takes the greater label, to which scores point as those of
        scikit-learn do; words need it where the rule does not treat both classes alike.
    element : int, default=-1
        Which element of a Spark vector is the score; the last one is that of the positive class.
    max_passes : int, default=None
        Most passes over the data; None for as many as it takes to be exact. With fewer the
        boundary is an estimate, and its ``resolution`` says how coarse.
    progress : callable, default=None
        Called with the name of the pass, the number of parts read, and of all parts.
    curve, rule, scale
        As in :func:`boundshift.find_boundary`. Whether all scores lie in [0, 1] is known after the
        first pass: if the first rows do and others do not, that pass is made again.

    Returns
    -------
    Boundary
        That of :func:`boundshift.find_boundary` on the same rows in memory.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> chunks = [(y, rng.normal(size=1000) + 3 * y) for y in rng.random((5, 1000)) < 0.02]
    >>> boundary = scan_boundary(chunks, curve="smoothed")
    >>> round(boundary.threshold, 2), boundary.n_samples, boundary.resolution
    (1.63, (4894, 106), 0.0)
    """
    curve, rule = choose_claims(curve, rule)
    _check_passes(max_passes)
    boundary = decide_on(
        open_columns(data, ColumnNames(label, score, weight), element),
        make_decision(curve, rule),
        pos_label=pos_label,
        alike=rule.alike,
        scale=scale,
        max_passes=max_passes,
        progress=progress,
    )
    warn_of(boundary, stacklevel=3)
    return boundary


def scan_certificate(
    data: Any,
    threshold: float | Boundary,
    confidence: float = 0.95,
    *,
    label: str = "label",
    score: str = "score",
    pos_label: object = None,
    element: int = -1,
    progress: Progress | None = None,
    scores: Scores = "held-out",
    chosen_here: bool = False,
    joint: bool = False,
    weight: str | None = None,
) -> Certificate:
    """Bound each class's error rate at a boundary, on data that is read in passes.

    Parameters
    ----------
    data, label, score, pos_label, element, progress
        As in :func:`scan_boundary`.
    threshold, confidence, scores, chosen_here, joint
        As in :func:`boundshift.certify`.
    weight : str, default=None
        As in :func:`scan_boundary`; the certificate is nominal then.

    Returns
    -------
    Certificate
        That of :func:`boundshift.certify` on the same rows in memory.

    Examples
    --------
    >>> import numpy as np
    >>> chunks = [(np.repeat([0, 1], 50), np.repeat([0.2, 0.8], 50))] * 4
    >>> scan_certificate(chunks, 0.5).n_samples
    (200, 200)
    """
    t, pos_label = read_threshold(threshold, pos_label)
    as_choice("scores", scores, get_args(Scores))
    as_share("confidence", confidence)
    source = open_columns(data, ColumnNames(label, score, weight), element)
    options: dict[str, Any] = {"pos_label": pos_label, "progress": progress}
    if source.is_weighted:
        claims = {"confidence": confidence, "joint": joint, "chosen_here": chosen_here}
        certificate, _ = decide_in_passes(
            source, lambda sample: certify_weights(sample, t, **claims), **options
        )
        return certificate
    counts, _ = decide_in_passes(source, lambda sample: count_at_threshold(sample, t), **options)
    return certify_counts(
        *counts,
        confidence=confidence,
        joint=joint,
        chosen_here=chosen_here,
        scores=scores,
        threshold=t,
    )


def scan_zone(
    data: Any,
    errors: tuple[float, float] = (0.05, 0.05),
    confidence: float = 0.95,
    *,
    label: str = "label",
    score: str = "score",
    pos_label: object = None,
    element: int = -1,
    progress: Progress | None = None,
    scale: Scale = "auto",
) -> Zone:
    """Find the limits outside of which errors are few, on data that is read in passes.

    Parameters
    ----------
    data, label, score, element, progress
        As in :func:`scan_boundary`.
    errors, confidence, pos_label, scale
        As in :func:`boundshift.find_zone`.

    Returns
    -------
    Zone
        That of :func:`boundshift.find_zone` on the same rows in memory.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> chunks = [(y, rng.normal(size=1000) + 2 * y) for y in rng.random((5, 1000)) < 0.1]
    >>> zone = scan_zone(chunks, errors=(0.05, 0.1), pos_label=True)
    >>> round(zone.low, 1), round(zone.high, 1)
    (0.6, 1.7)
    """
    allowed = as_errors(errors)
    as_share("confidence", confidence)
    source = open_columns(data, ColumnNames(label, score), element)
    if source.is_weighted:
        raise InvalidInputError(
            "`data` must be pairs (labels, scores) for a zone, whose promises count rows, got "
            "triples with weights. Leave the weights out."
        )
    zone, _ = decide_in_passes(
        source,
        lambda sample: zone_of(sample, allowed, confidence, scale),
        pos_label=pos_label,
        alike=allowed[0] == allowed[1],
        progress=progress,
    )
    return zone


def _check_passes(passes: object) -> None:
    """Raise unless a number of passes is None or at least 1."""
    if passes is None or (isinstance(passes, int) and passes is not True and passes >= 1):
        return
    raise InvalidInputError(
        f"`max_passes` must be a whole number of at least 1, got {passes!r}. Use None for as many "
        "as it takes to be exact."
    )

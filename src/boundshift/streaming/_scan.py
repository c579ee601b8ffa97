"""The boundary and the certificate of data bigger than memory, whatever engine reads it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, get_args

import numpy as np

from boundshift._boundary import choose_claims, decide, decide_on
from boundshift._promises.certificate import Certificate, Scores, certify_counts
from boundshift._promises.certify import check_known, read_threshold, state_choice
from boundshift._promises.zone import Zone, as_errors, zone_of
from boundshift._result.boundary import Boundary, warn_of
from boundshift._scores import Scale, ScoreSample
from boundshift._validation import as_choice, as_share
from boundshift.curves import ErrorCurve
from boundshift.exceptions import InvalidInputError
from boundshift.rules import Rule
from boundshift.streaming._driver import Progress, decide_in_passes
from boundshift.streaming._read import Source, read


def scan_boundary(
    data: Any,
    *,
    label: str = "label",
    score: str = "score",
    weight: str | None = None,
    pos_label: object = None,
    element: int = -1,
    progress: Progress | bool | None = None,
    curve: str | ErrorCurve | None = None,
    rule: str | Rule | None = None,
    scale: Scale = "auto",
) -> Boundary:
    """Find the decision boundary of data that is read in passes and never held in memory.

    Parameters
    ----------
    data : path, glob, folder, list of them, frame, table, relation, or iterable of pairs
        Parquet, CSV or TSV, text also as ``.gz``; a DuckDB relation, such as
        ``connection.sql("SELECT ...")``; a Polars frame, lazy or not; a Spark or Dask frame; an
        Arrow table or dataset; or pairs (labels, scores), or triples with weights, as an iterable
        that can be read again or a function that makes one.
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
    progress : bool or callable, default=None
        True draws a bar for each pass (extra ``cli``). A function is called with the name of the
        pass, the number of parts read, and of all parts. Dask and Spark report whole passes.
    curve, rule, scale
        As in :func:`boundshift.find_boundary`. Whether all scores lie in [0, 1] is known after the
        first pass: if the first rows do and others do not, that pass is made again.

    Returns
    -------
    Boundary
        In the same gap between scores as that of :func:`boundshift.find_boundary` on the same
        rows in memory, or within its ``resolution``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> chunks = [(y, rng.normal(size=1000) + 3 * y) for y in rng.random((5, 1000)) < 0.02]
    >>> boundary = scan_boundary(chunks, curve="smoothed")
    >>> round(boundary.threshold, 2), boundary.n_samples, round(boundary.resolution, 6)
    (1.63, (4894, 106), 8e-06)
    """
    curve, rule = choose_claims(curve, rule)
    boundary = decide_on(
        read(data, label, score, weight, element),
        partial(decide, curve=curve, rule=rule),
        pos_label=pos_label,
        symmetric=rule.symmetric,
        scale=scale,
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
    progress: Progress | bool | None = None,
    scores: Scores = "held-out",
    chosen_here: bool = False,
    joint: bool = False,
) -> Certificate:
    """Bound each class's error rate at a boundary, on data that is read in passes.

    Parameters
    ----------
    data, label, score, element, progress
        As in :func:`scan_boundary`.
    threshold, confidence, pos_label, scores, chosen_here, joint
        As in :func:`boundshift.certify`. Rows cannot have weights.

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
    on_scale = threshold.scale if isinstance(threshold, Boundary) else None
    t, pos_label = read_threshold(threshold, pos_label)
    as_choice("scores", scores, get_args(Scores))
    as_share("confidence", confidence)
    source = _read_rows(data, label, score, element)

    def decide_one(sample: ScoreSample) -> Certificate:
        is_seen = False
        if isinstance(threshold, Boundary):
            check_known("label", sample.labels, threshold)
            threshold._check_sample_scale(sample)
            is_seen = threshold._was_chosen_on_sample(sample)
        negative, positive = sample.count_wrong(sample.from_units(np.array([t])))
        counts = (int(negative[0]), int(positive[0])), sample.n_samples, sample.labels
        certificate = certify_counts(
            *counts,
            threshold=t,
            scores=scores,
            confidence=confidence,
            joint=joint,
            chosen_here=chosen_here or is_seen,
        )
        return state_choice(certificate) if is_seen and not chosen_here else certificate

    certificate, _ = decide_in_passes(
        source, decide_one, pos_label=pos_label, symmetric=False, progress=progress
    )
    return replace(certificate, scale=on_scale)


def scan_zone(
    data: Any,
    errors: float | tuple[float, float] = (0.05, 0.05),
    confidence: float = 0.95,
    *,
    pos_label: object = None,
    scale: Scale = "auto",
    label: str = "label",
    score: str = "score",
    element: int = -1,
    progress: Progress | bool | None = None,
) -> Zone:
    """Find the limits outside of which errors are few, on data that is read in passes.

    Parameters
    ----------
    data, label, score, element, progress
        As in :func:`scan_boundary`.
    errors, confidence, pos_label, scale
        As in :func:`boundshift.find_zone`, whose answer on the same rows in memory is the same.
        Rows cannot have weights.

    Returns
    -------
    Zone

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
    source = _read_rows(data, label, score, element)
    zone, _ = decide_in_passes(
        source,
        lambda sample: zone_of(sample, allowed, confidence, scale),
        pos_label=pos_label,
        symmetric=allowed[0] == allowed[1],
        progress=progress,
    )
    return zone


def _read_rows(data: Any, label: str, score: str, element: int) -> Source:
    """Return rows that count once each, as promises need them."""
    source = read(data, label, score, element=element)
    if source.is_weighted:
        raise InvalidInputError(
            "`data` must be pairs (labels, scores) for a certificate or a zone, whose promises "
            "count rows, got triples with weights. Leave the weights out."
        )
    return source

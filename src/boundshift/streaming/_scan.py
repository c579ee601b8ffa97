"""The boundary and the certificate of data bigger than memory, whatever engine reads it."""

from __future__ import annotations

from functools import partial
from typing import get_args

from boundshift._boundary import choose_claims
from boundshift._guarantees.certificate import Certificate, Origin
from boundshift._guarantees.reading import read_threshold
from boundshift._guarantees.zone import Zone, as_errors
from boundshift._result.boundary import Boundary, warn_of
from boundshift._scores import SCALES, Scale
from boundshift._validation import as_choice, as_share, name_remedy, order_labels
from boundshift.curves import ErrorCurve
from boundshift.rules import Rule
from boundshift.streaming._count import PassRequest
from boundshift.streaming._decide import check_collected, decide_bins
from boundshift.streaming._joint import JointBins, Order
from boundshift.streaming._looks import Passes, Progress, check_unweighted
from boundshift.streaming._public import Tally
from boundshift.streaming._read import Source, read
from boundshift.streaming._zone import decide_zone


@name_remedy
def scan_boundary(
    data: object,
    *,
    label: str = "label",
    score: str = "score",
    weight: str | None = None,
    pos_label: object = None,
    element: int = -1,
    progress: Progress | None = None,
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
        Name of the column with the importance of each row, as `sample_weight` in
        :func:`boundshift.find_boundary`; None: all rows count alike. Rows of weight 0 are left
        out.
    pos_label : label, default=None
        The positive class. None takes the greater label, to which scores point as those of
        scikit-learn do; words need it where the rule does not treat both classes alike.
    element : int, default=-1
        Which element of a Spark vector is the score; the last one is that of the positive class.
    progress : callable, default=None
        Called with the name of the pass, the number of parts read, and of all parts. Dask and Spark
        report whole passes.
    curve, rule, scale
        As in :func:`boundshift.find_boundary`.

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
    (1.48, (4894, 106), 0.0)
    """
    source = read(data, label, score, weight, element)
    order = partial(order_labels, pos_label=pos_label, symmetric=False)
    boundary = decide_source(source, curve, rule, order, scale, progress)
    warn_of(boundary, stacklevel=4)
    return boundary


def decide_source(
    source: Source,
    curve: str | ErrorCurve | None,
    rule: str | Rule | None,
    order: Order,
    scale: Scale = "auto",
    progress: Progress | None = None,
) -> Boundary:
    """Return the boundary of a source; `order` returns the negative and the positive label."""
    curve, rule = choose_claims(curve, rule)
    as_choice("scale", scale, SCALES)
    check_collected(curve)
    passes = Passes(source, progress)
    counts = passes.count(PassRequest())
    bins = JointBins.of_labelled(counts.classes(), order, counts.is_weighted)
    return decide_bins(bins, curve, rule, scale, passes)


def scan_certificate(
    data: object,
    threshold: float | Boundary,
    confidence: float = 0.95,
    *,
    label: str = "label",
    score: str = "score",
    pos_label: object = None,
    element: int = -1,
    progress: Progress | None = None,
    origin: Origin = "held-out",
    chosen_here: bool = False,
    joint: bool = False,
) -> Certificate:
    """Bound each class's error rate at a boundary, on data that is read in passes.

    Parameters
    ----------
    data, label, score, element, progress
        As in :func:`scan_boundary`.
    threshold, confidence, pos_label, origin, chosen_here, joint
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
    t, _ = read_threshold(threshold, pos_label)
    as_choice("origin", origin, get_args(Origin))
    as_share("confidence", confidence)
    passes = Passes(read(data, label, score, element=element), progress)
    counts = passes.count(PassRequest(cuts=(t,)))
    return Tally(counts.classes(), counts.is_weighted).certify(
        threshold,
        confidence,
        pos_label=pos_label,
        origin=origin,
        chosen_here=chosen_here,
        joint=joint,
    )


def scan_zone(
    data: object,
    errors: float | tuple[float, float] = (0.05, 0.05),
    confidence: float = 0.95,
    *,
    pos_label: object = None,
    scale: Scale = "auto",
    label: str = "label",
    score: str = "score",
    element: int = -1,
    progress: Progress | None = None,
) -> Zone:
    """Find two limits, with at most the allowed errors outside them, in passes over the data.

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
    as_choice("scale", scale, SCALES)
    passes = Passes(read(data, label, score, element=element), progress)
    order = partial(order_labels, pos_label=pos_label, symmetric=allowed[0] == allowed[1])
    counts = passes.count(PassRequest())
    check_unweighted(counts.is_weighted)
    bins = JointBins.of_labelled(counts.classes(), order, is_weighted=False)
    return decide_zone(bins, allowed, confidence, scale, passes)

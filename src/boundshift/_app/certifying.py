"""The certificate of a fitted folder, or of a threshold for scores, on other labelled rows."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from boundshift._app.columns import as_features, rank_id
from boundshift._app.labelled import (
    read_decider,
    read_labels,
    read_scores,
    skip_unlabelled,
)
from boundshift._app.opening import AS_IT_IS, Reading, column_names
from boundshift._app.scores import doubt_repeats, keeps_floors
from boundshift._app.tables import read_frame, with_gaps
from boundshift._guarantees.certificate import Certificate, CertificateStatus
from boundshift._guarantees.certify import certify
from boundshift._tables import arrow
from boundshift.exceptions import BoundaryWarning


class Certified(NamedTuple):
    """A certificate, notes on the rows, and whether it certifies what the goal asked for."""

    certificate: Certificate
    notes: list[str]
    is_met: bool


def certify_table(
    place: str | Path,
    source: str | Path,
    *,
    label: str | None = None,
    score: str | None = None,
    confidence: float = 0.95,
    cluster: str | None = None,
    reading: Reading = AS_IT_IS,
) -> Certified:
    """Certify a fitted folder, or the threshold in a file, on other labelled rows.

    Arguments are the options of ``boundshift certify``. Rows that the model was trained on or that
    chose the threshold certify nothing or less, as the certificate's reason says.
    """
    decider = read_decider(Path(place))
    label = decider.choose_label(label, score)
    by = None if cluster == "none" else cluster or decider.cluster
    columns = [score] if decider.folder is None or score else decider.folder.columns.features
    ids: list[str] = []
    if by is None and cluster != "none":
        stdin = list(decider.folder.columns) if decider.folder else []
        there = stdin if str(source) == "-" else column_names(source, reading)
        ids = [each for each in there if each != label and rank_id(each, sys.maxsize)]
    names = [*columns, label, *([] if by is None else [by])]
    frame = read_frame(source, list(dict.fromkeys(names)), ids, reading)
    frame, notes = skip_unlabelled(frame, label)
    y = np.array(read_labels(frame[label], decider.labels, decider.rest).tolist())
    clusters = None if by is None else with_gaps(frame[by]).to_numpy(dtype=object)
    if decider.folder is None or score is not None:
        boundary = decider.require_boundary()
        scores = read_scores(frame[score], str(score), str(source))
        found = certify(y, scores, boundary, confidence, cluster=clusters)
    else:
        X = as_features(frame, decider.folder.columns, str(source))
        found = _without_repeating(
            partial(decider.folder.model.certify, X, y, confidence, cluster=clusters)
        )
    for each in ids:
        if each in frame and found.certified:
            values = with_gaps(frame[each]).dropna().astype(str).tolist()
            if doubt := doubt_repeats(each, arrow().chunked_array([values])):
                found = replace(found, status=CertificateStatus.NOMINAL, reason=doubt)
    return Certified(
        found, notes, found.certified and keeps_floors(decider.require_boundary(), found)
    )


def _without_repeating(certify_model: Callable[[], Certificate]) -> Certificate:
    """Certify a model, without a warning that only repeats why a certificate is nominal."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", BoundaryWarning)
        found = certify_model()
    for warning in caught if found.certified else ():
        warnings.warn(warning.message, stacklevel=3)
    return found

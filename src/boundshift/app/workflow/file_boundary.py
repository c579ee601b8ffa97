"""The boundary and the certificate of scores in files, held in memory or read in passes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from boundshift.app.tables import read_scores
from boundshift.app.tables.class_labels import label_values, order_classes
from boundshift.app.tables.score_file import check_two_columns, read_rows
from boundshift.boundary import (
    choose_claims,
    decide_by_row,
    decide_on,
    make_decision,
    warn_of,
)
from boundshift.curves import ErrorCurve
from boundshift.exceptions import BoundaryWarning, InvalidInputError
from boundshift.groups import ROWS, GroupBoundaries, find_boundaries
from boundshift.promises.certificate import Certificate, certify_counts, certify_weights
from boundshift.result.boundary import Boundary
from boundshift.rules import Rule
from boundshift.scores import Scale, ScoreSample, judge_weights
from boundshift.streaming.scan import decide_groups_in_passes
from boundshift.streaming.source import ColumnNames, Source

__all__ = [
    "FilePasses",
    "Show",
    "check_unchanged",
    "decide_groups",
    "decide_scores",
    "needs_passes",
]

Show = Callable[[str, int, int], None]

# Two columns of a text file this large are read in passes, in memory that does not grow.
_LARGE = 4 << 30


def decide_scores(
    files: Sequence[str | Path],
    score: str,
    label: str,
    *,
    positive: str | None = None,
    curve: str | ErrorCurve | None = None,
    rule: str | Rule | None = None,
    confidence: float = 0.95,
    scores: Literal["held-out", "out-of-fold", "training"] = "held-out",
    weight: str | None = None,
    cost_column: str | None = None,
    scale: Scale = "auto",
    progress: Show | None = None,
) -> tuple[Boundary, Certificate]:
    r"""Find the boundary of scores in files, and certify it on the same rows.

    One file, or standard input, is read once, and only its two columns are held. Several files, a
    glob, or more than 4 GB are read in passes, with the same answer.

    Parameters
    ----------
    files : sequence of str or Path
        CSV, TSV, Parquet, Feather or JSON lines; "-" alone is standard input.
    score, label : str
        Columns.
    positive : str, default=None
        The positive label as text; None as in :func:`~boundshift.app.tables.read_scores`.
    curve, rule
        As in :func:`~boundshift.find_boundary`.
    confidence : float, default=0.95
        Of the certificate.
    scores : {"held-out", "out-of-fold", "training"}, default="held-out"
        Where the scores come from.
    weight : str, default=None
        Column of weights, how often each row counts. The certificate is nominal then.
    cost_column : str, default=None
        Column of amounts, what is lost if the row is decided wrongly; one file, and no `curve` or
        `rule`.
    scale : {"auto", "probability", "raw"}, default="auto"
        As in :func:`~boundshift.find_boundary`.
    progress : callable, default=None
        Called with (what, done, in all).

    Returns
    -------
    boundary : Boundary
        That of :func:`~boundshift.find_boundary` on the same rows, with that `pos_label`.
    certificate : Certificate
        With the price of having chosen the boundary on the same rows.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "scores.csv"
    ...     _ = path.write_text("risk,ill\n" + "1,no\n2,no\n3,no\n7,yes\n8,yes\n" * 9)
    ...     boundary, certificate = decide_scores([path], "risk", "ill")
    >>> boundary.labels, certificate.wrong
    (('no', 'yes'), (0, 0))
    """
    check_two_columns(score, label, weight, cost_column)
    if weight is not None and cost_column is not None:
        raise InvalidInputError(
            "A row must have a weight or a cost, got --weight and --cost-column. Leave one out."
        )
    alike = choose_claims(curve, rule)[1].alike
    if weight is not None and needs_passes(files):
        names = ColumnNames(label, score, weight)
        passes = FilePasses(list(files), names, positive, alike, progress)
        return passes.decide_and_certify(make_decision(curve, rule), scale, confidence)
    beside = weight or cost_column
    if beside is not None:
        _check_one_file(files, "--cost-column")
        read = {"positive": positive, "progress": progress, "numbers": beside}
        rows = read_rows(files[0], score, label, alike=alike and weight is not None, **read)  # type: ignore[arg-type]
        numbers = np.asarray(rows.numbers)
    if weight is not None:
        weighted = ScoreSample.from_labels(rows.is_positive, rows.scores, sample_weight=numbers)
        sample = replace(weighted, labels=rows.labels)
        for doubt in judge_weights(sample):
            warnings.warn(doubt, BoundaryWarning, stacklevel=2)
        boundary = make_decision(curve, rule, scale)(sample)
        warn_of(boundary, stacklevel=3)
        options = {"confidence": confidence, "chosen_here": True}
        return boundary, certify_weights(sample, boundary.threshold, **options)
    if cost_column is not None:
        found = decide_by_row(rows.is_positive, rows.scores, numbers, scale=scale)
        boundary = replace(found, labels=rows.labels)
    elif needs_passes(files):
        passes = FilePasses(list(files), ColumnNames(label, score), positive, alike, progress)
        boundary = passes.decide(make_decision(curve, rule), scale)
    else:
        boundary = make_decision(curve, rule, scale)(
            read_scores(files[0], score, label, positive=positive, alike=alike, progress=progress)
        )
    warn_of(boundary, stacklevel=3)
    certificate = certify_counts(
        boundary.wrong,
        boundary.n_samples,
        boundary.labels,
        confidence=confidence,
        scores=scores,
        chosen_here=True,
        threshold=boundary.threshold,
    )
    return boundary, certificate


def decide_groups(
    files: Sequence[str | Path],
    score: str,
    label: str,
    by: str,
    *,
    positive: str | None = None,
    curve: str | ErrorCurve | None = None,
    rule: str | Rule | None = None,
    scale: Scale = "auto",
    progress: Show | None = None,
) -> GroupBoundaries:
    """Find a boundary for each group of the rows of files; arguments as in `decide_scores`."""
    check_two_columns(score, label, by)
    claim, aim = choose_claims(curve, rule)
    alike = aim.alike
    if needs_passes(files):
        names = ColumnNames(label, score, by=by)
        source, labels, _ = FilePasses(list(files), names, positive, alike, progress).open()
        shown: dict[str, Any] = {"labels": labels, "scale": scale, "progress": progress}
        return decide_groups_in_passes(source, claim, aim, ROWS, **shown)
    read = {"positive": positive, "groups": by, "progress": progress}
    rows = read_rows(files[0], score, label, alike=alike, **read)  # type: ignore[arg-type]
    groups = np.empty(len(rows.scores), dtype=object)
    groups[:] = rows.groups
    y = np.array(rows.labels, dtype=object)[rows.is_positive.astype(np.intp)]
    options = {"curve": curve, "rule": rule, "pos_label": rows.labels[1]}
    return find_boundaries(y, rows.scores, groups, scale=scale, **options)


def _check_one_file(files: Sequence[str | Path], option: str) -> None:
    """Raise if rows would have to be read in passes."""
    if needs_passes(files):
        raise InvalidInputError(
            f"{option} must go with one file that fits into memory, got several, or more than 4 "
            "GB. Put the rows into one file."
        )


def needs_passes(files: Sequence[str | Path]) -> bool:
    """Return whether there are several files, or one that is too large to be held."""
    if len(files) > 1:
        return True
    path = Path(files[0])
    if path.is_file():
        return path.stat().st_size > _LARGE
    return not path.exists() and any(sign in str(path) for sign in "*?[")


def check_unchanged(rows: int, n_samples: tuple[int, int]) -> None:
    """Raise unless the passes counted as many rows as there were at first."""
    if sum(n_samples) != rows:
        raise InvalidInputError(
            "The files must stay as they are while they are read in passes, but there were "
            f"{rows} rows at first and {sum(n_samples)} later. Read them again when nothing "
            "writes to them."
        )


@dataclass(frozen=True)
class FilePasses:
    """Files that are read as often as it takes."""

    paths: list[str | Path]
    names: ColumnNames
    positive: str | None
    alike: bool
    progress: Show | None

    def open(self) -> tuple[Source, tuple[Any, Any], int]:
        """Return the rows, their labels and their number."""
        from boundshift.streaming.sources.files_ import are_text, count_labels, from_columns

        def show(done: int, total: int) -> None:
            if self.progress is not None:
                self.progress("labels", done, total)

        paths, label = self.paths, self.names.label
        counts = count_labels(paths, label, show)
        if not counts:
            raise InvalidInputError(f"The table must have rows, but {paths[0]} has none.")
        raw = list(counts)
        values = label_values(raw) if are_text(paths) else raw
        numbers = list(counts.values())
        labels = order_classes(values, numbers, self.positive, label, alike=self.alike)
        found = [
            cell for cell, value in zip(raw, values, strict=True) if str(value) == str(labels[1])
        ]
        return from_columns(paths, self.names, found), labels, sum(numbers)

    def decide(self, decide: Callable[[ScoreSample], Boundary], scale: Scale = "raw") -> Boundary:
        """Return the boundary of the rows."""
        source, labels, rows = self.open()
        boundary = decide_on(source, decide, labels=labels, scale=scale, progress=self.progress)
        if self.names.weight is None:
            check_unchanged(rows, boundary.n_samples)
        return boundary

    def decide_and_certify(
        self, decide: Callable[[ScoreSample], Boundary], scale: Scale, confidence: float
    ) -> tuple[Boundary, Certificate]:
        """Return the boundary of rows with weights, and its certificate on the same rows."""
        certified: list[Certificate] = []

        def keep_certificate(sample: ScoreSample) -> Boundary:
            boundary = decide(sample)
            options = {"confidence": confidence, "chosen_here": True}
            certified[:] = [certify_weights(sample, boundary.threshold, **options)]
            return boundary

        boundary = self.decide(keep_certificate, scale)
        warn_of(boundary, stacklevel=4)
        return boundary, certified[0]

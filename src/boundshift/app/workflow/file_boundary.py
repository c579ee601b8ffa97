"""The boundary and the certificate of scores in files, held in memory or read in passes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from boundshift.app.tables import read_scores
from boundshift.app.tables.score_file import label_values, one_column_twice, positive_last
from boundshift.boundary import find_boundary, warn_of
from boundshift.decision import decision as decider
from boundshift.exceptions import InvalidInputError
from boundshift.promises.certificate import Certificate, certify, certify_counts, count_wrong
from boundshift.result.boundary import Boundary
from boundshift.scores.sample import ScoreSample
from boundshift.streaming.driver import decide_in_passes

__all__ = ["decide_scores"]

Show = Callable[[str, int, int], None]

# Two columns of a text file this large are read in passes, in memory that does not grow.
_LARGE = 4 << 30


def decide_scores(
    files: Sequence[str | Path],
    score: str,
    label: str,
    *,
    positive: str | None = None,
    decision: Mapping[str, Any] | None = None,
    confidence: float = 0.95,
    scores: Literal["held-out", "out-of-fold", "training"] = "held-out",
    progress: Show | None = None,
) -> tuple[Boundary, Certificate]:
    r"""Find the boundary of scores in files, and certify it on the same rows.

    One file, or standard input, is read once, and only its two columns are held. Several files, a
    glob, or more than 4 GB are read in passes by :mod:`boundshift.streaming`, with the same answer.

    Parameters
    ----------
    files : sequence of str or Path
        CSV, TSV, Parquet, Feather or JSON lines; "-" alone is standard input.
    score, label : str
        Columns.
    positive : str, default=None
        The positive label as text.
    decision : mapping, default=None
        Options of :func:`~boundshift.find_boundary`.
    confidence : float, default=0.95
        Of the certificate.
    scores : {"held-out", "out-of-fold", "training"}, default="held-out"
        Where the scores come from.
    progress : callable, default=None
        Called with (what, done, in all).

    Returns
    -------
    boundary : Boundary
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
    options = dict(decision or {})
    if _needs_passes(files):
        return _in_passes(files, score, label, positive, options, confidence, scores, progress)
    rows = read_scores(files[0], score, label, positive=positive, progress=progress)
    found = find_boundary(rows.is_positive, rows.y_score, **options)
    certificate = certify(
        rows.is_positive,
        rows.y_score,
        found.threshold,
        confidence,
        scores=scores,
        chosen_here=True,
    )
    return replace(found, labels=rows.labels), replace(certificate, labels=rows.labels)


def _needs_passes(files: Sequence[str | Path]) -> bool:
    """Return whether there are several files, or one that is too large to be held."""
    if len(files) > 1:
        return True
    path = Path(files[0])
    if path.is_file():
        return path.stat().st_size > _LARGE
    return not path.exists() and any(sign in str(path) for sign in "*?[")


def _in_passes(
    files: Sequence[str | Path],
    score: str,
    label: str,
    positive: str | None,
    options: dict[str, Any],
    confidence: float,
    scores: Literal["held-out", "out-of-fold", "training"],
    progress: Show | None,
) -> tuple[Boundary, Certificate]:
    """Decide and certify on files that are read as often as it takes."""
    from boundshift.streaming.sources.files_ import are_text, count_labels, from_columns

    if score == label:
        raise one_column_twice(score)
    paths = list(files)

    def show(done: int, total: int) -> None:
        if progress is not None:
            progress("labels", done, total)

    counts = count_labels(paths, label, show)
    if not counts:
        raise InvalidInputError(f"The table must have rows, but {paths[0]} has none.")
    values = label_values(list(counts)) if are_text(paths) else list(counts)
    labels = positive_last(values, list(counts.values()), positive, label)
    found = [raw for raw, value in zip(counts, values, strict=True) if str(value) == str(labels[1])]
    decide = decider(**options)

    def both(sample: ScoreSample) -> tuple[Boundary, Any]:
        boundary = decide(sample)
        return boundary, count_wrong(sample, boundary.threshold)

    source = from_columns(paths, label, score, found)
    (boundary, (wrong, n_samples, _)), how = decide_in_passes(source, both, progress=progress)
    warn_of(boundary, stacklevel=4)
    certificate = certify_counts(
        wrong, n_samples, labels, confidence=confidence, scores=scores, chosen_here=True
    )
    return replace(boundary, labels=labels, resolution=how.resolution), certificate

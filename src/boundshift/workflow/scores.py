"""The boundary and the certificate of scores in files, held in memory or read in passes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from boundshift.boundary import Boundary, find_boundary
from boundshift.certificate import Certificate, certify
from boundshift.tables import read_scores

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
    glob, or more than 4 GB are read in passes by :mod:`boundshift.engines`, with the same answer.

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
    scores: str,
    progress: Show | None,
) -> tuple[Boundary, Certificate]:
    """Decide and certify on files that are read as often as it takes."""
    from boundshift import engines

    columns: dict[str, Any] = {
        "label": label,
        "score": score,
        "positive": _as_label(positive),
        "progress": progress,
    }
    boundary = engines.find_boundary(list(files), **columns, **options)
    certificate = engines.certify(
        list(files), boundary.threshold, confidence, **columns, scores=scores, chosen_here=True
    )
    return boundary, certificate


def _as_label(text: str | None) -> Any:
    """Return a label of the command line as a file holds it: a number if it is one."""
    for kind in (int, float):
        try:
            return None if text is None else kind(text)
        except ValueError:
            continue
    return text

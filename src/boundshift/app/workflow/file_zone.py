"""The unsure zone of scores in files, held in memory or read in passes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from boundshift.app.tables import read_scores
from boundshift.app.tables.score_file import check_two_columns
from boundshift.app.workflow.file_boundary import Show, decide_passes, needs_passes
from boundshift.boundary import make_decision
from boundshift.promises.zone import Zone, as_errors, zone_of
from boundshift.result.boundary import Boundary
from boundshift.scores.log_odds import Scale
from boundshift.scores.sample import ScoreSample
from boundshift.streaming.source import ColumnNames
from boundshift.validation import as_share

__all__ = ["find_file_zone", "read_zone"]

# A zone takes less than a kilobyte.
_LARGEST = 1 << 20


def find_file_zone(
    files: Sequence[str | Path],
    score: str,
    label: str,
    *,
    errors: tuple[float, float] = (0.05, 0.05),
    confidence: float = 0.95,
    positive: str | None = None,
    scale: Scale = "auto",
    progress: Show | None = None,
) -> Zone:
    r"""Find the zone of scores in files.

    Parameters
    ----------
    files : sequence of str or Path
        CSV, TSV, Parquet, Feather or JSON lines; "-" alone is standard input.
    score, label : str
        Columns.
    errors, confidence
        As in :func:`~boundshift.find_zone`.
    positive : str, default=None
        The positive label as text; None as in :func:`~boundshift.app.tables.read_scores`.
    scale : {"auto", "probability", "raw"}, default="auto"
        As in :func:`~boundshift.find_zone`.
    progress : callable, default=None
        Called with (what, done, in all).

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "scores.csv"
    ...     _ = path.write_text("risk,ill\n" + "1,no\n2,no\n3,no\n7,yes\n8,yes\n" * 40)
    ...     zone = find_file_zone([path], "risk", "ill")
    >>> zone.labels, zone.status
    (('no', 'yes'), 'empty')
    """
    check_two_columns(score, label)
    allowed = as_errors(errors)
    as_share("confidence", confidence)
    alike = allowed[0] == allowed[1]
    if not needs_passes(files):
        sample = read_scores(
            files[0], score, label, positive=positive, alike=alike, progress=progress
        )
        return zone_of(sample, allowed, confidence, scale)
    found: list[Zone] = []
    bound = make_decision("kth-point", "minimax")

    def decide(sample: ScoreSample) -> Boundary:
        # The last pass leaves nothing open that either of the two rests on.
        found[:] = [zone_of(sample, allowed, confidence, scale)]
        return bound(sample)

    names = ColumnNames(label, score)
    decide_passes(list(files), names, decide, positive, alike, progress)
    return found[0]


def read_zone(path: str | Path) -> Zone:
    """Return the zone that ``boundshift threshold --zone … --json`` has written."""
    with Path(path).open("rb") as file:
        return Zone.from_json(file.read(_LARGEST))

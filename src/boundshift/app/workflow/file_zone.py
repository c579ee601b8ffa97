"""The unsure zone of scores in files, held in memory or read in passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from boundshift.app.tables import read_scores
from boundshift.app.tables.score_file import check_two_columns
from boundshift.app.workflow.file_boundary import (
    FilePasses,
    Show,
    check_unchanged,
    needs_passes,
)
from boundshift.promises.zone import Zone, as_errors, zone_of
from boundshift.scores import Scale, ScoreSample
from boundshift.streaming.driver import decide_in_passes
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
    """Find the zone of scores in files.

    Parameters
    ----------
    files, score, label, positive, progress
        As in :func:`decide_scores`.
    errors, confidence, scale
        As in :func:`~boundshift.find_zone`.
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
    names = ColumnNames(label, score)
    source, labels, rows = FilePasses(list(files), names, positive, alike, progress).open()

    def decide(sample: ScoreSample) -> Zone:
        return zone_of(replace(sample, labels=labels), allowed, confidence, scale)

    zone, _ = decide_in_passes(source, decide, alike=alike, progress=progress)
    check_unchanged(rows, zone.n_samples)
    return zone


def read_zone(path: str | Path) -> Zone:
    """Return the zone that ``boundshift threshold --zone … --json`` has written."""
    with Path(path).open("rb") as file:
        return Zone.from_json(file.read(_LARGEST))

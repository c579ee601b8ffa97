"""Labelled scores in files: one table, held in memory or read in passes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boundshift._app.tables import label_values, order_classes, read_arrow
from boundshift._boundary import Boundary, decide, decide_by_row, decide_on, warn_of
from boundshift._groups import ROWS, GroupBoundaries, find_boundaries
from boundshift._promises.certificate import Certificate, certify_counts, certify_weights
from boundshift._promises.zone import Zone, zone_of
from boundshift._scores import Scale, ScoreSample, judge_weights
from boundshift._typing import BoolArray, FloatArray
from boundshift.curves import ErrorCurve
from boundshift.exceptions import BoundaryWarning, InvalidInputError
from boundshift.rules import Rule
from boundshift.streaming._driver import decide_in_passes
from boundshift.streaming._read import ColumnNames, Source, arrow, as_labels
from boundshift.streaming._scan import count_values, decide_groups_in_passes
from boundshift.streaming._tables import (
    AS_IT_IS,
    Reading,
    are_text,
    files_columns,
    open_table,
)

Show = Callable[[str, int, int], None]

# Two columns of a text file this large are read in passes, in memory that does not grow.
_LARGE = 4 << 30
_MOST_LABELS = 1000
_MOST_ROWS = 20_000
_RESAMPLES = 100


class ScoreRows(NamedTuple):
    """Rows in memory: which are positive, their scores, and the columns beside them by name."""

    is_positive: BoolArray
    scores: FloatArray
    beside: Mapping[str, Any] = {}

    def of(self, chosen: NDArray[Any]) -> ScoreRows:
        """Return some of the rows, by a mask or by their numbers."""
        beside = {name: _objects(values)[chosen] for name, values in self.beside.items()}
        return ScoreRows(self.is_positive[chosen], self.scores[chosen], beside)


def sample_of(rows: ScoreRows, labels: tuple[Any, Any], weight: str | None = None) -> ScoreSample:
    """Return rows as a sample with the labels of a table, and the weights in a column."""
    weights = None if weight is None else rows.beside[weight]
    sample = ScoreSample.from_labels(rows.is_positive, rows.scores, sample_weight=weights)
    return replace(sample, labels=labels)


class ScoreTable:
    r"""Labels and scores of any system, out of files.

    One file, or standard input, is read once, and only its columns named here are held. Several
    files, a glob, or more than 4 GB are read in passes, with the same answers.

    Parameters
    ----------
    files : sequence of str or Path
        CSV, TSV, Parquet, Feather, JSON lines or Excel; "-" alone is standard input.
    score, label, weight, cost, by : str
        Columns; costs, and several columns of groups, in memory only.
    positive : str, default=None
        The positive label as it is written; None is as in :func:`order_classes`.
    symmetric : bool, default=True
        Whether the rule to come is symmetric in the classes.
    reading : Reading, default=AS_IT_IS
        How to read the files.
    progress : callable, default=None
        Called with (what, done, in all).

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "scores.csv"
    ...     _ = path.write_text("risk,ill\n" + "1,no\n2,no\n3,no\n7,yes\n8,yes\n" * 9)
    ...     table = ScoreTable([path], "risk", "ill")
    >>> boundary, certificate = table.decide()
    >>> boundary.labels, certificate.wrong
    (('no', 'yes'), (0, 0))
    """

    labels: tuple[Any, Any]

    def __init__(
        self,
        files: Sequence[str | Path],
        score: str,
        label: str,
        *,
        positive: str | None = None,
        symmetric: bool = True,
        weight: str | None = None,
        cost: str | None = None,
        by: Sequence[str] = (),
        reading: Reading = AS_IT_IS,
        progress: Show | None = None,
    ) -> None:
        if score == label:
            raise InvalidInputError(
                f"Scores and labels must be two columns, got '{score}' for both. Say with --label "
                "which column holds the classes."
            )
        if weight is not None and cost is not None:
            raise InvalidInputError(
                "A row must have a weight or a cost, got --weight and --cost-column. Leave one out."
            )
        numbers = [name for name in (weight, cost) if name is not None]
        for name in [*numbers, *by]:
            if name in (score, label):
                raise InvalidInputError(
                    f"A column must have one role, got '{name}' as scores or labels and beside "
                    "them. Name another column."
                )
        self._score, self._label, self._positive, self._symmetric = (
            score,
            label,
            positive,
            symmetric,
        )
        self._weight, self._cost, self._by, self._reading = weight, cost, by, reading
        self._progress: Show = progress or (lambda what, done, total: None)
        self._rows: ScoreRows | None = None
        if not _needs_passes(files):
            self._rows = self._read(files[0], numbers)
        elif cost is None:
            self._source, self._n_rows = self._open(list(files))
        else:
            raise InvalidInputError(
                "--cost-column must go with one file that fits into memory, got several, or more "
                "than 4 GB. Put the rows into one file."
            )

    def _read(self, path: str | Path, numbers: Sequence[str]) -> ScoreRows:
        """Read the columns into memory."""
        pa = arrow()
        with open_table(path, self._reading) as opened:
            is_text = opened.format == "csv"
            words = pa.dictionary(pa.int32(), pa.string()) if is_text else None
            types = dict.fromkeys((self._score, *numbers), pa.float64())
            types |= dict.fromkeys((self._label, *self._by), words)
            table = read_arrow(opened, types, self._progress)
        codes, found = _encode(table[self._label], self._label, opened.name)
        counts = np.bincount(codes, minlength=len(found)).tolist()
        is_positive = np.array(self._order(label_values(found) if is_text else found, counts))
        scores = _numbers(table[self._score], self._score, opened.name, "Scores")
        beside: dict[str, Any] = {name: table[name].to_pylist() for name in self._by}
        for name in numbers:
            beside[name] = _numbers(table[name], name, opened.name, "Numbers")
        return ScoreRows(is_positive[codes], scores, beside)

    def _open(self, files: list[str | Path]) -> tuple[Source, int]:
        """Count the labels in a first pass; return what later passes read, and the rows."""
        how: dict[str, Any] = {"as_text": True, "reading": self._reading}
        labels = files_columns(files, ColumnNames(self._label, score=""), **how)
        counts = count_values(labels, "labels", self._progress)
        if not counts:
            raise InvalidInputError(f"The table must have rows, but {files[0]} has none.")
        if None in counts:
            raise InvalidInputError(
                f"Every row must have a label, but column '{self._label}' lacks {counts[None]}. "
                "Drop those rows."
            )
        cells, sizes = list(counts), list(counts.values())
        is_positive = self._order(label_values(cells) if are_text(files) else cells, sizes)
        found = [cell for cell, positive in zip(cells, is_positive, strict=True) if positive]
        by = self._by[0] if self._by else None
        names = ColumnNames(self._label, self._score, self._weight, by=by)
        return files_columns(files, names, found, **how), sum(sizes)

    def _order(self, values: list[Any], counts: list[int]) -> list[bool]:
        """Settle the two labels, and return which values are the positive one."""
        self.labels = order_classes(
            values, counts, self._positive, self._label, symmetric=self._symmetric
        )
        return [str(value) == str(self.labels[1]) for value in values]

    @property
    def rows(self) -> ScoreRows:
        """The rows by class and score, as a sample orders them."""
        rows = self._in_memory()
        return rows.of(np.lexsort((rows.scores, rows.is_positive)))

    @property
    def sample(self) -> ScoreSample:
        """The rows as a sample, with their weights."""
        return sample_of(self._in_memory(), self.labels, self._weight)

    def _in_memory(self) -> ScoreRows:
        if self._rows is None:
            raise InvalidInputError("Rows must be in one file that fits into memory. Use one file.")
        return self._rows

    def _check_unchanged(self, n_samples: tuple[int, int]) -> None:
        """Raise unless the passes counted as many rows as the first one."""
        if sum(n_samples) != self._n_rows:
            raise InvalidInputError(
                "The files must stay as they are while they are read in passes, but there were "
                f"{self._n_rows} rows at first and {sum(n_samples)} later. Read them again when "
                "nothing writes to them."
            )

    def decide(
        self,
        curve: str | ErrorCurve | None = None,
        rule: str | Rule | None = None,
        scale: Scale = "auto",
        *,
        confidence: float = 0.95,
        scores: Literal["held-out", "out-of-fold", "training"] = "held-out",
    ) -> tuple[Boundary, Certificate]:
        """Find the boundary as `find_boundary` does, and certify it on the same rows.

        With weights the certificate is nominal. Costs by row take the place of curve and rule.
        """
        weighted: list[Certificate] = []
        how: dict[str, Any] = {"confidence": confidence, "chosen_here": True}
        in_passes = self._rows is None

        def find(sample: ScoreSample) -> Boundary:
            found = decide(sample, curve, rule, "raw" if in_passes else scale)
            if self._weight is not None:
                weighted[:] = [certify_weights(sample, found.threshold, **how)]
            return found

        if self._rows is None:
            options: dict[str, Any] = {"scale": scale, "progress": self._progress}
            boundary = decide_on(self._source, find, labels=self.labels, **options)
            if self._weight is None:
                self._check_unchanged(boundary.n_samples)
        elif self._cost is not None:
            costs = self._rows.beside[self._cost]
            found = decide_by_row(self._rows.is_positive, self._rows.scores, costs, scale=scale)
            boundary = replace(found, labels=self.labels)
        else:
            sample = self.sample
            for doubt in judge_weights(sample) if self._weight is not None else ():
                warnings.warn(doubt, BoundaryWarning, stacklevel=2)
            boundary = find(sample)
        warn_of(boundary, stacklevel=3)
        if weighted:
            return boundary, weighted[0]
        how |= {"threshold": boundary.threshold, "scores": scores}
        counts = boundary.wrong, boundary.n_samples, boundary.labels
        return boundary, certify_counts(*counts, **how)

    def decide_groups(
        self,
        curve: ErrorCurve,
        rule: Rule,
        scale: Scale = "auto",
    ) -> GroupBoundaries:
        """Find a boundary for each group, as `find_boundaries` does."""
        how: dict[str, Any] = {"scale": scale}
        if self._rows is None:
            how |= {"labels": self.labels, "progress": self._progress}
            return decide_groups_in_passes(self._source, curve, rule, ROWS, **how)
        y = _objects(self.labels)[self._rows.is_positive.astype(np.intp)]
        groups = _objects(self._rows.beside[self._by[0]])
        how |= {"curve": curve, "rule": rule, "pos_label": self.labels[1]}
        return find_boundaries(y, self._rows.scores, groups, **how)

    def find_zone(
        self, errors: tuple[float, float], confidence: float = 0.95, scale: Scale = "auto"
    ) -> Zone:
        """Find the unsure zone, as `find_zone` does."""
        if self._rows is not None:
            return zone_of(self.sample, errors, confidence, scale)

        def decide(sample: ScoreSample) -> Zone:
            return zone_of(replace(sample, labels=self.labels), errors, confidence, scale)

        symmetric = errors[0] == errors[1]
        zone, _ = decide_in_passes(
            self._source, decide, symmetric=symmetric, progress=self._progress
        )
        self._check_unchanged(zone.n_samples)
        return zone


def _needs_passes(files: Sequence[str | Path]) -> bool:
    """Return whether there are several files, or one that is too large to be held."""
    if len(files) > 1:
        return True
    path = Path(files[0])
    if path.is_file():
        return path.stat().st_size > _LARGE
    return not path.exists() and any(sign in str(path) for sign in "*?[")


def _objects(values: Sequence[Any]) -> NDArray[Any]:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def _numbers(column: Any, name: str, where: str, called: str) -> FloatArray:
    """Return a column as numbers; missing ones are refused."""
    bad, what = column.null_count, "missing"
    if not bad:
        # Arrow's own way to NumPy loads pandas first.
        values = np.concatenate([np.from_dlpack(chunk) for chunk in column.chunks])
        bad, what = len(values) - int(np.isfinite(values).sum()), "NaN or infinite"
    if bad:
        raise InvalidInputError(
            f"{called} must be finite numbers, but column '{name}' of {where} has "
            f"{bad} that are {what}. Drop those rows."
        )
    return values


def _encode(column: Any, name: str, where: str) -> tuple[NDArray[np.int32], list[Any]]:
    """Return labels as numbers, and the label of each number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = as_labels(column, name, where)
    lacking = column.null_count
    if pa.types.is_floating(column.type):
        lacking += pc.sum(pc.is_nan(column)).as_py() or 0
    if lacking:
        raise InvalidInputError(
            f"Every row must have a label, but column '{name}' of {where} lacks {lacking}. Drop "
            "those rows."
        )
    chunks = column.dictionary_encode().unify_dictionaries().chunks
    labels = chunks[-1].dictionary.to_pylist()
    if len(labels) > _MOST_LABELS:
        raise InvalidInputError(
            f"Labels must be of two classes, but column '{name}' of {where} has more than "
            f"{_MOST_LABELS} different values. Choose the column that says which class a row has."
        )
    return np.concatenate([np.from_dlpack(chunk.indices) for chunk in chunks]), labels


def set_apart(
    is_positive: BoolArray, share: float, seed: int, labels: tuple[Any, Any]
) -> BoolArray:
    """Return which rows are test rows, with the same share of each class."""
    if not 0 < share < 1:
        raise InvalidInputError(
            f"--test-share must be between 0 and 1, got {share:g}. Use 0.5, for example."
        )
    random = np.random.default_rng(seed)
    tests = np.zeros(len(is_positive), dtype=np.bool_)
    for label, of_class in zip(labels, (~is_positive, is_positive), strict=True):
        members = np.flatnonzero(of_class)
        n = round(share * len(members))
        if not 0 < n < len(members):
            raise InvalidInputError(
                f"--test-share must leave rows of class {label} on both sides, got {share:g} of "
                f"{len(members)} rows. Use another share, or --test with a file."
            )
        tests[random.permutation(members)[:n]] = True
    return tests


def resampled_interval(
    sample: ScoreSample,
    curve: str | ErrorCurve | None,
    rule: str | Rule | None,
    scale: Scale = "raw",
) -> tuple[float, float] | None:
    """Return the bootstrap interval of the threshold; None if it would take over three seconds."""
    from boundshift._promises.interval import threshold_interval

    if sum(sample.n_samples) > _MOST_ROWS:
        return None
    how: dict[str, Any] = {"curve": curve, "rule": rule, "scale": scale}
    rows = np.repeat([False, True], sample.n_samples), sample.to_rows()[1]
    return threshold_interval(*rows, n_resamples=_RESAMPLES, random_state=0, **how)

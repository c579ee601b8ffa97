"""Labelled scores in files: one table, held in memory or read in passes."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boundshift._app.cli import Show
from boundshift._app.columns import SHARED, rank_id
from boundshift._app.tables import label_values, order_classes, read_arrow
from boundshift._boundary import decide, decide_by_row
from boundshift._guarantees.certificate import Certificate, CertificateStatus, Origin
from boundshift._guarantees.certify import certify_boundary
from boundshift._guarantees.interval import threshold_interval
from boundshift._guarantees.zone import Zone, find_zone
from boundshift._result.boundary import Boundary, warn_of
from boundshift._scores import ScoreSample
from boundshift._typing import BoolArray, FloatArray
from boundshift.curves import ErrorCurve
from boundshift.exceptions import BoundaryWarning, InvalidInputError
from boundshift.rules import Rule
from boundshift.streaming._read import arrow, as_labels
from boundshift.streaming._scan import decide_source
from boundshift.streaming._tables import (
    AS_IT_IS,
    OpenTable,
    Reading,
    are_text,
    files_columns,
    find_files,
    open_table,
    read_batches,
)

# Larger files are read in passes, in memory that does not grow.
_LARGE = 1 << 29
_END = 1 << 16
_MOST_ROWS = 20_000
_RESAMPLES = 100


class ScoreRows(NamedTuple):
    """Rows in memory: which are positive, their scores, and the columns beside them by name."""

    is_positive: BoolArray
    scores: FloatArray
    beside: Mapping[str, Any] = {}

    def of(self, chosen: NDArray[Any]) -> ScoreRows:
        """Return some of the rows, by a mask or by their numbers."""
        beside = {name: values[chosen] for name, values in self.beside.items()}
        return ScoreRows(self.is_positive[chosen], self.scores[chosen], beside)

    def ordered(self) -> ScoreRows:
        """Return the rows by class and score, as a sample orders them."""
        return self.of(np.lexsort((self.scores, self.is_positive)))

    def sample(self, labels: tuple[Any, Any]) -> ScoreSample:
        return ScoreSample.from_rows(self.is_positive, self.scores, labels)


@dataclass
class ScoreTable:
    """Labels and scores of any system, out of files that are one table; "-" is standard input.

    Only the columns named here are held. The boundary of more than 512 MB is found in passes, with
    the same answer. `positive` and `symmetric` are as in :func:`order_classes`; `cost` is a column
    of costs by row, and `by` are columns of groups. Unless rows are said to be `independent`, a
    column of ids that repeat, such as the patient's, is looked for: nothing is certified then.
    """

    files: Sequence[str | Path]
    score: str
    label: str
    positive: str | None = None
    symmetric: bool = True
    cost: str | None = None
    by: Sequence[str] = ()
    independent: bool = False
    cluster_with: str = "--zone"
    reading: Reading = AS_IT_IS
    progress: Show = lambda what, done, total: None
    labels: tuple[Any, Any] = field(init=False)
    doubt: str = field(init=False, default="")

    def __post_init__(self) -> None:
        self._numbers = [self.score, *([] if self.cost is None else [self.cost])]
        self._named = [*self._numbers, self.label, *self.by]
        if len(set(self._named)) < len(self._named):
            raise InvalidInputError(
                "Scores, labels and all else must be different columns, got "
                f"{', '.join(map(repr, self._named))}. Say with --label which column holds the "
                "classes."
            )
        seen: dict[Any, Any] = {}
        for path in [each for each in map(Path, self.files) if each.is_file()]:
            other = seen.setdefault(_ends_of(path), path)
            if other is not path:
                raise InvalidInputError(
                    f"Files must hold different rows, got '{other}' and '{path}' with the same "
                    "content: rows that count twice, or are their own test, certify too much. "
                    "Name each file once."
                )
        if any(sign in str(path) for path in self.files for sign in "*?["):
            self.files = find_files(self.files)

    @cached_property
    def rows(self) -> ScoreRows:
        """The rows in memory."""
        import pyarrow.compute as pc

        pa = arrow()
        parts = []
        are_text = True
        for path in self.files:
            with open_table(path, self.reading) as opened:
                is_text = opened.format == "csv"
                words = pa.dictionary(pa.int32(), pa.string()) if is_text else None
                types = dict.fromkeys(self._id_columns(opened), pa.string() if is_text else None)
                types |= dict.fromkeys(self._named, words)
                types |= dict.fromkeys(self._numbers, pa.float64())
                parts.append(read_arrow(opened, types))
                are_text &= is_text
        table = pa.concat_tables(parts, promote_options="permissive")
        self._doubt_repeats(table.drop_columns(self._named), SHARED)
        labels = as_labels(table[self.label], self.label, opened.name)
        if pa.types.is_floating(labels.type):
            labels = pc.if_else(pc.is_nan(labels), None, labels)
        if lacking := labels.null_count:
            raise InvalidInputError(
                f"Every row must have a label, but column '{self.label}' lacks {lacking}. Drop "
                "those rows."
            )
        chunks = labels.dictionary_encode().unify_dictionaries().chunks
        codes = np.concatenate([np.from_dlpack(chunk.indices) for chunk in chunks])
        found = chunks[-1].dictionary.to_pylist()
        counts = np.bincount(codes, minlength=len(found)).tolist()
        is_positive = np.array(self._order(label_values(found) if are_text else found, counts))
        scores, *costs = (_numbers(table[name], name, opened.name) for name in self._numbers)
        beside = {name: np.array(table[name].to_pylist(), dtype=object) for name in self.by}
        beside |= zip(self._numbers[1:], costs, strict=True)
        return ScoreRows(is_positive[codes], scores, beside)

    def find_doubt(self) -> str:
        """Read the rows, and return why nothing can be certified on them; else nothing."""
        return self.doubt if len(self.rows.scores) else ""

    def _id_columns(self, opened: OpenTable) -> list[str]:
        names = [name for name in opened.header if rank_id(name, sys.maxsize)]
        return [name for name in names if name not in self._named and not self.independent]

    def _doubt_repeats(self, ids: Any, least: float) -> None:
        """Set the doubt, with a note, if at least this share of rows shares its id with others."""
        for name in ids.column_names:
            how = least, f" with {self.cluster_with}"
            self.doubt = self.doubt or doubt_repeats(name, ids[name], *how)

    def _order(self, values: list[Any], counts: list[int]) -> list[bool]:
        """Settle the two labels, and return which values are the positive one."""
        self.labels = order_classes(
            values, counts, self.positive, self.label, symmetric=self.symmetric
        )
        return [str(value) == str(self.labels[1]) for value in values]

    def decide(
        self,
        curve: str | ErrorCurve | None = None,
        rule: str | Rule | None = None,
        *,
        confidence: float = 0.95,
        origin: Origin = "held-out",
    ) -> tuple[Boundary, Certificate]:
        """Find the boundary as `find_boundary` does, and certify it on the same rows.

        Costs by row take the place of curve and rule.
        """
        if self.cost is not None:
            rows = self.rows
            costs = rows.beside[self.cost]
            found = decide_by_row(rows.is_positive, rows.scores, costs, scale="auto")
            boundary = replace(found, labels=self.labels)
        elif sum(p.stat().st_size for p in map(Path, self.files) if p.is_file()) > _LARGE:
            boundary = self._decide_in_passes(curve, rule)
        else:
            rows = self.rows
            boundary = decide(rows.sample(self.labels), curve, rule, "auto")
        warn_of(boundary, stacklevel=3)
        certificate = certify_boundary(boundary, confidence=confidence, origin=origin)
        if self.doubt:
            certificate = replace(certificate, status=CertificateStatus.NOMINAL, reason=self.doubt)
        return boundary, certificate

    def _decide_in_passes(
        self, curve: str | ErrorCurve | None, rule: str | Rule | None
    ) -> Boundary:
        with open_table(self.files[0], self.reading) as opened:
            if names := self._id_columns(opened):
                first = next(read_batches(opened, dict.fromkeys(names)))
                # Of many rows in any order, a few show only some of the repetitions.
                self._doubt_repeats(arrow().Table.from_batches([first]), 0)

        def order(counts: dict[Any, int]) -> tuple[Any, Any]:
            cells = list(counts)
            values = label_values(cells) if are_text(self.files) else cells
            is_positive = self._order(values, list(counts.values()))
            return cells[is_positive.index(False)], cells[is_positive.index(True)]

        roles = {"label": self.label, "score": self.score}
        source = files_columns(self.files, roles, as_text=True, reading=self.reading)
        boundary = decide_source(source, curve, rule, order, "auto", self.progress)
        return replace(boundary, labels=self.labels)

    def find_zone(
        self, errors: tuple[float, float], confidence: float, cluster: str | None = None
    ) -> Zone:
        """Find the unsure zone, of clusters if a column has their ids."""
        rows = self.rows
        ids = None if cluster is None else rows.beside[cluster]
        how: dict[str, Any] = {"scale": "auto", "cluster": ids, "pos_label": True}
        found = find_zone(rows.is_positive, rows.scores, errors, confidence, **how)
        return replace(found, labels=self.labels, reason=self.doubt or found.reason)


def _ends_of(path: Path) -> tuple[int, bytes, bytes]:
    """Return what tells files apart: the size, and the bytes at both ends."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        start = file.seek(0)
        first = file.read(_END)
        file.seek(max(start, size - _END))
        return size, first, file.read()


def _numbers(column: Any, name: str, where: str) -> FloatArray:
    """Return a column as numbers; missing ones are refused."""
    # Arrow's own ways to NumPy, and to fill gaps, load pandas first.
    parts = [np.from_dlpack(chunk) for chunk in column.drop_null().chunks]
    values = np.concatenate([*parts, np.empty(0)])
    bad = column.null_count + int(np.sum(~np.isfinite(values)))
    if bad:
        raise InvalidInputError(
            f"Numbers must be finite, but column '{name}' of {where} has {bad} that are missing, "
            "NaN or infinite. Drop those rows."
        )
    return values


def set_apart(is_positive: BoolArray, share: float, labels: tuple[Any, Any]) -> BoolArray:
    """Return which rows are test rows, with the same share of each class."""
    random = np.random.default_rng(0)
    tests = np.zeros(len(is_positive), dtype=np.bool_)
    for label, of_class in zip(labels, (~is_positive, is_positive), strict=True):
        members = np.flatnonzero(of_class)
        n = round(share * len(members))
        if not 0 < n < len(members):
            raise InvalidInputError(
                f"--test-share must leave rows of class {label} on both sides, got {share:g} of "
                f"{len(members)} rows. Use 0.5, for example, or --test with a file."
            )
        tests[random.permutation(members)[:n]] = True
    return tests


def resampled_interval(
    sample: ScoreSample,
    curve: str | ErrorCurve | None,
    rule: str | Rule | None,
    scale: Any = "raw",
) -> tuple[float, float] | None:
    """Return the bootstrap interval of the threshold; None if it would take over three seconds."""
    if sum(sample.n_samples) > _MOST_ROWS:
        return None
    rows = np.repeat([False, True], sample.n_samples), sample.to_rows()[1]
    how: dict[str, Any] = {"n_resamples": _RESAMPLES, "random_state": 0, "scale": scale}
    return threshold_interval(*rows, curve=curve, rule=rule, **how)


def doubt_repeats(name: str, column: Any, least: float = SHARED, more: str = "") -> str:
    """Say why nothing is certified if an Arrow column's ids repeat, with a note; else nothing.

    They repeat if at least this share of rows shares its id.
    """
    counts = np.from_dlpack(column.drop_null().value_counts().field("counts"))
    n = int(counts.sum())
    shared = int(counts[counts > 1].sum())
    if not rank_id(name, len(counts)) or shared < max(least * n, 1):
        return ""
    warnings.warn(
        f"'{name}' repeats ({n:,} rows of {len(counts):,}). Rows of one are taken as independent; "
        "if they are not, the bounds do not hold. Nothing is certified. Use --cluster "
        f"'{name}'{more}, or --cluster none if they are.",
        BoundaryWarning,
        stacklevel=2,
    )
    return f"Rows of one '{name}' may be alike, and the bounds ignore that"


def check_apart(name: str, ids: NDArray[Any], tests: NDArray[Any]) -> None:
    """Raise if an id has rows on both sides."""
    both = sorted(set(map(str, ids)) & set(map(str, tests)))
    if both:
        raise InvalidInputError(
            f"The ids of --test must not occur in the other file, got {len(both):,} of '{name}' in "
            f"both, such as '{both[0]}'. Put all rows of an id into one of the files."
        )

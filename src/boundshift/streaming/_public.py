"""`Tally`: counts of labelled scores as an object that is added, stored and decided on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Self, overload

import numpy as np
from numpy.typing import ArrayLike

from boundshift._boundary import choose_claims
from boundshift._guarantees.certificate import Certificate, Origin, certify_counts
from boundshift._guarantees.certify import state_choice, state_copies
from boundshift._guarantees.reading import check_known, read_threshold
from boundshift._guarantees.zone import Zone, as_errors
from boundshift._result.boundary import Boundary, warn_of
from boundshift._scores import SCALES, Scale
from boundshift._tables import arrow
from boundshift._typing import FloatArray, Label
from boundshift._validation import as_choice, as_share, order_labels
from boundshift.curves import ErrorCurve
from boundshift.exceptions import InvalidInputError
from boundshift.metrics import metrics_of_sample, read_thresholds
from boundshift.rules import Cost, Rule
from boundshift.streaming._bins import REFINED_BIN
from boundshift.streaming._count import PassRequest
from boundshift.streaming._decide import decide_bins
from boundshift.streaming._joint import JointBins
from boundshift.streaming._looks import Passes, Progress, check_faults, check_unweighted
from boundshift.streaming._read import read
from boundshift.streaming._sql import DIALECTS, count_query, counts_of, quote_name
from boundshift.streaming._tally import ClassTally, Counts
from boundshift.streaming._zone import decide_zone

if TYPE_CHECKING:
    import pyarrow as pa

    from boundshift.streaming._groups import GroupTallies


class Stored(ABC):
    """Counts that a file can hold."""

    @classmethod
    @abstractmethod
    def from_frame(cls, frame: object) -> Self:
        """Return the counts of a frame."""

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """Return the counts as an Arrow table."""

    @classmethod
    def from_parquet(cls, path: str | PathLike[str]) -> Self:
        """Return the counts in a file."""
        arrow()
        from pyarrow import parquet

        return cls.from_frame(parquet.read_table(path))

    def to_parquet(self, path: str | PathLike[str]) -> None:
        """Write the counts to a file."""
        arrow()
        from pyarrow import parquet

        parquet.write_table(self.to_arrow(), path)


def read_counts(frame: object) -> tuple[Counts, list[str]]:
    """Return the counts in a frame of Arrow, pandas or Polars, and the names of its columns."""
    pa = arrow()
    table = frame if isinstance(frame, pa.Table) else pa.table(frame)
    table = table.rename_columns([name.lower() for name in table.column_names])
    counts = counts_of(table, PassRequest(), "the table")
    check_faults(counts)
    return counts, table.column_names


@dataclass(frozen=True, eq=False)
class Tally(Stored):
    """Counts of labelled scores by class and bin, a few megabytes for any number of rows.

    Tallies of different rows can be added, such as those of two days. The threshold of a tally is
    between two bins, so that every count is exact.

    Examples
    --------
    >>> import numpy as np
    >>> from boundshift.streaming import Tally
    >>> rng = np.random.default_rng(0)
    >>> days = [(y, rng.normal(size=1000) + 3 * y) for y in rng.random((5, 1000)) < 0.02]
    >>> tally = sum((Tally.of([day]) for day in days[1:]), start=Tally.of(days[:1]))
    >>> tally.n_rows
    {False: 4894, True: 106}
    >>> boundary = tally.find_boundary()
    >>> round(boundary.threshold, 2), boundary.wrong
    (1.48, (338, 6))
    >>> certificate = Tally.of(days[:1]).certify(boundary)
    >>> tally.metrics_at(boundary)["recall"].round(3).tolist()
    [0.943]
    """

    classes: Mapping[Label, ClassTally]
    is_weighted: bool = False

    @overload
    @classmethod
    def of(
        cls,
        data: object,
        *,
        label: str = ...,
        score: str = ...,
        weight: str | None = ...,
        by: None = ...,
        at: Sequence[float] = ...,
        element: int = ...,
        progress: Progress | None = ...,
    ) -> Tally: ...

    @overload
    @classmethod
    def of(
        cls,
        data: object,
        *,
        label: str = ...,
        score: str = ...,
        by: str,
        element: int = ...,
        progress: Progress | None = ...,
    ) -> GroupTallies: ...

    @classmethod
    def of(
        cls,
        data: object,
        *,
        label: str = "label",
        score: str = "score",
        weight: str | None = None,
        by: str | None = None,
        at: Sequence[float] = (),
        element: int = -1,
        progress: Progress | None = None,
    ) -> Tally | GroupTallies:
        """Count labelled scores in one pass.

        Parameters
        ----------
        data, label, score, weight, element, progress
            As in :func:`scan_boundary`.
        by : str, default=None
            Column that names the group of each row. The result is then a :class:`GroupTallies`,
            counted without weights and without `at`.
        at : sequence of float, default=()
            Thresholds at which rows are counted exactly: a bin that holds one is cut there.

        Notes
        -----
        If a bin holds a thousandth of a class or of both, it may hide a score that repeats, or
        scores with a large offset. A second pass looks into such bins if there are two classes.
        """
        if by is not None:
            if weight is not None or len(at):
                raise InvalidInputError(
                    f"cannot be combined with `weight` or `at`, got weight={weight!r} and "
                    f"at={list(at)!r}. Leave them out, or count the rows of one group.",
                    argument="by",
                )
            from boundshift.streaming._groups import GroupTallies

            source = read(data, label, score, element=element, by=by)
            return GroupTallies(Passes(source, progress).count(PassRequest()))
        passes = Passes(read(data, label, score, weight, element), progress)
        counts = passes.count(PassRequest(cuts=tuple(map(float, at))))
        classes = dict(counts.classes())
        if len(classes) == 2:
            classes = _refine(classes, counts.is_weighted, passes)
        return cls(classes, counts.is_weighted)

    @classmethod
    def from_frame(cls, frame: object) -> Tally:
        """Return the tally of the result of :func:`tally_sql`, or of :meth:`to_arrow`.

        The frame is one of Arrow, pandas or Polars.
        """
        counts, _ = read_counts(frame)
        return cls(dict(counts.classes()), counts.is_weighted)

    def to_arrow(self) -> pa.Table:
        """Return the tally as an Arrow table with a row for each label and bin."""
        pa = arrow()
        tables = []
        for label, tally in self.classes.items():
            columns = columns_of(label, tally)
            if self.is_weighted:
                columns |= {"weight": tally.weight, "squares": tally.squares}
            tables.append(pa.table(columns))
        return pa.concat_tables(tables)

    @property
    def n_rows(self) -> dict[Label, int]:
        """Rows of each label."""
        return {label: int(tally.rows.sum()) for label, tally in self.classes.items()}

    def _bins(self, pos_label: object, *, symmetric: bool = False) -> JointBins:
        """Return the bins of both classes side by side."""
        order = partial(order_labels, pos_label=pos_label, symmetric=symmetric)
        return JointBins.of_labelled(self.classes, order, self.is_weighted)

    def find_boundary(
        self,
        *,
        curve: str | ErrorCurve | None = None,
        rule: str | Rule | None = None,
        pos_label: object = None,
        scale: Scale = "auto",
    ) -> Boundary:
        """Find the threshold that optimises a rule.

        Parameters
        ----------
        curve, rule, pos_label, scale
            As in :func:`boundshift.find_boundary`. The paper's curves need every score.

        Returns
        -------
        Boundary
            Within its ``resolution`` of that of the same rows in memory.
        """
        curve, rule = choose_claims(curve, rule)
        as_choice("scale", scale, SCALES)
        boundary = decide_bins(self._bins(pos_label), curve, rule, scale)
        warn_of(boundary, stacklevel=3)
        return boundary

    def certify(
        self,
        threshold: float | Boundary,
        confidence: float = 0.95,
        *,
        pos_label: object = None,
        origin: Origin = "held-out",
        chosen_here: bool = False,
        joint: bool = False,
    ) -> Certificate:
        """Bound each class's error rate at a threshold.

        Parameters
        ----------
        threshold, confidence, pos_label, origin, chosen_here, joint
            As in :func:`boundshift.certify`. A threshold inside a bin is refused.

        Returns
        -------
        Certificate
            That of the same rows in memory.
        """
        t, pos_label = read_threshold(threshold, pos_label)
        check_unweighted(self.is_weighted)
        bins = self._bins(pos_label)
        bins.check_between(np.array([t]))
        is_seen = False
        if isinstance(threshold, Boundary):
            sample = bins.sample()
            check_known("label", bins.labels, threshold)
            threshold._check_sample_scale(sample)
            rows = threshold.chosen_on
            is_seen = rows is not None and rows.have_summary_of(sample)
        certificate = certify_counts(
            bins.count_wrong(t),
            bins.n_samples,
            bins.labels,
            threshold=t,
            origin=origin,
            confidence=confidence,
            joint=joint,
            chosen_here=chosen_here or is_seen,
        )
        certificate = state_copies(certificate, bins.sample())
        if is_seen and not chosen_here:
            certificate = state_choice(certificate)
        return replace(
            certificate, scale=threshold.scale if isinstance(threshold, Boundary) else None
        )

    def find_zone(
        self,
        errors: float | tuple[float, float] = (0.05, 0.05),
        confidence: float = 0.95,
        *,
        pos_label: object = None,
        scale: Scale = "auto",
    ) -> Zone:
        """Find two limits, with at most the allowed errors outside them.

        Parameters
        ----------
        errors, confidence, pos_label, scale
            As in :func:`boundshift.find_zone`.

        Returns
        -------
        Zone
            Each limit is at most a bin farther out than that of the same rows in memory, and the
            guarantees hold. `scan_zone` looks into these bins.
        """
        allowed = as_errors(errors)
        as_share("confidence", confidence)
        as_choice("scale", scale, SCALES)
        check_unweighted(self.is_weighted)
        bins = self._bins(pos_label, symmetric=allowed[0] == allowed[1])
        return decide_zone(bins, allowed, confidence, scale)

    def metrics_at(
        self,
        thresholds: ArrayLike | Boundary | None = None,
        *,
        prevalence: float | None = None,
        costs: Cost | None = None,
        pos_label: object = None,
    ) -> dict[str, FloatArray]:
        """Return every metric at each threshold, as columns of a tidy table.

        Parameters
        ----------
        thresholds, prevalence, costs, pos_label
            As in :func:`boundshift.metrics_at`. Thresholds inside a bin are refused; None takes
            one in every gap between two bins.

        Returns
        -------
        dict of str to array
            Those of the same rows in memory. Rows with weights count by their weight.
        """
        if isinstance(thresholds, Boundary):
            _, pos_label = read_threshold(thresholds, pos_label)
        bins = self._bins(pos_label)
        sample = bins.sample()
        at = read_thresholds(sample, thresholds)
        if thresholds is None:
            at = at[~bins.are_inside(at)]
        bins.check_between(at)
        return metrics_of_sample(sample, at, prevalence, costs)

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        if self.is_weighted != other.is_weighted and self.classes and other.classes:
            raise InvalidInputError(
                "Tallies must both have weights or neither, got one of each. Count both with "
                "`weight`, or both without."
            )
        classes = dict(self.classes)
        for label, tally in other.classes.items():
            classes[label] = _merged(classes[label], tally) if label in classes else tally
        return Tally(classes, self.is_weighted or other.is_weighted)

    def __repr__(self) -> str:
        rows = ", ".join(f"{label!r}: {n:,}" for label, n in self.n_rows.items())
        return f"Tally({rows}; {sum(map(len, self.classes.values())):,} bins)"


def columns_of(label: Label, tally: ClassTally) -> dict[str, object]:
    """Return the columns of a class in the result of :func:`tally_sql`, without weights."""
    return {
        "label": arrow().array([label] * len(tally)),
        "part": np.zeros(len(tally), dtype=np.int64),
        "bin": tally.bin,
        "n_rows": tally.rows,
        "mean": tally.mean,
        "low": tally.low,
        "high": tally.high,
    }


def _merged(*parts: ClassTally) -> ClassTally:
    """Merge equal bins; parts of bins that were looked into stay beside each other."""
    plain = ClassTally.joined(part.take(part.bin != REFINED_BIN) for part in parts)
    return plain.beside(*(part.take(part.bin == REFINED_BIN) for part in parts))


def _refine(
    classes: Mapping[Label, ClassTally], is_weighted: bool, passes: Passes
) -> dict[Label, ClassTally]:
    """Return the tallies of two classes after further passes into bins that may hide atoms."""
    first, second = classes
    bins = JointBins.of_classes((first, second), (classes[first], classes[second]), is_weighted)
    while bins.may_hide_atoms().any():
        bins = passes.look_into(bins, bins.may_hide_atoms())
    negative, positive = bins.classes(np.ones(len(bins.low), dtype=np.bool_))
    return {
        first: _with_refined(classes[first], negative),
        second: _with_refined(classes[second], positive),
    }


def _with_refined(counted: ClassTally, refined: ClassTally) -> ClassTally:
    """Return bins that were looked into in the place of those that were counted."""
    counted = counted.take(np.argsort(counted.low))
    place = np.minimum(np.searchsorted(counted.low, refined.low), len(counted) - 1)
    is_kept = (counted.low[place] == refined.low) & (counted.high[place] == refined.high)
    return counted.take(place[is_kept]).beside(refined.take(~is_kept))


def tally_sql(
    label: str,
    score: str,
    table: str,
    *,
    weight: str | None = None,
    by: str | None = None,
    dialect: str = "ansi",
) -> str:
    """Return one query that counts labelled scores, for :meth:`Tally.from_frame`.

    Parameters
    ----------
    label, score, weight : str
        Names of columns. They are quoted.
    by : str, default=None
        Column that names the group of each row, for :meth:`GroupTallies.from_frame`. It cannot be
        combined with `weight`.
    table : str
        What stands behind FROM: a table, or a query in parentheses with an alias. It is not
        quoted.
    dialect : str, default="ansi"
        "ansi", "bigquery", "clickhouse", "databricks", "duckdb", "postgres", "snowflake", "spark"
        or "trino".

    Examples
    --------
    >>> import duckdb
    >>> rows = duckdb.sql("SELECT i % 2 AS ill, i % 7 + i % 2 AS risk FROM range(1000) t(i)")
    >>> Tally.from_frame(duckdb.sql(tally_sql("ill", "risk", "rows", dialect="duckdb")).arrow())
    Tally(0: 500, 1: 500; 14 bins)
    """
    if dialect not in DIALECTS:
        raise InvalidInputError(
            f"must be one of {', '.join(DIALECTS)}, got {dialect!r}. Use 'ansi' for "
            "other databases.",
            argument="dialect",
        )
    if by is not None and weight is not None:
        raise InvalidInputError(
            f"cannot be combined with `weight`, got weight={weight!r}. Leave one of them out.",
            argument="by",
        )
    named = {"label": label, "score": score, "weight": weight, "by": by}
    names = {role: name for role, name in named.items() if name is not None}
    quote = partial(quote_name, dialect=dialect)
    columns = {role: quote(name) for role, name in names.items()}
    return count_query(PassRequest(), columns, table, dialect)

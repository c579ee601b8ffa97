"""`GroupTallies`: the counts of very many groups, and a boundary for each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from boundshift._boundary import choose_claims
from boundshift._groups import (
    GroupBoundaries,
    Shrunk,
    common_for,
    prior_weight,
    warn_of_groups,
)
from boundshift._scores import SCALES, Scale
from boundshift._tables import arrow
from boundshift._typing import IntArray, Label
from boundshift._validation import as_choice, order_labels
from boundshift.curves import ErrorCurve
from boundshift.exceptions import InvalidInputError
from boundshift.rules import Rule
from boundshift.streaming._bins import group_of
from boundshift.streaming._decide import decide_bins, decide_bins_by, gap_around, summary_of
from boundshift.streaming._joint import JointBins
from boundshift.streaming._public import Stored, Tally, columns_of, read_counts
from boundshift.streaming._tally import ClassTally, Counts

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class GroupTallies(Stored, Mapping[Label, Tally]):
    """The tally of each group, from :meth:`Tally.of` with `by`.

    All groups share one table of counts. The tally of a group is made when it is asked for.

    Examples
    --------
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> from boundshift.streaming import Tally
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.2
    >>> site = np.where(np.arange(2000) % 20 == 0, "small", "large")
    >>> s = rng.normal(size=2000) + 2 * y + (site == "small")
    >>> tallies = Tally.of(pa.table({"label": y, "score": s, "site": site}), by="site")
    >>> tallies["small"].n_rows
    {False: 76, True: 24}
    >>> found = tallies.find_boundaries()
    >>> {group: round(b.threshold, 1) for group, b in found.items()}
    {'small': 1.7, 'large': 0.9}
    """

    _counts: Counts

    @classmethod
    def from_frame(cls, frame: object) -> GroupTallies:
        """Return the tallies of the result of :func:`tally_sql` with `by`, or of :meth:`to_arrow`.

        The frame is one of Arrow, pandas or Polars.
        """
        counts, columns = read_counts(frame)
        if "group_name" not in columns:
            raise InvalidInputError(
                f"must have a column 'group_name', got {', '.join(columns)}. Use "
                "tally_sql(..., by=...), or Tally.from_frame for counts without groups.",
                argument="frame",
            )
        return cls(counts)

    @cached_property
    def classes(self) -> dict[Label, ClassTally]:
        """The bins of each label in ascending order, those of a group side by side."""
        return {label: _merged(tally) for label, tally in self._counts.classes().items()}

    @cached_property
    def _starts(self) -> dict[Label, IntArray]:
        """Where the bins of each group start, and where the last ones end."""
        ends = np.arange(len(self) + 1)
        return {
            label: np.searchsorted(group_of(tally.bin), ends)
            for label, tally in self.classes.items()
        }

    def _class_of(self, group: Label, label: Label) -> ClassTally:
        number = self._counts.groups[group]
        start, stop = self._starts[label][number : number + 2].tolist()
        return self.classes[label].take(slice(start, stop))

    def __getitem__(self, group: Label) -> Tally:
        parts = {label: self._class_of(group, label) for label in self.classes}
        return Tally({label: _without_groups(part) for label, part in parts.items() if len(part)})

    def __iter__(self) -> Iterator[Label]:
        return iter(self._counts.groups)

    def __len__(self) -> int:
        return len(self._counts.groups)

    def __repr__(self) -> str:
        bins = sum(map(len, self.classes.values()))
        return f"GroupTallies({len(self):,} groups; {bins:,} bins)"

    def __add__(self, other: GroupTallies) -> GroupTallies:
        if not isinstance(other, GroupTallies):
            return NotImplemented
        total = Counts()
        total.merge(self._counts)
        total.merge(other._counts)
        return GroupTallies(total)

    def to_arrow(self) -> pa.Table:
        """Return the tallies as an Arrow table with a row for each group, label and bin."""
        pa = arrow()
        names = pa.array(list(self))
        tables = []
        for label, tally in self.classes.items():
            columns: dict[str, object] = {"group_name": names.take(group_of(tally.bin))}
            tables.append(pa.table(columns | columns_of(label, _without_groups(tally))))
        return pa.concat_tables(tables)

    def find_boundaries(
        self,
        *,
        curve: str | ErrorCurve | None = None,
        rule: str | Rule | None = None,
        pos_label: object = None,
        prior_rows: float = 20.0,
        scale: Scale = "auto",
    ) -> GroupBoundaries:
        """Find a threshold for each group.

        Parameters
        ----------
        curve, rule, pos_label, prior_rows, scale
            As in :func:`boundshift.find_boundaries`. A curve that counts rows and guarantees
            nothing, such as "empirical", needs ``prior_rows=0``.

        Returns
        -------
        GroupBoundaries
            Each threshold is within the ``resolution`` of its boundary of that of the same rows
            in memory.
        """
        curve, rule = choose_claims(curve, rule)
        as_choice("scale", scale, SCALES)
        weight = prior_weight(curve, rule, prior_rows)
        if weight and curve.is_step:
            raise InvalidInputError(
                f"must be 0 for a tally and a curve that counts rows, got {prior_rows!r} with "
                f"{curve!r}. Pass prior_rows=0, a smooth curve such as 'blend', or the rows to "
                "boundshift.find_boundaries.",
                argument="prior_rows",
            )
        order = partial(order_labels, pos_label=pos_label, symmetric=False)
        joint = {label: _merged(_without_groups(tally)) for label, tally in self.classes.items()}
        everyone = JointBins.of_labelled(joint, order, is_weighted=False)
        common = decide_bins(everyone, curve, rule, scale)
        versions = [Shrunk(curve, everyone.sample().on_scale(scale), weight)]
        if weight and everyone.is_open.any():
            versions += [
                replace(versions[0], everyone=everyone.sample(at_ends).on_scale(scale))
                for at_ends in everyone.at_ends(common.threshold)
            ]
        rows = common.chosen_on if weight else None
        deciders = [partial(version.decide, rule=rule, rows=rows) for version in versions]
        boundaries = {}
        for group in self:
            pair = [self._class_of(group, label) for label in everyone.labels]
            if not all(map(len, pair)):
                boundaries[group] = common_for(group, common, curve)
                continue
            bins = JointBins.of_classes(everyone.labels, (pair[0], pair[1]), is_weighted=False)
            boundary = decide_bins_by(bins, deciders, curve, rule)
            resolution = boundary.resolution + (gap_around(everyone, boundary) if weight else 0.0)
            boundaries[group] = replace(
                boundary, resolution=resolution, chosen_on=rows or summary_of(bins)
            )
        warn_of_groups(boundaries, stacklevel=3)
        return GroupBoundaries(boundaries, common, weight)


def _merged(tally: ClassTally) -> ClassTally:
    """Return the bins of a class in ascending order, each once."""
    return ClassTally.joined([tally, ClassTally.empty()])


def _without_groups(tally: ClassTally) -> ClassTally:
    groups = int(group_of(tally.bin).max(initial=-1)) + 1
    return tally.renumbered(np.zeros(groups, dtype=np.int64))

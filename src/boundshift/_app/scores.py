"""Labelled scores in files: one table, held in memory or read in passes."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boundshift._app.cli import Show
from boundshift._app.columns import SHARED, rank_id
from boundshift._app.opening import AS_IT_IS, Reading, open_table
from boundshift._app.tables import (
    Labels,
    label_values,
    note_unlabelled,
    order_classes,
    read_arrow,
)
from boundshift._boundary import decide, decide_by_cluster, decide_by_row
from boundshift._guarantees.certificate import Certificate, CertificateStatus, Origin
from boundshift._guarantees.certify import certify, certify_boundary
from boundshift._guarantees.interval import threshold_interval
from boundshift._guarantees.zone import Zone, find_zone
from boundshift._result.boundary import Boundary
from boundshift._scores import ScoreSample
from boundshift._status import Status
from boundshift._tables import OpenTable, arrow, read_batches
from boundshift._typing import BoolArray, FloatArray
from boundshift._view import assume_own_threshold
from boundshift.curves import ErrorCurve
from boundshift.exceptions import BoundaryWarning, InvalidInputError
from boundshift.rules import Cost, Floors, Rule
from boundshift.streaming._files import are_text, files_columns, find_files
from boundshift.streaming._read import as_labels
from boundshift.streaming._scan import decide_source

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

    def sample(self, labels: Labels) -> ScoreSample:
        return ScoreSample.from_rows(self.is_positive, self.scores, labels)


@dataclass
class ScoreTable:
    """Labels and scores of any system, out of files that are one table; "-" is standard input.

    Only the columns named here are held. The boundary of more than 512 MB is found in passes, with
    the same answer. `positive` and `symmetric` are as in :func:`order_classes`; `cost` is a column
    of costs by row, and `by` are columns of groups. Unless rows are said to be `independent`, a
    column of ids that repeat, such as the patient's, is looked for: nothing is certified then.
    With `are_unlabelled_noted`, a note on rows without a label was given before.
    """

    files: Sequence[str | Path]
    score: str
    label: str
    positive: str | None = None
    symmetric: bool = True
    cost: str | None = None
    by: Sequence[str] = ()
    cluster: str | None = None
    reading: Reading = AS_IT_IS
    progress: Show = lambda what, done, total: None
    are_unlabelled_noted: bool = False
    labels: Labels = field(init=False)
    doubt: str = field(init=False, default="")

    def __post_init__(self) -> None:
        self._numbers = [self.score] if self.cost is None else [self.score, self.cost]
        self._named = [*self._numbers, self.label, *self.by, *self.id_columns]
        if len(set(self._named)) < len(self._named):
            raise InvalidInputError(
                "Scores, labels and all else must be different columns, got "
                f"{', '.join(map(repr, self._named))}. Say with --label which column holds the "
                "classes."
            )
        if any(sign in str(path) for path in self.files for sign in "*?["):
            self.files = find_files(self.files)
        path_of: dict[tuple[int, bytes, bytes], Path] = {}
        for path in filter(Path.is_file, map(Path, self.files)):
            other = path_of.setdefault(_ends_of(path), path)
            if other is not path:
                raise InvalidInputError(
                    f"Files must hold different rows, got '{other}' and '{path}' with the same "
                    "content: rows that count twice, or are their own test, certify too much. "
                    "Name each file once."
                )

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
                types = dict.fromkeys(self._possible_ids(opened), pa.string() if is_text else None)
                types |= dict.fromkeys(self._named, words)
                types |= dict.fromkeys(self._numbers, pa.float64())
                parts.append(read_arrow(opened, types, progress=self.progress))
                are_text &= is_text
        table = pa.concat_tables(parts, promote_options="permissive")
        self._doubt_repeats(table.drop_columns(self._named), SHARED)
        labels = as_labels(table[self.label], self.label, opened.name)
        if pa.types.is_floating(labels.type):
            labels = pc.if_else(pc.is_nan(labels), None, labels)
        if lacking := labels.null_count:
            self._warn_of_unlabelled(lacking)
            table = table.filter(labels.is_valid())
            labels = labels.drop_null()
        if not len(labels):
            raise InvalidInputError(
                f"Column '{self.label}' must hold labels, but no row of {opened.name} has one. "
                "Label some rows."
            )
        chunks = labels.dictionary_encode().unify_dictionaries().chunks
        codes = np.concatenate([np.from_dlpack(chunk.indices) for chunk in chunks])
        found = chunks[-1].dictionary.to_pylist()
        counts = np.bincount(codes, minlength=len(found)).tolist()
        is_positive = np.array(self._order(label_values(found) if are_text else found, counts))
        scores, *costs = (_numbers(table[name], name, opened.name) for name in self._numbers)
        beside = {
            name: np.array(table[name].to_pylist(), dtype=object)
            for name in (*self.by, *self.id_columns)
        }
        beside |= zip(self._numbers[1:], costs, strict=True)
        return ScoreRows(is_positive[codes], scores, beside)

    def find_doubt(self) -> str:
        """Read the rows, and return why nothing can be certified on them; else nothing."""
        return self.doubt if len(self.rows.scores) else ""

    @property
    def id_columns(self) -> list[str]:
        """The column of ids whose rows belong together, if there is one."""
        return [] if self.cluster in (None, "none") else [str(self.cluster)]

    def _possible_ids(self, opened: OpenTable) -> list[str]:
        """Return other columns that may have ids that repeat, unless a user has settled it."""
        names = [name for name in opened.header if rank_id(name, sys.maxsize)]
        return [name for name in names if name not in self._named and self.cluster is None]

    def _doubt_repeats(self, ids: Any, least: float) -> None:
        """Set the doubt, with a note, if at least this share of rows shares its id with others."""
        for name in ids.column_names:
            self.doubt = self.doubt or doubt_repeats(name, ids[name], least)

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
        elif self._is_large():
            boundary = self._decide_in_passes(curve, rule)
        elif self.id_columns and isinstance(rule, Floors):
            return self._decide_by_cluster(rule, confidence)
        else:
            boundary = decide(self.rows.sample(self.labels), curve, rule, "auto")
        certificate = certify_boundary(boundary, confidence=confidence, origin=origin)
        reason = self.doubt
        if self.id_columns:
            reason = (
                f"The threshold was chosen on these rows, and rows of one '{self.cluster}' may be "
                "alike; certify it on rows of other ids"
            )
        if reason:
            certificate = replace(certificate, status=CertificateStatus.NOMINAL, reason=reason)
        return boundary, certificate

    def _is_large(self) -> bool:
        """Whether the files are read in passes."""
        is_plain = self.cost is None and not self.id_columns
        sizes = (path.stat().st_size for path in map(Path, self.files) if path.is_file())
        return is_plain and sum(sizes) > _LARGE

    def _clusters(self) -> Any:
        """Return the ids of the rows, None if rows are independent."""
        return self.rows.beside[str(self.cluster)] if self.id_columns else None

    def _decide_by_cluster(self, rule: Floors, confidence: float) -> tuple[Boundary, Certificate]:
        """Guarantee floors of recall and specificity, as averages over ids."""
        rows = self.rows
        clusters = self._clusters()
        found = decide_by_cluster(
            rows.is_positive,
            rows.scores,
            clusters,
            replace(rule, confidence=confidence),
            True,
            "auto",
        )
        boundary = replace(found, labels=self.labels)
        certificate = certify(
            rows.is_positive,
            rows.scores,
            boundary.threshold,
            confidence,
            pos_label=True,
            cluster=clusters,
        )
        return boundary, replace(
            certificate,
            labels=self.labels,
            status=CertificateStatus.NOMINAL,
            reason="The threshold was chosen on these rows; only the floors are guaranteed, as "
            f"averages over '{self.cluster}'",
        )

    def _decide_in_passes(
        self, curve: str | ErrorCurve | None, rule: str | Rule | None
    ) -> Boundary:
        with open_table(self.files[0], self.reading) as opened:
            if names := self._possible_ids(opened):
                first = next(read_batches(opened, dict.fromkeys(names)))
                # Of many rows in any order, a few show only some of the repetitions.
                self._doubt_repeats(arrow().Table.from_batches([first]), 0)

        def order(counts: dict[Any, int]) -> tuple[Any, Any]:
            cells = list(counts)
            values = label_values(cells) if are_text(self.files) else cells
            if len(cells) > 2:
                raise InvalidInputError(
                    "Files of more than 512 MB must hold two labels, each spelled in one way, got "
                    f"{', '.join(map(repr, cells[:8]))}. Write one label for each class."
                )
            is_positive = self._order(values, list(counts.values()))
            return cells[is_positive.index(False)], cells[is_positive.index(True)]

        roles = {"label": self.label, "score": self.score}
        opener = partial(open_table, reading=self.reading)
        unlabelled: dict[tuple[Path, int], int] = {}
        source = files_columns(
            self.files, roles, as_text=True, opener=opener, unlabelled=unlabelled
        )
        boundary = decide_source(source, curve, rule, order, "auto", self.progress)
        self._warn_of_unlabelled(sum(unlabelled.values()))
        return replace(boundary, labels=self.labels)

    def _warn_of_unlabelled(self, n: int) -> None:
        notes = [] if self.are_unlabelled_noted else note_unlabelled(n, self.label)
        for note in notes:
            warnings.warn(note, BoundaryWarning, stacklevel=3)

    def compare_rates(self, boundary: Boundary, own: float | None) -> list[Rates]:
        """Return the rates of a threshold, and of the model's own one if it is known.

        The model's own threshold is 0.5 if all scores lie from 0 to 1, and else not known.
        """
        rates = [self._rates_at(boundary.threshold, boundary.wrong, boundary)]
        if self._is_large():
            if own is not None:
                raise InvalidInputError(
                    "--own must go with files of up to 512 MB, got more, which are read in passes. "
                    "Leave it out."
                )
            return rates
        sample = self.rows.sample(self.labels)
        own = assume_own_threshold(sample) if own is None else own
        if own is not None:
            flagged, missed = sample.count_wrong(np.asarray(own))
            rates.append(self._rates_at(own, (int(flagged), int(missed)), boundary))
        return rates

    def _rates_at(self, threshold: float, wrong: tuple[int, int], boundary: Boundary) -> Rates:
        """Return the rates of a threshold by its counts of wrong rows."""
        negative, positive = boundary.n_samples
        flagged_wrongly, missed = wrong
        found = positive - missed
        flagged = found + flagged_wrongly
        n = negative + positive
        rule = boundary.rule
        cost = None
        if self.cost is not None:
            is_wrong = (self.rows.scores > threshold) != self.rows.is_positive
            cost = 1000 * float(np.mean(self.rows.beside[self.cost] * is_wrong))
        elif isinstance(rule, Cost):
            share = positive / n if rule.prevalence is None else rule.prevalence
            errors = np.asarray(flagged_wrongly / negative), np.asarray(missed / positive)
            cost = 1000 * float(rule.measure(*errors, share))
        return Rates(
            threshold=threshold,
            recall=found / positive,
            precision=found / flagged if flagged else None,
            flagged_per_1000=1000 * flagged / n,
            cost_per_1000=cost,
        )

    def find_zone(self, errors: tuple[float, float], confidence: float) -> Zone:
        """Find the unsure zone, of clusters if a column has their ids."""
        rows = self.rows
        found = find_zone(
            rows.is_positive,
            rows.scores,
            errors,
            confidence,
            scale="auto",
            cluster=self._clusters(),
            pos_label=True,
        )
        return replace(found, labels=self.labels, reason=self.doubt or found.reason)


class Rates(NamedTuple):
    """What a threshold does on the rows that chose one; None if it is not defined."""

    threshold: float
    recall: float
    precision: float | None
    flagged_per_1000: float
    cost_per_1000: float | None


def keeps_floors(boundary: Boundary, certificate: Certificate) -> bool:
    """Return whether the bounds show the floors of recall and specificity that were asked for."""
    flagged, missed = certificate.error_bounds
    shown = {"specificity": 1.0 - flagged, "recall": 1.0 - missed}
    asked = boundary.rule.asked
    return all(shown[name] >= asked[name] for name in asked.keys() & shown.keys())


def describe_goal(boundary: Boundary) -> str:
    """Return the goal in words, and whether it is met."""
    rule = boundary.rule
    if boundary.by_row:
        return "Goal: the least total cost of wrong decisions."
    if isinstance(rule, Cost):
        miss, alarm = rule.false_negative, rule.false_positive
        return f"Goal: the least cost, where a miss costs {miss:g} and a false alarm {alarm:g}."
    if not isinstance(rule, Floors):
        direction = "greatest" if rule.maximised else "least"
        return f"Goal: the {direction} {rule.title}."
    wishes = []
    for name, share in rule.asked.items():
        title = "an NPV" if name == "npv" else f"a {name}"
        what = "at most {} flagged" if name == "flagged" else f"{title} of at least {{}}"
        wishes.append(what.format(f"{100 * share:.4g}%"))
    state = "missed" if boundary.status == Status.UNMET else "reached on these rows"
    return f"Goal: {' and '.join(wishes)}. It is {'guaranteed' if boundary.guaranteed else state}."


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


class SplitScores(NamedTuple):
    """Rows that choose a threshold, rows that judge it, and why nothing can be certified."""

    deciding: ScoreRows
    judging: ScoreRows
    is_tested: bool
    doubt: str


def split_scores(
    table: ScoreTable,
    open_scores: Callable[..., ScoreTable],
    test: Path | None,
    test_share: float | None,
) -> SplitScores:
    """Return the rows of a table, and those of a test file or those that are set apart."""
    rows = table.rows.ordered()
    if test_share is not None:
        clusters = rows.beside[str(table.cluster)] if table.id_columns else None
        apart = set_apart(rows.is_positive, test_share, table.labels, clusters)
        return SplitScores(rows.of(~apart), rows.of(apart), True, table.doubt)
    if test is None:
        return SplitScores(rows, rows, False, table.doubt)
    positive = str(table.labels[1])
    tested = open_scores([test], positive=positive)
    judging = tested.rows.ordered()
    # An id may repeat between the files, too.
    both = open_scores([*table.files, test], positive=positive, are_unlabelled_noted=True)
    doubt = table.doubt or tested.doubt or both.find_doubt()
    for name in table.id_columns:
        check_apart(name, rows.beside[name], judging.beside[name])
    return SplitScores(rows, judging, True, doubt)


def set_apart(
    is_positive: BoolArray,
    share: float,
    labels: Labels,
    clusters: NDArray[Any] | None = None,
) -> BoolArray:
    """Return which rows are test rows: that share of each class, or of the ids."""
    random = np.random.default_rng(0)
    tests = np.zeros(len(is_positive), dtype=np.bool_)
    if clusters is None:
        for of_class in (~is_positive, is_positive):
            members = np.flatnonzero(of_class)
            tests[random.permutation(members)[: round(share * len(members))]] = True
    else:
        _, place = np.unique(clusters.astype(str), return_inverse=True)
        n_ids = int(place.max()) + 1
        tests = random.permutation(n_ids)[place] < round(share * n_ids)
    for label, of_class in zip(labels, (~is_positive, is_positive), strict=True):
        if len(np.unique(tests[of_class])) < 2:
            raise InvalidInputError(
                f"--test-share must leave rows of class {label} on both sides, got {share:g} of "
                f"{of_class.sum()} rows. Use 0.5, for example, or --test with a file."
            )
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
    return threshold_interval(
        *rows, curve=curve, rule=rule, n_resamples=_RESAMPLES, random_state=0, scale=scale
    )


def doubt_repeats(name: str, column: Any, least: float = SHARED) -> str:
    """Say why nothing is certified if an Arrow column's ids repeat, with a note; else nothing.

    They repeat if at least this share of rows shares its id.
    """
    counts = np.from_dlpack(column.drop_null().value_counts().field("counts"))
    n = int(counts.sum())
    shared = int(counts[counts > 1].sum())
    if not rank_id(name, len(counts)) or shared < max(least * n, 1):
        return ""
    warnings.warn(
        f"'{name}' repeats ({n:,} rows of {len(counts):,}). Use --cluster '{name}', or --cluster "
        "none if rows are independent.",
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

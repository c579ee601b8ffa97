"""What a search for a boundary returns: a status in plain words, and the record it stands in."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from boundshift.exceptions import InvalidInputError
from boundshift.result.html import boundary_html
from boundshift.result.plain import as_label, as_numbers, check_format, from_numbers
from boundshift.streaming.dispatch import find_predictor

__all__ = ["QUIET", "Boundary", "Status"]

Pair = tuple[float, float]

_FORMAT = "boundshift.boundary"
_VERSION = 1
_PAIR = (0.0, 0.0)
# Fields of numbers, and what each is like; docs/formats.md says what they mean.
_NUMBERS: dict[str, Any] = {
    "threshold": 0.0,
    "deltas": _PAIR,
    "error_bounds": _PAIR,
    "loss": 0.0,
    "slack": (0, 0),
    "n_samples": (0, 0),
    "log_deltas": _PAIR,
    "means": _PAIR,
    "radii": _PAIR,
    "confidence_radii": _PAIR,
    "supports": (_PAIR, _PAIR),
    "plateau": _PAIR,
    "resolution": 0.0,
}
_WORDS = ("status", "bound", "rule")


class Status(Enum):
    """What happened, and what to do about it."""

    OPTIMAL = "The optimum, with every point kept."
    RELAXED = "The optimum, after some points were given up because the classes overlap."
    LOCAL = "A local optimum of SLSQP, which depends on its start. Use solver='exact'."
    REVERSED = (
        "The positive class has the lower scores, so `score > threshold` is wrong for most rows. "
        "Negate the scores or pass the other label as `pos_label`."
    )
    INFEASIBLE = (
        "The classes overlap too much for the confidence bounds, even after giving up every point "
        "that the budget allows; the fallback boundary is used. Raise `budget`, use the default "
        "`constant=0` and `radius='one-sided'`, or train a model that separates the classes."
    )
    UNINFORMATIVE = (
        "Both classes have the same scores in the middle, so no boundary separates them; the "
        "fallback boundary is used. Train a model that separates the classes."
    )
    CHANCE = (
        "The positive class has no higher scores, neither in the middle nor on average, so no "
        "boundary is better than a guess. Train a model that separates the classes."
    )
    LONE_ROW = (
        "A class has only one row, whose spread cannot be known; that of both classes stands in "
        "for it. Collect more rows of that class."
    )
    BALANCED = (
        "All classes are equally frequent, so the classifier's own boundary is kept. "
        "Use keep_balanced=False to move it all the same."
    )
    UNMET = (
        "No boundary meets the recall floor with the confidence asked for; the one that comes "
        "nearest is used. Collect more rows of that class, or lower the floor or the confidence."
    )
    SINGLE_ROW = (
        "A class has only one row, and one row has no radius; the fallback boundary is used. "
        "Collect at least two rows of each class."
    )

    @property
    def solved(self) -> bool:
        """Whether the method had an answer, so that no fallback was needed."""
        return self not in _FELL_BACK

    def __repr__(self) -> str:
        return f"<Status.{self.name}>"


_FELL_BACK = (Status.INFEASIBLE, Status.UNINFORMATIVE, Status.SINGLE_ROW)
QUIET = (Status.OPTIMAL, Status.RELAXED, Status.LOCAL, Status.BALANCED)


@dataclass(frozen=True)
class Boundary:
    """A decision boundary and what is claimed about it; pairs are (negative, positive).

    Parameters
    ----------
    threshold : float
        Predict positive iff score > threshold.
    status : Status
        What happened, and the remedy.
    deltas : tuple of float
        Probabilities with which each class's bound may fail; 0.0 where it underflows. Where the
        curve claims no confidence, the paper's: that of the confidence radius which ends at the
        boundary, with the points beyond it given up.
    error_bounds : tuple of float
        Claim on the share of each class that falls on the wrong side, as the curve makes it. The
        paper's: the average of 1/(N+1) and 1 with weights 1 − δ and δ, plus the share of the
        class given up, at most 1. Use :func:`~boundshift.certify` for a claim that holds.
    loss : float
        The minimised loss; infinite where a fallback is used.
    slack : tuple of int
        Points given up; with a curve other than the paper's, points on the wrong side.
    n_samples : tuple of int
        Rows of each class.
    labels : tuple
        Labels of the classes.
    log_deltas : tuple of float
        Natural logarithms of the deltas, exact where these underflow.
    means, radii, confidence_radii : tuples of float
        Of the kept points: mean, support radius, and radius with its confidence term.
    supports : tuple of tuple of float
        Smallest and largest kept score of each class.
    plateau : tuple of float
        Boundaries between which the rule sees no difference; the threshold is their middle.
    bound, rule : str
        Names of the curve and the rule.
    resolution : float, default=0
        Width of the widest range of scores that the boundary rests on and whose scores are not
        known one by one; 0 if there is none, as for scores in memory.

    Examples
    --------
    >>> import boundshift
    >>> boundary = boundshift.find_boundary([0, 0, 0, 0, 0, 1, 1], [0, 1, 1, 2, 1, 5, 6])
    >>> boundary
    Boundary(threshold=3.49859, status=OPTIMAL, n_samples=(5, 2), slack=(0, 0))
    """

    threshold: float
    status: Status
    deltas: Pair
    error_bounds: Pair
    loss: float
    slack: tuple[int, int]
    n_samples: tuple[int, int]
    labels: tuple[Any, Any]
    log_deltas: Pair
    means: Pair
    radii: Pair
    confidence_radii: Pair
    supports: tuple[Pair, Pair]
    plateau: Pair
    bound: str = "support"
    rule: str = "sum"
    resolution: float = 0.0

    def __repr__(self) -> str:
        return (
            f"Boundary(threshold={self.threshold:.6g}, status={self.status.name}, "
            f"n_samples={self.n_samples}, slack={self.slack})"
        )

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return boundary_html(self)

    def predict(self, y_score: Any) -> Any:
        """Return the label of each score: the positive one iff score > threshold.

        Parameters
        ----------
        y_score : array-like, Dask array or series, or Spark column
            Scores. Dask and Spark are answered in kind, and compute when they are asked to.
        """
        engine = find_predictor(y_score)
        if engine is not None:
            return engine(y_score, self.threshold, self.labels)
        above = np.asarray(y_score, dtype=np.float64) > self.threshold
        return np.array(self.labels)[above.astype(np.intp)]

    def to_sql(self, column: str, quote: str = '"') -> str:
        """Return an SQL expression for the label of a row, to the last digit of the threshold.

        Parameters
        ----------
        column : str
            Name of the column of scores.
        quote : str, default='"'
            What stands around names that are not plain words; Spark and MySQL have "`".

        Returns
        -------
        str
            A row without a score gets the negative label. Databases hold NaN to be above every
            number: keep NaN out of the column.

        Examples
        --------
        >>> import boundshift
        >>> labels = ["no", "no", "no", "yes", "yes"]
        >>> boundary = boundshift.find_boundary(labels, [0, 1, 2, 4, 5], bound="kth-point")
        >>> print(boundary.to_sql("risk score"))
        CASE WHEN "risk score" > 3.0000000000000000E+00 THEN 'yes' ELSE 'no' END
        """
        name = column
        if not re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", column, re.ASCII):
            name = quote + column.replace(quote, quote * 2) + quote
        negative, positive = (_sql_literal(label) for label in self.labels)
        # With an exponent it is a double everywhere, not a decimal.
        return f"CASE WHEN {name} > {self.threshold:.16E} THEN {positive} ELSE {negative} END"

    def summary(self) -> str:
        """Return a readable account of the boundary.

        Examples
        --------
        >>> import boundshift
        >>> y = [0, 0, 0, 0, 0, 1, 1]
        >>> print(boundshift.find_boundary(y, [0, 1, 1, 2, 1, 5, 6]).summary())
        Predict 1 iff score > 3.49859
        The optimum, with every point kept.
                                 class 0       class 1
        rows                           5             2
        points given up                0             0
        mean                           1           5.5
        radius                         1           0.5
        confidence radius          2.499         2.001
        delta                   0.003645     0.0001213
        error bound            3.413e-06     8.534e-06
        loss                   6.656e-06
        """
        rows: list[tuple[str, tuple[object, ...]]] = [
            ("rows", self.n_samples),
            ("points given up", self.slack),
            ("mean", self.means),
            ("radius", self.radii),
            ("confidence radius", self.confidence_radii),
            ("delta", self.deltas),
            ("error bound", self.error_bounds),
            ("loss", (self.loss,)),
        ]
        if self.resolution:
            rows.append(("resolution", (self.resolution,)))
        head = "".join(f"{f'class {label}':>14}" for label in self.labels)
        lines = [f"Predict {self.labels[1]} iff score > {self.threshold:.6g}", self.status.value]
        lines.append(f"{'':<18}{head}".rstrip())
        for name, values in rows:
            cells = "".join(f"{v:>14.4g}" if isinstance(v, float) else f"{v!s:>14}" for v in values)
            lines.append(f"{name:<18}{cells}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the boundary as plain values, the status by name.

        It holds nothing but what JSON can carry, in the documented format of that version:
        infinity and NaN are strings, tuples are lists.

        Raises
        ------
        InvalidInputError
            If a label is neither a string nor a number nor a boolean.

        Examples
        --------
        >>> import boundshift
        >>> boundary = boundshift.find_boundary(["a", "a", "a", "b", "b"], [0, 1, 2, 5, 6])
        >>> stored = boundary.to_dict()
        >>> stored["format"], stored["version"], stored["labels"], stored["status"]
        ('boundshift.boundary', 1, ['a', 'b'], 'OPTIMAL')
        """
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "labels": [as_label(label) for label in self.labels],
            "status": self.status.name,
            "bound": self.bound,
            "rule": self.rule,
            **{name: as_numbers(getattr(self, name)) for name in _NUMBERS},
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Boundary:
        """Return the boundary that :meth:`to_dict` has given.

        Parameters
        ----------
        stored : mapping
            Fields that this release does not know are left aside.

        Raises
        ------
        InvalidInputError
            If it is no boundary, one of a newer release, or a field is missing or of a wrong kind.

        Examples
        --------
        >>> import boundshift
        >>> boundary = boundshift.find_boundary([0, 0, 0, 1, 1], [0, 1, 2, 5, 6])
        >>> boundshift.Boundary.from_dict(boundary.to_dict()) == boundary
        True
        """
        check_format(stored, _FORMAT, _VERSION, ("labels", *_WORDS, *_NUMBERS))
        labels, words = stored["labels"], {name: stored[name] for name in _WORDS}
        if not isinstance(labels, list | tuple) or len(labels) != 2:
            raise InvalidInputError(f"'labels' must be two labels, got {labels!r}.")
        if words["status"] not in Status.__members__:
            known = ", ".join(Status.__members__)
            raise InvalidInputError(f"'status' must be one of {known}, got {words['status']!r}.")
        for name in ("bound", "rule"):
            if not isinstance(words[name], str):
                raise InvalidInputError(f"'{name}' must be a name, got {words[name]!r}.")
        numbers = {name: from_numbers(name, stored[name], like) for name, like in _NUMBERS.items()}
        words["status"] = Status[words["status"]]
        return cls(labels=(as_label(labels[0]), as_label(labels[1])), **words, **numbers)

    def to_json(self) -> str:
        """Return :meth:`to_dict` as JSON text that any language can read."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Boundary:
        """Return the boundary that :meth:`to_json` has written.

        Examples
        --------
        >>> import boundshift
        >>> boundary = boundshift.find_boundary([0, 0, 0, 1, 1], [0, 1, 2, 5, 6])
        >>> boundshift.Boundary.from_json(boundary.to_json()) == boundary
        True
        """
        try:
            stored = json.loads(text)
        except ValueError as error:
            raise InvalidInputError(
                f"A stored boundary must be JSON text, got what cannot be read: {error}. "
                "Pass what to_json or boundshift.save has written."
            ) from None
        return cls.from_dict(stored)


def _sql_literal(label: object) -> str:
    """Return a label as SQL writes it."""
    if isinstance(label, bool):
        return str(label).upper()
    if isinstance(label, int | float):
        return repr(label)
    if isinstance(label, str):
        return "'" + label.replace("'", "''") + "'"
    raise InvalidInputError(
        f"Labels must be strings, numbers or booleans to be written in SQL, got {label!r}. "
        "Use boundary.threshold in an expression of your own."
    )

"""The only place that distrusts input: everything behind it may assume clean arrays."""

from __future__ import annotations

import difflib
import math
import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift.exceptions import InvalidInputError

_T = TypeVar("_T")

_LEAST_WEIGHT, _MOST_WEIGHT = 1e-100, 1e100
# Beyond this sum float64 no longer counts single rows.
_MOST_WEIGHTS = 1e15
_FREQUENCIES = "Pass how often each row counts."
MOST_COST = 1e100
"""Sums of costs up to this size do not overflow."""
_COSTS = (
    "Pass what is lost if the row is decided wrongly: an amount for each row, or two columns "
    "(false_positive, false_negative)."
)

_MORE_THAN_TWO = (
    "Use BoundShiftClassifier, which shifts one bias per class, or call find_boundary once per "
    "class with `y_true == label`."
)

_NOT_COMPARABLE = (
    "`y_true` must hold labels of one kind without missing values, got some that cannot "
    "be compared ({}). Drop the rows without a label."
)


def as_choice(name: str, value: object, choices: Sequence[object]) -> Any:
    """Return `value` if it is one of `choices`."""
    if any(value is choice or value == choice for choice in choices):
        return value
    allowed = ", ".join(repr(choice) for choice in choices)
    raise InvalidInputError(f"`{name}` must be one of {allowed}, got {value!r}.")


def nearest_name(given: object, names: Iterable[str]) -> str:
    """Return a sentence that suggests the name nearest to a mistyped one, or nothing.

    Examples
    --------
    >>> nearest_name("minmax", ["sum", "minimax"])
    " Did you mean 'minimax'?"
    """
    near = difflib.get_close_matches(str(given).lower(), list(names), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def as_object(
    argument: str,
    given: Any,
    kind: type[Any],
    named: Mapping[str, Callable[[], _T]],
) -> _T:
    """Return a curve or a rule given itself or its name."""
    if isinstance(given, kind):
        known: _T = given
        return known
    if isinstance(given, str) and given in named:
        return named[given]()
    cure = nearest_name(given, named)
    if isinstance(given, type) and issubclass(given, kind):
        cure = f" Pass an object: {given.__name__}()."
    article = "an" if kind.__name__[0] in "AEIOU" else "a"
    raise InvalidInputError(
        f"`{argument}` must be {article} {kind.__name__} or one of "
        f"{', '.join(map(repr, named))}, got {given!r}.{cure}"
    )


def is_finite(value: object) -> bool:
    """Return whether a value is a real number that a float can hold.

    Examples
    --------
    >>> is_finite(0.5), is_finite("0.5"), is_finite(float("inf")), is_finite(10**400)
    (True, False, False, False)
    """
    try:
        return isinstance(value, numbers.Real) and math.isfinite(float(value))
    except OverflowError:
        return False


def as_positive(name: str, value: object, cure: str = "", *, zero: bool = False) -> float:
    """Return `value` as a finite float above zero (or at least zero)."""
    if is_finite(value) and not isinstance(value, bool):
        number = float(value)  # type: ignore[arg-type]
        if number > 0 or (zero and number == 0):
            return number
    rule = "a finite number of at least 0" if zero else "a positive finite number"
    raise InvalidInputError(f"`{name}` must be {rule}, got {value!r}. {cure}".rstrip())


def as_weight(name: str, value: object, cure: str = "") -> float:
    """Return `value` as a float whose products with shares neither overflow nor vanish."""
    number = as_positive(name, value, cure)
    if not _LEAST_WEIGHT <= number <= _MOST_WEIGHT:
        raise InvalidInputError(
            f"`{name}` must be from {_LEAST_WEIGHT:g} to {_MOST_WEIGHT:g}, got {value!r}. "
            f"Divide by the larger of the two: what matters is how they compare. {cure}".rstrip()
        )
    return number


def as_share(name: str, value: object, cure: str = "Use 0.95, for example.") -> float:
    """Return `value` as a float strictly between 0 and 1."""
    number = as_positive(name, value, cure)
    if number >= 1:
        raise InvalidInputError(f"`{name}` must be between 0 and 1, got {value!r}. {cure}")
    return number


def as_pair(name: str, value: object, cure: str = "") -> tuple[float, float]:
    """Return one positive number, or one per class, as (negative, positive)."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, numbers.Real):
        number = as_positive(name, value, cure)
        return number, number
    if isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 2:
        return as_positive(name, value[0], cure), as_positive(name, value[1], cure)
    raise InvalidInputError(
        f"`{name}` must be one positive number or a pair (negative, positive), "
        f"got {value!r}. {cure}".rstrip()
    )


def as_scores(y_score: ArrayLike) -> NDArray[np.float64]:
    """Return scores as a one-dimensional float64 array; finiteness is checked after sorting."""
    return as_real_column(
        "y_score",
        y_score,
        "Pass the decision function or the probability of the positive class, for example "
        "`proba[:, 1]`.",
    )


def as_real_column(
    name: str, values: ArrayLike, cure: str, n_rows: int | None = None
) -> NDArray[np.float64]:
    """Return real numbers, one for each row, as float64; NaN and infinity pass.

    Examples
    --------
    >>> as_real_column("row_cost", [[1], [2]], "Pass amounts.", 2)
    array([1., 2.])
    >>> as_real_column("row_cost", [1j], "Pass amounts.")
    Traceback (most recent call last):
    boundshift.exceptions.InvalidInputError: `row_cost` must be real numbers, got complex128 ...
    """
    column = as_column(name, values, cure, n_rows)
    reason = ""
    if column.dtype.kind in "biufO":
        try:
            with np.errstate(over="ignore"):  # A long double may become infinite.
                return column.astype(np.float64, copy=False)
        except (TypeError, ValueError, OverflowError) as error:
            reason = f" ({error})"
    raise InvalidInputError(
        f"`{name}` must be real numbers, got {column.dtype} values{reason}. {cure}"
    )


def as_generator(random_state: Any) -> np.random.Generator:
    """Return a generator of random numbers out of a seed.

    Examples
    --------
    >>> as_generator(-1)
    Traceback (most recent call last):
    boundshift.exceptions.InvalidInputError: `random_state` must be a whole number from 0, ...
    """
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31 - 1)
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInputError(
            "`random_state` must be a whole number from 0, a RandomState, a Generator or None, got "
            f"{random_state!r}. Use random_state=0."
        ) from None


def as_labels(y_true: ArrayLike, name: str = "y_true") -> NDArray[Any]:
    """Return labels as a one-dimensional array in which missing ones are still missing."""
    labels = as_column(name, y_true, "Pass one label for each row.")
    if labels.dtype.kind == "c":
        raise InvalidInputError(f"`{name}` must not be complex, got {labels.dtype}. Use labels.")
    return labels


def as_known_scores(y_score: ArrayLike) -> NDArray[np.float64]:
    """Return scores of any shape as float64, a single column as a vector; none may be missing.

    Examples
    --------
    >>> as_known_scores([1, 2.5])
    array([1. , 2.5])
    """
    missing = int(np.ma.getmaskarray(y_score).sum()) if np.ma.isMaskedArray(y_score) else 0
    try:
        scores = np.asarray(y_score)
        if scores.dtype.kind not in "biufO":
            raise TypeError(f"{scores.dtype} values")
        if scores.dtype.kind == "O":
            # pandas.NA would not become a number.
            is_missing = np.array([v is None or _differs_from_itself(v) for v in scores.ravel()])
            scores = np.where(is_missing.reshape(scores.shape), np.nan, scores)
        scores = scores.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInputError(
            f"`y_score` must be real numbers, got what is none ({error}). "
            "Pass the decision function or the probability of the positive class."
        ) from None
    missing = missing or int(np.count_nonzero(np.isnan(scores)))
    if missing:
        raise InvalidInputError(
            f"`y_score` must hold a score for each row, got {missing} missing (NaN, None or "
            f"masked) among {scores.size}. Drop those rows, or decide about them by hand: a "
            "missing score is on neither side of a boundary."
        )
    return scores[:, 0] if scores.ndim == 2 and scores.shape[1] == 1 else scores


def _differs_from_itself(value: Any) -> bool:
    """Return whether a value is NaN, NaT or pandas.NA, which alone are not equal to themselves."""
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return True


def split_by_label(
    y_true: ArrayLike,
    scores: NDArray[np.float64],
    pos_label: object = None,
    *,
    alike: bool = True,
) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[Any, Any]]:
    """Split scores by class.

    Returns
    -------
    negative, positive : arrays
        Fresh, writable copies.
    labels : tuple
        The two labels, (negative, positive).
    """
    is_positive, _, labels = as_rows(y_true, scores, pos_label, alike=alike)
    positive = scores[is_positive]
    np.logical_not(is_positive, out=is_positive)
    return scores[is_positive], positive, labels


def as_rows(
    y_true: ArrayLike, y_score: ArrayLike, pos_label: object = None, *, alike: bool = True
) -> tuple[NDArray[np.bool_], NDArray[np.float64], tuple[Any, Any]]:
    """Return labelled scores in the order of the rows, as arrays of one length.

    Returns
    -------
    is_positive : array of bool
        Fresh and writable.
    scores : array of float64
    labels : tuple
        The two labels, (negative, positive).

    Examples
    --------
    >>> as_rows(["no", "yes", "no"], [[0.1], [0.7], [0.4]])
    (array([False,  True, False]), array([0.1, 0.7, 0.4]), ('no', 'yes'))
    """
    y, scores = as_labels(y_true), as_scores(y_score)
    if len(y) != len(scores):
        raise InvalidInputError(
            f"`y_true` and `y_score` must have the same length, got {len(y)} labels and "
            f"{len(scores)} scores. Pass one score for each row."
        )
    if len(scores) == 0:
        raise InvalidInputError(
            "`y_true` must not be empty, got 0 rows. Pass rows of both classes."
        )
    is_positive, labels = _positive_mask(y, pos_label, alike)
    return is_positive, scores, labels


def _positive_mask(
    y: NDArray[Any], pos_label: object, alike: bool
) -> tuple[NDArray[np.bool_], tuple[Any, Any]]:
    """Return which rows are positive, and the labels (negative, positive)."""
    numbers = _two_numbers(y)
    labels = _all_labels(y) if numbers is None else numbers.labels
    low, high = order_labels(labels.tolist(), pos_label, alike=alike)
    place = labels.tolist().index(high)
    if numbers is not None and place == 1:
        return numbers.is_greater, (low, high)
    return np.asarray(y == labels[place], dtype=np.bool_), (low, high)


def order_labels(
    labels: Iterable[Any],
    pos_label: object = None,
    *,
    counts: Mapping[Any, float] | None = None,
    alike: bool = True,
) -> tuple[Any, Any]:
    """Return two distinct labels as (negative, positive): the one rule for which is positive.

    Parameters
    ----------
    labels : iterable of labels
        The distinct ones; two, or an error is raised.
    pos_label : label, default=None
        The positive class, if it is named.
    counts : mapping from label to number of rows, default=None
        None for bare scores, which point to the greater label as those of scikit-learn do. With
        counts the rarer label is positive, as in the paper; but of 0 and 1, -1 and 1, False and
        True always the greater.
    alike : bool, default=True
        Whether what follows treats both classes alike. If not, a class that only its name or a
        tie makes positive is an error that asks.

    Examples
    --------
    >>> order_labels(["ok", "fraud"], counts={"ok": 90, "fraud": 10})
    ('ok', 'fraud')
    >>> order_labels([0, 1], counts={0: 10, 1: 90})
    (0, 1)
    """
    labels = list(labels)
    check_spellings(labels)
    low, high = _two_in_order(labels)
    if pos_label is not None:
        for label, pair in ((high, (low, high)), (low, (high, low))):
            if _is_same(pos_label, label):
                return pair
        raise InvalidInputError(
            f"`pos_label` must be one of the labels {low!r} and {high!r}, got {pos_label!r}. "
            "Use pos_label=None to let boundshift choose."
        )
    if are_signs((low, high)):
        return low, high
    if counts is not None and counts[low] != counts[high]:
        return (low, high) if counts[high] < counts[low] else (high, low)
    if not alike:
        why = "scores alone do not say" if counts is None else "both are equally frequent"
        raise InvalidInputError(
            f"`pos_label` must name the positive class where a rule does not treat {low!r} and "
            f"{high!r} alike, got None: {why} which one is meant. Use pos_label={high!r}, for "
            "example."
        )
    return low, high


def _is_same(given: object, label: object) -> bool:
    """Return whether a label is meant; what cannot be compared, as NA and arrays, is none."""
    try:
        return bool(given == label)
    except (TypeError, ValueError):
        return False


def are_signs(labels: tuple[Any, Any]) -> bool:
    """Return whether labels say by themselves which one is positive: 0/1, -1/1, False/True."""
    return set(labels) in ({0, 1}, {-1, 1})


def _two_in_order(labels: list[Any]) -> tuple[Any, Any]:
    """Return two labels in sorted order; raise unless there are two."""
    try:
        labels = sorted(labels)
    except TypeError as error:
        raise InvalidInputError(_NOT_COMPARABLE.format(error)) from None
    if not labels:
        raise InvalidInputError(
            "`y_true` must not be empty, got 0 rows. Pass rows of both classes."
        )
    if len(labels) == 1:
        raise InvalidInputError(
            f"`y_true` must hold two classes, got only {labels[0]!r}. "
            "Pass rows of both classes: a boundary needs something on either side."
        )
    if len(labels) > 2:
        shown = ", ".join(repr(label) for label in labels[:5])
        raise InvalidInputError(
            f"`y_true` must hold two classes, got {len(labels)}: {shown}"
            f"{', …' if len(labels) > 5 else ''}. {_MORE_THAN_TWO}"
        )
    return labels[0], labels[1]


def check_labels(y_true: ArrayLike, name: str = "y_true") -> None:
    """Raise if a label is missing, or if two differ by nothing but blanks or case.

    A list is looked at as it is: NumPy would turn NaN among words into the word "nan". Other
    shapes than one-dimensional are left to others.

    Examples
    --------
    >>> check_labels(["yes", "no", "Yes "])
    Traceback (most recent call last):
    boundshift.exceptions.InvalidInputError: Labels must differ by more than blanks or case, ...
    """
    if np.asarray(y_true).ndim != 1:
        return
    y = as_column(name, y_true, "Pass one label for each row.")
    _refuse_missing(y, name)
    if y.dtype.kind in "OUST":
        try:
            check_spellings(np.unique(y).tolist())
        except TypeError as error:
            raise InvalidInputError(_NOT_COMPARABLE.format(error).replace("y_true", name)) from None


def check_spellings(labels: Sequence[Any]) -> None:
    """Raise if two labels differ by nothing but blanks or case."""
    groups: dict[str, list[Any]] = {}
    for label in labels:
        if isinstance(label, str):
            groups.setdefault(" ".join(label.split()).casefold(), []).append(label)
    for alike in groups.values():
        if len(alike) > 1:
            shown = ", ".join(repr(label) for label in alike[:5])
            raise InvalidInputError(
                f"Labels must differ by more than blanks or case, got {shown}"
                f"{', …' if len(alike) > 5 else ''}. Spell each class in one way."
            )


def count_missing(values: NDArray[Any]) -> int:
    """Return how many values are NaN, NaT, None or pandas.NA.

    Examples
    --------
    >>> count_missing(np.array(["a", None, float("nan")], dtype=object))
    2
    """
    if values.dtype.kind == "O":
        return sum(value is None or _differs_from_itself(value) for value in values.tolist())
    return int(np.count_nonzero(values != values))


def _refuse_missing(y: NDArray[Any], name: str) -> None:
    """Raise if labels are missing."""
    missing = count_missing(y)
    if missing:
        raise InvalidInputError(
            f"`{name}` must hold a label for each row, got {missing} missing (NaN, NaT or None) "
            f"among {len(y)}. Drop the rows without a label."
        )


def find_distinct(y: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct labels in sorted order; two numbers are found without looking them up.

    Examples
    --------
    >>> find_distinct(np.array([3, 1, 3])).tolist(), find_distinct(np.array(["b", "a"])).tolist()
    ([1, 3], ['a', 'b'])
    """
    numbers = _two_numbers(y)
    return _all_labels(y) if numbers is None else numbers.labels


class _TwoNumbers(NamedTuple):
    """Two numbers as labels, in order, and which rows have the greater one."""

    labels: NDArray[Any]
    is_greater: NDArray[np.bool_]


def _two_numbers(y: NDArray[Any]) -> _TwoNumbers | None:
    """Return the two numbers that all labels are, None if they are more or fewer or no numbers."""
    if y.dtype.kind not in "biuf" or not len(y):
        return None
    low, high = y.min(), y.max()
    is_greater = y == high
    is_two = np.count_nonzero(y == low) + np.count_nonzero(is_greater) == len(y)
    return _TwoNumbers(np.array([low, high]), is_greater) if is_two and low != high else None


def _all_labels(y: NDArray[Any]) -> NDArray[Any]:
    """Return the labels in sorted order; raise if some are missing or cannot be compared."""
    _refuse_missing(y, "y_true")
    try:
        return np.unique(y)
    except TypeError as error:
        raise InvalidInputError(_NOT_COMPARABLE.format(error)) from None


def as_column(name: str, values: ArrayLike, cure: str, n_rows: int | None = None) -> NDArray[Any]:
    """Return one value for each row as a one-dimensional array, the form every argument takes.

    An array of shape (n, 1) is a column. Masked values are refused, since NumPy would use what the
    mask hides.

    Parameters
    ----------
    name : str
        Of the argument, for the message.
    values : array-like
        As the user gave them.
    cure : str
        What to pass instead.
    n_rows : int, default=None
        How many values there must be; None for any number.

    Examples
    --------
    >>> as_column("by", [["a"], ["b"]], "Pass one group for each row.").tolist()
    ['a', 'b']
    """
    masked = int(np.ma.getmaskarray(values).sum()) if np.ma.isMaskedArray(values) else 0
    if masked:
        raise InvalidInputError(
            f"`{name}` must hold a value for each row, got {masked} masked ones. "
            "Drop those rows from all arguments."
        )
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InvalidInputError(
            f"`{name}` must be one-dimensional, got rows of different lengths ({error}). {cure}"
        ) from None
    is_text = array.dtype.kind in "US" and isinstance(values, list | tuple)
    if is_text and not all(isinstance(value, str | bytes) for value in values):  # type: ignore[union-attr]
        # NumPy would write NaN among words as the word "nan".
        array = np.array(values, dtype=object)
    is_nested = array.dtype.kind == "O" and any(isinstance(v, tuple) for v in array.flat[:1])
    if array.dtype.kind == "V" or is_nested:
        raise InvalidInputError(
            f"`{name}` must hold one value for each row, got records or tuples "
            f"({type(values).__name__}). {cure}"
        )
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InvalidInputError(
            f"`{name}` must be one-dimensional, got shape {array.shape} "
            f"({type(values).__name__}). {cure}"
        )
    if n_rows is not None and len(array) != n_rows:
        raise InvalidInputError(
            f"`{name}` must have one value for each of {n_rows} rows, got {len(array)}. {cure}"
        )
    return array


def as_weights(sample_weight: ArrayLike, n_rows: int) -> NDArray[np.float64]:
    """Return weights as numbers of at least 0, one for each row."""
    weight = as_real_column("sample_weight", sample_weight, _FREQUENCIES, n_rows)
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        raise not_frequencies(f"{weight[bad][0]:g}", int(bad.sum()))
    with np.errstate(over="ignore"):
        check_weight_sum(float(weight.sum()))
    return weight


def check_weight_sum(total: float) -> None:
    """Raise if weights sum to more than float64 can count."""
    if total > _MOST_WEIGHTS:
        raise InvalidInputError(
            f"`sample_weight` must sum to at most {_MOST_WEIGHTS:g}, got {total:.4g}. Weights are "
            "frequencies: a weight of 2 is the row twice."
        )


def check_weight_shape(shape: tuple[int, ...], n_rows: int) -> None:
    """Raise unless there is one weight for each row."""
    if shape != (n_rows,):
        raise InvalidInputError(
            f"`sample_weight` must have one weight for each of {n_rows} rows, got the shape "
            f"{shape}. {_FREQUENCIES}"
        )


def not_frequencies(first: str, count: int) -> InvalidInputError:
    """Return the error for weights that are negative or not finite."""
    return InvalidInputError(
        f"`sample_weight` must be finite and at least 0, got {first} and {count - 1} more like "
        f"it. {_FREQUENCIES}"
    )


def no_weights() -> InvalidInputError:
    """Return the error for weights that are all 0."""
    return InvalidInputError(
        "`sample_weight` must be above 0 for rows of both classes, got 0 for every row. "
        f"{_FREQUENCIES}"
    )


def as_row_cost(row_cost: ArrayLike, n_rows: int) -> NDArray[np.float64]:
    """Return costs as finite numbers of at least 0: one for each row, or one for either error.

    Examples
    --------
    >>> as_row_cost([[3, 1], [5, 2]], 2).tolist()
    [[3.0, 1.0], [5.0, 2.0]]
    """
    try:
        table: Any = np.ma.asanyarray(row_cost)
    except ValueError:  # rows of different lengths
        table = np.ma.empty(0)
    if table.ndim == 2 and table.shape[1] == 2:
        columns = [as_real_column("row_cost", table[:, k], _COSTS, n_rows) for k in (0, 1)]
        cost = np.stack(columns, axis=1)
    else:
        cost = as_real_column("row_cost", row_cost, _COSTS, n_rows)
    bad = ~((cost >= 0) & (cost <= MOST_COST))
    if bad.any():
        raise InvalidInputError(
            f"`row_cost` must be at least 0 and at most {MOST_COST:g}, got {cost[bad][0]:g}. "
            f"{_COSTS}"
        )
    return cost


def own_cost(cost: NDArray[np.float64], is_positive: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return what each row costs if it is decided wrongly, which its class says of two columns.

    Examples
    --------
    >>> own_cost(np.array([[3.0, 1.0], [5.0, 2.0]]), np.array([False, True])).tolist()
    [3.0, 2.0]
    """
    own = cost if cost.ndim == 1 else np.where(is_positive, cost[:, 1], cost[:, 0])
    if not own.any():
        raise InvalidInputError(f"`row_cost` must not be all 0, got zeros only. {_COSTS}")
    return own

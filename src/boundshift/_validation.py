"""The only place that distrusts input: everything behind it may assume clean arrays.

Each function returns a clean value, or raises an error with the rule, the value and the remedy.
"""

from __future__ import annotations

import difflib
import math
import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from boundshift._typing import BoolArray, FloatArray, IndexArray, Label, LabelArray, RandomState
from boundshift.exceptions import InvalidInputError

_T = TypeVar("_T")
_P = ParamSpec("_P")

LARGEST_SCORE = 1e290  # in magnitude: sums of larger ones may overflow
MOST_COST = 1e100  # sums of costs up to this size do not overflow
_SCORES = "Pass the decision function or the probability of the positive class, as `proba[:, 1]`."
_COSTS = (
    "Pass what is lost if the row is decided wrongly: an amount for each row, or two columns "
    "(false_positive, false_negative)."
)


# --- Settings -------------------------------------------------------------------------------------


def as_choice(name: str, value: _T, choices: Sequence[object]) -> _T:
    if any(value is choice or value == choice for choice in choices):
        return value
    allowed = ", ".join(repr(choice) for choice in choices)
    raise InvalidInputError(f"must be one of {allowed}, got {value!r}.", argument=name)


def as_flag(name: str, value: object) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise InvalidInputError(f"must be True or False, got {value!r}.", argument=name)
    return bool(value)


def nearest_name(given: object, names: Iterable[str]) -> str:
    """Return a sentence that suggests the name nearest to a mistyped one, or nothing."""
    folded = {name.casefold(): name for name in names}
    near = difflib.get_close_matches(str(given).casefold(), folded, n=1)
    return f" Did you mean {folded[near[0]]!r}?" if near else ""


def as_object(
    argument: str,
    given: object,
    kind: type[Any],
    named: Mapping[str, Callable[[], _T]],
    remedy: str = "",
) -> _T:
    """Return an object given itself or its name; without a remedy the nearest name is suggested."""
    if isinstance(given, kind):
        known: _T = given
        return known
    if isinstance(given, str) and given in named:
        return named[given]()
    remedy = f" {remedy}" if remedy else nearest_name(given, named)
    names = ", ".join(map(repr, named))
    raise InvalidInputError(
        f"must be an object of the class {kind.__name__} or one of {names}, got {given!r}.{remedy}",
        argument=argument,
    )


def name_remedy(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Decorate a public function, to name the remedy for two likely mistakes.

    A `rule` is called `scoring` in scikit-learn. And what has counted rows, such as a tally, has a
    method of the same name instead.
    """
    called = function.__name__
    has_rule = "rule" in signature(function).parameters

    @wraps(function)
    def checked(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        if has_rule and "scoring" in kwargs:
            raise InvalidInputError(
                f"is called `rule` here, but scoring={kwargs['scoring']!r} was given. "
                "Use `rule`: a name such as 'f1', or Metric(scorer).",
                argument="scoring",
            )
        if args and called != "__init__" and hasattr(args[0], called):
            kind = type(args[0]).__name__
            raise InvalidInputError(
                f"of {called} must be the labels of rows, got a {kind}. Call its own "
                f"method: {kind.lower()}.{called}(...).",
                argument="y_true",
            )
        return function(*args, **kwargs)

    return checked


def is_finite(value: object) -> bool:
    return isinstance(value, numbers.Real) and math.isfinite(value)


def as_positive(name: str, value: object, remedy: str = "", *, zero: bool = False) -> float:
    """Return `value` as a finite float above zero (or at least zero)."""
    if is_finite(value) and not isinstance(value, bool):
        number = float(value)  # type: ignore[arg-type]
        if number > 0 or (zero and number == 0):
            return number
    rule = "a finite number of at least 0" if zero else "a positive finite number"
    raise InvalidInputError(f"must be {rule}, got {value!r}. {remedy}".rstrip(), argument=name)


def as_share(name: str, value: object, remedy: str = "Use 0.95, for example.") -> float:
    number = as_positive(name, value, remedy)
    if number >= 1:
        raise InvalidInputError(f"must be between 0 and 1, got {value!r}. {remedy}", argument=name)
    return number


def as_pair(name: str, value: object, remedy: str = "") -> tuple[float, float]:
    """Return one positive number, or one per class, as (negative, positive)."""
    value = value.tolist() if isinstance(value, np.ndarray) else value
    if isinstance(value, numbers.Real):
        value = (value, value)
    if isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 2:
        return as_positive(name, value[0], remedy), as_positive(name, value[1], remedy)
    raise InvalidInputError(
        f"must be one positive number or a pair (negative, positive), "
        f"got {value!r}. {remedy}".rstrip(),
        argument=name,
    )


def as_generator(random_state: RandomState | np.random.Generator) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31 - 1)
    return np.random.default_rng(random_state)


# --- Columns --------------------------------------------------------------------------------------


def as_column(name: str, values: ArrayLike, remedy: str, n_rows: int | None = None) -> LabelArray:
    """Return one value for each row as a one-dimensional array; shape (n, 1) is a column."""
    if np.ma.is_masked(values):  # NumPy would use what the mask hides
        raise InvalidInputError(
            "must hold a value for each row, got masked ones. Drop those rows from all arguments.",
            argument=name,
        )
    array = np.asarray(values)
    is_text = array.dtype.kind in "US" and isinstance(values, list | tuple)
    if is_text and not all(isinstance(value, str | bytes) for value in values):  # type: ignore[union-attr]
        # NumPy would write NaN among words as the word "nan".
        array = np.array(values, dtype=object)
    if array.ndim != 1 and array.shape[1:] != (1,):
        raise InvalidInputError(
            f"must be one-dimensional and in memory, got the shape {array.shape} "
            f"({type(values).__name__}). {remedy}",
            argument=name,
        )
    if n_rows not in (None, len(array)):
        raise InvalidInputError(
            f"must have one value for each of {n_rows} rows, got {len(array)}. {remedy}",
            argument=name,
        )
    return array.reshape(-1)


def as_real_column(
    name: str, values: ArrayLike, remedy: str, n_rows: int | None = None
) -> FloatArray:
    """Return real numbers, one for each row, as float64; NaN and infinity pass."""
    array = as_column(name, values, remedy, n_rows)
    reason = ""
    if array.dtype.kind in "biufO":
        try:
            with np.errstate(over="ignore"):  # A long double may become infinite.
                return array.astype(np.float64, copy=False)
        except (TypeError, ValueError, OverflowError) as error:
            reason = f" ({error})"
    raise InvalidInputError(
        f"must be real numbers, got {array.dtype} values{reason}. {remedy}", argument=name
    )


def as_scores(y_score: ArrayLike, n_rows: int | None = None) -> FloatArray:
    """Return scores as a one-dimensional float64 array; NaN and infinity pass."""
    return as_real_column("y_score", y_score, _SCORES, n_rows)


def as_known_scores(y_score: ArrayLike) -> FloatArray:
    """Return scores as a float64 vector, or a single score as a number; none may be missing."""
    given = np.asanyarray(y_score)
    if given.ndim > 1 and given.shape[1:] != (1,):
        raise InvalidInputError(
            "must be one score for each row, but a matrix of the shape "
            f"{given.shape} was given. Pass the column of the positive class, as `scores[:, 1]`.",
            argument="y_score",
        )
    scores = as_scores(given.ravel())
    missing = int(np.isnan(scores).sum())
    if missing:
        raise InvalidInputError(
            f"must hold a score for each row, got {missing} missing among {given.size}. "
            "Drop those rows, or decide about them by hand: a missing score is on neither side of "
            "a boundary.",
            argument="y_score",
        )
    return scores if given.ndim else scores.reshape(())


def not_probabilities(found: str) -> InvalidInputError:
    return InvalidInputError(
        f"must lie in [0, 1] with scale='probability', got {found}. "
        "Pass probabilities, or scale='raw' for scores of any kind.",
        argument="y_score",
    )


def check_finite(scores: FloatArray, name: str = "y_score") -> None:
    low, high = (scores.min(), scores.max()) if scores.size else (0.0, 0.0)
    if not -LARGEST_SCORE <= low <= high <= LARGEST_SCORE:
        bad = int(np.sum(~(np.abs(scores) <= LARGEST_SCORE)))
        missing = int(np.isnan(scores).sum())
        raise InvalidInputError(
            f"must be finite and at most {LARGEST_SCORE:g} in magnitude, got {missing} "
            f"NaN and {bad - missing} infinite or larger values. Drop those rows, or set infinite "
            "scores to the least and the largest of the others.",
            argument=name,
        )


def count_missing(values: LabelArray) -> int:
    """Return how many values are NaN, NaT, None or pandas.NA."""
    if values.dtype.kind == "O":
        return sum(value is None or not _is_same(value, value) for value in values.flat)
    return int(np.count_nonzero(values != values))


def _is_same(one: object, other: object) -> bool:
    """Return whether two values are equal; NaN, NaT and pandas.NA do not even equal themselves."""
    try:
        return bool(one == other)
    except (TypeError, ValueError):
        return False


# --- Labels ---------------------------------------------------------------------------------------


def as_rows(
    y_true: ArrayLike,
    y_score: ArrayLike,
    pos_label: object = None,
    *,
    symmetric: bool = True,
    one_class: bool = False,
) -> tuple[BoolArray, FloatArray, tuple[Label, Label]]:
    """Return which rows are positive, their scores, and the labels (negative, positive).

    With `one_class` rows of a single class are accepted.
    """
    y = as_column("y_true", y_true, "Pass one label for each row.")
    scores = as_real_column("y_score", y_score, _SCORES, len(y))
    distinct = find_distinct(y)
    if not (one_class and len(distinct) == 1):
        labels = order_labels(distinct.tolist(), pos_label, symmetric=symmetric)
        is_positive = np.asarray(y == distinct[distinct.tolist().index(labels[1])])
        return is_positive, scores, labels
    (label,) = distinct.tolist()
    if label in (-1, 0, 1) and pos_label in (None, 1):
        labels = (type(label)(-1 if label == -1 else 0), type(label)(1))
    elif pos_label is not None:
        labels = (f"not {label}", label) if label == pos_label else (label, pos_label)
    else:
        raise InvalidInputError(
            f"must be given where `y_true` holds one class, got only {label!r}. Pass "
            "the label of the positive class.",
            argument="pos_label",
        )
    return np.full(len(y), label == labels[1]), scores, labels


def as_labels(y_true: ArrayLike, name: str = "y_true") -> LabelArray:
    return as_column(name, y_true, "Pass one label for each row.")


def find_distinct(y: LabelArray, name: str = "y_true") -> LabelArray:
    """Return the distinct labels in sorted order; raise if some are missing or not comparable."""
    if y.dtype.kind in "biuf" and len(y):
        low = y.min()
        high = y.max()
        # Two numbers, the usual labels, need no sort.
        if low != high and np.count_nonzero(y == low) + np.count_nonzero(y == high) == len(y):
            return np.array([low, high])
    missing = count_missing(y)
    if missing:
        raise InvalidInputError(
            f"must hold a label for each row, got {missing} missing (NaN, NaT or None) "
            f"among {len(y)}. Drop the rows without a label.",
            argument=name,
        )
    try:
        return np.unique(y)
    except TypeError as error:
        raise _not_comparable(name, error) from None


def _not_comparable(name: str, error: TypeError) -> InvalidInputError:
    return InvalidInputError(
        f"must hold labels of one kind without missing values, got some that cannot be "
        f"compared ({error}). Drop the rows without a label.",
        argument=name,
    )


def check_labels(y_true: ArrayLike, name: str = "y_true") -> None:
    """Raise if a label is missing, or if two differ by nothing but blanks or case.

    A list is looked at as it is: NumPy would turn NaN among words into the word "nan". Arrays of
    other shapes pass.
    """
    if np.asarray(y_true).ndim == 1:
        _check_spellings(find_distinct(as_labels(y_true, name), name).tolist())


def _check_spellings(labels: Iterable[Label]) -> None:
    """Raise if two labels differ by nothing but blanks or case."""
    seen: dict[str, str] = {}
    for label in labels:
        if isinstance(label, str):
            twin = seen.setdefault(" ".join(label.split()).casefold(), label)
            if twin != label:
                raise InvalidInputError(
                    f"Labels and ids must differ by more than blanks or case, got {twin!r}, "
                    f"{label!r}. Spell each in one way."
                )


def as_clusters(cluster: ArrayLike, n_rows: int) -> IndexArray:
    """Return the number of each row's cluster, in the order of the sorted ids."""
    ids = as_column("cluster", cluster, "Pass the ids of the same rows.", n_rows)
    missing = count_missing(ids)
    if missing:
        raise InvalidInputError(
            f"must hold an id for each row, got {missing} missing. Drop those rows, or "
            "give each an id of its own if it belongs to no other.",
            argument="cluster",
        )
    distinct = find_distinct(ids, "cluster")
    _check_spellings(distinct.tolist())
    return np.searchsorted(distinct, ids)


def order_labels(
    labels: Iterable[Label],
    pos_label: object = None,
    *,
    counts: Mapping[Label, float] | None = None,
    symmetric: bool = True,
) -> tuple[Label, Label]:
    """Return two distinct labels as (negative, positive): the one rule for which is positive."""
    low, high = _sort_two(labels)
    if pos_label is not None:
        return _end_in(pos_label, low, high)
    if are_signs((low, high)):
        return low, high
    if counts is not None and counts[low] != counts[high]:
        return (low, high) if counts[high] < counts[low] else (high, low)
    if symmetric:
        return low, high
    reason = "Scores do not tell"
    if counts is not None:
        reason = "Both are equally frequent, so the rows do not tell"
    raise InvalidInputError(
        "must name the positive class unless the labels are 0 and 1, -1 and 1 or "
        f"booleans, but they are {low!r} and {high!r}. {reason} which one is positive. Use "
        f"{high!r}, for example.",
        argument="pos_label",
    )


def _sort_two(labels: Iterable[Label]) -> tuple[Label, Label]:
    """Return two labels in sorted order; raise if there are more or fewer, or two spellings."""
    labels = list(labels)
    _check_spellings(labels)
    try:
        labels = sorted(labels)
    except TypeError as error:
        raise _not_comparable("y_true", error) from None
    if len(labels) == 2:
        return labels[0], labels[1]
    shown = ", ".join(map(repr, labels[:5])) + (", …" if len(labels) > 5 else "")
    got = f"{len(labels)}: {shown}" if labels[1:] else f"only {shown}" if labels else "0 rows"
    raise InvalidInputError(
        f"must hold two classes, got {got}. Pass rows of both classes; one is enough "
        "for Floors(specificity=0.99), Floors(recall=0.9), certify and find_zone, and many "
        "are for BoundShiftClassifier.",
        argument="y_true",
    )


def _end_in(pos_label: object, low: Label, high: Label) -> tuple[Label, Label]:
    """Return two labels with the positive one last."""
    if _is_same(pos_label, high):
        return low, high
    if _is_same(pos_label, low):
        return high, low
    raise InvalidInputError(
        f"must be one of the labels {low!r} and {high!r}, got {pos_label!r}. "
        "Use pos_label=None to let boundshift choose.",
        argument="pos_label",
    )


def are_signs(labels: tuple[Label, Label]) -> bool:
    """Return whether labels say by themselves which one is positive: 0/1, -1/1, False/True."""
    return set(labels) in ({0, 1}, {-1, 1})


# --- Weights and costs ----------------------------------------------------------------------------


def as_weights(sample_weight: ArrayLike, n_rows: int) -> FloatArray:
    remedy = "Pass the importance of each row."
    weight = as_real_column("sample_weight", sample_weight, remedy, n_rows)
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        raise bad_weights(f"{weight[bad][0]:g} and {int(bad.sum()) - 1} more like it")
    if n_rows and not weight.any():
        raise bad_weights("0 for every row")
    return weight


def bad_weights(found: str) -> InvalidInputError:
    return InvalidInputError(
        f"must be finite and at least 0, and above 0 for some rows of each class, "
        f"got {found}. Pass the importance of each row, and 0 for rows to leave out.",
        argument="sample_weight",
    )


def as_row_cost(row_cost: ArrayLike, n_rows: int) -> FloatArray:
    """Return costs as numbers of at least 0: one for each row, or one for either error."""
    table = np.asanyarray(row_cost)
    if table.ndim == 2 and table.shape[1] == 2:
        columns = [as_real_column("row_cost", column, _COSTS, n_rows) for column in table.T]
        cost = np.stack(columns, axis=1)
    else:
        cost = as_real_column("row_cost", row_cost, _COSTS, n_rows)
    bad = ~((cost >= 0) & (cost <= MOST_COST))
    if bad.any():
        raise InvalidInputError(
            f"must be at least 0 and at most {MOST_COST:g}, got {cost[bad][0]:g}. {_COSTS}",
            argument="row_cost",
        )
    return cost


def own_cost(cost: FloatArray, is_positive: BoolArray) -> FloatArray:
    """Return what each row costs if it is decided wrongly; of two columns that of its class."""
    own = cost if cost.ndim == 1 else np.where(is_positive, cost[:, 1], cost[:, 0])
    if not own.any():
        raise InvalidInputError(f"must not be all 0, got zeros only. {_COSTS}", argument="row_cost")
    return own

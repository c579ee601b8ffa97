"""Columns that may give the target away, found before a model is trained.

A column such as the amount of a claim is known only after the outcome. A model that learns from it
is perfect on the table and useless on new rows. Each column is tested alone. Such a test cannot
tell a column that gives the target away from a very good one, so a suspect is named, not dropped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boundshift._ranking import area_under_curve
from boundshift._scores import ScoreSample
from boundshift._typing import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

MOST_AREA = 0.98
"""A column that alone has a larger area under the ROC curve is a suspect."""
LEAST_EXPECTED = 20
"""Rows of the other class expected, by its share of all rows, where a value has none of them."""
LEAST_SHARE = 1 / 3
"""Share of a number's rows with its most frequent value, from which on that value is judged."""
_FOLDS = 5
_LEAST_ROWS = 10  # of a class, to judge a ranking


@dataclass(frozen=True)
class Suspect:
    """A column that may give the target away, and the evidence, a sentence."""

    column: str
    evidence: str


def find_suspects(X: pd.DataFrame, is_positive: BoolArray, names: tuple[str, str]) -> list[Suspect]:
    """Return the columns that alone determine the class, or nearly so.

    Parameters
    ----------
    X : DataFrame
        Features: floats, or categories as text; NaN is a missing value.
    is_positive : array of bool
        Class of each row.
    names : pair of str
        What rows of the negative and of the positive class are called, such as "ill = no".
    """
    suspects = []
    for name in X.columns:
        evidence = _find_evidence(name, X[name], is_positive, names)
        if evidence:
            suspects.append(Suspect(str(name), evidence))
    return suspects


def _find_evidence(
    name: str, cells: pd.Series, is_positive: BoolArray, names: tuple[str, str]
) -> str:
    """Return the strongest evidence against a column; an empty text if there is none."""
    is_missing = cells.isna().to_numpy()
    if cells.dtype.kind == "f":
        numbers = cells.to_numpy()[~is_missing]
        evidence = _judge_ranking(name, numbers, is_positive[~is_missing], names)
    else:
        codes, levels = cells.fillna("").factorize()
        evidence = _judge_area(name, _rate_of_others(codes, len(levels), is_positive), is_positive)
    return evidence or _judge_patterns(name, cells, is_missing, is_positive, names)


def _judge_ranking(
    name: str, numbers: FloatArray, is_positive: BoolArray, names: tuple[str, str]
) -> str:
    """Return the evidence that a number separates the classes, exactly or nearly so."""
    positive = numbers[is_positive]
    negative = numbers[~is_positive]
    if min(len(positive), len(negative)) < _LEAST_ROWS:
        return ""
    if negative.max() < positive.min():
        return f"'{name}' is at least {positive.min():.6g} in exactly the rows with {names[1]}."
    if positive.max() < negative.min():
        return f"'{name}' is at least {negative.min():.6g} in exactly the rows with {names[0]}."
    return _judge_area(name, numbers, is_positive)


def _judge_area(name: str, scores: FloatArray, is_positive: BoolArray) -> str:
    """Return the evidence that the area under the ROC curve is close to 1, or to 0."""
    if min(np.sum(is_positive), np.sum(~is_positive)) < _LEAST_ROWS:
        return ""
    area = area_under_curve(ScoreSample.from_rows(is_positive, scores, (False, True)))
    area = max(area, 1.0 - area)
    if area <= MOST_AREA:
        return ""
    return f"'{name}' alone ranks {100 * area:.1f} of 100 pairs of rows correctly."


def _rate_of_others(codes: IntArray, n_levels: int, is_positive: BoolArray) -> FloatArray:
    """Return the positive rate of each row's category among the rows of the other folds."""
    rates = np.empty(len(codes))
    fold = np.random.default_rng(0).permutation(len(codes)) % _FOLDS
    overall = is_positive.mean()
    for k in range(_FOLDS):
        others = fold != k
        n = np.bincount(codes[others], minlength=n_levels)
        positive = np.bincount(codes[others], is_positive[others], minlength=n_levels)
        rates[~others] = ((positive + overall) / (n + 1))[codes[~others]]
    return rates


def _judge_patterns(
    name: str,
    cells: pd.Series,
    is_missing: BoolArray,
    is_positive: BoolArray,
    names: tuple[str, str],
) -> str:
    """Return the evidence that a frequent value, or its absence, occurs in one class only."""
    share = is_positive.mean()
    for pattern, rows in _patterns(cells, is_missing):
        n = int(rows.sum())
        n_positive = int(is_positive[rows].sum())
        if n_positive == n and n * (1 - share) >= LEAST_EXPECTED:
            return f"All {n:,} rows in which '{name}' is {pattern} have {names[1]}."
        if n_positive == 0 and n * share >= LEAST_EXPECTED:
            return f"All {n:,} rows in which '{name}' is {pattern} have {names[0]}."
    return ""


def _patterns(cells: pd.Series, is_missing: BoolArray) -> Iterator[tuple[str, BoolArray]]:
    """Yield a pattern of cells in words, and the rows that have it."""
    yield "missing", is_missing
    yield "not missing", ~is_missing
    counts = cells.value_counts()
    if cells.dtype.kind != "f":
        for level, n in counts.items():
            if n >= LEAST_EXPECTED:
                yield f"'{level}'", (cells == level).to_numpy()
    elif counts.iloc[0] >= max(LEAST_EXPECTED, LEAST_SHARE * counts.sum()):
        # An amount is 0 in most rows; it gives the target away by being any other number. A less
        # frequent value is one of a scale, on which one class may lie in the middle.
        most_frequent = counts.index[0]
        is_most_frequent = (cells == most_frequent).to_numpy()
        yield f"{most_frequent:.6g}", is_most_frequent
        yield f"not {most_frequent:.6g}", ~is_most_frequent & ~is_missing

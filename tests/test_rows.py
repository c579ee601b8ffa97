"""The forms in which rows may be passed: each is used as the plain array is, or refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from boundshift import (
    Cost,
    InvalidInputError,
    Monitor,
    certify,
    compare_boundaries,
    estimate_prevalence,
    find_boundaries,
    find_boundary,
    find_zone,
    metrics_at,
    threshold_interval,
)
from boundshift.metrics import binary_metrics, geometric_mean_score
from boundshift.streaming import scan_boundary

pytestmark = pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")

RNG = np.random.default_rng(0)
N = 120
Y = np.tile([0, 0, 1], N // 3)
# Small whole numbers, which every type of number holds exactly.
S = np.round(16 * RNG.normal(2.0 * Y)).astype(np.float64)
EQUAL = Cost()
OTHER = np.round(16 * RNG.normal(2.0 * Y)).astype(np.float64)
WEIGHT = RNG.integers(1, 4, N).astype(float)
COST = RNG.integers(1, 9, N).astype(float)
BY = np.tile([1.0, 2.0], N // 2)
SHUFFLED = RNG.permutation(N)
GROUPED = find_boundaries(Y, S, BY)
CERTIFICATE = certify(Y, S, 16.0)


def read_only(values):
    values = values.copy()
    values.flags.writeable = False
    return values


USED = {
    "column": lambda v: v[:, None],
    "list": lambda v: v.tolist(),
    "tuple": lambda v: tuple(v.tolist()),
    "list of columns": lambda v: [[value] for value in v.tolist()],
    "read-only": read_only,
    "strided": lambda v: np.repeat(v, 2)[::2],
    "backwards": lambda v: v[::-1].copy()[::-1],
    "float16": lambda v: v.astype(np.float16),
    "float32": lambda v: v.astype(np.float32),
    "long double": lambda v: v.astype(np.longdouble),
    "big-endian": lambda v: v.astype(">f8"),
    "int16": lambda v: v.astype(np.int16),
    "object": lambda v: v.astype(object),
    "mask without masked values": lambda v: np.ma.array(v, mask=np.zeros(len(v), dtype=bool)),
    "pandas": lambda v: pd.Series(v, index=SHUFFLED[: len(v)]),
    "pandas, nullable": lambda v: pd.Series(v, index=SHUFFLED[: len(v)], dtype="Float64"),
    "pandas frame of one column": lambda v: pd.DataFrame({"x": v}, index=SHUFFLED[: len(v)]),
    "polars": lambda v: pl.Series("x", v),
}


def mapped(values):
    """Return an array that counts as mapped from a file."""
    return values.view(np.memmap)


def spoiled(value):
    def spoil(v):
        v = v.copy()
        v[7] = value
        return v

    return spoil


NO_COLUMN = {
    "row": lambda v: v[None, :],
    "three columns": lambda v: np.c_[v, v, v],
    "cube": lambda v: v[:, None, None],
    "number": lambda v: v[0],
    "nothing": lambda v: v[:0],
    "one row too few": lambda v: v[:-1],
    "one row too many": lambda v: np.append(v, v[0]),
    "masked": lambda v: np.ma.array(v, mask=np.arange(len(v)) == 7),
    "masked column": lambda v: np.ma.array(v, mask=np.arange(len(v)) == 7)[:, None],
}
MISSING = {
    "NaN": spoiled(np.nan),
    "None": lambda v: [None, *v[1:].tolist()],
    "missing in pandas": lambda v: pd.Series(v, dtype="Float64").mask(np.arange(len(v)) == 7),
}
NO_NUMBERS = {
    "infinite": spoiled(np.inf),
    "complex": lambda v: v + 0j,
    "complex objects": lambda v: (v + 1j).astype(object),
    "dates": lambda v: v.astype("datetime64[s]"),
    "text": lambda v: np.array(["x"] * len(v)),
}
SCORES = {
    "find_boundary": lambda s: find_boundary(Y, s).threshold,
    "find_boundary, empirical": lambda s: find_boundary(Y, s, curve="empirical").threshold,
    "find_boundary with weights": lambda s: find_boundary(Y, s, sample_weight=WEIGHT).threshold,
    "find_boundary with costs": lambda s: find_boundary(Y, s, row_cost=COST).to_dict(),
    "find_boundaries": lambda s: find_boundaries(Y, s, BY).to_dict(),
    "certify": lambda s: certify(Y, s, 16.0),
    "find_zone": lambda s: find_zone(Y, s, (0.3, 0.3)).to_dict(),
    "threshold_interval": lambda s: threshold_interval(Y, s, n_resamples=5, random_state=0),
    "metrics_at": lambda s: metrics_at(Y, s, [16.0])["recall"].tolist(),
    "compare_boundaries, old": lambda s: (
        compare_boundaries(Y, s, 16, OTHER, 16, cost=EQUAL).differences
    ),
    "compare_boundaries, new": lambda s: (
        compare_boundaries(Y, OTHER, 16, s, 16, cost=EQUAL).differences
    ),
    "estimate_prevalence": lambda s: estimate_prevalence(Y, s, OTHER).prevalence,
    "Monitor.update": lambda s: Monitor(CERTIFICATE).update(Y, s).to_dict(),
    "scan_boundary": lambda s: scan_boundary([(Y, s)]).threshold,
    "find_boundary in passes": lambda s: find_boundary(mapped(Y), s).threshold,
}
LABELS = {
    "find_boundary": lambda y: find_boundary(y, S).threshold,
    "find_boundary with weights": lambda y: find_boundary(y, S, sample_weight=WEIGHT).threshold,
    "find_boundary with costs": lambda y: find_boundary(y, S, row_cost=COST).threshold,
    "find_boundaries": lambda y: find_boundaries(y, S, BY).common.threshold,
    "compare_boundaries": lambda y: compare_boundaries(y, S, 16, OTHER, 16, cost=EQUAL).differences,
    "metrics_at": lambda y: metrics_at(y, S, [16.0])["recall"].tolist(),
    "binary_metrics": lambda y: binary_metrics(y, S > 16),
    "geometric_mean_score": lambda y: geometric_mean_score(y, S > 16),
    "y_pred": lambda y: geometric_mean_score(Y, y),
}
AMOUNTS = {
    "sample_weight": (WEIGHT, lambda w: find_boundary(Y, S, sample_weight=w).threshold),
    "row_cost": (COST, lambda c: find_boundary(Y, S, row_cost=c).threshold),
}
EVERY = (
    {f"y_score of {name}": (S, call) for name, call in SCORES.items()}
    | {f"y_true of {name}": (Y.astype(float), call) for name, call in LABELS.items()}
    | AMOUNTS
    | {
        "by": (BY, lambda by: [b.threshold for b in find_boundaries(Y, S, by).values()]),
        "y_score to predict by group": (S, lambda s: np.ravel(GROUPED.predict(s, BY)).tolist()),
        "by to predict": (BY, lambda by: GROUPED.predict(S, by).tolist()),
    }
)


@pytest.mark.parametrize("argument", EVERY)
def test_every_form_of_the_same_values_gives_the_same_answer(argument):
    values, call = EVERY[argument]
    plain = call(values)
    other = [name for name, form in USED.items() if call(form(values)) != plain]
    assert other == []


NUMBERS = [name for name in EVERY if "score of" in name] + [*AMOUNTS]
REFUSED = (
    [(argument, NO_COLUMN) for argument in EVERY]
    + [(argument, MISSING) for argument in EVERY if argument != "by to predict"]
    + [(argument, NO_NUMBERS) for argument in NUMBERS]
)


@pytest.mark.parametrize(("argument", "forms"), REFUSED)
def test_what_is_no_column_of_known_values_is_refused(argument, forms):
    values, call = EVERY[argument]
    for form in forms.values():
        with pytest.raises(InvalidInputError):
            call(form(values))


def test_a_missing_group_is_decided_by_the_common_boundary():
    found = GROUPED.predict(S, [None] * N)
    assert found.tolist() == (GROUPED.common.threshold < S).astype(int).tolist()


def test_masked_thresholds_are_refused():
    with pytest.raises(InvalidInputError, match=r"`thresholds` must hold .* masked"):
        metrics_at(Y, S, np.ma.array([16.0, 20.0], mask=[True, False]))

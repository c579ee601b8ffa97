"""Compare the boundary of row costs with empulse's thresholds, on the data sets empulse bundles.

It needs empulse and pandas (``pip install "empulse>=0.13" pandas``); without empulse there is no
row.

Half of the rows, drawn by the seed and with both classes in proportion, train the model and set
its threshold; the other half judges. Savings are 1 less the cost of the decisions, divided by the
cost of the cheaper of "flag all" and "flag none". Every data set, seed, model and method is kept.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, TransformerMixin, clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from boundshift import BoundShiftClassifier
from boundshift._typing import FloatArray
from lab.experiment import Experiment, Facts, Tables, quiet, rows_in_parallel, version_of
from lab.markdown import table

LOADERS = (
    "load_churn_tv_subscriptions",
    "load_upsell_bank_telemarketing",
    "load_credit_scoring_pakdd",
    "load_vub_credit_scoring",
)
MODELS: dict[str, ClassifierMixin] = {
    "logistic regression": LogisticRegression(max_iter=2000),
    "gradient boosting": HistGradientBoostingClassifier(max_iter=60, random_state=0),
}
SEEDS = 3
PLAIN, OURS = "plain 0.5", "boundshift, row costs"
LEARNT, BY_ROW = "empulse, learnt threshold", "empulse, a threshold a row"
METHODS = (PLAIN, OURS, LEARNT, BY_ROW)


class Costs(NamedTuple):
    """What each row costs by truth and decision."""

    tp_cost: FloatArray
    tn_cost: FloatArray
    fp_cost: FloatArray
    fn_cost: FloatArray

    def take(self, rows: NDArray[np.intp]) -> Costs:
        """Return the costs of some rows."""
        return Costs(*(cost[rows] for cost in self))

    def of_a_wrong_decision(self, y: NDArray[np.int64]) -> FloatArray:
        """Return what is lost if each row is decided wrongly instead of rightly."""
        return np.where(y == 1, self.fn_cost - self.tp_cost, self.fp_cost - self.tn_cost)

    def total(self, y: NDArray[np.int64], flagged: NDArray[np.bool_]) -> float:
        """Return what decisions cost."""
        of_positive = np.where(flagged, self.tp_cost, self.fn_cost)
        of_negative = np.where(flagged, self.fp_cost, self.tn_cost)
        return float(np.where(y == 1, of_positive, of_negative).sum())

    def savings(self, y: NDArray[np.int64], flagged: NDArray[np.bool_]) -> float:
        """Return the share saved of the cheaper of "flag all" and "flag none"."""
        everyone = np.ones(len(y), dtype=bool)
        return 1 - self.total(y, flagged) / min(self.total(y, everyone), self.total(y, ~everyone))


def load(loader: str) -> tuple[str, Any, NDArray[np.int64], Costs]:
    """Return the name, features, labels and costs of a bundled data set."""
    import empulse.datasets
    import pandas
    import sympy

    data = getattr(empulse.datasets, loader)(backend=pandas)
    n = len(data.target)
    costs = []
    for name in Costs._fields:
        formula = sympy.sympify(getattr(data.cost_matrix, name))
        known = {**data.cost_matrix._defaults, **data.instance_costs}
        symbols = sorted(formula.free_symbols, key=str)
        compute = sympy.lambdify(symbols, formula, "numpy")
        values = compute(*(known[str(symbol)] for symbol in symbols))
        costs.append(np.broadcast_to(np.asarray(values, dtype=np.float64), n).copy())
    return data.name, data.data, np.asarray(data.target, dtype=np.int64), Costs(*costs)


def make_features() -> TransformerMixin:
    """Return what makes numbers of words; empulse's classifier cannot have it in a pipeline."""
    encode = OneHotEncoder(handle_unknown="ignore", sparse_output=False, min_frequency=20)
    return make_column_transformer(
        (encode, make_column_selector(dtype_exclude="number")),
        (StandardScaler(), make_column_selector(dtype_include="number")),
    )


def compare(loader: str, model: str, seed: int) -> list[dict[str, Any]]:
    """Return the savings of every method on one half of one data set."""
    from empulse.models import CSThresholdClassifier

    name, X, y, costs = load(loader)
    train, test = train_test_split(np.arange(len(y)), test_size=0.5, random_state=seed, stratify=y)
    given, judged = costs.take(train), costs.take(test)
    features = make_features().fit(X.iloc[train])
    X_train, X_test = features.transform(X.iloc[train]), features.transform(X.iloc[test])
    plain = clone(MODELS[model]).fit(X_train, y[train])
    with quiet():
        ours = BoundShiftClassifier(clone(MODELS[model]), random_state=seed).fit(
            X_train, y[train], row_cost=given.of_a_wrong_decision(y[train])
        )
    theirs = CSThresholdClassifier(clone(MODELS[model]), random_state=seed)
    theirs.fit(X_train, y[train], **given._asdict())
    flagged = {
        PLAIN: plain.predict(X_test),
        OURS: ours.predict(X_test),
        LEARNT: theirs.predict(X_test),
        BY_ROW: theirs.predict(X_test, **judged._asdict()),
    }
    return [
        {
            "data": name,
            "model": model,
            "seed": seed,
            "method": method,
            "savings": judged.savings(y[test], np.asarray(flagged[method]) == 1),
            "flagged": float(np.mean(np.asarray(flagged[method]) == 1)),
        }
        for method in METHODS
    ]


def collect(quick: bool) -> Facts:
    loaders, models, seeds = (
        (LOADERS[:1], [*MODELS][:1], 2) if quick else (LOADERS, [*MODELS], SEEDS)
    )
    known = version_of("empulse")
    jobs = [(d, m, s) for d in loaders for m in models for s in range(seeds)] if known else []
    return {"empulse": known, "seeds": seeds, "rows": rows_in_parallel(compare, jobs, quick)}


def savings_of(facts: Facts, data: str, model: str, method: str) -> FloatArray:
    """Return the savings of a method by seed."""
    return np.array(
        [
            row["savings"]
            for row in facts["rows"]
            if (row["data"], row["model"], row["method"]) == (data, model, method)
        ]
    )


def is_met(facts: Facts) -> bool:
    """Say whether row costs save more than a plain 0.5 and no less than the learnt threshold."""
    pairs = {(row["data"], row["model"]) for row in facts["rows"]}
    means = {m: [savings_of(facts, *pair, m).mean() for pair in sorted(pairs)] for m in METHODS}
    ours = np.array(means[OURS])
    return bool(
        np.all(ours >= np.array(means[PLAIN])) and ours.mean() >= np.mean(means[LEARNT])
        if pairs
        else True
    )


def tables(facts: Facts) -> Tables:
    rows = []
    for pair in sorted({(row["data"], row["model"]) for row in facts["rows"]}):
        line: list[object] = list(pair)
        for method in METHODS:
            savings = savings_of(facts, *pair, method)
            line.append(f"{savings.mean():.3f} ± {savings.std(ddof=1) / np.sqrt(len(savings)):.3f}")
        gains = savings_of(facts, *pair, OURS) - savings_of(facts, *pair, LEARNT)
        rows.append([*line, f"{np.sum(gains > 0)} of {len(gains)}"])
    return {"savings": table(" | ".join(["data", "model", *METHODS, "wins"]), rows)}


EXPERIMENT = Experiment(collect, tables, is_met)

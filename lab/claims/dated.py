"""Follow a boundary of the past through later years of two real data sets.

A logistic regression is fitted by `BoundShiftClassifier` on half of the rows of the first years;
the other half certifies it. Every later year is judged, watched by a Monitor, and its prevalence
is estimated without its labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from boundshift import BoundShiftClassifier, Monitor, certify, estimate_prevalence, find_boundary
from boundshift.metrics import binary_metrics
from lab.data.fresh import fetch_fresh, read_column
from lab.experiment import Experiment, Facts, Tables, quiet
from lab.markdown import Line, table
from lab.suite.train import prepared

DATED = {"nassCDS": ("yearacc", 1998), "Arrests": ("year", 1998)}
"""Name → column of the year, last year of the past."""


def follow(name: str) -> list[dict[str, Any]]:
    """Return what a boundary of the past does on held-out rows of the past and in later years."""
    column, last = DATED[name]
    # Dates within a year are unknown, and neighbours in the file come from one place.
    order = np.random.default_rng(0).permutation(len(read_column(name, column)))
    year = read_column(name, column)[order]
    X, y = (part[order] for part in fetch_fresh(name, without=(column,)))
    past = np.flatnonzero(year <= last)
    train, held = train_test_split(past, test_size=0.5, stratify=y[past], random_state=0)
    model = prepared(LogisticRegression(max_iter=1000))
    with quiet():
        clf = BoundShiftClassifier(model).fit(X[train], y[train])
    scores, threshold = clf.positive_scores(X), clf.threshold_
    certificate = certify(y[held], scores[held], threshold)
    monitor, rows = Monitor(certificate), []
    later = {int(each): np.flatnonzero(year == each) for each in np.unique(year[year > last])}
    for each, of in ({last: held} | later).items():
        judged = binary_metrics(y[of], scores[of] > threshold)
        best = find_boundary(y[of], scores[of], scale="probability").threshold
        row = {
            "data": name,
            "year": each,
            "rows": len(of),
            "specificity": judged["recall_negative"],
            "recall": judged["recall_positive"],
            "g_mean": judged["g_mean"],
            "hindsight": binary_metrics(y[of], scores[of] > best)["g_mean"],
            "share": float(y[of].mean()),
        }
        if each > last:
            found = estimate_prevalence(y[held], scores[held], scores[of], threshold=threshold)
            monitor.update(y[of], scores[of], when=str(each))
            row["interval"] = [float(end) for end in found.interval]
            row["explained"] = found.explained
            row["alarm"] = None if monitor.alarm is None else int(monitor.alarm.label)
        else:
            row["certified"] = [1.0 - bound for bound in certificate.error_bounds]
        rows.append(row)
    return rows


def collect(quick: bool) -> Facts:
    """Follow both data sets."""
    return {"rows": [row for name in DATED for row in follow(name)]}


def tables(facts: Facts) -> Tables:
    """Lay out one line a year, the held-out rows of the past first."""
    lines: list[Line] = []
    for row in facts["rows"]:
        told = ["–", "–", "–"]
        year = f"to {row['year']}"
        if "interval" in row:
            low, high = row["interval"]
            alarm = "none" if row["alarm"] is None else f"class {row['alarm']}"
            told = [f"{low:.3f} to {high:.3f}", "yes" if row["explained"] else "no", alarm]
            year = str(row["year"])
        numbers = [row[n] for n in ("specificity", "recall", "g_mean", "hindsight", "share")]
        lines.append([row["data"], year, row["rows"], *numbers, *told])
    titles = "specificity | recall | G-mean | G-mean of the year's own boundary | rare rows"
    header = f"data | years | rows | {titles} | estimated without labels | explained | alarm"
    return {"dated": table(header, lines)}


EXPERIMENT = Experiment(collect, tables)

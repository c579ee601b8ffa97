"""Rows of a made-up clinic, and the facts of a report on them."""

from functools import cache

import numpy as np

from boundshift.report import collect_facts

NAMES = {
    "positive": "sick",
    "negative": "healthy",
    "unit": "patients",
    "title": "Who has heart disease?",
}


@cache
def rows(n_negative=600, n_positive=50, seed=0, gap=3.0):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [n_negative, n_positive])
    return y, rng.normal(gap * y - 2.0, 1.1)


@cache
def facts():
    return collect_facts(
        *rows(),
        test=rows(800, 90, seed=1),
        training=rows(600, 50, seed=2, gap=4.0),
        names=NAMES,
        model="Logistic regression",
        interval=(-1.2, -0.4),
    )

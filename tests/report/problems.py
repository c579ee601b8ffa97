"""Rows of a made-up clinic, the facts of a report on them, and bounds computed a second way."""

import math
from functools import cache

import numpy as np
from scipy.stats import beta

from boundshift.report import collect_facts

NAMES = {
    "positive": "sick",
    "negative": "healthy",
    "unit": "patients",
    "title": "Who has heart disease?",
}
# Ends a script, makes elements, ends a line of JavaScript, looks like a template.
HOSTILE = (
    "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>\u2028{{7*7}}"
)


def clopper_pearson(k, n, delta):
    return 1.0 if k >= n else float(beta.ppf(1 - delta, k + 1, n - k))


def uniform(k, n, delta):
    band = k / n + math.sqrt(math.log(2 / delta) / (2 * n))
    return min(band, clopper_pearson(k, n, delta / (2 * (n + 1))), 1.0)


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

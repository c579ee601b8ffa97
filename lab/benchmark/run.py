"""Compare ways to decide on real imbalanced data: ``python -m lab benchmark``.

Protocol, fixed before the first run:

- data: the half of the sets that had no part in choosing a default; ``--quick`` takes a few of the
  other half;
- of more than 4,000 rows a stratified sample; half of the rows train, half test;
- trained on all rare rows, or on 20, 10 or 5 of them with at most 1,000 others, where there are 42;
- models with the settings of their libraries, behind median imputation and scaling;
- two splits;
- metrics of the test rows at the prevalence of the training rows, which every method assumes;
- a method that fails has the labels of the untouched model, and its row has the message.

The goal is missed if the default is below a threshold tuned by scikit-learn, with probabilities or
with margins, for any number of rare rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

from lab.benchmark.data import FEWEST_RARE, Half, datasets, load_rows
from lab.benchmark.methods import METHODS, METRICS
from lab.benchmark.tables import blocks, make_tables
from lab.benchmark.train import MODELS, Fit, Trained, train
from lab.experiment import ROOT, Experiment, Facts, in_parallel
from lab.records import ScoreCache

RARE = (0, 20, 10, 5)
SPLITS = 2
CACHE = ROOT / "out" / "benchmark" / "scores"
_QUICK = ("abalone9-18", "spectf", "yeast5")


@dataclass(frozen=True)
class Row:
    """One method on one training: both rates on the test rows, and why it failed, if it did."""

    dataset: str
    family: str
    model: str
    rare: int
    seed: int
    share: float
    method: str
    specificity: float
    recall: float
    message: str = ""


def fits_of(names: Iterable[str], models: Iterable[str], splits: int = SPLITS) -> list[Fit]:
    """Return the trainings; few rare rows are drawn where enough are left to test on."""
    return [
        Fit(name, model, rare, seed)
        for seed in range(splits)
        for rare in RARE
        for model in models
        for name in names
        if rare == 0 or load_rows(name).y.sum() >= FEWEST_RARE
    ]


def judge(fit: Fit, family: str, trained: Trained) -> list[Row]:
    """Let every method label the test rows of a training."""
    rows = []
    positive = trained.y_test == 1
    untouched = METHODS["untouched"].label(trained)
    for name, method in METHODS.items():
        message = ""
        try:
            labels = method.label(trained)
        except Exception as error:
            labels = untouched
            message = f"{type(error).__name__}: {error}"
        rows.append(
            Row(
                **fit._asdict(),
                family=family,
                share=round(trained.share, 6),
                method=name,
                specificity=round(float(np.mean(~labels[~positive])), 6),
                recall=round(float(np.mean(labels[positive])), 6),
                message=message,
            )
        )
    return rows


def judge_fit(fit: Fit, family: str) -> list[Row]:
    """Train, or read what an interrupted run has trained, and judge."""
    return judge(fit, family, ScoreCache(CACHE, train).make(fit))


def collect(quick: bool) -> Facts:
    """Judge every training of the half; the rows are tidy, failures included."""
    half: Half = "choose" if quick else "report"
    families = datasets(half)
    fits = fits_of(_QUICK, ["decision tree"], 1) if quick else fits_of(families, MODELS)
    judged = in_parallel(judge_fit, [(fit, families[fit.dataset]) for fit in fits], quick)
    return {"half": half, "rows": [asdict(row) for rows in judged for row in rows]}


def read(facts: Facts) -> pd.DataFrame:
    """Return the rows with every metric at the prevalence of the training rows."""
    rows = pd.DataFrame(facts["rows"])
    rates = (rows["specificity"].to_numpy(), rows["recall"].to_numpy())
    with np.errstate(invalid="ignore", divide="ignore"):
        metrics = {name: np.nan_to_num(of(*rates, rows["share"])) for name, of in METRICS.items()}
    return rows.assign(**metrics)


def is_met(facts: Facts) -> bool:
    means = blocks(read(facts), "g-mean").groupby(level="rare").mean()
    tuned = means[["tuned/g-mean", "tuned-margins/g-mean"]].max(axis=1)
    return bool((means["ours"] >= tuned).all())


EXPERIMENT = Experiment(
    collect, lambda facts: make_tables(read(facts)), is_met, home="lab/docs/benchmark.md", tidy=True
)

"""From a table to a shifted, certified and compared model."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from boundshift._app.cli import Show
from boundshift._app.columns import Columns, Spelling, as_features, choose_columns, find_cluster
from boundshift._app.scores import resampled_interval
from boundshift._app.tables import drop_labels, positive_note, read_target, with_gaps
from boundshift._boundary import choose_claims, decide
from boundshift._classifier import BoundShiftClassifier
from boundshift._guarantees.certificate import Certificate
from boundshift._guarantees.certify import certify
from boundshift._result.boundary import Boundary
from boundshift._scores import ScoreSample
from boundshift._typing import FloatArray, IntArray
from boundshift._words import METRICS_COMPARED
from boundshift.curves import Empirical, ErrorCurve
from boundshift.exceptions import InvalidInputError
from boundshift.metrics import binary_metrics
from boundshift.models._holdout import counts_groups, is_guaranteed
from boundshift.report._evidence import MOST_LEVELS, RowDetails, check_levels, own_probability
from boundshift.rules import Floors, GMean, Rule, Sum
from boundshift.streaming._read import check_names

# What each model is called in full, and what trains it.
_MODELS = {
    "logistic": ("logistic regression", LogisticRegression(max_iter=1000)),
    "svm": ("support vector machine", SVC()),
    "forest": ("random forest", RandomForestClassifier()),
    "boosting": ("gradient boosting", HistGradientBoostingClassifier()),
    "mlp": ("neural network", MLPClassifier(early_stopping=True, n_iter_no_change=20)),
}
_MOST_CATEGORIES = 30
_TEST_SHARE = 0.3
_FEW = 50
_LEAST_IDS = 10


@dataclass(frozen=True, eq=False)
class FittedTable:
    """A model learned from a table, and what is known of it."""

    model: BoundShiftClassifier
    name: str  # what the model is called
    certificate: Certificate  # of the test rows
    columns: Columns
    target: str
    comparison: list[dict[str, Any]]  # methods and metrics on the test rows, ours first
    deciding: ScoreSample  # scores of the rows that chose the boundary
    judged: tuple[NDArray[Any], FloatArray]  # labels and scores of the test rows
    details: RowDetails  # of the same rows in the same order: probabilities, groups, ids
    interval: tuple[float, float] | None  # bootstrap interval of the threshold; None: many rows
    notes: tuple[str, ...]  # what the user should know about the table
    counted: str  # which rows are left out or are copies, and how the model was chosen
    models: list[dict[str, Any]]  # those tried, the chosen one first
    cluster: str | None = None  # column of ids whose rows stay together, bounded as clusters

    @property
    def boundary(self) -> Boundary:
        return self.model.boundary_

    @property
    def labels(self) -> tuple[Any, Any]:
        return self.boundary.labels


def fit_table(
    frame: Any,
    target: str,
    *,
    positive: str | None = None,
    ignore: Sequence[str] = (),
    model: str = "logistic",
    curve: str | ErrorCurve | None = None,
    rule: str | Rule | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    roles: Mapping[str, str] | None = None,
    by: Sequence[str] = (),
    cluster: str | None = None,
    progress: Show = lambda what, done, total: None,
) -> FittedTable:
    """Prepare, split, train, shift, certify and compare.

    Three rows in ten, of each class, are set aside first; they decide nothing and certify the
    result. Scores of rows left out of training decide, as in cross-validation; of several models
    these scores choose the one with the least loss of the rule, before the test rows are looked at.
    Where ids repeat, rows of one id stay together in every split, and rates that are bounded are
    averages over ids.

    Arguments are the options of ``boundshift fit``; `frame` is a pandas DataFrame with gaps and
    categories as they are.
    """
    frame = frame.rename(columns=str)
    check_names("The table", list(frame.columns), [target, *by])
    frame, said = drop_labels(frame, target, ignore)
    claims, chosen = choose_claims(curve, rule)
    kept, y, labels = read_target(frame, target, positive, symmetric=chosen.symmetric)
    unlabelled = len(frame) - len(kept)
    roles = dict(roles or {})
    if cluster not in (None, "none"):
        roles.setdefault(str(cluster), "--cluster")
    columns = choose_columns(frame, target, roles)
    kept, y, ids, cluster, grouped = _find_clusters(kept, y, columns, cluster)
    said += grouped
    if ids is not None and is_guaranteed(claims, chosen) and not counts_groups(claims, chosen):
        curve = Empirical()
        said.append(
            "Floors are estimates here, not promises: where ids repeat, only recall and "
            "specificity can be promised, by the default curve and confidence."
        )
    groups = {name: check_levels(name, with_gaps(kept[name])) for name in by}
    X = as_features(kept, columns)
    together, repeated = find_copies(X, y) if ids is None else (ids, [])
    said += repeated
    learn, judge = split_rows(y, seed, together)
    X_judge = X.iloc[judge]
    named = np.array(labels)[y]

    tried: dict[str, BoundShiftClassifier] = {}
    names = _models(model)
    for name, estimator in names.items():
        progress(f"train: {name}", 0, 1)
        tried[name] = BoundShiftClassifier(
            with_preparation(estimator, columns),
            curve=curve,
            rule=rule,
            cv=5 if ids is None else StratifiedGroupKFold(5),
            pos_label=labels[1],
            random_state=seed,
            chosen_among=len(names),
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            of = {} if ids is None else {"groups": ids[learn]}
            tried[name].fit(X.iloc[learn], named[learn], **of)
        progress(f"train: {name}", 1, 1)
    best = min(tried, key=lambda name: _loss(tried[name]))
    shifted = tried[best]
    boundary = tried[best].boundary_
    scores = shifted.positive_scores(X_judge)
    decided = shifted.deciding_sample_
    deciding = ScoreSample.from_rows(decided.y == labels[1], decided.scores, boundary.labels)

    models = []
    for name in sorted(tried, key=lambda name: name != best):
        flagged = tried[name].predict(X_judge) == labels[1]
        row = _compare(name, y[judge], flagged, tried[name].threshold_)
        models.append(row | {"loss": _loss(tried[name])})
    if len(models) > 1:
        others = ", ".join(str(row["method"]) for row in models[1:])
        said.append(
            f"The {best} was chosen among {len(tried)} models on the training rows; the "
            f"test rows had no part in that. The others: {others}."
        )
    interval = None
    if ids is None:
        progress("resample the threshold", 0, 1)
        interval = resampled_interval(deciding, curve, rule, boundary.scale)
        progress("resample the threshold", 1, 1)
    judged_ids = None if ids is None else ids[judge]
    sizes = len(y) - int(y.sum()), int(y.sum())
    return FittedTable(
        model=shifted,
        name=best,
        certificate=certify(named[judge], scores, boundary, confidence, cluster=judged_ids),
        columns=columns,
        target=target,
        comparison=[
            _compare(name, y[judge], scores > threshold, threshold)
            for name, threshold in _other_thresholds(shifted, deciding).items()
        ],
        deciding=deciding,
        judged=(named[judge], scores),
        details=RowDetails(
            own_probability(shifted, X_judge),
            {name: values[judge] for name, values in groups.items()}
            or _few_categories(X_judge[columns.categories]),
            cluster=judged_ids,
        ),
        interval=interval,
        notes=(
            *positive_note(positive, labels, sizes),
            *_notes(unlabelled, target, sizes, columns),
            *said,
        ),
        counted=" ".join(said),
        models=models,
        cluster=cluster,
    )


def _find_clusters(
    kept: Any, y: IntArray, columns: Columns, asked: str | None
) -> tuple[Any, IntArray, IntArray | None, str | None, list[str]]:
    """Return rows and classes, the first row of each row's id, the column of ids, and notes.

    None, None where rows are independent. Rows without an id are left out: they may be of anyone,
    in training or in the test. Where a column may be one of ids, they are rows of their own.
    """
    found, is_sure = find_cluster(kept, columns)
    is_sure |= asked is not None
    name = found if asked in (None, "none") else asked
    if name is None:
        return kept, y, None, None, []
    doubt = (
        f"Rows of one '{name}' are taken as independent. If they are not, the bounds do not hold "
        "for new ones."
    )
    if asked == "none":
        return kept, y, None, None, [doubt]
    notes = []
    cells = with_gaps(kept[name])
    gaps = cells.isna().to_numpy()
    if is_sure and gaps.any():
        notes.append(f"Rows without '{name}' may be of anyone and are left out: {gaps.sum():,}.")
        kept = kept[~gaps]
        y = y[~gaps]
        cells = cells[~gaps]
        gaps = gaps[~gaps]
    texts = [
        f"row {i}" if gap else f"id {' '.join(str(cell).split()).casefold()}"
        for i, (cell, gap) in enumerate(zip(cells, gaps, strict=True))
    ]
    _, first, place = np.unique(texts, return_index=True, return_inverse=True)
    ids = first[place]
    fewest = min(len(np.unique(ids[y == label])) for label in (0, 1))
    if fewest < _LEAST_IDS and not is_sure:
        return kept, y, None, None, [doubt]
    if fewest < _LEAST_IDS:
        raise InvalidInputError(
            f"Each class needs rows of at least {_LEAST_IDS} different '{name}', to learn from and "
            f"to be judged on, got {fewest}. Collect more. If rows of one are independent all the "
            "same, use --cluster none."
        )
    learned = ""
    if columns[name].spelling is not None:
        learned = f" The model learns from '{name}', too; --drop '{name}' leaves it out."
    notes.append(
        f"'{name}' repeats ({len(ids):,} rows of {len(first):,})"
        f"{'' if is_sure else ', and may name people or cases'}: rows of one stay together, and "
        "error rates that are bounded are averages over them, each counting once. --cluster none "
        f"takes the rows as independent.{learned}"
    )
    return kept, y, ids, name, notes


def _models(names: str) -> dict[str, Any]:
    """Return models by what they are called in full."""
    asked = [name.strip() for name in names.split(",")]
    for name in asked:
        if name not in _MODELS:
            raise InvalidInputError(
                f"The model must be one of {', '.join(_MODELS)}, or several with commas, got "
                f"'{name}'. For a model of your own, give its scores to `boundshift threshold`, or "
                "wrap it in Python."
            )
    return dict(_MODELS[name] for name in asked)


def _loss(model: BoundShiftClassifier) -> float:
    """Return the rule's loss on the rows that decided; of a capacity, the share missed."""
    boundary = model.boundary_
    rule = model.boundary_.rule
    if isinstance(rule, Floors) and list(rule.asked) == ["flagged"]:
        return boundary.wrong[1] / boundary.n_samples[1]
    return boundary.loss


def _other_thresholds(model: BoundShiftClassifier, deciding: ScoreSample) -> dict[str, float]:
    """Return where ours and other methods that only move the threshold put it."""
    own = model.own_threshold_
    return {
        "boundshift": model.boundary_.threshold,
        **({} if own is None else {"untouched": own}),
        "tuned threshold, balanced accuracy": decide(deciding, Empirical(), Sum()).threshold,
        "tuned threshold, G-mean": decide(deciding, Empirical(), GMean()).threshold,
    }


def _compare(method: str, y: IntArray, flagged: Any, threshold: float) -> dict[str, Any]:
    metrics = binary_metrics(y == 1, flagged, pos_label=True)
    return {"method": method} | {n: metrics[n] for n in METRICS_COMPARED} | {"threshold": threshold}


def _few_categories(words: Any) -> dict[str, NDArray[Any]]:
    found = {name: np.asarray(words[name], dtype=object) for name in words}
    return {name: v for name, v in found.items() if len(set(map(str, v))) <= MOST_LEVELS}


def _notes(unlabelled: int, target: str, sizes: tuple[int, int], columns: Columns) -> Iterator[str]:
    if unlabelled:
        yield f"{unlabelled} rows without a value of '{target}' are left out."
    for name, why in columns.left_out.items():
        yield f"Column '{name}' is left out: {why.value}."
    for name in columns.numbers:
        if columns[name].spelling != Spelling():
            yield f"Column '{name}' is read as numbers: {columns[name].why}."
    if min(sizes) < _FEW:
        yield f"The rarer class has only {min(sizes)} rows, so little can be certified about it."


def find_copies(X: Any, y: IntArray) -> tuple[IntArray, list[str]]:
    """Return the first row with the features of each row, and a note on copies.

    Where most rows that share their features differ in their labels, the features take few
    values: such rows are not copies, and each stands for itself.
    """
    same = X.groupby(list(X.columns), dropna=False, sort=False).ngroup().to_numpy()
    _, first, group, sizes = np.unique(
        same, return_index=True, return_inverse=True, return_counts=True
    )
    positive = np.bincount(group, weights=y)
    mixed = (positive > 0) & (positive < sizes)
    n = len(y) - len(first)
    if n == 0 or sizes[mixed].sum() > sizes[(sizes > 1) & ~mixed].sum():
        return np.arange(len(y)), []
    rows = "1 row has" if n == 1 else f"{n:,} rows have"
    return first[group], [
        f"{rows} the same features as an earlier row and stay on its side of the split. If they "
        "are copies of it, bounds count one case several times: remove them."
    ]


def split_rows(y: IntArray, seed: int, together: IntArray) -> tuple[IntArray, IntArray]:
    """Return training and test rows, stratified; a row goes where the first of its own goes."""
    rows = np.arange(len(y))
    drawn = train_test_split(rows, test_size=_TEST_SHARE, stratify=y, random_state=seed)
    is_test = np.isin(together, drawn[1])
    rows = np.concatenate(drawn)
    train = rows[~is_test[rows]]
    test = rows[is_test[rows]]
    if min(len(np.unique(y[part])) for part in (train, test)) < 2:
        raise InvalidInputError(
            "Each class must have rows to learn from and others to be judged on, but only "
            f"{len(np.unique(together))} of {len(y)} rows differ in their features or ids. Collect "
            "other rows, or use another --seed."
        )
    return train, test


def with_preparation(model: Any, columns: Columns) -> Pipeline:
    """Return an untrained model behind its preparation.

    A missing number becomes the median, and an indicator column says so; a missing category is a
    category. The 30 most frequent categories of a column count; the others, and those not seen in
    training, count as one.
    """
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    encoder = OneHotEncoder(
        handle_unknown="infrequent_if_exist",
        max_categories=_MOST_CATEGORIES,
        sparse_output=False,
    )
    categories = make_pipeline(SimpleImputer(strategy="constant", fill_value="missing"), encoder)
    prepared = ColumnTransformer(
        [("numbers", numbers, columns.numbers), ("categories", categories, columns.categories)]
    )
    return Pipeline([("columns", prepared), ("classifier", clone(model))])

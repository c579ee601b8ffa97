"""From a table to a shifted, certified and compared model."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
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

from boundshift._app.columns import (
    Cells,
    Columns,
    Role,
    Spelling,
    as_features,
    choose_columns,
    find_cluster,
    find_doubtful,
)
from boundshift._app.comparison import (
    baseline_thresholds,
    comparison_row,
    judge_thresholds,
    retrained_decisions,
)
from boundshift._app.scores import Show, resampled_interval
from boundshift._app.tables import drop_labels, positive_note, read_target, with_gaps
from boundshift._boundary import choose_claims
from boundshift._classifier import BoundShiftClassifier
from boundshift._promises.certificate import Certificate, certify
from boundshift._result.boundary import Boundary
from boundshift._scores import Scale, ScoreSample
from boundshift._typing import BoolArray, FloatArray, IntArray
from boundshift.curves import ClopperPearson, Empirical, ErrorCurve
from boundshift.exceptions import InvalidInputError
from boundshift.metrics import binary_metrics
from boundshift.models._training import is_promise, set_random_states
from boundshift.report._evidence import MOST_LEVELS, RowDetails, check_levels, own_probability
from boundshift.rules import Floors, Rule
from boundshift.streaming._tables import check_names

MODELS = {
    "logistic": "logistic regression",
    "svm": "support vector machine",
    "forest": "random forest",
    "boosting": "gradient boosting",
    "mlp": "neural network",
}
"""Models that can be trained here, and what they are called in full."""

_MOST_CATEGORIES = 30
_TEST_SHARE = 0.3
_FEW = 50
_LEAST_IDS = 10


@dataclass(frozen=True, eq=False)
class FittedTable:
    """A model learned from a table, and what is known of it."""

    model: BoundShiftClassifier
    name: str
    """What the model is called."""
    certificate: Certificate
    """From the test rows."""
    columns: Columns
    target: str
    comparison: list[dict[str, Any]]
    """Methods and metrics on the test rows, ours first."""
    deciding: ScoreSample
    """Scores of the rows that chose the boundary."""
    judged: tuple[NDArray[Any], FloatArray]
    """Labels and scores of the test rows, in the order of `details`."""
    details: RowDetails
    """Of the test rows: probabilities, groups, decisions of retrained methods."""
    interval: tuple[float, float] | None
    """Bootstrap interval of the threshold; None for many rows."""
    notes: tuple[str, ...]
    """What the user should know about the table."""
    counted: str
    """Which rows are left out or are copies, and how the model was chosen."""
    models: list[dict[str, Any]]
    """Models that were tried, the chosen one first."""
    cluster: str | None = None
    """Column of ids whose rows stay together and are bounded as clusters."""

    @property
    def boundary(self) -> Boundary:
        """The boundary of the model."""
        return self.model.boundary_

    @property
    def labels(self) -> tuple[Any, Any]:
        """Negative, positive."""
        return self.boundary.labels

    @property
    def test(self) -> ScoreSample:
        """Scores of the test rows."""
        return _sample(*self.judged, self.labels)


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
    roles: Mapping[str, Role] | None = None,
    by: Sequence[str] = (),
    cluster: str | None = None,
    progress: Show | None = None,
) -> FittedTable:
    """Prepare, split, train, shift, certify and compare.

    Three rows in ten, of each class, are set aside first; they decide nothing and certify the
    result. Scores of rows left out of training decide, as in cross-validation; of several models
    these scores choose the one with the least loss of the rule, before the test rows are looked at.

    Where ids repeat, rows of one id stay together in every split, and rates that are bounded are
    averages over ids. `cluster` names the column; None finds it, "none" takes rows as independent.

    Arguments are the options of ``boundshift fit``; `frame` is a pandas DataFrame with gaps and
    categories as they are, `model` has one or more names of `MODELS` with commas between them, and
    `curve` and `rule` are those of :func:`~boundshift.find_boundary`. `progress` is called with
    (what, steps done, in all).
    """
    show = progress or (lambda what, done, total: None)
    frame = frame.rename(columns=str)
    check_names("The table", list(frame.columns), [target, *by])
    frame, ignored = drop_labels(frame, target, ignore)
    symmetric = choose_claims(curve, rule)[1].symmetric
    kept, y, labels = read_target(frame, target, positive, symmetric=symmetric)
    roles = dict(roles or {})
    if cluster in frame.columns:
        roles.setdefault(str(cluster), Role.CLUSTER)
    columns = choose_columns(frame, target, roles)
    kept, y, unnamed = _drop_rows_without_id(kept, y, columns, cluster)
    ids, cluster, grouped = _read_clusters(kept, y, columns, cluster)
    curve, estimated = _drop_promise(curve, rule, ids)
    estimators = {name: make_model(name, columns) for name in _split(model)}
    X = as_features(kept, columns)
    groups = {name: check_levels(name, with_gaps(kept[name])) for name in by}
    copies, repeated = find_copies(X, y) if ids is None else (ids, [])
    learn, judge = split_rows(y, seed, copies)
    how: dict[str, Any] = {} if ids is None else {"groups": ids[learn]}
    X_learn, X_judge, named = X.iloc[learn], X.iloc[judge], np.array(labels)[y]

    tried: dict[str, BoundShiftClassifier] = {}
    for name, estimator in estimators.items():
        show(f"train: {MODELS[name]}", 0, 1)
        tried[name] = BoundShiftClassifier(
            estimator,
            curve=curve,
            rule=rule,
            cv=5 if ids is None else StratifiedGroupKFold(5),
            pos_label=labels[1],
            random_state=seed,
        )
        with _quiet():
            tried[name].fit(X_learn, named[learn], **how)
        show(f"train: {MODELS[name]}", 1, 1)
    best = min(tried, key=lambda name: _loss(tried[name]))
    shifted = tried[best]
    boundary, decided = shifted.boundary_, shifted.deciding_sample_
    deciding = _sample(decided.y, decided.scores, boundary.labels)
    scores = shifted.positive_scores(X_judge)

    show("compare with other methods", 0, 1)
    decisions = _retrain(estimators[best], X_learn, y[learn], X_judge, seed)
    is_probability = boundary.scale == "probability"
    moved = baseline_thresholds(deciding, 0.5 if is_probability else 0.0, prior=is_probability)
    thresholds = {"boundshift": boundary.threshold} | moved
    comparison = judge_thresholds(_sample(named[judge], scores, boundary.labels), thresholds)
    comparison += [
        comparison_row(name, binary_metrics(y[judge] == 1, made, pos_label=True))
        for name, made in decisions.items()
    ]
    models = []
    for name in sorted(tried, key=lambda name: name != best):
        made = tried[name].predict(X_judge) == labels[1]
        row = comparison_row(MODELS[name], binary_metrics(y[judge] == 1, made, pos_label=True))
        row |= {"method": MODELS[name], "threshold": tried[name].threshold_}
        models.append(row | {"loss": _loss(tried[name])})
    show("compare with other methods", 1, 1)

    interval = None
    if ids is None:
        show("resample the threshold", 0, 1)
        scale: Scale = "probability" if is_probability else "raw"
        interval = resampled_interval(deciding, curve, rule, scale)
        show("resample the threshold", 1, 1)
    sizes = len(y) - int(y.sum()), int(y.sum())
    judged_ids = None if ids is None else ids[judge]
    said = [*ignored, *unnamed, *grouped, *estimated, *repeated]
    if len(tried) > 1:
        others = ", ".join(str(row["method"]) for row in models[1:])
        said.append(
            f"The {MODELS[best]} was chosen among {len(tried)} models on the training rows; the "
            f"test rows had no part in that. The others: {others}."
        )
    return FittedTable(
        model=shifted,
        name=MODELS[best],
        certificate=certify(named[judge], scores, boundary, confidence, cluster=judged_ids),
        columns=columns,
        target=target,
        comparison=comparison,
        deciding=deciding,
        judged=(named[judge], scores),
        details=RowDetails(
            own_probability(shifted, X_judge),
            _groups_of(groups, X, columns, judge),
            decisions,
            cluster=judged_ids,
        ),
        interval=interval,
        notes=(
            *positive_note(positive, labels, sizes),
            *_notes(len(frame), sizes, target, columns),
            *said,
        ),
        counted=" ".join(said),
        models=models,
        cluster=cluster,
    )


def _read_clusters(
    kept: Any, y: IntArray, columns: Columns, cluster: str | None
) -> tuple[IntArray | None, str | None, list[str]]:
    """Return the first row of each row's id, the column of ids, and what is said of it.

    None, None where rows are independent. A row without an id is one of its own.
    """
    found = find_cluster(kept, columns)
    doubtful = find_doubtful(kept, columns) if found is None else None
    is_sure = cluster is not None or found is not None
    if cluster == "none" and cluster not in kept.columns:
        return None, None, _doubt_rows(found or doubtful)
    if cluster is not None:
        check_names("The table", list(kept.columns), [cluster])
    cluster = cluster or found or doubtful
    if cluster is None:
        return None, None, []
    cells = with_gaps(kept[cluster])
    texts = [
        f"row {i}" if gap else f"id {' '.join(str(cell).split()).casefold()}"
        for i, (cell, gap) in enumerate(zip(cells, cells.isna(), strict=True))
    ]
    _, first, place = np.unique(texts, return_index=True, return_inverse=True)
    ids = first[place]
    for label in (0, 1):
        n = len(np.unique(ids[y == label]))
        if n < _LEAST_IDS and not is_sure:
            return None, None, _doubt_rows(cluster)
        if n < _LEAST_IDS:
            raise InvalidInputError(
                f"Each class needs rows of at least {_LEAST_IDS} different '{cluster}', to learn "
                f"from and to be judged on, got {n}. Collect more. If rows of one are independent "
                "all the same, use --cluster none."
            )
    doubt = "" if is_sure else ", and may name people or cases"
    note = (
        f"'{cluster}' repeats ({len(ids):,} rows of {len(first):,}){doubt}: rows of one stay "
        "together, and error rates that are bounded are averages over them, each counting once. "
        "--cluster none takes the rows as independent."
    )
    return ids, cluster, [note]


def _drop_rows_without_id(
    kept: Any, y: IntArray, columns: Columns, cluster: str | None
) -> tuple[Any, IntArray, list[str]]:
    """Leave out rows whose id is not known: they may be of anyone, in training or in the test."""
    name = cluster if cluster in kept.columns else None
    if cluster is None:
        name = find_cluster(kept, columns)
    gaps = np.zeros(len(y), np.bool_) if name is None else with_gaps(kept[name]).isna().to_numpy()
    if not gaps.any() or gaps.all():
        return kept, y, []
    note = f"Rows without '{name}' may be of anyone and are left out: {int(gaps.sum()):,}."
    return kept[~gaps], y[~gaps], [note]


def _doubt_rows(cluster: str | None) -> list[str]:
    """Say which rows are taken as independent and may not be."""
    if cluster is None:
        return []
    return [
        f"Rows of one '{cluster}' are taken as independent. If they are not, the bounds do not "
        "hold for new ones."
    ]


def _drop_promise(
    curve: str | ErrorCurve | None, rule: str | Rule | None, ids: IntArray | None
) -> tuple[str | ErrorCurve | None, list[str]]:
    """Return the curve, one that promises nothing where floors cannot be promised of clusters."""
    claims, chosen = choose_claims(curve, rule)
    if ids is None or not isinstance(chosen, Floors) or not is_promise(claims, chosen):
        return curve, []
    if isinstance(claims, ClopperPearson) and set(chosen.asked) <= {"recall", "specificity"}:
        return curve, []
    return Empirical(), [
        "Floors are estimates here, not promises: where ids repeat, only recall and specificity "
        "can be promised, by the curve clopper-pearson."
    ]


def _split(model: str) -> list[str]:
    """Return the models that are asked for; raise if one is unknown."""
    names = [name.strip() for name in model.split(",")]
    for name in names:
        if name not in MODELS:
            raise InvalidInputError(
                f"The model must be one of {', '.join(MODELS)}, or several with commas, got "
                f"'{name}'. For a model of your own, give its scores to `boundshift threshold`, or "
                "wrap it in Python."
            )
    return list(dict.fromkeys(names))


def _loss(model: BoundShiftClassifier) -> float:
    """Return the rule's loss on the rows that decided; of a capacity, the share missed."""
    boundary, rule = model.boundary_, model.boundary_.rule
    if isinstance(rule, Floors) and list(rule.asked) == ["flagged"]:
        return boundary.wrong[1] / boundary.n_samples[1]
    return boundary.loss


def _sample(y: Any, scores: FloatArray, labels: tuple[Any, Any]) -> ScoreSample:
    return replace(ScoreSample.from_labels(y == labels[1], scores), labels=labels)


def _notes(n_rows: int, sizes: tuple[int, int], target: str, columns: Columns) -> Iterator[str]:
    """Say what is unusual about the table."""
    if sum(sizes) < n_rows:
        yield f"{n_rows - sum(sizes)} rows without a value of '{target}' are left out."
    for name, why in columns.left_out.items():
        yield f"Column '{name}' is left out: {why.value}."
    for name in columns.numbers:
        if columns[name].spelling != Spelling(Cells.NUMBER):
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
    if sizes[mixed].sum() > sizes[(sizes > 1) & ~mixed].sum():
        return np.arange(len(y)), []
    if n == 0:
        return first[group], []
    rows = "1 row has" if n == 1 else f"{n:,} rows have"
    return first[group], [
        f"{rows} the same features as an earlier row and stay on its side of the split. If they "
        "are copies of it, bounds count one case several times: remove them."
    ]


def split_rows(y: IntArray, seed: int, copies: IntArray) -> tuple[IntArray, IntArray]:
    """Return training and test rows, stratified; a copy goes where its first row goes."""
    rows = np.arange(len(y))
    drawn = train_test_split(rows, test_size=_TEST_SHARE, stratify=y, random_state=seed)
    is_test = np.isin(copies, drawn[1])
    rows = np.concatenate(drawn)
    train, test = rows[~is_test[rows]], rows[is_test[rows]]
    if min(len(np.unique(y[part])) for part in (train, test)) < 2:
        raise InvalidInputError(
            "Each class must have rows to learn from and others to be judged on, but too many "
            f"rows belong together: {len(np.unique(copies))} of {len(y)} differ in their features "
            "or ids. Collect other rows, or use another --seed."
        )
    return train, test


def _groups_of(
    asked: Mapping[str, NDArray[Any]], X: Any, columns: Columns, rows: IntArray
) -> dict[str, NDArray[Any]]:
    """Return groups of the test rows: columns asked for, else categories with few values."""
    words = {name: np.asarray(X[name], dtype=object)[rows] for name in columns.categories}
    few = {name: v for name, v in words.items() if len(set(map(str, v))) <= MOST_LEVELS}
    return {name: values[rows] for name, values in asked.items()} or few


def _retrain(pipeline: Any, X: Any, y: IntArray, X_test: Any, seed: int) -> dict[str, BoolArray]:
    """Return what methods that train anew decide on the test rows."""
    seeded = set_random_states(clone(pipeline), seed)
    preparation = seeded[:-1].fit(X)
    with _quiet():
        return retrained_decisions(
            seeded[-1], preparation.transform(X), y, preparation.transform(X_test), seed
        )


def make_preparation(columns: Columns) -> Any:
    """Return a transformer of a table: gaps filled, numbers scaled, categories one-hot encoded.

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
    missing = SimpleImputer(strategy="constant", fill_value="missing")
    return ColumnTransformer(
        [
            ("numbers", numbers, columns.numbers),
            ("categories", make_pipeline(missing, encoder), columns.categories),
        ]
    )


def make_model(name: str, columns: Columns) -> Any:
    """Return an untrained model with its preparation, with scikit-learn's defaults."""
    makers = {
        "logistic": lambda: LogisticRegression(max_iter=1000),
        "svm": SVC,
        "forest": RandomForestClassifier,
        "boosting": HistGradientBoostingClassifier,
        "mlp": lambda: MLPClassifier(early_stopping=True, n_iter_no_change=20),
    }
    return Pipeline([("columns", make_preparation(columns)), ("classifier", makers[name]())])


@contextmanager
def _quiet() -> Iterator[None]:
    """Ignore warnings of models that did not converge."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield

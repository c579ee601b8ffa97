"""From a table to a shifted, certified and compared model."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from boundshift._app.columns import (
    BESIDE,
    Cells,
    Columns,
    Role,
    Spelling,
    as_features,
    choose_columns,
    read_numbers,
    take_columns,
)
from boundshift._app.comparison import (
    baseline_thresholds,
    comparison_row,
    judge_thresholds,
    retrained_decisions,
)
from boundshift._app.scores import Show, resampled_interval
from boundshift._app.tables import drop_labels, positive_note, read_target, with_gaps
from boundshift._boundary import Boundary, choose_claims
from boundshift._classifier import BoundShiftClassifier
from boundshift._promises.certificate import Certificate, certify_counts, count_at_threshold
from boundshift._scores import ScoreSample, judge_weights
from boundshift._typing import BoolArray, FloatArray, IntArray
from boundshift.curves import ErrorCurve
from boundshift.exceptions import BoundaryWarning, InvalidInputError
from boundshift.metrics import binary_metrics
from boundshift.models._store import load
from boundshift.models._training import set_random_states
from boundshift.report._evidence import MOST_LEVELS, RowDetails, check_levels, own_probability
from boundshift.rules import Rule
from boundshift.streaming._tables import check_names

MODELS = {
    "logistic": "logistic regression",
    "svm": "support vector machine",
    "forest": "random forest",
    "boosting": "gradient boosting",
    "mlp": "neural network",
}
"""Models that can be trained here, and what they are called in full."""

_PICKLES = (".pkl", ".pickle", ".joblib")
_MOST_CATEGORIES = 30
_TEST_SHARE = 0.3
_STEPS = 4
_FEW = 50


class RowColumn(NamedTuple):
    """A column beside the features: weights, or costs by row."""

    name: str
    role: Role


@dataclass(frozen=True, eq=False)
class FittedTable:
    """A model learned from a table, and what is known of it."""

    model: BoundShiftClassifier
    """Predicts 1 for the positive class; a model that came trained predicts labels of its own."""
    name: str
    """What the model is called."""
    boundary: Boundary
    """Its boundary, with the labels of the table."""
    certificate: Certificate
    """From the test rows."""
    columns: Columns
    target: str
    labels: tuple[Any, Any]
    """Negative, positive."""
    comparison: list[dict[str, Any]]
    """Methods and metrics on the test rows, ours first."""
    deciding: ScoreSample
    """Scores of the rows that chose the boundary."""
    judged: tuple[NDArray[Any], FloatArray]
    """Labels and scores of the test rows, in the order of `details`."""
    details: RowDetails
    """Of the test rows: probabilities, groups, decisions of retrained methods."""
    training: ScoreSample | None
    """Scores of the rows that the model was fitted on; None for a model that came trained."""
    interval: tuple[float, float] | None
    """Bootstrap interval of the threshold; None for many rows, weights or costs by row."""
    unseen: bool
    """Whether the model has not seen the test rows."""
    notes: tuple[str, ...]
    """What the user should know about the table."""
    missing: dict[str, str]
    """How many cells of each column lack a value; empty text for none."""
    beside: RowColumn | None
    counted: str
    """Which rows are left out or are copies, and where weights or costs by row count."""

    @property
    def test(self) -> ScoreSample:
        """Scores of the test rows."""
        y, scores = self.judged
        return _sample(y == self.labels[1], scores, self.labels)


class _Rows(NamedTuple):
    """Rows as a model takes them: features, class 0 or 1, weight or cost, and groups."""

    X: Any
    y: IntArray
    numbers: FloatArray | None
    groups: Mapping[str, NDArray[Any]]

    def at(self, rows: IntArray) -> _Rows:
        numbers = None if self.numbers is None else self.numbers[rows]
        groups = {name: values[rows] for name, values in self.groups.items()}
        return _Rows(self.X.iloc[rows], self.y[rows], numbers, groups)


class _Table(NamedTuple):
    """The labelled rows of a table, and what is said of it."""

    rows: _Rows
    labels: tuple[Any, Any]
    columns: Columns
    missing: dict[str, str]
    notes: list[str]
    ignored: list[str]


def fit_table(
    frame: Any,
    target: str,
    *,
    positive: str | None = None,
    ignore: Sequence[str] = (),
    model: str | Path = "logistic",
    curve: str | ErrorCurve | None = None,
    rule: str | Rule | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    trust: bool = False,
    seen: bool = False,
    roles: Mapping[str, Role] | None = None,
    by: Sequence[str] = (),
    weight: str | None = None,
    cost_column: str | None = None,
    progress: Show | None = None,
) -> FittedTable:
    """Prepare, split, train or load, shift, certify and compare.

    Three rows in ten, of each class, are set aside first; they decide nothing and certify the
    result. Scores of rows left out of training decide, as in cross-validation. A model that comes
    trained decides on one half of the rows and is certified on the other.

    Arguments are the options of ``boundshift fit``; `frame` is a pandas DataFrame with gaps and
    categories as they are, `model` a name in `MODELS` or a file, and `curve` and `rule` are those
    of :func:`~boundshift.find_boundary`. `progress` is called with (what, steps done, in all).

    Examples
    --------
    >>> from boundshift.datasets import load_pima
    >>> fitted = fit_table(load_pima(as_frame=True).frame, "target")
    >>> fitted.certificate.status, sum(fitted.test.n_samples)
    ('certified', 231)
    """
    show = progress or (lambda what, done, total: None)
    show("fit", 0, _STEPS)
    frame, roles = frame.rename(columns=str), dict(roles or {})
    beside = _check_beside(weight, cost_column, target, roles)
    check_names("The table", list(frame.columns), [target, *by, *([beside.name] if beside else ())])
    is_file = str(model) not in MODELS and Path(model).is_file()
    loaded = load_model(Path(model), trust=trust) if is_file else None
    symmetric = choose_claims(curve, rule)[1].symmetric and cost_column is None
    table = _read_table(frame, target, positive, ignore, symmetric, roles, by, beside, loaded)
    estimator = make_model(str(model), table.columns) if loaded is None else loaded
    classes = np.array([0, 1]) if loaded is None else _labels_of(estimator, table.labels)
    y, labels = table.rows.y, table.labels
    copies, repeated = find_copies(table.rows.X, y)
    parts = split_rows(y, 0.5 if is_file else _TEST_SHARE, seed, copies)
    learning, judging = (table.rows.at(part) for part in parts)
    show("fit", 1, _STEPS)

    shifted = BoundShiftClassifier(
        estimator,
        curve=curve,
        rule=rule,
        cv="prefit" if is_file else 5,
        pos_label=classes.tolist()[1],
        random_state=None if is_file else seed,
    )
    with _quiet(), explain(type(estimator).__name__):
        deciding = _fit_shifted(shifted, learning, classes, labels, beside)
        scores = shifted.positive_scores(judging.X)
        probability = own_probability(shifted, judging.X)
        training = None
        if not is_file:
            training = _sample(learning.y, shifted.positive_scores(learning.X), labels)
    boundary = replace(shifted.boundary_, labels=labels)
    show("fit", 2, _STEPS)

    decisions = {} if is_file else _retrain(estimator, learning, judging.X, seed)
    is_probability = boundary.scale == "probability"
    own = 0.5 if is_probability else 0.0
    judged = _sample(judging.y, scores, labels)
    moved = baseline_thresholds(deciding, own, prior=is_probability)
    comparison = judge_thresholds(judged, {"boundshift": boundary.threshold} | moved)
    comparison += [
        comparison_row(name, binary_metrics(judging.y == 1, made, pos_label=True))
        for name, made in decisions.items()
    ]
    show("fit", 3, _STEPS)

    unseen = not is_file or not seen
    certificate = certify_counts(
        *count_at_threshold(judged, boundary.threshold),
        confidence=confidence,
        scores="held-out" if unseen else "training",
        threshold=boundary.threshold,
    )
    certificate = replace(certificate, scale=boundary.scale)
    interval, said = None, [*table.ignored, *repeated]
    details = RowDetails(probability, _groups_of(judging, table.columns), decisions)
    if beside is None:
        interval = resampled_interval(
            deciding, curve, rule, "probability" if is_probability else "raw"
        )
    elif beside.role is Role.WEIGHT:
        details = replace(details, sample_weight=judging.numbers, column=beside.name)
        reason = f"{certificate.reason}; every row counts once, whatever its weight"
        certificate = replace(certificate, reason=reason)
        said.append(_describe_weights(beside.name, is_file))
    else:
        details = replace(details, row_cost=judging.numbers, column=beside.name)
        said.append(_describe_costs(beside.name, judging, scores, boundary.threshold, own))
    show("fit", _STEPS, _STEPS)
    sizes = len(y) - int(y.sum()), int(y.sum())
    return FittedTable(
        model=shifted,
        name=type(estimator).__name__ if is_file else MODELS[str(model)],
        boundary=boundary,
        certificate=certificate,
        columns=table.columns,
        target=target,
        labels=labels,
        comparison=comparison,
        deciding=deciding,
        judged=(np.array(labels, dtype=object)[judging.y], scores),
        details=details,
        training=training,
        interval=interval,
        unseen=unseen,
        notes=(*positive_note(positive, labels, sizes), *table.notes, *said),
        missing=table.missing,
        beside=beside,
        counted=" ".join(said),
    )


def _sample(
    is_positive: Any, scores: FloatArray, labels: tuple[Any, Any], weights: Any = None
) -> ScoreSample:
    found = ScoreSample.from_labels(np.asarray(is_positive) == 1, scores, sample_weight=weights)
    return replace(found, labels=labels)


def _check_beside(
    weight: str | None, cost_column: str | None, target: str, roles: Mapping[str, Role]
) -> RowColumn | None:
    """Return the column beside the features; raise if it has two roles."""
    if weight is not None and cost_column is not None:
        raise InvalidInputError(
            f"A row must have a weight or a cost, got '{weight}' as --weight and '{cost_column}' "
            "as --cost-column. Leave one out."
        )
    name = weight if weight is not None else cost_column
    if name is None:
        return None
    role = Role.WEIGHT if weight is not None else Role.COST
    if name == target or name in roles:
        other = "the target" if name == target else roles[name].value
        raise InvalidInputError(
            f"A column must have one role, got '{name}' as {role.value} and as {other}. Leave one "
            "out."
        )
    return RowColumn(name, role)


def _read_table(
    frame: Any,
    target: str,
    positive: str | None,
    ignore: Sequence[str],
    symmetric: bool,
    roles: Mapping[str, Role],
    by: Sequence[str],
    beside: RowColumn | None,
    loaded: Any,
) -> _Table:
    """Return the labelled rows of a table: features, classes, and what is said of them."""
    frame, ignored = drop_labels(frame, target, ignore)
    n_given, numbers = len(frame), None
    if beside is not None:
        labelled = np.asarray(with_gaps(frame[target]).notna())
        numbers = _read_beside(frame[labelled], beside)
        if beside.role is Role.WEIGHT:
            counts = np.ones(len(frame), dtype=np.bool_)
            counts[labelled] = numbers > 0
            frame, numbers = frame[counts], numbers[numbers > 0]
    kept, y, labels = read_target(frame, target, positive, symmetric=symmetric)
    more = {} if beside is None else {beside.name: beside.role}
    if loaded is None:
        columns = choose_columns(frame, target, {**roles, **more})
    else:
        columns = _columns_of(loaded, frame, target, roles, more)
    missing = {}
    for name in frame.columns:
        lacking = int(with_gaps(kept[name]).isna().sum())
        missing[name] = f"{lacking:,} of {len(kept):,}" if lacking else ""
    groups = {name: check_levels(name, with_gaps(kept[name])) for name in by}
    rows = _Rows(as_features(kept, columns), y, numbers, groups)
    notes = list(_notes(len(frame), y, target, columns, n_given - len(frame)))
    return _Table(rows, labels, columns, missing, notes, ignored)


def _read_beside(frame: Any, beside: RowColumn) -> FloatArray:
    """Return weights or costs; raise unless all are finite, at least 0, not all 0."""
    wanted = {
        Role.WEIGHT: "Write how often the row counts",
        Role.COST: "Write what is lost if the row is decided wrongly",
    }
    values = np.asarray(read_numbers(frame[beside.name], beside.name), dtype=np.float64)
    bad = values[~(np.isfinite(values) & (values >= 0))]
    if len(bad) or not values.any():
        shown = f"{bad[0]:g} in {len(bad)} rows" if len(bad) else "zeros only"
        raise InvalidInputError(
            f"{beside.role.value} must be finite numbers of at least 0, not all of them 0, got "
            f"{shown} in column '{beside.name}'. {wanted[beside.role]}, or drop the row."
        )
    return values


def _describe_weights(name: str, trained: bool) -> str:
    where = "the boundary" if trained else "training, in the boundary"
    return (
        f"Weights, column '{name}', count in {where} and in the report's goal. What is certified, "
        "the tables and the pictures count every row once: they are about rows drawn as the table "
        "has them, not about rows met as often as their weights say."
    )


def _describe_costs(
    name: str, judging: _Rows, scores: FloatArray, threshold: float, own: float
) -> str:
    costs = np.asarray(judging.numbers)
    loss, own_loss = (costs[(scores > t) != (judging.y == 1)].sum() for t in (threshold, own))
    return (
        f"The boundary is where wrong decisions cost least by column '{name}'. On the test rows "
        f"they cost {loss:,.6g}, and {own_loss:,.6g} at the model's own threshold. What is "
        "certified, the tables and the pictures count every row once."
    )


def _notes(
    n_rows: int, y: IntArray, target: str, columns: Columns, weightless: int
) -> Iterator[str]:
    """Say what is unusual about the table."""
    if weightless:
        yield f"{weightless} rows with a weight of 0 are left out."
    if len(y) < n_rows:
        yield f"{n_rows - len(y)} rows without a value of '{target}' are left out."
    for name, why in columns.left_out.items():
        if why not in BESIDE:
            yield f"Column '{name}' is left out: {why.value}."
    for name in columns.numbers:
        if columns[name].spelling != Spelling(Cells.NUMBER):
            yield f"Column '{name}' is read as numbers: {columns[name].why}."
    rarer = min(int(y.sum()), len(y) - int(y.sum()))
    if rarer < _FEW:
        yield f"The rarer class has only {rarer} rows, so little can be certified about it."


def _columns_of(
    estimator: Any,
    frame: Any,
    target: str,
    roles: Mapping[str, Role],
    beside: Mapping[str, Role],
) -> Columns:
    """Return what a trained model reads, by the names that it was trained with."""
    if not hasattr(estimator, "feature_names_in_"):
        columns = choose_columns(frame, target, {**roles, **beside}, codes=False)
        found = columns.features
        expected = getattr(estimator, "n_features_in_", len(found))
        if expected != len(found):
            raise InvalidInputError(
                f"The model must fit the table: it was trained on {expected} columns without "
                f"names, and the table has {len(found)} to learn from: {', '.join(found)}."
            )
        return columns
    if roles:
        raise InvalidInputError(
            "Columns must be left as a trained model knows them, got "
            f"'{next(iter(roles))}' with a role. Use --numeric, --category, --drop and --id with "
            "a model that is trained here."
        )
    names = [str(name) for name in estimator.feature_names_in_]
    check_names("The table for this model", list(frame.columns), names)
    for name, role in beside.items():
        if name in names:
            raise InvalidInputError(
                f"{role.value} must name a column that the model does not read, got '{name}', "
                "which it was trained on. Name another, or train without it."
            )
    return take_columns(frame, names, beside)


def _labels_of(estimator: Any, labels: tuple[Any, Any]) -> NDArray[Any]:
    """Return a trained model's classes in the order of the table's labels."""
    classes = np.asarray(estimator.classes_)
    texts = [str(label) for label in classes]
    if sorted(texts) == sorted(str(label) for label in labels):
        return classes[[texts.index(str(label)) for label in labels]]
    known = ", ".join(repr(label) for label in classes.tolist())
    raise InvalidInputError(
        f"The model must know the labels of the table, {labels[0]!r} and {labels[1]!r}; it has "
        f"{known}. Write the labels of the table as the model was trained on them."
    )


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


def split_rows(y: IntArray, share: float, seed: int, copies: IntArray) -> tuple[IntArray, IntArray]:
    """Return training and test rows, stratified; a copy goes where its first row goes."""
    drawn = train_test_split(np.arange(len(y)), test_size=share, stratify=y, random_state=seed)
    is_test = np.isin(copies, drawn[1])
    rows = np.concatenate(drawn)
    train, test = rows[~is_test[rows]], rows[is_test[rows]]
    if min(len(np.unique(y[part])) for part in (train, test)) < 2:
        raise InvalidInputError(
            "Each class must have rows to learn from and others to be judged on, but nearly "
            f"all rows have the same features: {len(np.unique(copies))} of {len(y)} differ. "
            "Collect other rows, or use another --seed."
        )
    return train, test


def _fit_shifted(
    shifted: BoundShiftClassifier,
    rows: _Rows,
    classes: NDArray[Any],
    labels: tuple[Any, Any],
    beside: RowColumn | None,
) -> ScoreSample:
    """Fit the classifier; return the scores that decided, and warn with the table's labels."""
    known: dict[str, Any] = {}
    if beside is not None:
        estimator = shifted.estimator
        is_trained = shifted.cv == "prefit"
        step = "" if is_trained else f"{estimator.steps[-1][0]}__"  # the last one takes weights
        name = "row_cost" if beside.role is Role.COST else f"{step}sample_weight"
        known = {name: rows.numbers}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", BoundaryWarning)
        shifted.fit(rows.X, classes[rows.y], **known)
    decided, found = shifted.deciding_sample_, shifted.boundary_
    is_positive = decided.y == found.labels[1]
    words = {found.message: replace(found, labels=labels).message}
    if decided.sample_weight is not None:
        said = [
            judge_weights(_sample(is_positive, decided.scores, names, decided.sample_weight))
            for names in (found.labels, labels)
        ]
        words |= dict(zip(*said, strict=True))
    for warning in caught:
        text = str(warning.message)
        warnings.warn(words.get(text, text), warning.category, stacklevel=3)
    return _sample(is_positive, decided.scores, labels)


def _groups_of(rows: _Rows, columns: Columns) -> Mapping[str, NDArray[Any]]:
    """Return the groups of the test rows: columns asked for, else categories with few values."""
    if rows.groups:
        return rows.groups
    words = {name: np.asarray(rows.X[name], dtype=object) for name in columns.categories}
    return {name: v for name, v in words.items() if len(set(map(str, v))) <= MOST_LEVELS}


def _retrain(pipeline: Any, rows: _Rows, X_test: Any, seed: int) -> dict[str, BoolArray]:
    """Return what methods that train anew decide on the test rows."""
    seeded = set_random_states(clone(pipeline), seed)
    preparation = seeded[:-1].fit(rows.X)
    prepared = preparation.transform(rows.X), rows.y, preparation.transform(X_test)
    with _quiet():
        return retrained_decisions(seeded[-1], *prepared, seed)


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
    if name not in makers:
        raise InvalidInputError(
            f"The model must be one of {', '.join(MODELS)}, or a file that exists, got '{name}'."
        )
    return Pipeline([("columns", make_preparation(columns)), ("classifier", makers[name]())])


def load_model(path: Path, *, trust: bool = False) -> Any:
    """Return a trained classifier from a file; of a shifted classifier the one inside.

    Without `trust` the file must be one of :func:`boundshift.save` with types of scikit-learn and
    of this library; a pickle, which can run any code when it is opened, is refused.
    """
    if path.suffix.lower() in _PICKLES and not trust:
        raise InvalidInputError(
            f"'{path}' is a pickle, and opening a pickle can run any code. Use --trust if you made "
            "it yourself; else ask for a file written by boundshift.save."
        )
    try:
        model = load(path, trusted=True if trust else None)
    except InvalidInputError as error:
        remedy = "" if trust else " Use --trust if you made the file yourself."
        raise InvalidInputError(f"'{path}' cannot be loaded: {error}{remedy}") from error
    except Exception as error:  # What is not a pickle fails in a hundred ways.
        raise InvalidInputError(f"'{path}' is not a file that holds a model: {error!r}.") from error
    if not hasattr(model, "predict") or not hasattr(model, "get_params"):
        raise InvalidInputError(f"'{path}' must hold a classifier, got {type(model).__name__}.")
    return model.estimator_ if isinstance(model, BoundShiftClassifier) else model


@contextmanager
def explain(name: str) -> Iterator[None]:
    """Say that it is the model that refuses the table: a gap or a word it was not made for."""
    try:
        yield
    except (InvalidInputError, MemoryError):
        raise
    except Exception as error:  # A model out of a file may fail in any way.
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise InvalidInputError(
            f"The model ({name}) must be able to score this table, and is not: {reason}. "
            "Save a pipeline that prepares its rows, or fill the gaps of the table."
        ) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Ignore warnings of models that did not converge or do not know column names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message="X has feature names")
        yield

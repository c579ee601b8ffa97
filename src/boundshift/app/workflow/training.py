"""From a table to a shifted, certified and compared model."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

from boundshift.app.tables import Spelling
from boundshift.app.tables.cells import with_gaps
from boundshift.app.tables.class_labels import positive_note
from boundshift.app.workflow.compared_methods import (
    judge,
    judge_thresholds,
    retrained_rivals,
    rival_thresholds,
)
from boundshift.app.workflow.estimators import MODELS, NAMES, load_model, make_model
from boundshift.app.workflow.feature_columns import (
    Columns,
    Role,
    as_features,
    choose_columns,
    take_columns,
)
from boundshift.app.workflow.resampled_interval import resampled_interval
from boundshift.app.workflow.row_column import RowColumn, check_beside, check_weighable
from boundshift.app.workflow.target import drop_labels, read_target
from boundshift.boundary import choose_claims
from boundshift.classifier import BoundShiftClassifier
from boundshift.curves import ErrorCurve
from boundshift.exceptions import InvalidInputError
from boundshift.models.decision import Decided
from boundshift.models.training import set_random_states
from boundshift.promises.certificate import Certificate, certify_counts, count_at_threshold
from boundshift.report.evidence import RowDetails
from boundshift.report.facts import check_levels, own_probability
from boundshift.report.panels import MOST_LEVELS
from boundshift.result.boundary import Boundary
from boundshift.rules import Rule
from boundshift.scores import ScoreSample
from boundshift.streaming.sources.batches import check_names
from boundshift.typing import IntArray

__all__ = ["FittedTable", "explain", "fit_table"]

Show = Callable[[str, int, int], None]

_TEST_SHARE = 0.3
_STEPS = 4
_FEW = 50


@dataclass(frozen=True, eq=False)
class FittedTable:
    """A model learned from a table, and what is known of it.

    Parameters
    ----------
    model : BoundShiftClassifier
        Predicts 1 for the positive class; a model that came trained predicts labels of its own.
    name : str
        What the model is called.
    boundary : Boundary
        Its boundary, with the labels of the table.
    certificate : Certificate
        Claims about it, from the test rows.
    columns : Columns
        What it reads.
    target : str
        What it predicts.
    labels : tuple
        Labels (negative, positive).
    comparison : list of dict
        Methods and metrics on the test rows, ours first.
    deciding, test, training : ScoreSample
        Scores of the rows that decided, of those that judged, and of those that the model was
        fitted on; 0 is the model's own boundary. The last is None for a model that came trained.
    interval : tuple of float or None
        Where the threshold would fall had other rows of the same kind decided; None where there
        are too many rows to find it in seconds, or rows have weights or costs.
    confidence : float
        Of the certificate.
    unseen : bool
        Whether the model has not seen the rows that judged.
    notes : tuple of str
        What the user should know about the table.
    judged : pair of arrays
        Labels and scores of the rows that judged, in the order of `details`.
    details : RowDetails
        Of those rows: the model's own probabilities, groups, and what retrained rivals decide.
    missing : dict from str to str
        How many cells of each column lack a value, among the rows that have a label; empty where
        none does.
    trained_here : bool
        Whether the columns were prepared and the model was trained here.
    beside : RowColumn or None
        The column of weights, or of costs by row.
    counted : str
        Which rows are left out or kept together, and where the column of weights or costs counts
        and where it does not; empty where there is nothing to say.
    """

    model: BoundShiftClassifier
    name: str
    boundary: Boundary
    certificate: Certificate
    columns: Columns
    target: str
    labels: tuple[Any, Any]
    comparison: list[dict[str, Any]]
    deciding: ScoreSample
    test: ScoreSample
    training: ScoreSample | None
    interval: tuple[float, float] | None
    confidence: float
    unseen: bool
    notes: tuple[str, ...]
    judged: tuple[NDArray[Any], NDArray[np.float64]]
    details: RowDetails
    missing: dict[str, str]
    trained_here: bool
    beside: RowColumn | None
    counted: str


class _Recorder(BoundShiftClassifier):
    """The classifier, with the scores that decided kept for the report."""

    def _decide(self, classes: NDArray[Any], deciding: Any, guide: Any) -> Decided:
        found = super()._decide(classes, deciding, guide)
        is_second = found.learned["boundary_"].labels[1] == classes[1]
        self.decided_on = ScoreSample.from_labels(
            deciding.y == int(is_second), deciding.scores_of(int(is_second))
        )
        return found

    def without_record(self) -> tuple[BoundShiftClassifier, ScoreSample]:
        """Return the classifier as it is saved, and the scores of the positive class."""
        state = dict(vars(self))
        sample: ScoreSample = state.pop("decided_on")
        plain = BoundShiftClassifier(self.estimator)
        plain.__dict__.update(state)
        return plain, sample


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

    Parameters
    ----------
    frame : pandas.DataFrame
        The table, with missing values and categories as they are.
    target : str
        Column to be predicted.
    positive : str, default=None
        Label of the class to be found. None takes the greater of 0 and 1, -1 and 1, false and
        true, and else the rarer one.
    ignore : sequence of str, default=()
        Labels that are none, such as "unknown": rows with them are left out.
    model : {"logistic", "svm", "forest", "boosting", "mlp"} or path, default="logistic"
        What to train, or a file with a trained model.
    curve, rule
        As in :func:`~boundshift.find_boundary`.
    confidence : float, default=0.95
        Of the certificate.
    seed : int, default=0
        Of the split and of everything random.
    trust : bool, default=False
        Whether a model's file may hold other types than those of this library and scikit-learn.
    seen : bool, default=False
        Whether a model that comes trained has seen these rows; claims are then nominal.
    roles : mapping from str to {"number", "category", "drop", "id"}, default=None
        What columns are, whatever they look like.
    by : sequence of str, default=()
        Columns for the report's table of groups; none takes the categories with few values.
    weight : str, default=None
        Column that says how often each row counts, in training and in the boundary; no feature. A
        row of weight 0 is left out. Test rows count once each.
    cost_column : str, default=None
        Column of what is lost if the row is decided wrongly, which the boundary makes least; no
        feature. It goes without `curve` and `rule`.
    progress : callable, default=None
        Called with (what, steps done, steps in all).

    Returns
    -------
    FittedTable

    Examples
    --------
    >>> from boundshift.datasets import load_pima
    >>> fitted = fit_table(load_pima(as_frame=True).frame, "target")
    >>> fitted.certificate.status, sum(fitted.test.n_samples)
    ('certified', 231)
    """
    show = progress or (lambda what, done, total: None)
    show("fit", 0, _STEPS)
    frame = frame.rename(columns=str)
    beside = check_beside(weight, cost_column, target, roles or {})
    asked = [] if beside is None else [beside.name]
    check_names("The table", list(frame.columns), [target, *by, *asked])
    file = None if str(model) in MODELS or not Path(model).is_file() else Path(model)
    loaded = None if file is None else load_model(file, trust=trust)
    alike = choose_claims(curve, rule)[1].alike and cost_column is None
    frame, said = drop_labels(frame, target, ignore)
    n_given = len(frame)
    frame, numbers = _take_numbers(frame, target, beside)
    kept, y, labels = read_target(frame, target, positive, alike=alike)
    columns = (
        choose_columns(frame, target, dict(roles or {}) | _role_of(beside))
        if file is None
        else _columns_of(loaded, frame, target, roles, beside)
    )
    estimator = make_model(str(model), columns) if file is None else loaded
    check_weighable(beside, estimator if file is None else None, curve, rule)
    X = as_features(kept, columns)
    groups = {name: check_levels(name, with_gaps(kept[name])) for name in by}
    names = np.array([0, 1]) if file is None else _labels_of(estimator, labels)
    copies, told = _copies(X, y)
    said += told
    train, test = _split(y, _TEST_SHARE if file is None else 0.5, seed, copies)
    show("fit", 1, _STEPS)
    recorder = _Recorder(
        estimator,
        curve=curve,
        rule=rule,
        cv=5 if file is None else "prefit",
        pos_label=names.tolist()[1],
        random_state=seed if file is None else None,
    )
    with _quiet(), explain(type(estimator).__name__):
        known = {}
        if beside is not None:
            known = beside.fit_parameters(estimator, numbers[train], trained=file is not None)
        recorder.fit(X.iloc[train], names[y[train]], **known)
        shifted, decided_on = recorder.without_record()
        scored = shifted.positive_scores(X.iloc[test])
        judged = replace(ScoreSample.from_labels(y[test], scored), labels=labels)
        training = None if file else _score(shifted, X.iloc[train], y[train], labels)
    show("fit", 2, _STEPS)
    deciding = replace(decided_on, labels=labels)
    comparison = _compare_moved(shifted, deciding, judged)
    decisions: dict[str, NDArray[np.bool_]] = {}
    if file is None:
        decisions = _decide_retrained(estimator, X.iloc[train], y[train], X.iloc[test], seed=seed)
        comparison += [judge(name, y[test] == 1, made) for name, made in decisions.items()]
    with _quiet(), explain(type(estimator).__name__):
        chosen = {name: values[test] for name, values in groups.items()}
        details = _describe_rows(shifted, X.iloc[test], columns, chosen, decisions)
        if beside is not None:
            details = replace(details, **beside.of_rows(numbers[test]))
    show("fit", 3, _STEPS)
    unseen = file is None or not seen
    boundary = replace(shifted.boundary_, labels=labels)
    certificate = certify_counts(
        *count_at_threshold(judged, boundary.threshold),
        confidence=confidence,
        scores="held-out" if unseen else "training",
        threshold=boundary.threshold,
    )
    certificate = replace(certificate, scale=boundary.scale)
    if weight is not None:
        unweighted = f"{certificate.reason}; every row counts once, whatever its weight"
        certificate = replace(certificate, reason=unweighted)

    def lost(cut: float) -> float:
        return float(numbers[test][(scored > cut) != (y[test] == 1)].sum())

    if beside is not None:
        losses = lost(boundary.threshold), lost(_own(shifted))
        said.append(beside.describe(trained=file is not None, losses=losses))
    interval = None
    if beside is None:
        is_probability = boundary.scale == "probability"
        interval = resampled_interval(
            deciding, curve, rule, "probability" if is_probability else "raw"
        )
    show("fit", _STEPS, _STEPS)
    return FittedTable(
        model=shifted,
        name=NAMES[str(model)] if file is None else type(estimator).__name__,
        boundary=boundary,
        certificate=certificate,
        columns=columns,
        target=target,
        labels=labels,
        comparison=comparison,
        deciding=deciding,
        test=judged,
        training=training,
        interval=interval,
        confidence=confidence,
        unseen=unseen,
        notes=(
            *positive_note(positive, labels, (len(y) - int(y.sum()), int(y.sum()))),
            *_notes(len(frame), y, target, columns, n_given - len(frame)),
            *said,
        ),
        judged=(np.array(labels, dtype=object)[y[test]], scored),
        details=details,
        missing={name: _gaps(kept[name]) for name in frame.columns},
        trained_here=file is None,
        beside=beside,
        counted=" ".join(said),
    )


def _gaps(column: Any) -> str:
    """Return how many cells of a column lack a value; nothing where none does."""
    lacking = int(with_gaps(column).isna().sum())
    return f"{lacking:,} of {len(column):,}" if lacking else ""


def _role_of(beside: RowColumn | None) -> dict[str, Role]:
    """Return the role of the column beside the features, by its name."""
    return {} if beside is None else {beside.name: beside.role}


def _take_numbers(
    frame: Any, target: str, beside: RowColumn | None
) -> tuple[Any, NDArray[np.float64]]:
    """Return the table without rows of weight 0, and the numbers of its rows with a label."""
    if beside is None:
        return frame, np.empty(0)
    labelled = np.asarray(with_gaps(frame[target]).notna())
    numbers = beside.read(frame[labelled])
    if beside.role == "cost":
        return frame, numbers
    counts = np.ones(len(frame), dtype=np.bool_)
    counts[labelled] = numbers > 0
    return frame[counts], numbers[numbers > 0]


def _notes(
    n_rows: int, y: IntArray, target: str, columns: Columns, weightless: int
) -> Iterator[str]:
    """Say what is unusual about the table."""
    if weightless:
        yield f"{weightless} rows with a weight of 0 are left out."
    if len(y) < n_rows:
        yield f"{n_rows - len(y)} rows without a value of '{target}' are left out."
    for name, kind, why in columns.described():
        if kind != "left out":
            continue
        yield f"Column '{name}' is left out: {why}."
    for name, spelling in columns.spellings.items():
        if spelling.kind == "number" and spelling != Spelling("number"):
            yield f"Column '{name}' is read as numbers: {columns.why[name]}."
    rarer = min(int(y.sum()), len(y) - int(y.sum()))
    if rarer < _FEW:
        yield f"The rarer class has only {rarer} rows, so little can be certified about it."


def _columns_of(
    estimator: Any,
    frame: Any,
    target: str,
    roles: Mapping[str, Role] | None,
    beside: RowColumn | None,
) -> Columns:
    """Return what a trained model reads, by the names that it was trained with."""
    if roles and hasattr(estimator, "feature_names_in_"):
        raise InvalidInputError(
            "Columns must be left as a trained model knows them, got "
            f"'{next(iter(roles))}' with a role. Use --numeric, --category, --drop and --id with "
            "a model that is trained here."
        )
    if hasattr(estimator, "feature_names_in_"):
        names = [str(name) for name in estimator.feature_names_in_]
        check_names("The table for this model", list(frame.columns), names)
        if beside is not None and beside.name in names:
            raise InvalidInputError(
                f"{beside.option} must name a column that the model does not read, got "
                f"'{beside.name}', which it was trained on. Name another, or train without it."
            )
        return take_columns(frame, names, _role_of(beside))
    columns = choose_columns(frame, target, dict(roles or {}) | _role_of(beside), codes=False)
    expected = getattr(estimator, "n_features_in_", len(columns.kinds))
    if expected != len(columns.kinds):
        raise InvalidInputError(
            f"The model must fit the table: it was trained on {expected} columns without names, "
            f"and the table has {len(columns.kinds)} to learn from: {', '.join(columns.kinds)}."
        )
    return columns


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


def _copies(X: Any, y: IntArray) -> tuple[IntArray, list[str]]:
    """Return the first row with the features of each row, and how many rows are copies.

    Where most rows that share their features differ in their labels, the features take few
    values: such rows are no copies, and each stands for itself.
    """
    alike = X.groupby(list(X.columns), dropna=False, sort=False).ngroup().to_numpy()
    _, first, group, sizes = np.unique(
        alike, return_index=True, return_inverse=True, return_counts=True
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


def _split(y: IntArray, share: float, seed: int, copies: IntArray) -> tuple[IntArray, IntArray]:
    """Return rows to learn from and rows to judge by, each class in the same proportion.

    A copy goes where the first row with its features goes, so that no row judges that was learned
    from.
    """
    drawn = train_test_split(np.arange(len(y)), test_size=share, stratify=y, random_state=seed)
    is_test = np.isin(copies, drawn[1])
    rows = np.concatenate(drawn)
    train, test = rows[~is_test[rows]], rows[is_test[rows]]
    for label in (0, 1):
        if not (y[train] == label).any() or not (y[test] == label).any():
            raise InvalidInputError(
                "Each class must have rows to learn from and others to be judged on, but nearly "
                f"all rows have the same features: {len(np.unique(copies))} of {len(y)} differ. "
                "Collect other rows, or use another --seed."
            )
    return train, test


def _score(
    shifted: BoundShiftClassifier, X: Any, y: IntArray, labels: tuple[Any, Any]
) -> ScoreSample:
    """Return the scores of rows before the shift."""
    return replace(ScoreSample.from_labels(y, shifted.positive_scores(X)), labels=labels)


def _own(shifted: BoundShiftClassifier) -> float:
    """Return the threshold that the model itself has."""
    return 0.5 if shifted.boundary_.scale == "probability" else 0.0


def _compare_moved(
    shifted: BoundShiftClassifier, deciding: ScoreSample, test: ScoreSample
) -> list[dict[str, Any]]:
    """Judge every method that moves the threshold of the model as it is."""
    own = _own(shifted)
    rivals = rival_thresholds(deciding, own=own)
    if own == 0.5:
        rivals["prior threshold"] = deciding.positive.n / sum(deciding.n_samples)
    return judge_thresholds(test, {"boundshift": shifted.boundary_.threshold} | rivals)


def _decide_retrained(
    pipeline: Any, X: Any, y: IntArray, X_test: Any, *, seed: int
) -> dict[str, NDArray[np.bool_]]:
    """Return what the rivals that train anew decide, on all rows that the model learned from."""
    seeded = set_random_states(clone(pipeline), seed)
    preparation, classifier = seeded[:-1].fit(X), seeded[-1]
    with _quiet():
        rivals = retrained_rivals(preparation, classifier, X, y, X_test, seed)
        return {name: np.asarray(predict()) for name, predict in rivals}


def _describe_rows(
    shifted: BoundShiftClassifier,
    X: Any,
    columns: Columns,
    groups: Mapping[str, NDArray[Any]],
    decisions: Mapping[str, NDArray[np.bool_]],
) -> RowDetails:
    """Return what the report says row by row; categories with few values are groups."""
    if not groups:
        words = {name: np.asarray(X[name], dtype=object) for name in columns.of("category")}
        groups = {name: v for name, v in words.items() if len(set(map(str, v))) <= MOST_LEVELS}
    return RowDetails(own_probability(shifted, X), groups, decisions)


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
    """Keep quiet that a model stopped at its last step, or never heard of column names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message="X has feature names")
        yield

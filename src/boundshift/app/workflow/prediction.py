"""Predictions of new rows out of the folder that a fit left behind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift.app.tables import read_frame
from boundshift.app.workflow.columns_file import read_columns
from boundshift.app.workflow.estimators import TRUSTED
from boundshift.app.workflow.feature_columns import Columns, as_features
from boundshift.app.workflow.training import explain
from boundshift.classifier import BoundShiftClassifier
from boundshift.exceptions import InvalidInputError
from boundshift.promises.zone import Zone
from boundshift.report.facts import own_probability
from boundshift.result.boundary import Boundary

__all__ = ["predict_table"]

_OURS = ("score", "probability", "prediction")


def predict_table(
    folder: str | Path,
    source: str | Path,
    *,
    keep: Sequence[str] = (),
    trust: bool = False,
    threshold: float | None = None,
    top: int | None = None,
    zone: Zone | None = None,
    unsure: str | None = None,
) -> tuple[Any, list[str]]:
    """Apply a model that a fit left in a folder to a new table.

    Parameters
    ----------
    folder : str or Path
        Written by :func:`write_folder`.
    source : str or Path
        The new table; its columns are found by name.
    keep : sequence of str, default=()
        Columns to carry over beside the predictions. Those that the fit took for names of rows
        are carried over in any case, where the new table has them.
    trust : bool, default=False
        Whether the model may hold types of other libraries.
    threshold : float, default=None
        Scores above it are called positive; None is the boundary of the fit.
    top : int, default=None
        Only so many rows, with the highest scores, the highest first; all of them are called
        positive. Of equal scores the first rows are taken.
    zone : Zone, default=None
        Two limits in the place of the boundary, on scores of the same model.
    unsure : str, default=None
        Prediction of rows between the limits; None is "unsure".

    Returns
    -------
    predictions : pandas.DataFrame
        The kept columns; ``score``, that of the positive class before the shift;
        ``probability``, the model's own of that class, if it has one; and ``prediction``.
    notes : list of str
        What is unusual about the new table.

    Raises
    ------
    InvalidInputError
        If the folder or the table cannot be read, or a column is missing or has text for numbers.
    """
    from boundshift.models.store import load

    columns, labels = read_columns(Path(folder))
    _check_wish(threshold, top, zone, unsure)
    ours = [name for name in _OURS if name in keep]
    if ours:
        raise InvalidInputError(
            f"`keep` must not name a column of the predictions, got '{ours[0]}'. Rename it first."
        )
    model = load(Path(folder) / "model.skops", trusted=True if trust else list(TRUSTED))
    if not isinstance(model, BoundShiftClassifier) or not hasattr(model, "boundary_"):
        raise InvalidInputError(
            f"'{Path(folder) / 'model.skops'}' must hold the fitted classifier of `boundshift "
            f"fit`, got {type(model).__name__}. Run the fit again."
        )
    if threshold is None and top is None and zone is None:
        _check_boundary(Path(folder) / "boundary.json", model.boundary_.threshold, labels)
    where = "standard input" if str(source) == "-" else str(source)
    ids = [name for name in columns.ids if name not in (*keep, *_OURS, *columns.kinds)]
    frame = read_frame(source, list(dict.fromkeys([*keep, *columns.kinds])), ids)
    keep = [*(name for name in ids if name in frame), *keep]
    if top is not None and top > len(frame):
        raise InvalidInputError(
            f"`top` must be at most the number of rows, {len(frame)}, got {top}. Use a smaller one."
        )
    X = as_features(frame, columns, where)
    predictions = frame[keep].copy()
    with explain(type(getattr(model, "estimator_", model)).__name__):
        predictions["score"] = model.positive_scores(X)
        own = own_probability(model, X)
        if own is not None:
            predictions["probability"] = own
        is_positive = _decide(model, X, predictions["score"].to_numpy(), threshold, top)
    predictions["prediction"] = np.array(labels, dtype=object)[is_positive.astype(int)]
    if zone is not None:
        _check_zone(zone, labels)
        is_unsure = zone.is_unsure(predictions["score"])
        shown = np.array(labels, dtype=object)[(predictions["score"] > zone.high).astype(int)]
        predictions["prediction"] = np.where(is_unsure, unsure or "unsure", shown)
    if top is not None:
        predictions = predictions[is_positive].sort_values("score", ascending=False, kind="stable")
    return predictions, [*_new_gaps(X, columns), *_unseen_categories(model, X, columns)]


def _check_wish(
    threshold: float | None, top: int | None, zone: Zone | None, unsure: str | None
) -> None:
    """Raise if two ways to decide are asked for, or one that makes no sense."""
    if threshold is not None and top is not None:
        raise InvalidInputError(
            f"`threshold` and `top` must not both be given, got {threshold:g} and {top}. Leave one "
            "of them out."
        )
    if zone is not None and (threshold is not None or top is not None):
        raise InvalidInputError(
            "`zone` must not be given with a threshold or `top`: its two limits decide. Leave one "
            "of them out."
        )
    if zone is None and unsure is not None:
        raise InvalidInputError(
            f"`unsure` must go with a zone, got {unsure!r} alone. Find one with boundshift "
            "threshold --zone 0.05,0.05 --json."
        )
    if threshold is not None and not np.isfinite(threshold):
        raise InvalidInputError(f"`threshold` must be a finite number, got {threshold}. Use 0.5.")
    if top is not None and top < 1:
        raise InvalidInputError(f"`top` must be a positive number, got {top}. Use 50.")


def _check_boundary(path: Path, threshold: float, labels: tuple[Any, Any]) -> None:
    """Raise if the folder's boundary is not the one that the model decides by."""
    if not path.is_file():
        return
    stored = Boundary.from_json(path.read_text(encoding="utf-8"))
    named = [str(label) for label in stored.labels]
    if stored.threshold == threshold and named == [str(label) for label in labels]:
        return
    raise InvalidInputError(
        f"'{path}' must be the boundary of model.skops, {threshold!r} for {labels[1]!r}, got "
        f"{stored.threshold!r} for {stored.labels[1]!r}. Use --threshold to decide by another, or "
        "run the fit again."
    )


def _decide(
    model: Any, X: Any, scores: NDArray[np.float64], threshold: float | None, top: int | None
) -> NDArray[np.bool_]:
    """Return which rows are called positive."""
    if threshold is not None:
        return np.asarray(scores > threshold)
    if top is not None:
        chosen = np.zeros(len(scores), dtype=np.bool_)
        chosen[np.argsort(-scores, kind="stable")[:top]] = True
        return chosen
    return np.asarray(model.predict(X) == model.boundary_.labels[1])


def _check_zone(zone: Zone, labels: tuple[Any, Any]) -> None:
    """Raise unless a zone is about the same classes, in the same order."""
    if [str(label) for label in zone.labels] != [str(label) for label in labels]:
        raise InvalidInputError(
            f"`zone` must be about {labels[0]!r} and {labels[1]!r}, the positive one last, as the "
            f"model is, got {zone.labels!r}. Find it with --positive {labels[1]}."
        )


def _new_gaps(X: Any, columns: Columns) -> list[str]:
    """Say which columns lack values that no row of the training lacked."""
    notes = []
    for name in columns.complete:
        lacking = int(X[name].isna().sum())
        if lacking:
            share = "every value" if lacking == len(X) else f"{lacking} of {len(X)} values"
            notes.append(
                f"Column '{name}' lacks {share} here and none in training, so the model has not "
                "learned what a gap means."
            )
    return notes


def _unseen_categories(model: Any, X: Any, columns: Columns) -> list[str]:
    """Say which categories the model has never seen."""
    words = columns.of("category")
    # Each part of a mean of models has seen the categories of its own rows.
    parts = getattr(model.estimator_, "estimators", [model.estimator_])
    prepared = [getattr(part, "named_steps", {}).get("columns") for part in parts]
    if not words or None in prepared:
        return []
    known: dict[str, set[Any]] = {name: set() for name in words}
    for preparation in prepared:
        encoder = getattr(preparation, "named_transformers_", {}).get("categories", [None])[-1]
        categories = getattr(encoder, "categories_", [])
        if len(categories) != len(words):
            raise InvalidInputError(
                "The model must have learned the columns of columns.json, and has not. Run the fit "
                "again."
            )
        for name, learned in zip(words, categories, strict=True):
            known[name].update(learned)
    notes = []
    for name in words:
        unseen = sorted(set(X[name].dropna()) - known[name])
        if unseen:
            shown = ", ".join(unseen[:5]) + (", …" if len(unseen) > 5 else "")
            notes.append(f"Column '{name}' has values not seen in training: {shown}.")
    return notes

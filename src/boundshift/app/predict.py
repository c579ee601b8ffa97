"""Predictions of new rows out of the folder that a fit left behind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from boundshift.app.columns import Columns, as_features
from boundshift.app.fit import explain
from boundshift.app.folder import read_columns
from boundshift.app.tables import read_frame
from boundshift.boundary import Boundary
from boundshift.classifier import BoundShiftClassifier
from boundshift.exceptions import InvalidInputError
from boundshift.models.store import load
from boundshift.promises.zone import Zone
from boundshift.report.evidence import own_probability

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
    """Apply a model that a fit left in a folder to a new table, whose columns are found by name.

    Arguments are the options of ``boundshift predict``. Without `threshold`, `top` and `zone` the
    boundary of the fit decides. Of equal scores `top` takes the first rows.

    Returns
    -------
    predictions : pandas.DataFrame
        Columns that identify rows and those to `keep`; ``score``, that of the positive class before
        the shift; ``probability``, the model's own of that class, if it has one; ``prediction``.
    notes : list of str
        What is unusual about the new table.
    """
    folder = Path(folder)
    columns, labels = read_columns(folder)
    _check_wish(threshold, top, zone, unsure, labels)
    for name in keep:
        if name in _OURS:
            raise InvalidInputError(
                f"`keep` must not name a column of the predictions, got '{name}'. Rename it first."
            )
    model = load(folder / "model.skops", trusted=True if trust else None)
    if not isinstance(model, BoundShiftClassifier) or not hasattr(model, "boundary_"):
        raise InvalidInputError(
            f"'{folder / 'model.skops'}' must hold the fitted classifier of `boundshift "
            f"fit`, got {type(model).__name__}. Run the fit again."
        )
    if threshold is None and top is None and zone is None:
        _check_boundary(folder / "boundary.json", model.boundary_.threshold, labels)
    features = columns.features
    ids = [name for name in columns.ids if name not in (*keep, *_OURS)]
    frame = read_frame(source, list(dict.fromkeys([*keep, *features])), ids)
    if top is not None and top > len(frame):
        raise InvalidInputError(
            f"`top` must be at most the number of rows, {len(frame)}, got {top}. Use a smaller one."
        )
    X = as_features(frame, columns, "standard input" if str(source) == "-" else str(source))
    found = frame[[*(name for name in ids if name in frame), *keep]].copy()
    with explain(type(getattr(model, "estimator_", model)).__name__):
        found["score"] = scores = model.positive_scores(X)
        own = own_probability(model, X)
        if own is not None:
            found["probability"] = own
        if threshold is not None:
            is_positive = scores > threshold
        elif top is not None:
            is_positive = np.zeros(len(scores), dtype=np.bool_)
            is_positive[np.argsort(-scores, kind="stable")[:top]] = True
        elif zone is not None:
            is_positive = scores > zone.high
        else:
            is_positive = model.predict(X) == model.boundary_.labels[1]
    predicted = np.array(labels, dtype=object)[np.asarray(is_positive, dtype=np.intp)]
    if zone is not None:
        predicted = np.where(zone.is_unsure(scores), unsure or "unsure", predicted)
    found["prediction"] = predicted
    if top is not None:
        found = found[is_positive].sort_values("score", ascending=False, kind="stable")
    return found, [*_new_gaps(X, columns), *unseen_categories(model, X, columns)]


def _check_wish(
    threshold: float | None,
    top: int | None,
    zone: Zone | None,
    unsure: str | None,
    labels: tuple[Any, Any],
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
    if zone is not None and [str(label) for label in zone.labels] != [str(v) for v in labels]:
        raise InvalidInputError(
            f"`zone` must be about {labels[0]!r} and {labels[1]!r}, the positive one last, as the "
            f"model is, got {zone.labels!r}. Find it with --positive {labels[1]}."
        )


def _check_boundary(path: Path, threshold: float, labels: tuple[Any, Any]) -> None:
    """Raise if the folder's boundary is not the one that the model decides by."""
    if not path.is_file():
        return
    stored = Boundary.from_json(path.read_text(encoding="utf-8"))
    named = [str(label) for label in stored.labels]
    if stored.threshold != threshold or named != [str(label) for label in labels]:
        raise InvalidInputError(
            f"'{path}' must be the boundary of model.skops, {threshold!r} for {labels[1]!r}, got "
            f"{stored.threshold!r} for {stored.labels[1]!r}. Use --threshold to decide by another, "
            "or run the fit again."
        )


def _new_gaps(X: Any, columns: Columns) -> list[str]:
    """Say which columns lack values that no row of the training lacked."""
    notes = []
    for name in columns.features:
        lacking = int(X[name].isna().sum())
        if lacking and columns[name].complete:
            share = "every value" if lacking == len(X) else f"{lacking} of {len(X)} values"
            notes.append(
                f"Column '{name}' lacks {share} here and none in training, so the model has not "
                "learned what a gap means."
            )
    return notes


def unseen_categories(model: Any, X: Any, columns: Columns) -> list[str]:
    """Say which categories the model has never seen."""
    words = columns.categories
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

"""The folder that a fit leaves behind: written whole or not at all, read back, and applied."""

from __future__ import annotations

import json
import os
import shlex
import stat
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from boundshift._app.columns import BESIDE, Column, Columns, Reason, Role, Spelling, as_features
from boundshift._app.comparison import comparison_csv
from boundshift._app.fit import FittedTable, explain
from boundshift._app.tables import read_frame
from boundshift._boundary import Boundary
from boundshift._classifier import BoundShiftClassifier
from boundshift._promises.zone import Zone
from boundshift._result.records import as_label, check_format
from boundshift._writing import exchange, write_whole
from boundshift.exceptions import InvalidInputError
from boundshift.models._store import load, save
from boundshift.report._evidence import own_probability
from boundshift.streaming._tables import AS_IT_IS, Reading

FILES = (
    "report.html",
    "model.skops",
    "boundary.json",
    "certificate.json",
    "comparison.csv",
    "columns.json",
)
"""What a folder holds."""
ZONE_FILE = "zone.json"
"""What it holds beside them where an unsure zone was asked for."""

_OURS = ("score", "probability", "prediction")
_FORMAT = "boundshift.columns"
_VERSION = 3


def write_folder(
    fitted: FittedTable,
    facts: Mapping[str, Any],
    out: str | Path,
    *,
    force: bool = False,
    zone: Zone | None = None,
) -> list[Path]:
    """Write report, model, boundary, certificate, comparison and columns; all of them or none.

    `facts` are from :func:`report_facts`. With `force`, a folder that an earlier fit left is
    replaced. `zone` is written as zone.json.
    """
    from boundshift.report import Report

    check_folder(Path(out), force)
    place = Path(os.path.realpath(out))
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=f".{place.name[:100]}.") as passing:
        fresh = Path(passing) / "fresh"
        fresh.mkdir()
        Report(facts).save(fresh / "report.html")
        save(fitted.model, fresh / "model.skops")
        save(fitted.boundary, fresh / "boundary.json")
        certificate = json.dumps(fitted.certificate.to_dict(), indent=1)
        write_whole(fresh / "certificate.json", certificate + "\n")
        write_whole(fresh / "comparison.csv", comparison_csv(fitted.comparison))
        write_whole(fresh / "columns.json", _columns_json(fitted))
        if zone is not None:
            write_whole(fresh / ZONE_FILE, zone.to_json() + "\n")
        # The new files are as closed to others as the old ones.
        for old in (place, *(place / name for name in (*FILES, ZONE_FILE))):
            new = fresh / old.relative_to(place)
            if old.exists() and new.exists():
                new.chmod(stat.S_IMODE(old.stat().st_mode))
        put_in_place(fresh, place, force)
    names = FILES if zone is None else (*FILES, ZONE_FILE)
    return [Path(out) / name for name in names]


def put_in_place(fresh: Path, place: Path, force: bool) -> None:
    """Give a folder its name; with `force`, one of a fit that had it ends where that one was."""
    if force and place.is_dir():
        check_folder(place, force)
        if exchange(fresh, place):
            return
        place.rename(fresh.with_name("old"))  # In steps, where the system has no single one.
    try:
        fresh.rename(place)  # Fails where a folder with anything in it, or a file, has come.
    except OSError as error:
        if os.path.lexists(place):
            raise InvalidInputError(
                f"'{place}' must be left as it was until the fit is written, but another run wrote "
                "it meanwhile. It is left as it is: run the fit again with another --out."
            ) from error
        raise


def check_folder(out: Path, force: bool) -> None:
    """Raise if something stands at a place that may not be replaced.

    Only what a fit wrote is ever replaced: files of our names, with our columns.json among them,
    and nothing else; or an empty folder.
    """
    if not os.path.lexists(out):
        return
    if not force:
        raise InvalidInputError(
            f"'{out}' exists already and is left as it is. Choose another --out, or use --force to "
            "replace it."
        )
    if not out.is_dir():
        if out.is_symlink() and not out.exists():
            return
        raise InvalidInputError(
            f"'{out}' is no folder, and is left as it is. Choose another --out."
        )
    there = sorted(out.iterdir())
    ours = (*FILES, ZONE_FILE)
    foreign = [p for p in there if p.name not in ours or not stat.S_ISREG(p.lstat().st_mode)]
    if not foreign and not _is_fit(out):
        foreign = there
    if foreign:
        raise InvalidInputError(
            f"'{out}' holds '{foreign[0].name}', which no fit has written, and is left as it is. "
            "Choose another --out."
        )


def _is_fit(folder: Path) -> bool:
    """Return whether a folder's columns.json says that a fit wrote it, in any release."""
    try:
        facts = json.loads((folder / "columns.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(facts, dict) and facts.get("format") == _FORMAT


def _columns_json(fitted: FittedTable) -> str:
    """Return what a prediction must know of the table."""
    facts = {
        "format": _FORMAT,
        "version": _VERSION,
        "target": fitted.target,
        "labels": [as_label(label) for label in fitted.labels],
        "columns": {
            name: asdict(column.spelling) | {"why": column.why, "complete": column.complete}
            for name, column in fitted.columns.items()
            if column.spelling is not None
        },
        "left_out": {name: why.name.lower() for name, why in fitted.columns.left_out.items()},
    }
    return json.dumps(facts, indent=1, ensure_ascii=False) + "\n"


def read_columns(folder: Path) -> tuple[Columns, tuple[Any, Any]]:
    """Read what a folder says of its table: columns and labels."""
    if not (folder / "columns.json").is_file() or not (folder / "model.skops").is_file():
        raise InvalidInputError(
            f"'{folder}' must be a folder that `boundshift fit` wrote, with model.skops and "
            "columns.json, and is not."
        )
    try:
        facts = json.loads((folder / "columns.json").read_text(encoding="utf-8"))
        check_format(facts, _FORMAT, _VERSION, ("columns", "labels", "left_out"))
        columns = Columns()
        for name, stored in facts["columns"].items():
            why, complete = str(stored.pop("why")), stored.pop("complete") is True
            columns[name] = Column(Spelling.from_dict(stored), why, complete)
        if not columns:
            raise ValueError("it names no columns.")
        for name, why in facts["left_out"].items():
            columns[name] = Column(reason=Reason[why.upper()])
        negative, positive = (as_label(label) for label in facts["labels"])
        if str(negative) == str(positive):
            raise ValueError(f"it must name two labels, not {facts['labels']!r}.")
    except (ValueError, AttributeError, LookupError, TypeError, RecursionError) as error:
        raise InvalidInputError(
            f"'{folder / 'columns.json'}' is not as this `boundshift fit` writes it: "
            f"{str(error)[:200]} Run the fit again."
        ) from error
    return columns, (negative, positive)


def report_facts(
    fitted: FittedTable,
    out: str | Path,
    names: Mapping[str, object] | None = None,
    *,
    zone: Zone | None = None,
) -> dict[str, Any]:
    """Return the facts of the report of a fit.

    `out` is the folder that will hold the model, for the lines that show how to use it; `names`
    are as in :func:`boundshift.report.collect_facts`; `zone` was found on the test rows.
    """
    from boundshift.report import collect_facts

    training = fitted.training
    origin: Any = "held-out" if fitted.unseen else "training"
    positive = as_label(fitted.model.boundary_.labels[1])
    # A name that does not fit a line is not written into one.
    shell = shlex.quote(str(out)) if str(out).isprintable() else "DIR"
    predict = f"boundshift predict {shell} new.csv --out predictions.csv"
    facts = collect_facts(
        *fitted.deciding.to_rows(),
        boundary=fitted.boundary,
        old_threshold=0.5 if fitted.boundary.scale == "probability" else 0.0,
        test=fitted.judged if fitted.unseen else None,
        training=None if training is None else training.to_rows(),
        scores=origin if training is None else "out-of-fold",
        comparison=fitted.comparison,
        confidence=fitted.certificate.confidence,
        interval=fitted.interval,
        model=fitted.name,
        names={"title": f"Predicting {fitted.target}"} | dict(names or {}),
        details=fitted.details if fitted.unseen else None,  # of rows that judge nothing else
        columns=_describe_columns(fitted),
        zone=zone,
        shell=f"{predict} --threshold {{threshold}}",
        top=f"{predict} --top {{top}}",
        deploy=[
            f"# in a shell: {predict}",
            "import boundshift",
            f"model = boundshift.load({str(Path(out) / 'model.skops')!r})",
            f"model.predict(X) == {positive!r}  # True: {str(fitted.labels[1])!r}",
        ],
    )
    if not fitted.counted:
        return facts
    note = f"{facts['verdict']['note']} {fitted.counted}"
    facts = facts | {"verdict": facts["verdict"] | {"note": note}}
    if not fitted.unseen and fitted.beside is not None and fitted.beside.role is Role.COST:
        # Judged without test rows, the goal has one cost per class, and these rows their own.
        facts["goal"] = None
    return facts


def _describe_columns(fitted: FittedTable) -> list[Any]:
    """Return what each column was read as, its gaps, and why; and what was made of it."""
    from boundshift.report import ColumnUse

    described = []
    for name, kind, why in fitted.columns.described():
        column, gaps, made = fitted.columns[name], fitted.missing[name], ""
        if fitted.training is not None and column.spelling is not None:
            made = "; scaled" if column.is_number else "; one column for each category"
            if gaps:
                filled = "the median" if column.is_number else "a category of their own"
                made = f"{made}, gaps are {filled}"
        reason = fitted.columns.left_out.get(name)
        used = reason is None or reason in BESIDE
        described.append(ColumnUse(name, kind, gaps, f"{why}{made}", used))
    return described


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
    reading: Reading = AS_IT_IS,
) -> tuple[Any, list[str]]:
    """Apply a model that a fit left in a folder to a new table, whose columns are found by name.

    Arguments are the options of ``boundshift predict``. Without `threshold`, `top` and `zone` the
    boundary of the fit decides. Of equal scores `top` takes the first rows.

    Returns
    -------
    predictions : pandas.DataFrame
        Columns left out of training and those to `keep`, or else the number of the ``row``;
        ``score``, that of the positive class before the shift; ``probability``, the model's own of
        that class, if it has one; ``prediction``.
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
    carried = [name for name in columns.carried if name not in (*keep, *_OURS)]
    frame = read_frame(source, list(dict.fromkeys([*keep, *features])), carried, reading)
    if top is not None and top > len(frame):
        raise InvalidInputError(
            f"`top` must be at most the number of rows, {len(frame)}, got {top}. Use a smaller one."
        )
    X = as_features(frame, columns, "standard input" if str(source) == "-" else str(source))
    found = frame[[*(name for name in carried if name in frame), *keep]].copy()
    if found.columns.empty:
        found["row"] = np.arange(1, len(frame) + 1)
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
    ways = {"threshold": threshold, "top": top, "zone": zone}
    given = [f"`{name}`" for name, value in ways.items() if value is not None]
    if len(given) > 1:
        raise InvalidInputError(
            f"{given[0]} and {given[1]} must not both be given: one of them decides. Leave one out."
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

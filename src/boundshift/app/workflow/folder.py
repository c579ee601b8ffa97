"""The folder that a fit leaves behind, and predictions out of it."""

from __future__ import annotations

import csv
import io
import json
import os
import shlex
import stat
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift.app.tables import Spelling, read_frame
from boundshift.app.workflow.estimators import TRUSTED
from boundshift.app.workflow.feature_columns import Columns, as_features
from boundshift.app.workflow.training import FittedTable, explain
from boundshift.classifier import BoundShiftClassifier
from boundshift.exceptions import InvalidInputError
from boundshift.promises.stored import certificate_to_dict
from boundshift.promises.zone import Zone
from boundshift.report.of_classifier import own_probability
from boundshift.result.json_values import as_label, check_format
from boundshift.writing import exchange, write_whole

__all__ = [
    "FILES",
    "ZONE_FILE",
    "FolderIdentity",
    "check_folder",
    "comparison_csv",
    "predict_table",
    "put_in_place",
    "report_facts",
    "write_folder",
]

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

_FORMAT = "boundshift.columns"
_VERSION = 2
_LARGEST = 16 << 20
_OURS = ("score", "probability", "prediction")


def write_folder(
    fitted: FittedTable,
    facts: Mapping[str, Any],
    out: str | Path,
    *,
    force: bool = False,
    instead_of: FolderIdentity | None = None,
    zone: Zone | None = None,
) -> list[Path]:
    """Write report, model, boundary, certificate, comparison and columns; all of them or none.

    Parameters
    ----------
    fitted : FittedTable
        From :func:`~boundshift.app.workflow.fit_table`.
    facts : mapping
        From :func:`report_facts`.
    out : str or Path
        Folder to make.
    force : bool, default=False
        Whether a folder that an earlier fit left there may be replaced.
    instead_of : FolderIdentity, default=None
        What :func:`check_folder` found before the fit began; a folder that has come since then is
        not replaced. None looks now.
    zone : Zone, default=None
        Written beside them, as zone.json.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    InvalidInputError
        If the folder exists, and `force` is False, it holds anything else, or it is not the one
        that was there before.
    """
    from boundshift.models.store import save
    from boundshift.report import write_report

    found = check_folder(Path(out), force)
    if instead_of is not None and found != instead_of:
        raise _appeared(Path(out))
    place = Path(os.path.realpath(out))
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=f".{place.name[:100]}.") as passing:
        fresh = Path(passing) / "fresh"
        fresh.mkdir()
        write_report(dict(facts), fresh / "report.html")
        save(fitted.model, fresh / "model.skops")
        save(fitted.boundary, fresh / "boundary.json")
        certificate = json.dumps(certificate_to_dict(fitted.certificate), indent=1)
        write_whole(fresh / "certificate.json", certificate + "\n")
        write_whole(fresh / "comparison.csv", comparison_csv(fitted.comparison))
        write_whole(fresh / "columns.json", _columns_json(fitted))
        if zone is not None:
            write_whole(fresh / ZONE_FILE, zone.to_json() + "\n")
        if found != FolderIdentity():
            _keep_permissions(fresh, place)
        put_in_place(fresh, place, found)
    names = FILES if zone is None else (*FILES, ZONE_FILE)
    return [Path(out) / name for name in names]


def _keep_permissions(fresh: Path, place: Path) -> None:
    """Let a folder and its files be as closed to others as those that they replace."""
    for path in (place, *(place / name for name in (*FILES, ZONE_FILE))):
        replacing = fresh / path.relative_to(place)
        if path.exists() and replacing.exists():
            replacing.chmod(stat.S_IMODE(path.stat().st_mode))


@dataclass(frozen=True)
class FolderIdentity:
    """Which folder stands at a place.

    Parameters
    ----------
    device, number : int, default=0
        As the file system numbers them; 0 where there is none.
    """

    device: int = 0
    number: int = 0


def _identity(path: Path) -> FolderIdentity:
    """Return which folder stands at a place."""
    try:
        facts = path.stat()
    except FileNotFoundError:
        return FolderIdentity()
    return FolderIdentity(facts.st_dev, facts.st_ino)


def put_in_place(fresh: Path, place: Path, instead_of: FolderIdentity) -> None:
    """Give a folder its name; the one that had it is left where the fresh one was.

    Raises
    ------
    InvalidInputError
        If the folder at the place is not the one that may be replaced.
    """
    if instead_of == FolderIdentity():
        try:
            fresh.rename(place)  # Fails where a folder with anything in it, or a file, has come.
        except OSError as error:
            if os.path.lexists(place):
                raise _appeared(place) from error
            raise
        return
    if not exchange(fresh, place):
        _exchange_in_steps(fresh, place)
    if _identity(fresh) != instead_of:
        if not exchange(fresh, place):
            _exchange_in_steps(fresh, place)
        raise _appeared(place)


def _exchange_in_steps(fresh: Path, place: Path) -> None:
    """Swap two folders where the system has no single step for it; the old one comes back."""
    aside = fresh.with_name("old")
    place.rename(aside)
    try:
        fresh.rename(place)
    except OSError:
        aside.rename(place)
        raise
    aside.rename(fresh)


def _appeared(out: Path) -> InvalidInputError:
    """Return the error for a folder that came while the fit was at work."""
    return InvalidInputError(
        f"'{out}' must be left as it was until the fit is written, but another run wrote it "
        "meanwhile. It is left as it is: run the fit again with another --out."
    )


def check_folder(out: Path, force: bool) -> FolderIdentity:
    """Return what stands at a place, and raise if it may not be replaced.

    Only what a fit wrote is ever replaced: files of our names, with our columns.json among them,
    and nothing else; or an empty folder.
    """
    if not os.path.lexists(out):
        return FolderIdentity()
    if not force:
        raise InvalidInputError(
            f"'{out}' exists already and is left as it is. Choose another --out, or use --force to "
            "replace it."
        )
    if not out.is_dir():
        if out.is_symlink() and not out.exists():
            return FolderIdentity()
        raise InvalidInputError(
            f"'{out}' is no folder, and is left as it is. Choose another --out."
        )
    ours = (*FILES, ZONE_FILE)
    foreign = sorted(p.name for p in out.iterdir() if p.name not in ours or not _is_file(p))
    if not foreign and any(out.iterdir()) and not _is_fit(out):
        foreign = sorted(p.name for p in out.iterdir())
    if foreign:
        raise InvalidInputError(
            f"'{out}' holds '{foreign[0]}', which no fit has written, and is left as it is. "
            "Choose another --out."
        )
    return _identity(out)


def _is_file(path: Path) -> bool:
    """Return whether a path is a file of its own, no link."""
    return stat.S_ISREG(path.lstat().st_mode)


def _is_fit(folder: Path) -> bool:
    """Return whether a folder's columns.json says that a fit wrote it, in this release or not."""
    try:
        facts = json.loads(_read_small(folder / "columns.json"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(facts, dict) and facts.get("format") == _FORMAT


def report_facts(
    fitted: FittedTable,
    out: str | Path,
    names: Mapping[str, object] | None = None,
    *,
    zone: Zone | None = None,
) -> dict[str, Any]:
    """Return the facts of the report of a fit.

    Parameters
    ----------
    fitted : FittedTable
        From :func:`~boundshift.app.workflow.fit_table`.
    out : str or Path
        Folder that will hold the model, for the lines that show how to use it.
    names : mapping, default=None
        What things are called, see :func:`boundshift.report.collect_facts`.
    zone : Zone, default=None
        Found on the test rows, to be told of too.
    """
    from boundshift.report import add_zone, collect_facts

    training = fitted.training
    origin = "held-out" if fitted.unseen else "training"
    trusted = "trusted=boundshift.app.workflow.TRUSTED"
    positive = as_label(fitted.model.boundary_.labels[1])
    predict = f"boundshift predict {_in_shell(out)} new.csv --out predictions.csv"
    facts = collect_facts(
        *fitted.deciding.to_rows(),
        boundary=fitted.boundary,
        old_threshold=0.0,
        test=fitted.judged if fitted.unseen else None,
        training=None if training is None else training.to_rows(),
        scores=origin if training is None else "out-of-fold",  # type: ignore[arg-type]
        comparison=fitted.comparison,
        confidence=fitted.confidence,
        interval=fitted.interval,
        model=fitted.name,
        names={"title": f"Predicting {fitted.target}"} | dict(names or {}),
        details=fitted.details if fitted.unseen else None,  # of rows that judge nothing else
        columns=_describe_columns(fitted),
        shell=f"{predict} --threshold {{threshold}}",
        top=f"{predict} --top {{top}}",
        deploy=[
            f"# in a shell: {predict}",
            "import boundshift.app.workflow",
            f"model = boundshift.load({str(Path(out) / 'model.skops')!r}, {trusted})",
            f"model.predict(X) == {positive!r}  # True: {str(fitted.labels[1])!r}",
        ],
    )
    if zone is not None:
        facts = add_zone(facts, zone, *fitted.judged, found_here=True)
    return _say_what_counts(facts, fitted)


def _say_what_counts(facts: dict[str, Any], fitted: FittedTable) -> dict[str, Any]:
    """Return the facts with where a column of weights or of costs by row counts, and where not."""
    if fitted.beside is None:
        return facts
    note = f"{facts['verdict']['note']} {fitted.counted}"
    said = facts | {"verdict": facts["verdict"] | {"note": note}}
    if fitted.unseen or fitted.beside.role == "weight":
        return said
    # Judged without test rows, the goal has one cost for each class, and these rows their own.
    return said | {"goal": None}


def _describe_columns(fitted: FittedTable) -> list[tuple[str, str, str, str]]:
    """Return each column, what it was read as, its gaps, and why; and what was made of it."""
    rows = sum(fitted.test.n_samples) + sum(fitted.deciding.n_samples)
    described = []
    for name, kind, why in fitted.columns.described():
        gaps = fitted.missing[name]
        made = ""
        if fitted.trained_here and name in fitted.columns.kinds:
            made = "scaled" if kind == "number" else "one column for each category"
            if gaps:
                filled = "the median" if kind == "number" else "a category of their own"
                made = f"{made}, gaps are {filled}"
        described.append(
            (
                name,
                kind,
                f"{gaps:,} of {rows:,}" if gaps else "",
                "; ".join(filter(None, (why, made))),
            )
        )
    return described


def _in_shell(out: str | Path) -> str:
    """Return a folder's name as a shell takes it literally; DIR where it does not fit a line."""
    return shlex.quote(str(out)) if str(out).isprintable() else "DIR"


def comparison_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    r"""Return a comparison as CSV.

    Examples
    --------
    >>> comparison_csv([{"method": "ours", "f1": 0.5}])
    'method,f1\nours,0.5\n'
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {k: "" if isinstance(v, float) and np.isnan(v) else v for k, v in row.items()}
        for row in rows
    )
    return text.getvalue()


def _columns_json(fitted: FittedTable) -> str:
    """Return what a prediction must know of the table."""
    columns = fitted.columns
    facts = {
        "format": _FORMAT,
        "version": _VERSION,
        "target": fitted.target,
        "labels": [as_label(label) for label in fitted.labels],
        "columns": {
            name: columns.spelling(name).to_dict()
            | {"why": columns.why.get(name, ""), "complete": name in columns.complete}
            for name in columns.kinds
        },
        "left_out": dict(columns.left_out),
    }
    return json.dumps(facts, indent=1, ensure_ascii=False) + "\n"


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

    columns, labels = _read_columns(Path(folder))
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


def _read_columns(folder: Path) -> tuple[Columns, tuple[Any, Any]]:
    """Read what a folder says of its table."""
    if not (folder / "columns.json").is_file() or not (folder / "model.skops").is_file():
        raise InvalidInputError(
            f"'{folder}' must be a folder that `boundshift fit` wrote, with model.skops and "
            "columns.json, and is not."
        )
    try:
        facts = json.loads(_read_small(folder / "columns.json"))
        check_format(facts, _FORMAT, _VERSION, ("columns", "labels", "left_out"), oldest=_VERSION)
        return _as_columns(facts["columns"], facts["left_out"]), _as_labels(facts["labels"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InvalidInputError(
            f"'{folder / 'columns.json'}' is not as this `boundshift fit` writes it: "
            f"{str(error)[:200]} Run the fit again."
        ) from error


def _read_small(path: Path) -> str:
    """Return the text of a file that is never large."""
    with path.open("rb") as file:
        content = file.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise ValueError(f"it has more than {_LARGEST >> 20} MB.")
    return content.decode("utf-8")


def _as_columns(stored: Any, left_out: Any) -> Columns:
    """Return the columns that a folder names."""
    if not isinstance(stored, dict) or not isinstance(left_out, dict) or not stored:
        raise ValueError("it names no columns.")
    spellings: dict[str, Spelling] = {}
    for name, facts in stored.items():
        if not isinstance(facts, dict) or not isinstance(facts.get("complete"), bool):
            raise ValueError(f"it does not say what column '{name}' holds.")
        spelled = {key: value for key, value in facts.items() if key not in ("why", "complete")}
        spellings[name] = Spelling.from_dict(spelled)
    return Columns(
        {n: "number" if s.kind == "number" else "category" for n, s in spellings.items()},
        {str(name): str(why) for name, why in left_out.items()},
        spellings,
        {name: str(facts.get("why", "")) for name, facts in stored.items()},
        tuple(name for name, facts in stored.items() if facts["complete"]),
    )


def _as_labels(stored: Any) -> tuple[Any, Any]:
    """Return the two labels of a folder."""
    if not isinstance(stored, list) or len(stored) != 2 or str(stored[0]) == str(stored[1]):
        raise ValueError(f"it must name two labels, not {stored!r}.")
    return as_label(stored[0]), as_label(stored[1])


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

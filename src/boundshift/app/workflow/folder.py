"""The folder that a fit leaves behind, and predictions out of it."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from boundshift.app.tables import Spelling, read_frame
from boundshift.app.workflow.estimators import TRUSTED
from boundshift.app.workflow.feature_columns import Columns, as_features
from boundshift.app.workflow.training import FittedTable, explain
from boundshift.exceptions import InvalidInputError
from boundshift.result.json_values import as_label, check_format

__all__ = ["FILES", "comparison_csv", "predict_table", "report_facts", "write_folder"]

FILES = ("report.html", "model.skops", "boundary.json", "comparison.csv", "columns.json")
"""What a folder holds."""

_FORMAT = "boundshift.columns"
_VERSION = 2
_LARGEST = 16 << 20


def write_folder(
    fitted: FittedTable, facts: Mapping[str, Any], out: str | Path, *, force: bool = False
) -> list[Path]:
    """Write report, model, boundary, comparison and columns; all of them or none.

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

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    InvalidInputError
        If the folder exists, and `force` is False or it holds anything else.
    """
    from boundshift.models.store import save
    from boundshift.report import write_report

    out = Path(out)
    check_folder(out, force)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as passing:
        fresh = Path(passing) / "fresh"
        fresh.mkdir()
        write_report(dict(facts), fresh / "report.html")
        save(fitted.model, fresh / "model.skops")
        save(fitted.boundary, fresh / "boundary.json")
        (fresh / "comparison.csv").write_text(comparison_csv(fitted.comparison), encoding="utf-8")
        (fresh / "columns.json").write_text(_columns_json(fitted), encoding="utf-8")
        _swap(fresh, out, Path(passing) / "old")
    return [out / name for name in FILES]


def _swap(fresh: Path, out: Path, aside: Path) -> None:
    """Put a folder in the place of another, which comes back if that fails."""
    replaced = out.exists()
    if replaced:
        out.rename(aside)
    try:
        fresh.rename(out)
    except OSError:
        if replaced:
            aside.rename(out)
        raise


def check_folder(out: Path, force: bool) -> None:
    """Raise if a folder is in the way; one that holds anything but our files is never replaced."""
    if not out.exists():
        return
    if not force:
        raise InvalidInputError(
            f"'{out}' exists already and is left as it is. Choose another --out, or use --force to "
            "replace it."
        )
    others = [p.name for p in out.iterdir() if p.name not in FILES] if out.is_dir() else [out.name]
    if others:
        raise InvalidInputError(
            f"'{out}' holds '{others[0]}', which no fit has written, and is left as it is. "
            "Choose another --out."
        )


def report_facts(
    fitted: FittedTable, out: str | Path, names: Mapping[str, object] | None = None
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
    """
    from boundshift.report import collect_facts

    training = fitted.training
    origin = "held-out" if fitted.unseen else "training"
    trusted = "trusted=boundshift.app.workflow.TRUSTED"
    positive = as_label(fitted.model.boundary_.labels[1])
    return collect_facts(
        *fitted.deciding.to_rows(),
        boundary=fitted.boundary,
        old_threshold=0.0,
        test=fitted.test.to_rows() if fitted.unseen else None,
        training=None if training is None else training.to_rows(),
        scores=origin if training is None else "out-of-fold",  # type: ignore[arg-type]
        comparison=fitted.comparison,
        confidence=fitted.confidence,
        interval=fitted.interval,
        model=fitted.name,
        names={"title": f"Predicting {fitted.target}"} | dict(names or {}),
        deploy=[
            f"# in a shell: boundshift predict {out} new.csv --out predictions.csv",
            "import boundshift.app.workflow",
            f"model = boundshift.load({str(Path(out) / 'model.skops')!r}, {trusted})",
            f"model.predict(X) == {positive!r}  # True: {fitted.labels[1]}",
        ],
    )


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
    folder: str | Path, source: str | Path, *, keep: Sequence[str] = (), trust: bool = False
) -> tuple[Any, list[str]]:
    """Apply a model that a fit left in a folder to a new table.

    Parameters
    ----------
    folder : str or Path
        Written by :func:`write_folder`.
    source : str or Path
        The new table; its columns are found by name.
    keep : sequence of str, default=()
        Columns to carry over beside the predictions, such as an id.
    trust : bool, default=False
        Whether the model may hold types of other libraries.

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
    ours = [name for name in ("score", "probability", "prediction") if name in keep]
    if ours:
        raise InvalidInputError(
            f"`keep` must not name a column of the predictions, got '{ours[0]}'. Rename it first."
        )
    model = load(Path(folder) / "model.skops", trusted=True if trust else list(TRUSTED))
    where = "standard input" if str(source) == "-" else str(source)
    frame = read_frame(source, list(dict.fromkeys([*keep, *columns.kinds])))
    X = as_features(frame, columns, where)
    predictions = frame[list(keep)].copy()
    positive = model.boundary_.labels[1]
    with explain(type(model.estimator_).__name__):
        predictions["score"] = model.positive_scores(X)
        if hasattr(model.estimator_, "predict_proba"):
            place = list(model.estimator_.classes_).index(positive)
            predictions["probability"] = model.estimator_.predict_proba(X)[:, place]
        is_positive = model.predict(X) == positive
    predictions["prediction"] = np.array(labels, dtype=object)[is_positive.astype(int)]
    return predictions, [*_new_gaps(X, columns), *_unseen_categories(model, X, columns)]


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
    steps = getattr(model.estimator_, "named_steps", {})
    if "columns" not in steps or not columns.of("category"):
        return []
    encoder = steps["columns"].named_transformers_["categories"][-1]
    notes = []
    for name, known in zip(columns.of("category"), encoder.categories_, strict=True):
        unseen = sorted(set(X[name].dropna()) - set(known))
        if unseen:
            shown = ", ".join(unseen[:5]) + (", …" if len(unseen) > 5 else "")
            notes.append(f"Column '{name}' has values not seen in training: {shown}.")
    return notes

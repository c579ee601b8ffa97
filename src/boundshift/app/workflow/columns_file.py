"""What a fit writes of a table's columns, as JSON, and how it is read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from boundshift.app.tables import Spelling
from boundshift.app.workflow.feature_columns import Columns
from boundshift.app.workflow.training import FittedTable
from boundshift.exceptions import InvalidInputError
from boundshift.result.records import as_label, check_format

__all__ = ["columns_json", "is_fit", "read_columns"]

_FORMAT = "boundshift.columns"
_VERSION = 2
_LARGEST = 16 << 20


def columns_json(fitted: FittedTable) -> str:
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


def read_columns(folder: Path) -> tuple[Columns, tuple[Any, Any]]:
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


def is_fit(folder: Path) -> bool:
    """Return whether a folder's columns.json says that a fit wrote it, in this release or not."""
    try:
        facts = json.loads(_read_small(folder / "columns.json"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(facts, dict) and facts.get("format") == _FORMAT


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

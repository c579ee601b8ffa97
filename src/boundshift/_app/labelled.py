"""Labelled rows that came after a fit, and what decides them: a folder, or a stored threshold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from boundshift._app.columns import Spelling, find_spelling, read_cells
from boundshift._app.folder import Folder, read_folder
from boundshift._app.tables import match_label, note_unlabelled, read_bytes, with_gaps
from boundshift._guarantees.certificate import Certificate
from boundshift._result.boundary import Boundary
from boundshift._result.records import read_json
from boundshift._typing import FloatArray
from boundshift._writing import is_special
from boundshift.exceptions import InvalidInputError

if TYPE_CHECKING:
    import pandas as pd

CERTIFICATE = "certificate.json"


@dataclass(frozen=True)
class Decider:
    """What decides rows: the model of a folder, or a threshold on a column of scores.

    `path` is the file of the certificate. A file of a certificate alone has no boundary.
    """

    place: Path
    path: Path
    folder: Folder | None
    boundary: Boundary | None
    stored: dict[str, Any] | None  # the certificate as it is written

    @property
    def labels(self) -> tuple[Any, ...]:
        """The two classes."""
        if self.boundary is not None:
            return self.boundary.labels
        return self.certificate.labels

    @property
    def rest(self) -> tuple[str, ...]:
        """Labels that the fit took as one class."""
        return () if self.folder is None else self.folder.rest

    @property
    def cluster(self) -> str | None:
        """Column of ids of the fit."""
        return None if self.folder is None else self.folder.cluster

    @property
    def certificate(self) -> Certificate:
        """What is certified of the decisions; raise if nothing is stored."""
        if self.stored is None:
            raise InvalidInputError(
                f"'{self.path}' must have a certificate, and has none. Write it with `boundshift "
                "threshold --json`."
            )
        return Certificate.from_dict(self.stored)

    def require_boundary(self) -> Boundary:
        """Return the threshold; raise if only a certificate is stored."""
        if self.boundary is None:
            raise InvalidInputError(
                f"'{self.path}' must be a threshold to be certified, and is a certificate. Name "
                "the file that `boundshift threshold --json` printed."
            )
        return self.boundary

    def choose_label(self, label: str | None, score: str | None) -> str:
        """Return the column of labels; raise if the user must name it, or that of scores."""
        if self.folder is not None:
            return label or self.folder.target
        if label is None or score is None:
            raise InvalidInputError(
                f"'{self.place}' does not say where labels and scores are. Name their columns with "
                "--label and --score."
            )
        return label


def read_decider(place: Path) -> Decider:
    """Read a folder of `boundshift fit`, or a JSON file with a threshold or a certificate."""
    path = place / CERTIFICATE if place.is_dir() else place
    if str(path) != "-" and not path.is_file() and not is_special(path):
        raise InvalidInputError(
            f"'{place}' must be a folder that `boundshift fit` wrote, with {CERTIFICATE}, or a "
            "JSON file with a threshold or a certificate, and is not."
        )
    stored = read_json(read_bytes(path), f"'{path}'")
    if place.is_dir():
        folder = read_folder(place)
        decider = Decider(place, path, folder, folder.model.boundary_, stored)
        _check_of_model(decider)
        return decider
    if stored.get("format") != "boundshift.boundary":
        Certificate.from_dict(stored)
        return Decider(place, path, None, None, stored)
    return Decider(place, path, None, Boundary.from_dict(stored), stored.get("certificate"))


def _check_of_model(decider: Decider) -> None:
    """Raise unless the certificate is about the decisions of the folder's model."""
    boundary = decider.require_boundary()
    certificate = decider.certificate
    stated = certificate.threshold, certificate.labels
    decided = boundary.threshold, tuple(boundary.labels)
    if stated != decided:
        raise InvalidInputError(
            f"'{decider.path}' must have the threshold and the labels of model.skops, "
            f"{decided[0]!r} and {decided[1]!r}, got {stated[0]!r} and {stated[1]!r}. Nothing was "
            "counted. The file was changed, or belongs to another model: restore it, or fit again."
        )


def skip_unlabelled(frame: pd.DataFrame, label: str) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows that have a label, and a note on the others."""
    has_label = with_gaps(frame[label]).notna()
    return frame[has_label], note_unlabelled(int((~has_label).sum()), label)


def read_scores(cells: pd.Series, name: str, source: str) -> FloatArray:
    """Return a column of scores; 50% is 0.5, as where a threshold is chosen."""
    spelling, _ = find_spelling(with_gaps(cells).dropna())
    is_percent = spelling.sign == "%"
    scores = read_cells(cells, spelling if is_percent else Spelling(), name, source)
    return np.asarray(scores / 100 if is_percent else scores, dtype=np.float64)


def read_labels(column: pd.Series, labels: Sequence[Any], rest: Sequence[str] = ()) -> NDArray[Any]:
    """Return a column's labels, written as the known ones; those of the rest are one class."""
    cells = with_gaps(column)
    name = str(column.name)
    among = [*rest, labels[1]] if rest else list(labels)
    known = {text: match_label(text, among, name) for text in set(map(str, cells))}
    y = np.empty(len(cells), dtype=object)
    y[:] = [labels[0] if known[str(text)] in rest else known[str(text)] for text in cells]
    return y


def read_dates(column: pd.Series) -> NDArray[Any]:
    """Return a column of dates; a time of day is left out."""
    import pandas as pd

    texts = pd.Series([re.split("[T ]", str(cell).strip())[0] for cell in column])
    ways = [pd.to_datetime(texts, format=f, errors="coerce") for f in ("%Y-%m-%d", "%d.%m.%Y")]
    for dates in ways:
        if dates.notna().all():
            return np.asarray(dates.to_numpy(dtype="datetime64[D]"))
    wrong = texts[min(ways, key=lambda dates: dates.isna().sum()).isna()].iloc[0]
    raise InvalidInputError(
        f"Dates must be written as 2026-03-31 or 31.03.2026, all in one way, got '{wrong}' in "
        f"column '{column.name}'. Write the year first."
    )

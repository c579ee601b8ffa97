"""The folder that a fit leaves behind."""

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

from boundshift.app.workflow.columns_file import columns_json, is_fit
from boundshift.app.workflow.training import FittedTable
from boundshift.exceptions import InvalidInputError
from boundshift.promises.zone import Zone
from boundshift.result.records import as_label
from boundshift.writing import exchange, write_whole

__all__ = [
    "FILES",
    "ZONE_FILE",
    "FolderIdentity",
    "check_folder",
    "comparison_csv",
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
        certificate = json.dumps(fitted.certificate.to_dict(), indent=1)
        write_whole(fresh / "certificate.json", certificate + "\n")
        write_whole(fresh / "comparison.csv", comparison_csv(fitted.comparison))
        write_whole(fresh / "columns.json", columns_json(fitted))
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
    if not foreign and any(out.iterdir()) and not is_fit(out):
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
        old_threshold=0.5 if fitted.boundary.scale == "probability" else 0.0,
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
    """Return the facts with which rows are left out, and where weights or costs by row count."""
    if not fitted.counted:
        return facts
    note = f"{facts['verdict']['note']} {fitted.counted}"
    said = facts | {"verdict": facts["verdict"] | {"note": note}}
    if fitted.unseen or fitted.beside is None or fitted.beside.role == "weight":
        return said
    # Judged without test rows, the goal has one cost for each class, and these rows their own.
    return said | {"goal": None}


def _describe_columns(fitted: FittedTable) -> list[tuple[str, str, str, str]]:
    """Return each column, what it was read as, its gaps, and why; and what was made of it."""
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
                gaps,
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

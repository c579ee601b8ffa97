"""MIMIC-III intensive-care discharge, from the user's own file."""

from os import PathLike
from pathlib import Path
from typing import Literal

import numpy as np

from boundshift.datasets.bundled import Contents, Loaded, make_bunch
from boundshift.exceptions import InvalidInputError
from lab.data.tables import Table, read_table

__all__ = ["MIMIC_FEATURES", "load_mimic"]

MIMIC_FEATURES = (
    "airway",
    "fio2",
    "spo2_min",
    "hco3",
    "resp_min",
    "resp_max",
    "bp_min",
    "hr_min",
    "hr_max",
    "pain",
    "gcs_min",
    "temp_min",
    "temp_max",
    "haemoglobin",
    "k",
    "na",
    "creatinine",
    "bun",
)
_LABEL = "outcome"
_ACCESS = (
    "MIMIC-III may not be redistributed: ask for credentialed access at PhysioNet "
    "(https://physionet.org/content/mimiciii/), then build fm_MIMIC_IMPUTED_extended.csv with the "
    "preprocessing of McWilliams et al. 2019 "
    "(https://github.com/UHBristolDataScience/towards-decision-support-icu-discharge)."
)
_DESCR = """MIMIC-III: was a patient whom intensive care might discharge not ready for it?

Target 1 = not ready for discharge (`outcome` 0 in the file), the minority. The columns cohort,
age, sex, bmi, los and any identifier are left out; the paper counts 19 attributes, of which the
nineteenth is most likely the identifier of the stay.
Johnson et al., "MIMIC-III, a freely accessible critical care database", Scientific Data, 2016.
McWilliams et al., "Towards a decision support tool for intensive care discharge", BMJ Open, 2019.
"""
# Positions that the authors' two slices keep of the 13,243 rows of the extended file.
_PAPER_FIRST, _PAPER_RESAMPLED, _PAPER_REST = 2, 787, 6608


def load_mimic(
    path: str | PathLike[str],
    *,
    rows: Literal["paper", "all"] = "paper",
) -> Loaded:
    """Load MIMIC-III discharge readiness from a file of your own.

    Parameters
    ----------
    path : path-like
        Your ``fm_MIMIC_IMPUTED_extended.csv``.
    rows : {"paper", "all"}, default="paper"
        "paper" keeps what the authors' code keeps of the 13,243 rows: numbers 3 to 787 and 6609
        to the end, 785 positive and 6635 negative ones, which are the paper's 7420. The others
        are mostly resampled copies. "all" keeps every row, for a file without copies.

    Returns
    -------
    Bunch
        With the keys data (18 features), target (1 = not ready for discharge), feature_names,
        target_names, frame, name and DESCR.

    Raises
    ------
    InvalidInputError
        If the file is absent, too short, or misses a column; the message says how to get it.

    Notes
    -----
    By the authors' own description the original negative outcomes are rows 1 to 783 and the
    successful discharges rows 6606 to 13,243. Their slices are a little off: they lose two
    original negative outcomes and three discharges, and let four resampled copies in.

    Examples
    --------
    >>> from lab.data import load_mimic
    >>> load_mimic("fm_MIMIC_IMPUTED_extended.csv")  # doctest: +SKIP
    """
    table = _select(_read(Path(path)), rows)
    outcome = table.numbers([_LABEL])[:, 0]
    if not np.isin(outcome, (0, 1)).all():
        raise InvalidInputError(
            f"`{_LABEL}` must be 0 (not ready) or 1 (ready for discharge), got "
            f"{np.unique(outcome).tolist()}. Use the label column as it was built."
        )
    labels = ("ready for discharge", "not ready for discharge")
    target = (outcome == 0).astype(np.int64)
    data = table.numbers(MIMIC_FEATURES)
    return make_bunch(Contents("mimic", data, target, MIMIC_FEATURES, labels, _DESCR))


def _read(path: Path) -> Table:
    """Read the file and check that the columns are there."""
    if not path.is_file():
        raise InvalidInputError(f"`path` must be a file, got {str(path)!r}. {_ACCESS}")
    with path.open(encoding="utf-8", newline="") as lines:
        table = read_table(lines)
    absent = [name for name in (*MIMIC_FEATURES, _LABEL) if name not in table.header]
    if absent:
        raise InvalidInputError(
            f"The file must have the columns {[*MIMIC_FEATURES, _LABEL]}, {path.name!r} misses "
            f"{absent}. {_ACCESS}"
        )
    return table


def _select(table: Table, rows: str) -> Table:
    """Keep the rows that were asked for."""
    if rows == "all":
        return table
    if rows != "paper":
        raise InvalidInputError(f"`rows` must be 'paper' or 'all', got {rows!r}.")
    if len(table.rows) <= _PAPER_REST:
        raise InvalidInputError(
            f"rows='paper' needs the extended file of 13243 rows, got {len(table.rows)}. "
            "Use rows='all' for a file without resampled copies."
        )
    kept = table.rows[_PAPER_FIRST:_PAPER_RESAMPLED] + table.rows[_PAPER_REST:]
    return Table(table.header, kept)

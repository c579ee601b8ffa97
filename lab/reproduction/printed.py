"""The numbers that the paper prints."""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources
from typing import NamedTuple

__all__ = ["Printed", "PrintedData", "printed_datasets", "printed_value"]


class Printed(NamedTuple):
    """Mean and standard deviation over ten seeds, digits cut off."""

    mean: float
    sd: float


class PrintedData(NamedTuple):
    """A line of the paper's table of data sets."""

    attributes: int
    instances: int
    train: tuple[int, int]
    test: tuple[int, int]


def _records(filename: str) -> list[dict[str, str]]:
    """Read a table that is shipped with the package."""
    text = resources.files("lab.reproduction").joinpath("data", filename).read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


@cache
def _tables() -> dict[tuple[str, str, str, str], Printed]:
    """Return all result tables, by slack, problem, method and metric."""
    return {
        (r["slack"], r["problem"], r["method"], r["metric"]): Printed(
            float(r["mean"]), float(r["sd"])
        )
        for r in _records("printed_tables.csv")
    }


def printed_value(slack: str, problem: str, method: str, metric: str) -> Printed | None:
    """Return what the paper prints, None where it prints nothing.

    The synthetic table is printed once, for binary slack; it is set beside both kinds, and beside
    scaled and raw features.

    Examples
    --------
    >>> printed_value("binary", "pima", "our-method", "g_mean")
    Printed(mean=0.651, sd=0.05)
    """
    if problem.startswith("synthetic"):
        slack, problem = "binary", "synthetic"
    return _tables().get((slack, problem, method, metric))


@cache
def printed_datasets() -> dict[str, PrintedData]:
    """Return the paper's table of data sets by problem.

    Examples
    --------
    >>> printed_datasets()["heart"].train
    (82, 24)
    """
    return {
        r["problem"]: PrintedData(
            int(r["attributes"]),
            int(r["instances"]),
            (int(r["train_negative"]), int(r["train_positive"])),
            (int(r["test_negative"]), int(r["test_positive"])),
        )
        for r in _records("printed_datasets.csv")
    }

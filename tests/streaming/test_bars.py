"""Bars of progress on the error stream."""

import sys

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pytest

from boundshift import InvalidInputError, MissingExtraError, streaming

RNG = np.random.default_rng(0)
Y = np.repeat([0, 1], [300, 60])
CHUNKS = [(Y, RNG.normal(size=360) + 2 * Y) for _ in range(4)]


def test_true_draws_a_bar_of_each_pass(capsys):
    streaming.scan_boundary(CHUNKS, curve="kth-point", progress=True)
    said = capsys.readouterr()
    assert "pass 1" in said.err
    assert "pass 2" in said.err
    assert said.out == ""


def test_the_bar_of_a_dask_frame_counts_partitions(capsys):
    y, s = (np.concatenate(part) for part in zip(*CHUNKS, strict=True))
    frame = dd.from_pandas(pd.DataFrame({"label": y, "score": s}), npartitions=4)
    with dask.config.set(scheduler="threads"):
        streaming.scan_boundary(frame, progress=True)
    assert "4/4" in capsys.readouterr().err


@pytest.mark.parametrize("progress", [None, False])
def test_nothing_is_drawn_unless_asked_for(progress, capsys):
    streaming.scan_boundary(CHUNKS, progress=progress)
    assert capsys.readouterr().err == ""


def test_groups_and_classes_have_bars_too(capsys):
    sites = np.where(np.arange(360) % 2, "a", "b")
    frame = pl.DataFrame({"label": Y, "score": CHUNKS[0][1], "site": sites})
    streaming.scan_boundaries(frame, by="site", progress=True)
    assert "groups" in capsys.readouterr().err


@pytest.mark.parametrize("progress", ["bar", 3, 1])
def test_what_cannot_show_is_refused(progress):
    with pytest.raises(InvalidInputError, match="`progress` must be True, None or a function"):
        streaming.scan_boundary(CHUNKS, progress=progress)


def test_without_rich_the_cure_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich", None)
    with pytest.raises(MissingExtraError, match="cli"):
        streaming.scan_boundary(CHUNKS, progress=True)

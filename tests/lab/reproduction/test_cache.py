from dataclasses import asdict

import numpy as np
import pytest

from boundshift.writing import write_whole
from lab.reproduction import cache as cache_module
from lab.reproduction.cache import ReproductionCache, Run
from lab.reproduction.classifiers import ClassifierOptions
from lab.reproduction.problems import PROBLEMS

RUN = Run(PROBLEMS["synthetic-raw"], "honest", 0, "balanced-weights")


def test_what_is_stored_is_read_back(cache):
    made, read = cache.make(RUN), cache.get(RUN)
    for name, value in asdict(made).items():
        np.testing.assert_array_equal(asdict(read)[name], value)


def test_nothing_is_trained_twice(cache, monkeypatch):
    cache.make(RUN)
    monkeypatch.setattr(cache_module, "collect_scores", None)
    assert cache.make(RUN) is not None


def test_a_broken_file_is_made_anew(tmp_path, small):
    cache = ReproductionCache(tmp_path, small)
    whole = cache.make(RUN)
    path = cache.path(RUN)
    path.write_bytes(path.read_bytes()[:100])
    assert cache.get(RUN) is None
    np.testing.assert_array_equal(cache.make(RUN).test, whole.test)
    assert cache.get(RUN) is not None


def test_other_options_have_another_file(tmp_path, small):
    run = Run(PROBLEMS["pima"], "honest", 0, "untouched")
    caches = (ReproductionCache(tmp_path, options) for options in (small, ClassifierOptions()))
    assert len({cache.path(run) for cache in caches}) == 2


def test_another_version_has_another_file(tmp_path, small, monkeypatch):
    cache = ReproductionCache(tmp_path, small)
    before = cache.path(RUN)
    monkeypatch.setattr(cache_module, "PROTOCOL_VERSION", 99)
    assert cache.path(RUN) != before


def test_an_interrupted_write_leaves_nothing(tmp_path, monkeypatch):
    target = tmp_path / "file.txt"

    def interrupt(self, other):
        raise KeyboardInterrupt

    monkeypatch.setattr("pathlib.Path.replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_whole(target, "text")
    assert list(tmp_path.iterdir()) == []

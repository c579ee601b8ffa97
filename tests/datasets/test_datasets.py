import hashlib
import re
import sys
from importlib import resources

import numpy as np
import pytest
from scipy.stats import norm

from boundshift.datasets import (
    load_breast_cancer,
    load_heart,
    load_hepatitis,
    load_pima,
    make_gaussians,
)
from boundshift.exceptions import InvalidInputError, MissingExtraError

LOADERS = {
    load_pima: (768, 8, 268),
    load_breast_cancer: (569, 30, 212),
    load_hepatitis: (137, 16, 26),
    load_heart: (212, 11, 48),
}
DATA = resources.files("boundshift.datasets").joinpath("data")


@pytest.mark.parametrize("load", LOADERS, ids=lambda load: load.__name__)
def test_a_loader_gives_the_paper_s_rows_with_the_minority_as_1(load):
    bunch = load()
    assert (*bunch.data.shape, bunch.target.sum()) == LOADERS[load]
    assert set(bunch.target.tolist()) == {0, 1}
    X, y = load(return_X_y=True)
    framed = load(as_frame=True)
    assert framed.frame.columns.tolist() == [*bunch.feature_names, "target"]
    for features, target in ((X, y), (framed.data.to_numpy(), framed.frame["target"])):
        np.testing.assert_array_equal(features, bunch.data)
        np.testing.assert_array_equal(target, bunch.target)


def test_frame_without_pandas_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"\.\[data\]"):
        load_pima(as_frame=True)


def test_every_bundled_file_has_the_checksum_that_its_provenance_says():
    text = DATA.joinpath("PROVENANCE.md").read_text()
    said = dict(re.findall(r"^\| (\S+\.csv) .* ([0-9a-f]{64}) \|$", text, flags=re.MULTILINE))
    files = [file for file in DATA.iterdir() if file.name.endswith(".csv")]
    assert {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in files} == said


def test_bayes_error_is_the_documented_one():
    X, y = make_gaussians((50_000, 50_000), random_state=0)
    error = np.mean((X.sum(axis=1) > 0) != (y == 1))
    assert error == pytest.approx(norm.cdf(-np.sqrt(2)), abs=0.003)


@pytest.mark.parametrize("n_samples", [(10,), (10, 0), (1, 2, 3)])
def test_other_than_two_positive_sizes_are_refused(n_samples):
    with pytest.raises(InvalidInputError, match="n_samples"):
        make_gaussians(n_samples)

import hashlib
import re
import sys
from importlib import resources

import numpy as np
import pytest

from boundshift.datasets import (
    load_breast_cancer,
    load_heart,
    load_hepatitis,
    load_pima,
)
from boundshift.exceptions import MissingExtraError

LOADERS = {
    load_pima: (768, 8, 268),
    load_breast_cancer: (569, 30, 212),
    load_hepatitis: (137, 16, 26),
    load_heart: (212, 11, 48),
}
every_loader = pytest.mark.parametrize("load", LOADERS, ids=lambda load: load.__name__)


@every_loader
def test_a_loader_gives_the_paper_s_rows_with_the_minority_as_1(load):
    bunch = load()
    assert (*bunch.data.shape, bunch.target.sum()) == LOADERS[load]
    assert set(bunch.target.tolist()) == {0, 1}
    assert bunch.target.mean() < 0.5
    X, y = load(return_X_y=True)
    np.testing.assert_array_equal(X, bunch.data)
    np.testing.assert_array_equal(y, bunch.target)
    framed = load(as_frame=True)
    assert framed.frame.columns.tolist() == [*bunch.feature_names, "target"]
    np.testing.assert_array_equal(framed.data.to_numpy(), bunch.data)
    np.testing.assert_array_equal(framed.frame["target"], bunch.target)


def test_frame_without_pandas_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"\.\[data\]"):
        load_pima(as_frame=True)


def test_first_pima_row():
    pima = load_pima()
    assert pima.data[0].tolist() == [6, 148, 72, 35, 0, 33.6, 0.627, 50]
    assert pima.target[0] == 1


def test_malignant_tumours_are_larger():
    cancer = load_breast_cancer()
    radius = cancer.data[:, cancer.feature_names.index("mean radius")]
    assert radius[cancer.target == 1].mean() > radius[cancer.target == 0].mean()


def _checksums():
    text = resources.files("boundshift.datasets").joinpath("data", "PROVENANCE.md").read_text()
    return re.findall(r"^\| (\S+\.csv) .* ([0-9a-f]{64}) \|$", text, flags=re.MULTILINE)


def test_provenance_lists_every_bundled_data_file():
    files = resources.files("boundshift.datasets").joinpath("data").iterdir()
    bundled = {file.name for file in files if file.name.endswith(".csv")}
    assert {name for name, _ in _checksums()} == bundled


@pytest.mark.parametrize(("name", "checksum"), _checksums())
def test_bundled_file_has_its_checksum(name, checksum):
    content = resources.files("boundshift.datasets").joinpath("data", name).read_bytes()
    assert hashlib.sha256(content).hexdigest() == checksum

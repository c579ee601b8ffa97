import numpy as np
import pytest

from boundshift import Cost, InvalidInputError, Metric, find_boundaries, find_boundary

COUNTING = {
    "empirical": lambda y, s: find_boundary(y, s, curve="empirical", rule=SCREENING, scale="raw"),
    "clopper-pearson": lambda y, s: find_boundary(
        y, s, curve="clopper-pearson", rule=SCREENING, scale="raw"
    ),
    "row_cost": lambda y, s: find_boundary(
        y, s, row_cost=np.where(y, SCREENING.false_negative, 1.0), scale="raw"
    ),
    "group": lambda y, s: find_boundaries(
        y, s, np.zeros(len(y)), curve="empirical", rule=SCREENING, scale="raw"
    )[0.0],
}
SCREENING = Cost(false_positive=1, false_negative=1e6)


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
@pytest.mark.parametrize("lowest", [1e16, -1e16, 1.0, 0.3, 1e280, 0.0])
@pytest.mark.parametrize("way", COUNTING)
def test_all_rows_can_be_flagged_where_scores_are_neighbouring_doubles(way, lowest) -> None:
    rng = np.random.default_rng(0)
    y = np.append(rng.integers(0, 2, 98), [1, 0])
    s = lowest + np.spacing(lowest) * np.append(rng.integers(0, 3, 98), [0, 2])
    found = COUNTING[way](y, s)
    # A miss costs more than all false alarms together, and a positive row has the least score.
    assert found.wrong == (np.sum(y == 0), 0)
    assert found.predict(s).all()


def test_a_metric_that_prefers_a_share_of_flagged_rows_is_refused_by_counts() -> None:
    def near_30_percent(y_true, y_pred, sample_weight=None):
        return -abs(np.average(y_pred, weights=sample_weight) - 0.3)

    rng = np.random.default_rng(0)
    y = (rng.random(200) < 0.3).astype(int)
    s = rng.normal(size=200) + 2 * y
    with pytest.raises(InvalidInputError, match="`rule` must not improve while an error rate"):
        find_boundary(y, s, rule=Metric(near_30_percent), curve="clopper-pearson")
    found = find_boundary(y, s, rule=Metric(near_30_percent), curve="smoothed")
    assert np.mean(found.predict(s)) == pytest.approx(0.3, abs=0.02)

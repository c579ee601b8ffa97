import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from boundshift import BoundaryWarning, InvalidInputError, find_boundary
from boundshift.scores import ScoreSample
from boundshift.view.axis import choose_axis
from boundshift.view.rows import (
    area_under_curve,
    class_scores,
    count_wrong_at,
    least_balanced_error,
    make_lanes,
    name_marks,
    read_sample,
    settle_boundary,
)
from tests.problems import two_normals


@pytest.fixture
def problem():
    y, scores = two_normals(60, 20, 1.5)
    return y, np.round(scores, 1)


@pytest.mark.parametrize("scale", [1e-280, 1.0, 1e280])
def test_counts_and_scores_are_in_the_units_that_were_given(problem, scale):
    y, s = problem[0], problem[1] * scale
    sample = ScoreSample.from_labels(y, s)
    thresholds = np.quantile(s, [0.1, 0.5, 0.9])
    flagged, missed = count_wrong_at(sample, thresholds)
    assert flagged.tolist() == [np.sum(s[y == 0] > t) for t in thresholds]
    assert missed.tolist() == [np.sum(s[y == 1] <= t) for t in thresholds]
    np.testing.assert_array_equal(class_scores(sample)[1], np.sort(s[y == 1]))
    axis = choose_axis([sample], [])
    assert axis.low < s.min()
    assert s.max() < axis.high


def test_ranking_and_least_error_are_those_of_scikit_learn(problem):
    y, s = problem
    sample = ScoreSample.from_labels(y, s)
    assert area_under_curve(sample) == pytest.approx(roc_auc_score(y, s))
    cuts = [-np.inf, *np.unique(s)]
    best = max(balanced_accuracy_score(y, (s > t).astype(int)) for t in cuts)
    assert least_balanced_error(sample) == pytest.approx(1 - best)


def test_known_labels_say_which_class_is_positive(problem):
    y, s = problem
    words = np.where(y == 1, "fraud", "ok")
    sample = read_sample(words, s, ("ok", "fraud"))
    assert sample.labels == ("ok", "fraud")
    assert sample.n_samples == (60, 20)


def test_a_boundary_is_found_as_find_boundary_finds_it(problem):
    for claims in ({}, {"curve": "support"}, {"rule": "minimax"}):
        assert settle_boundary(*problem, **claims)[0] == find_boundary(*problem, **claims)


def test_a_boundary_that_needs_a_second_look_warns_where_the_caller_stands(problem):
    def show():
        return settle_boundary(problem[0], -problem[1])

    with pytest.warns(BoundaryWarning) as seen:
        show()
    assert seen[0].filename == __file__


def test_words_need_a_positive_class_where_the_rule_minds(problem):
    y, s = problem
    words = np.where(y == 1, "sick", "well")
    with pytest.raises(InvalidInputError, match="`pos_label` must name the positive class"):
        settle_boundary(words, s, rule="cost")


def test_only_the_papers_method_has_a_bar_and_gives_points_up(problem):
    sample = ScoreSample.from_labels(*problem)
    paper = find_boundary(*problem, curve="support")
    lanes = make_lanes(paper, class_scores(sample))
    assert [int(np.sum(~lane.solid)) for lane in lanes] == list(paper.geometry.slack)
    assert name_marks(paper, sample.n_samples) == ("kept", "given up")
    assert name_marks(paper, (5, 5)) == ("within the support", "outside the support")
    other = find_boundary(*problem)
    lanes = make_lanes(other, class_scores(sample))
    assert [int(np.sum(~lane.solid)) for lane in lanes] == list(other.wrong)
    assert [lane.bar for lane in lanes] == [None, None]

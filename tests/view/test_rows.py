import numpy as np
import pytest

from boundshift import BoundaryWarning, InvalidInputError
from boundshift._view import settle_boundary
from tests.problems import two_normals


def test_a_boundary_that_needs_a_second_look_warns_where_the_caller_stands():
    y, s = two_normals(60, 20, 1.5)

    def show():
        return settle_boundary(y, -s)

    with pytest.warns(BoundaryWarning) as seen:
        show()
    assert seen[0].filename == __file__


def test_words_need_a_positive_class_where_the_rule_is_not_symmetric():
    y, s = two_normals(60, 20, 1.5)
    words = np.where(y == 1, "sick", "well")
    with pytest.raises(InvalidInputError, match="`pos_label` must name the positive class"):
        settle_boundary(words, s, rule="cost")

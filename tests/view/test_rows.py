import pytest

from boundshift import BoundaryWarning
from boundshift._view import settle_boundary
from tests.problems import two_normals


def test_a_boundary_that_needs_a_second_look_warns_where_the_caller_stands():
    y, s = two_normals(60, 20, 1.5)

    def show():
        return settle_boundary(y, -s)

    with pytest.warns(BoundaryWarning) as seen:
        show()
    assert seen[0].filename == __file__

"""Problems of two and of three classes, drawn by each file's own `draw`."""

import pytest


@pytest.fixture(scope="module", params=[2, 3])
def problem(request):
    return request.module.draw(request.param)


@pytest.fixture(scope="module")
def two(request):
    return request.module.draw(2)

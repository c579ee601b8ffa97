import numpy as np
import pytest

from boundshift.search import gaps


@pytest.mark.parametrize("twin", [None, 0, 1, 2, 3, 7])
def test_twins_are_seen_within_blocks_and_across_them(monkeypatch, twin) -> None:
    monkeypatch.setattr(gaps, "_BLOCK", 3)
    scores = np.arange(9.0)
    if twin is not None:
        scores[twin + 1] = scores[twin]
    assert gaps._rise(scores) is (twin is None)


def test_a_single_score_has_no_twin() -> None:
    assert gaps._rise(np.array([1.0]))

import numpy as np
import pytest
from scipy import stats

from boundshift import InvalidInputError, rows_needed
from boundshift.promises.certificate import certify_counts


def shows(k: int, n: int, bound: float, chosen_here: bool) -> bool:
    certificate = certify_counts((k, 0), (n, 1), (0, 1), chosen_here=chosen_here)
    return certificate.error_bounds[0] <= bound


@pytest.mark.parametrize("chosen_here", [False, True])
@pytest.mark.parametrize(("bound", "share"), [(0.1, 0.0), (0.1, 0.04), (0.05, 0.02), (0.3, 0.2)])
def test_it_is_the_first_number_of_rows_that_does(
    bound: float, share: float, chosen_here: bool
) -> None:
    found = rows_needed(bound, wrong_share=share, chosen_here=chosen_here)
    enough = (
        n for n in range(1, 10_000) if shows(int(np.ceil(share * n - 1e-9)), n, bound, chosen_here)
    )
    assert found == next(enough)


@pytest.mark.parametrize(("share", "chance"), [(0.05, 0.8), (0.02, 0.9), (0.0, 0.5)])
def test_the_certificate_comes_out_as_often_as_asked(share: float, chance: float) -> None:
    def probability(n: int) -> float:
        good = [stats.binom.pmf(k, n, share) for k in range(n + 1) if shows(k, n, 0.1, False)]
        return sum(good)

    found = rows_needed(0.1, wrong_share=share, chance=chance)
    assert probability(found) >= chance
    assert all(probability(n) < chance for n in range(max(1, found - 40), found))


def test_a_floor_of_nine_tenths_needs_twenty_nine_rows() -> None:
    assert rows_needed(0.1) == int(np.ceil(np.log(0.05) / np.log(0.9)))


@pytest.mark.parametrize("share", [-0.1, 0.1, 0.2])
def test_more_errors_than_the_bound_show_nothing(share: float) -> None:
    with pytest.raises(InvalidInputError, match="`wrong_share` must be at least 0 and below"):
        rows_needed(0.1, wrong_share=share)


def test_a_share_next_to_the_bound_needs_too_many() -> None:
    with pytest.raises(InvalidInputError, match="more than 1,000,000,000 rows"):
        rows_needed(0.1, wrong_share=0.1 - 1e-12)

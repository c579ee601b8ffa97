import numpy as np
import pytest
from scipy import stats

from boundshift import Floors, InvalidInputError, Status, find_boundary, rows_needed
from boundshift._guarantees.certificate import certify_counts
from boundshift.curves._clusters import refutes_counts


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


@pytest.mark.parametrize(
    ("error", "share", "chance"),
    [(0.1, 0.05, 0.8), (0.1, 0.02, 0.9), (0.1, 0.0, 0.5), (0.2, 0.15, 0.8), (0.5, 0.45, 0.3)],
)
def test_from_this_number_of_rows_on_the_certificate_comes_out_as_often_as_asked(
    error: float, share: float, chance: float
) -> None:
    found = rows_needed(error, wrong_share=share, chance=chance)
    n = np.arange(1, 2 * found)
    allowed = stats.binom.ppf(0.05, n, error)
    allowed -= stats.binom.cdf(allowed, n, error) > 0.05
    power = stats.binom.cdf(allowed, n, share)
    assert found == n[np.flatnonzero(power < chance)[-1]] + 1


@pytest.mark.parametrize("options", [{"chosen_here": True}, {"clustered": True}])
def test_the_power_of_other_certificates_stays_as_large_as_asked(options) -> None:
    found = rows_needed(0.3, wrong_share=0.15, chance=0.8, **options)

    def power(n: int) -> float:
        if "clustered" in options:
            shown = [k for k in range(n) if refutes_counts(k, n, 0.3, 0.05)]
        else:
            shown = [k for k in range(n) if shows(k, n, 0.3, True)]
        return float(stats.binom.pmf(shown, n, 0.15).sum())

    assert power(found - 1) < 0.8
    assert min(power(n) for n in range(found, found + 15)) >= 0.8


@pytest.mark.parametrize(
    "rule",
    [
        Floors(recall=0.9),
        Floors(specificity=0.8, recall=0.9, confidence=0.9),
        Floors(precision=0.8),
        Floors(npv=0.7, precision=0.7),
        Floors(flagged=0.8, confidence=0.95),
        Floors(precision=0.5, prevalence=0.2),
        Floors(npv=0.95, prevalence=0.3),
        Floors(flagged=0.2, prevalence=0.1, confidence=0.95),
        Floors(recall=0.8, flagged=0.6),
        Floors(recall=0.8, flagged=0.3, prevalence=0.1, confidence=0.8),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_it_is_the_first_number_of_rows_of_each_class_that_can_keep_floors(rule) -> None:
    found = rows_needed(rule)

    def is_kept(n: int) -> bool:
        y = np.repeat([0, 1], n)
        s = np.concatenate([np.linspace(0, 1, n), np.linspace(2, 3, n)])
        return find_boundary(y, s, rule=rule).status is not Status.UNMET

    assert is_kept(found)
    assert not any(is_kept(n) for n in range(2, found))


def test_a_rare_class_takes_more_rows_for_the_same_precision() -> None:
    found = [rows_needed(Floors(precision=0.5, prevalence=p)) for p in (0.5, 0.1, 0.01)]
    # With none of n wrong no bound for one threshold is below 1 - (delta / 2) ** (1 / n).
    needed = [np.log(0.025) / np.log1p(-p / (1 - p)) for p in (0.1, 0.01)]
    assert found == sorted(found)
    assert found[1] >= needed[0]
    assert found[2] >= needed[1]


@pytest.mark.parametrize(
    ("error", "options", "message"),
    [
        *((0.1, {"wrong_share": s}, "`wrong_share` must be") for s in (-0.1, 0.1, 0.2, "few")),
        (0.1, {"wrong_share": 0.1 - 1e-12}, "more than 1,000,000,000 rows"),
        (0.1, {"clustered": True, "chosen_here": True}, "threshold fixed before"),
        (Floors(precision=0.5), {"confidence": 0.9}, "floors that are guaranteed, alone"),
        (Floors(precision=0.5), {"chosen_here": True}, "floors that are guaranteed, alone"),
        (Floors(flagged=0.1), {}, "floors that are guaranteed, alone"),
        (Floors(recall=0.9, confidence=None), {}, "floors that are guaranteed, alone"),
        (Floors(precision=1.0), {}, "rows of each class can guarantee"),
    ],
)
def test_what_cannot_be_planned_gets_a_sentence(error, options, message) -> None:
    with pytest.raises(InvalidInputError, match=message):
        rows_needed(error, **options)

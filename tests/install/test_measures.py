"""Limits on the symptoms of code that is hard to read; a commit that raises one gives a reason."""

from tests.install.measures import ROOT, long_functions, measure

MOST_TOKENS = 196_350
MOST_TOKENS_IN_TESTS = 227_400
MOST_PARALLEL_PER_1000_LINES = 3.0
MOST_ANY = 250
MOST_LONG_FUNCTIONS = 0


def test_the_package_stays_readable():
    src = measure(ROOT / "src")
    assert src.tokens <= MOST_TOKENS
    assert src.parallel_per_1000_lines <= MOST_PARALLEL_PER_1000_LINES
    assert src.any_types <= MOST_ANY


def test_the_tests_do_not_outgrow_the_package():
    assert measure(ROOT / "tests").tokens <= MOST_TOKENS_IN_TESTS


def test_functions_are_short():
    assert len(list(long_functions(ROOT / "src" / "boundshift"))) <= MOST_LONG_FUNCTIONS

"""A ratchet: the package may shrink, and grows only by a commit that raises these limits."""

from tests.install.size import measure

# The goal is 20,000 lines in 100 files.
MOST_LINES, MOST_FILES = 20_600, 85


def test_the_package_does_not_grow():
    rooms = measure().values()
    assert sum(lines for lines, _ in rooms) <= MOST_LINES
    assert sum(files for _, files in rooms) <= MOST_FILES

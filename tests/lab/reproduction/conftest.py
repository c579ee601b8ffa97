import pytest

from lab.reproduction.cache import ReproductionCache
from lab.reproduction.classifiers import ClassifierOptions

SMALL = ClassifierOptions(
    grid={"C": (1, 100), "gamma": ("scale", 0.01)}, hidden_layers=(8,), max_iter=20
)


@pytest.fixture(scope="session")
def small():
    return SMALL


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    return ReproductionCache(tmp_path_factory.mktemp("scores"), SMALL)

import pytest

from lab.reproduction.problems import PROBLEMS
from lab.reproduction.train import ClassifierOptions, FittedSeed, ReproductionCache, Run

SMALL = ClassifierOptions(
    grid={"C": (1, 100), "gamma": ("scale", 0.01)}, hidden_layers=(8,), max_iter=20
)


@pytest.fixture(scope="session")
def small():
    return SMALL


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    return ReproductionCache(tmp_path_factory.mktemp("scores"), SMALL)


@pytest.fixture(scope="session")
def seed_of(cache):
    """The untouched model's scores on seed 0 of a problem."""

    def make(problem, protocol="honest"):
        scores = cache.make(*cache.training(Run(PROBLEMS[problem], protocol, 0)))
        return FittedSeed({"untouched": scores}, "binary")

    return make

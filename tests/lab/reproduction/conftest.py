import pytest

from lab.reproduction.problems import PROBLEMS
from lab.reproduction.run import Setting
from lab.reproduction.train import ClassifierOptions, FittedSeed, reproduction_cache

SMALL = ClassifierOptions(
    grid={"C": (1, 100), "gamma": ("scale", 0.01)}, hidden_layers=(8,), max_iter=20
)


@pytest.fixture(scope="session")
def small():
    return SMALL


@pytest.fixture(scope="session")
def setting_of(tmp_path_factory):
    """What the seeds of a protocol share, with a small grid."""
    cache = reproduction_cache(tmp_path_factory.mktemp("scores"))
    return lambda protocol="honest": Setting(protocol, "binary", cache, SMALL)


@pytest.fixture(scope="session")
def seed_of(setting_of):
    """The untouched model's scores on seed 0 of a problem."""

    def make(problem, protocol="honest"):
        setting = setting_of(protocol)
        scores = setting.cache.make(*setting.training(PROBLEMS[problem], 0, "untouched"))
        return FittedSeed({"untouched": scores}, "binary")

    return make

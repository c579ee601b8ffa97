from lab.reproduction.cache import Run
from lab.reproduction.fitted import FittedSeed
from lab.reproduction.problems import PROBLEMS


def seed_of(cache, problem, protocol="honest"):
    """The untouched model's scores on seed 0 of a problem."""
    scores = cache.make(Run(PROBLEMS[problem], protocol, 0, "untouched"))
    return FittedSeed({"untouched": scores}, "binary")

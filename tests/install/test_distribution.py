"""What is installed, and what works without the extras."""

import subprocess
import sys
import tomllib
from pathlib import Path

import boundshift
from boundshift import MissingExtraError

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def names(requirements):
    return {r.split(">")[0].split("[")[0] for r in requirements}


def test_core_needs_numpy_scipy_and_scikit_learn_only():
    assert names(PROJECT["dependencies"]) == {"numpy", "scipy", "scikit-learn"}


def test_missing_extra_says_how_to_install_it():
    error = MissingExtraError("matplotlib", "plot")
    assert isinstance(error, ImportError)
    assert str(error).endswith('In a clone of boundshift, run: pip install ".[plot]"')


BARE = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"matplotlib", "pandas", "polars", "pyarrow", "imblearn"}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Missing())
sys.path.insert(0, SOURCE)
import numpy as np
from sklearn.linear_model import LogisticRegression
import boundshift.plots, boundshift.report
from boundshift import BoundShiftClassifier

rng = np.random.default_rng(0)
y = np.repeat([0, 1], [90, 10])
X = rng.normal(size=(100, 2)) + 2 * y[:, None]
print(BoundShiftClassifier(LogisticRegression()).fit(X, y).boundary_.status.name)
"""


def test_core_works_without_any_extra():
    source = repr(str(Path(boundshift.__file__).parents[1]))
    done = subprocess.run(
        [sys.executable, "-c", BARE.replace("SOURCE", source)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "OPTIMAL"

"""What a release uploads: built, checked, and installed into an empty environment."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import boundshift

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MOST_BYTES = 600_000


def run(*command, **options):
    # The environment's own packages only, and none of the source.
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [*map(str, command)], capture_output=True, text=True, env=clean, check=False, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return the wheel and the source distribution."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-d", folder, cwd=ROOT)
    (wheel,) = folder.glob("*.whl")
    (source,) = folder.glob("*.tar.gz")
    return wheel, source


def test_the_index_takes_both(built):
    run(sys.executable, "-m", "twine", "check", "--strict", *built)


def test_the_wheel_is_small_and_of_this_version(built):
    wheel, source = built
    assert wheel.stat().st_size < MOST_BYTES
    assert wheel.name == f"boundshift-{boundshift.__version__}-py3-none-any.whl"
    assert source.name == f"boundshift-{boundshift.__version__}.tar.gz"


def test_every_place_names_the_same_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {boundshift.__version__}\n" in citation


def test_an_empty_environment_runs_the_command_and_the_first_example(built, tmp_path):
    wheel, _ = built
    python = tmp_path / "bin" / "python"
    uv = (sys.executable, "-m", "uv")
    run(*uv, "venv", "--python", sys.executable, "--allow-existing", tmp_path)
    run(*uv, "pip", "install", "--python", python, f"boundshift[cli] @ {wheel.as_uri()}")
    assert "threshold" in run(tmp_path / "bin" / "boundshift", "--help", cwd=tmp_path)
    code, printed = re.search(
        r"^```python\n(.*?)^```\s+```text\n(.*?)^```", README, re.DOTALL | re.MULTILINE
    ).groups()
    assert run(python, "-c", code, cwd=tmp_path) == printed

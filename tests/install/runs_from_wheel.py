"""Asked for by name in ``make test-wheel``: that the tests beside it do not see the source."""

import shutil
import subprocess
from pathlib import Path

import boundshift

ROOT = Path(__file__).parents[2]


def test_the_package_is_not_the_source_s():
    assert not Path(boundshift.__file__).is_relative_to(ROOT / "src")


def test_the_command_is_installed():
    command = shutil.which("boundshift", path=Path(boundshift.__file__).parents[1] / "bin")
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert boundshift.__version__ in done.stdout

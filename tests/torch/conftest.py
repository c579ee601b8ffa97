"""Without PyTorch and skorch the lane is skipped; on a build server it fails."""

import os
from importlib.util import find_spec

import pytest

MISSING = [name for name in ("torch", "skorch") if find_spec(name) is None]


def pytest_pycollect_makemodule(module_path, parent):
    if MISSING and not os.environ.get("CI"):
        pytest.skip(f"{' and '.join(MISSING)} not installed; see `make test-torch`")

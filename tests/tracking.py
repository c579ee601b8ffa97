"""A tracking store of MLflow that a test has for itself."""

from contextlib import contextmanager

import mlflow


@contextmanager
def tracked_in(folder):
    """Let MLflow write into a folder, and no longer afterwards."""
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(f"sqlite:///{folder}/runs.db")
    mlflow.create_experiment("boundshift", artifact_location=(folder / "files").as_uri())
    mlflow.set_experiment("boundshift")
    yield
    mlflow.set_tracking_uri(before)

"""
Training and shifting with Dask
===============================

Rows that never fit one machine: an incremental scikit-learn model learns partition by partition,
Dask scores the rows that it has not seen, and the boundary is found where the scores lie.

Run with ``python examples/dask_incremental.py``; needs the extra ``dask``.
"""

import dask.array as da
import dask.dataframe as dd
import numpy as np
from dask.distributed import Client, LocalCluster
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import balanced_accuracy_score

from boundshift import streaming

ROWS = 400_000
COLUMNS = 8
CHUNK = 50_000


def draw(seed: int) -> tuple[da.Array, da.Array]:
    """Return lazy features and labels, 2% of them positive."""
    random = da.random.default_rng(seed)
    y = (random.random(ROWS, chunks=CHUNK) < 0.02).astype(np.int8)
    X = random.normal(size=(ROWS, COLUMNS), chunks=(CHUNK, COLUMNS)) + 0.8 * y[:, None]
    return X, y


def main() -> None:
    """Train, shift, compare."""
    X_train, y_train = draw(0)
    model = SGDClassifier(loss="log_loss", random_state=0)
    for X_part, y_part in zip(
        X_train.to_delayed().ravel(), y_train.to_delayed().ravel(), strict=True
    ):
        model.partial_fit(X_part.compute(), y_part.compute(), classes=[0, 1])

    X, y = draw(1)  # rows that the model has not seen
    scores = X.map_blocks(model.decision_function, drop_axis=1, dtype=np.float64)
    columns = [y.to_dask_dataframe("label"), scores.to_dask_dataframe("score")]
    boundary = streaming.scan_boundary(dd.concat(columns, axis=1), curve="smoothed")
    print(boundary.summary())

    X_test, y_test = draw(2)
    fresh = X_test.map_blocks(model.decision_function, drop_axis=1, dtype=np.float64)
    decided = fresh.map_blocks(boundary.predict, dtype=y_test.dtype)
    truth, untouched, shifted = da.compute(y_test, fresh > 0, decided)
    print(f"balanced accuracy untouched {balanced_accuracy_score(truth, untouched):.3f}")
    print(f"balanced accuracy shifted   {balanced_accuracy_score(truth, shifted):.3f}")


if __name__ == "__main__":
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster),
    ):
        main()

"""Write files of today's format that later releases must be able to load.

Run once for a version of the format, in this folder: ``python make.py version_4``.
"""

import json
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from boundshift import BoundShiftClassifier, Cost, find_boundary, save


def main(folder: Path) -> None:
    """Store a boundary, a classifier of two classes and a pipeline of three."""
    scores = np.array([0.0, 1.0, 1.0, 2.0, 1.0, 5.0, 6.0])
    boundary = find_boundary(["no"] * 5 + ["yes"] * 2, scores, pos_label="yes")
    save(boundary, folder / "boundary.json")
    X, y = make_classification(200, n_features=4, weights=[0.9], random_state=0)
    rule = Cost(false_negative=20)
    two = BoundShiftClassifier(LogisticRegression(), rule=rule, curve="clopper-pearson").fit(X, y)
    save(two, folder / "two_classes.skops")
    X, y = make_classification(
        300, n_features=4, n_informative=4, n_redundant=0, n_classes=3, weights=[0.7, 0.2],
        class_sep=2.0, random_state=0,
    )  # fmt: skip
    labels = np.array(["a", "b", "c"])[y]
    shifted = BoundShiftClassifier(LogisticRegression())
    three = make_pipeline(StandardScaler(), shifted).fit(X, labels)
    save(three, folder / "three_classes.skops")
    rows = np.random.default_rng(0).normal(size=(20, 4)).round(2)
    expected = {
        "rows": rows.tolist(),
        "scores": scores.tolist(),
        "boundary": boundary.predict(scores).tolist(),
        "two_classes": two.predict(rows).tolist(),
        "three_classes": three.predict(rows).tolist(),
    }
    (folder / "expected.json").write_text(json.dumps(expected) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(__file__).parent / sys.argv[1])

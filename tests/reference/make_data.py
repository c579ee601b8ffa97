"""Make the compact copy of the authors' runs that the tests read.

Run as ``python tests/reference/make_data.py FOLDER`` with the folder that holds the full
``authors_runs.npz`` and ``authors_runs.json``. Only what decides is kept: training scores, labels,
and what the authors' code (commit 0ea30f5) chose on them.
"""

import json
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent / "data"


def main(folder: Path) -> None:
    full = np.load(folder / "authors_runs.npz")
    runs = json.loads((folder / "authors_runs.json").read_text(encoding="utf-8"))
    kept = ("train_scores", "train_y")
    arrays = {name: full[name] for name in full.files if name.split("/")[1] in kept}
    np.savez_compressed(HERE / "authors_runs.npz", **arrays)
    chosen = [{k: run[k] for k in ("dataset", "seed", "binary", "continuous")} for run in runs]
    text = json.dumps(chosen, indent=1)
    (HERE / "authors_runs.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

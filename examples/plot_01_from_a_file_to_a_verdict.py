"""
From a file to a verdict
========================

What ``boundshift fit`` does, in Python: it reads a table with gaps and categories, trains a model,
moves its threshold, and compares methods on rows that decided nothing.
"""

# %%
# A file as a hospital might export it: words for classes, a column of row numbers, gaps.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from boundshift._app.fit import fit_table
from boundshift._app.folder import report_facts
from boundshift._app.tables import read_frame
from boundshift.datasets._bundled import load_table

table = load_table("hepatitis")
table.insert(0, "patient", np.arange(len(table)))
table.loc[::9, table.columns[1]] = None
path = Path(tempfile.mkdtemp()) / "hepatitis.csv"
table.to_csv(path, index=False)

# %%
# Three rows in ten are kept apart, decide nothing, and certify the result.
fitted = fit_table(read_frame(path), "target", model="forest")
for note in fitted.notes:
    print(note)
print(report_facts(fitted, "out", {"case_name": "patients"})["verdict"]["sentence"])
print(fitted.certificate)

# %%
figure, ax = plt.subplots(layout="constrained")
for metric, mark in (("g_mean", "o"), ("recall_positive", ">"), ("recall_negative", "<")):
    ax.plot(
        [row[metric] for row in fitted.comparison],
        [row["method"] for row in fitted.comparison],
        mark,
        label=metric,
    )
ax.grid(axis="y")
legend = ax.legend()

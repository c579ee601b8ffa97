"""
Compare with baselines
======================

The same classifier untouched, shifted, with a tuned threshold, with SMOTE and with class weights,
over repeated splits of the heart disease data.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from imblearn.over_sampling import SMOTE
from imblearn.pipeline import make_pipeline as make_resampling_pipeline
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from boundshift import BoundShiftClassifier
from boundshift.datasets import load_heart
from boundshift.metrics import binary_metrics

X, y = load_heart(return_X_y=True)
model = make_pipeline(StandardScaler(), LogisticRegression())
balanced = LogisticRegression(class_weight="balanced")
methods = {
    "untouched": model,
    "boundshift": BoundShiftClassifier(model),
    "boundshift, minimax": BoundShiftClassifier(model, rule="minimax"),
    "tuned threshold": TunedThresholdClassifierCV(model, scoring="balanced_accuracy"),
    "SMOTE": make_resampling_pipeline(
        StandardScaler(), SMOTE(random_state=0), LogisticRegression()
    ),
    "class weights": make_pipeline(StandardScaler(), balanced),
}

# %%
# Every split counts; nothing is picked.
results = {name: [] for name in methods}
for train, test in StratifiedShuffleSplit(5, test_size=0.5, random_state=0).split(X, y):
    for name, method in methods.items():
        predicted = method.fit(X[train], y[train]).predict(X[test])
        results[name].append(binary_metrics(y[test], predicted))

rows = [
    {"method": name} | {metric: float(np.mean([run[metric] for run in runs])) for metric in runs[0]}
    for name, runs in results.items()
]
for row in sorted(rows, key=lambda row: -row["g_mean"]):
    print(f"{row['method']:20} G-mean {row['g_mean']:.3f}, F1 {row['f1']:.3f}")

# %%
figure, ax = plt.subplots(layout="constrained")
for metric, mark in (("g_mean", "o"), ("recall_positive", ">"), ("recall_negative", "<")):
    ax.plot([row[metric] for row in rows], [row["method"] for row in rows], mark, label=metric)
ax.grid(axis="y")
legend = ax.legend()

"""
Is it better than SMOTE or class weights?
=========================================

In this example, slightly: boundshift has a higher G-mean and recall at about the same F1. The gains
are small, and all methods find more positives than the model alone. SMOTE and class weights also
change the model, so its probabilities are no longer those of the population. The data are patients
of a clinic, 23% of whom have severe heart disease.
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
    "model alone": model,
    "boundshift": BoundShiftClassifier(model),
    "boundshift, minimax": BoundShiftClassifier(model, rule="minimax"),
    "tuned threshold": TunedThresholdClassifierCV(model, scoring="balanced_accuracy"),
    "SMOTE": make_resampling_pipeline(
        StandardScaler(), SMOTE(random_state=0), LogisticRegression()
    ),
    "class weights": make_pipeline(StandardScaler(), balanced),
}

# %%
# Ten random splits, half of the rows for training and half for testing.
results = {name: [] for name in methods}
for train, test in StratifiedShuffleSplit(10, test_size=0.5, random_state=0).split(X, y):
    for name, method in methods.items():
        predicted = method.fit(X[train], y[train]).predict(X[test])
        metrics = binary_metrics(y[test], predicted)
        results[name].append([metrics[metric] for metric in ("g_mean", "f1", "recall_positive")])

means = {name: np.mean(values, axis=0) for name, values in results.items()}
ranked = sorted(methods, key=lambda name: means[name][0])
for name in reversed(ranked):
    g_mean, f1, recall = means[name]
    print(f"{name:20} G-mean {g_mean:.2f}, F1 {f1:.2f}, recall {recall:.2f}")

# %%
figure, ax = plt.subplots(layout="constrained")
for i, (title, mark) in enumerate((("G-mean", "o"), ("F1", "s"), ("recall", "^"))):
    values = [np.array(results[name])[:, i] for name in ranked]
    errors = [value.std(ddof=1) / np.sqrt(len(value)) for value in values]
    center = [value.mean() for value in values]
    ax.errorbar(center, ranked, xerr=errors, fmt=mark, capsize=3, label=title)
ax.set_xlabel("mean of ten splits, with standard errors")
ax.grid(axis="y", alpha=0.3)
legend = ax.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))

"""
When does moving the threshold help?
====================================

Above all if there are few positive rows. Here gradient boosting learns from 250 healthy women and 5
to 200 women with diabetes. With few of them, the model alone finds almost nobody. scikit-learn's
``TunedThresholdClassifierCV`` helps, and boundshift helps more. With 200 of them, all three are
nearly equal. The lead depends on the model: for a logistic regression it is smaller.
"""

# %%
# Each point is the mean over ten random splits of the Pima data, with its standard error. The
# measure is the G-mean (the geometric mean of recall and specificity) on women who are not in the
# training set.
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV

from boundshift import BoundaryWarning, BoundShiftClassifier
from boundshift.datasets import load_pima
from boundshift.metrics import geometric_mean_score

X, y = load_pima(return_X_y=True)
model = HistGradientBoostingClassifier(max_iter=50, random_state=0)
methods = {
    "boundshift": BoundShiftClassifier(model),
    "scikit-learn, tuned for the G-mean": TunedThresholdClassifierCV(
        model, scoring=make_scorer(geometric_mean_score)
    ),
    "model alone": model,
}
counts = [5, 10, 20, 50, 200]
n_splits = 10

# %%
# With 5 women, boundshift warns that the scores may be no better than chance.
warnings.simplefilter("ignore", BoundaryWarning)
quality = {name: np.empty((len(counts), n_splits)) for name in methods}
for split in range(n_splits):
    rng = np.random.default_rng(split)
    healthy = rng.permutation(np.flatnonzero(y == 0))
    ill = rng.permutation(np.flatnonzero(y == 1))
    test = np.concatenate([healthy[250:], ill[200:]])
    for i, count in enumerate(counts):
        train = np.concatenate([healthy[:250], ill[:count]])
        for name, method in methods.items():
            predicted = method.fit(X[train], y[train]).predict(X[test])
            quality[name][i, split] = geometric_mean_score(y[test], predicted)

for name, values in quality.items():
    print(f"{name:35}", *(f"{mean:.2f}" for mean in values.mean(axis=1)))

# %%
figure, ax = plt.subplots(layout="constrained")
styles = ("o-", "#D55E00"), ("s--", "#0072B2"), ("^:", "0.45")
for (name, values), (line, colour) in zip(quality.items(), styles, strict=True):
    error = values.std(axis=1, ddof=1) / np.sqrt(n_splits)
    ax.errorbar(counts, values.mean(axis=1), error, fmt=line, color=colour, capsize=3, label=name)
ax.set(xscale="log", ylim=(0, 0.85), xlabel="women with diabetes to learn from", ylabel="G-mean")
ax.set_xticks(counts, counts)
ax.minorticks_off()
ax.grid(axis="y", alpha=0.3)
legend = ax.legend(loc="lower right")

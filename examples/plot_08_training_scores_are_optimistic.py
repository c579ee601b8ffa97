"""
Why not choose the threshold on the training rows?
==================================================

Boosted trees memorise their training rows. On these rows, their scores separate the classes
perfectly, and every threshold in the gap looks perfect. Scores of rows that were left out of
training overlap, like those of new rows. boundshift therefore uses out-of-fold scores by default.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import cross_val_predict, train_test_split

from boundshift import find_boundary
from boundshift.datasets import load_pima
from boundshift.metrics import binary_metrics

X, y = load_pima(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
model = HistGradientBoostingClassifier(max_iter=100, random_state=0).fit(X_train, y_train)
scores = {
    "training": model.decision_function(X_train),
    "out-of-fold": cross_val_predict(model, X_train, y_train, cv=5, method="decision_function"),
}
test_scores = model.decision_function(X_test)

# %%
# Choose a threshold on each kind of scores, and compare both on test rows.
boundaries = {name: find_boundary(y_train, s) for name, s in scores.items()}
for name, boundary in boundaries.items():
    metrics = binary_metrics(y_test, test_scores > boundary.threshold)
    print(f"{name:12} threshold {boundary.threshold:5.2f}, G-mean {metrics['g_mean']:.3f}")

# %%
figure, axes = plt.subplots(3, sharex=True, layout="constrained", figsize=(6.4, 6.0))
rows = [*((y_train, s, f"{name} scores") for name, s in scores.items())]
for ax, (labels, s, title) in zip(axes, [*rows, (y_test, test_scores, "test scores")], strict=True):
    for label, colour in ((0, "#0072B2"), (1, "#D55E00")):
        ax.hist(s[labels == label], bins=40, density=True, alpha=0.6, color=colour)
    for (name, boundary), style in zip(boundaries.items(), (":", "-"), strict=True):
        text = f"threshold from {name} scores"
        ax.axvline(boundary.threshold, color="black", linestyle=style, label=text)
    ax.set(title=title, yticks=[])
axes[0].legend(loc="upper left")
label = axes[-1].set_xlabel("score (blue: healthy, orange: diabetes)")

"""
What errors cost
================

If a miss costs as much as twenty false alarms, say so. The rule then minimises the expected cost of
a decision.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import cross_val_predict, train_test_split

from boundshift import Cost, find_boundary

X, y = make_classification(5000, weights=[0.9], n_informative=4, flip_y=0.02, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
model = HistGradientBoostingClassifier(max_iter=50, random_state=0)
scores = cross_val_predict(model, X_train, y_train, cv=3, method="decision_function")
test_scores = model.fit(X_train, y_train).decision_function(X_test)

# %%
# One search for each cost; the model is trained once.
prices = np.array([1, 2, 5, 10, 20, 50, 100])


def cost(threshold, price):
    """Mean cost of a decision on the test rows."""
    called = test_scores > threshold
    return np.mean(called & (y_test == 0)) + price * np.mean(~called & (y_test == 1))


moved = []
own = []
for price in prices:
    boundary = find_boundary(y_train, scores, curve="smoothed", rule=Cost(false_negative=price))
    moved.append(cost(boundary.threshold, price))
    own.append(cost(0.0, price))
    print(f"a miss costs {price:3}: threshold {boundary.threshold:6.2f}")

# %%
figure, ax = plt.subplots(layout="constrained")
ax.loglog(prices, own, "o-", label="the model's own boundary")
ax.loglog(prices, moved, "s-", label="boundary for that cost")
ax.set(
    xlabel="cost of a miss, in false alarms",
    ylabel="mean cost of a decision on fresh rows",
    title="Gradient boosting, one row in ten positive",
)
legend = ax.legend()

"""
What if a miss costs more than a false alarm?
=============================================

State the costs. ``Cost(false_negative=20)`` means that a miss costs as much as 20 false alarms, and
boundshift returns the threshold with the lowest expected cost. The more a miss costs, the more you
save compared with the model's own threshold. The model is trained only once.
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
# Choose one threshold for each cost.
prices = np.array([1, 2, 5, 10, 20, 50])


def cost(threshold, price):
    """Return the mean cost of a test row."""
    called = test_scores > threshold
    return np.mean(called & (y_test == 0)) + price * np.mean(~called & (y_test == 1))


moved = []
own = []
for price in prices:
    boundary = find_boundary(y_train, scores, rule=Cost(false_negative=price))
    moved.append(cost(boundary.threshold, price))
    own.append(cost(0.0, price))
    print(f"a miss costs {price:3}: threshold {boundary.threshold:6.2f}")

# %%
figure, ax = plt.subplots(layout="constrained")
ax.plot(prices, own, "o--", color="0.45", label="the model's own threshold")
ax.plot(prices, moved, "s-", color="#D55E00", label="threshold for this cost")
ax.fill_between(prices, moved, own, color="#D55E00", alpha=0.12, label="saved")
ax.set(
    xlabel="cost of a miss, in false alarms",
    ylabel="mean cost of a test row, in false alarms",
    title="Gradient boosting, one row in ten positive",
)
legend = ax.legend()

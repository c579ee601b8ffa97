"""
Is the model worth using?
=========================

Yes, if its decisions cost less than flagging everybody and less than flagging nobody, on rows that
it has not seen. In the figure, everybody is flagged at the left end and nobody at the right end. At
the new threshold, the model costs less than both. At its own threshold of 0.5, it would cost more
than flagging everybody.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from boundshift import BoundShiftClassifier, Cost, metrics_at
from boundshift.datasets import load_pima
from boundshift.plots import ThresholdDisplay

X, y = load_pima(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)

# %%
# A miss costs as much as four false alarms. One half of the rows chooses the threshold, and the
# other half tests it.
costs = Cost(false_positive=1, false_negative=4)
shifted = BoundShiftClassifier(model, rule=costs).fit(X_train, y_train)
scores = shifted.positive_scores(X_test)
for name, threshold in (("own threshold", 0.5), ("shifted", shifted.boundary_.threshold)):
    at = metrics_at(y_test, scores, [threshold], costs=costs)
    print(f"{name}: net benefit {at['net_benefit'][0]:.3f}, cost a row {at['cost'][0]:.3f}")

# %%
# The band holds the true cost with 95% confidence at each threshold.
figure, ax = plt.subplots(layout="constrained")
display = ThresholdDisplay.metrics(
    y_test, scores, boundary=shifted.boundary_, metrics="cost", old_threshold=0.5, ax=ax
)
ax.set(ylabel="mean cost of a row, in false alarms")
title = ax.set_title("At the new threshold, the model costs least")

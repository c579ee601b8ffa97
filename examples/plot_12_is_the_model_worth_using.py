"""
Is the model worth using?
=========================

A model is worth using if its decisions cost less than flagging everybody and less than flagging
nobody. Both are counted on rows that the model has not seen.
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
# Here a miss costs as much as four false alarms. The threshold is chosen on the training half and
# judged on the other one.
costs = Cost(false_positive=1, false_negative=4)
shifted = BoundShiftClassifier(model, rule=costs).fit(X_train, y_train)
scores = shifted.positive_scores(X_test)
for name, threshold in (("own threshold", 0.5), ("shifted", shifted.boundary_.threshold)):
    at = metrics_at(y_test, scores, [threshold], costs=costs)
    print(f"{name}: net benefit {at['net_benefit'][0]:.3f}, cost a row {at['cost'][0]:.3f}")

# %%
# Far left every row is flagged, far right none is. Where the curve lies below both of its ends, the
# model is worth using.
figure, ax = plt.subplots(layout="constrained")
display = ThresholdDisplay.metrics(
    y_test, scores, boundary=shifted.boundary_, metrics="cost", old_threshold=0.5, ax=ax
)
title = ax.set_title("Worth using where it costs less than at both ends")

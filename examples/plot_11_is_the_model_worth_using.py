"""
Is the model worth using?
=========================

A decision curve asks what a model is good for: the hits it brings, less the false alarms at their
price, beside flagging everybody and flagging nobody. It is drawn on rows that the model has not
seen.
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
# Where the price is known, one boundary has the least cost. Here a miss costs as much as four false
# alarms; the boundary is set on the training half and judged on the other one.
costs = Cost(false_positive=1, false_negative=4)
shifted = BoundShiftClassifier(model, rule=costs).fit(X_train, y_train)
scores = shifted.positive_scores(X_test)
for name, threshold in (("own threshold", 0.0), ("shifted", shifted.boundary_.threshold)):
    at = metrics_at(y_test, scores, [threshold], costs=costs)
    print(f"{name}: net benefit {at['net_benefit'][0]:.3f}, cost a row {at['cost'][0]:.3f}")

# %%
# Who would act from a probability of 0.2 on holds a miss to be as bad as four false alarms, so each
# place on the axis is one such price. Where the curve lies above both "flag all" and "flag none",
# the model is worth using at that price.
figure, ax = plt.subplots(layout="constrained")
probability = model.predict_proba(X_test)[:, 1]
display = ThresholdDisplay.decision_curve(y_test, probability, limits=(0.02, 0.7), ax=ax)
title = ax.set_title("Worth using where it lies above both alternatives")

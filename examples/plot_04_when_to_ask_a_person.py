"""
Which cases should a person decide?
===================================

Those between two limits. ``find_zone`` returns a lower and an upper limit, such that at most 10% of
each class are decided wrongly without a person, with 95% confidence for each limit. The fewer
errors you allow, the more cases a person has to decide.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from boundshift import find_zone
from boundshift.datasets import load_pima

X, y = load_pima(return_X_y=True)
X_train, X_held, y_train, y_held = train_test_split(X, y, test_size=0.6, stratify=y, random_state=0)
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
scores = model.decision_function(X_held)  # of rows that the model has not seen

zone = find_zone(y_held, scores, errors=(0.1, 0.1))
print(zone)

# %%
# Rows in the zone get a word of your choice instead of a label.
print(zone.predict([-4.0, 0.0, 4.0], unsure="ask"))

# %%
# Repeat this for other limits.
allowed = np.linspace(0.02, 0.3, 29)
zones = [find_zone(y_held, scores, errors=(share, share)) for share in allowed]
unsure = np.array([each.is_unsure(scores).mean() for each in zones])

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
bins = np.linspace(scores.min(), scores.max(), 40)
for label, name, colour in ((0, "healthy", "#0072B2"), (1, "diabetes", "#D55E00")):
    mine = scores[y_held == label]
    left.hist(mine, bins, alpha=0.6, density=True, color=colour, label=name)
left.axvspan(zone.low, zone.high, color="0.5", alpha=0.3, lw=0, label="a person decides")
left.set(xlabel="score", ylabel="density", title="At most 10% wrong decisions in each class")
left.legend()
right.plot(100 * allowed, 100 * unsure, color="0.2")
right.set(xlabel="wrong decisions allowed (%)", ylabel="cases that a person decides (%)", ylim=0)
title = right.set_title("Fewer errors, more work")

"""
When to ask a person
====================

One threshold decides every case, also the doubtful ones. An unsure zone has two limits: of each
class, at most a stated share ends up on the wrong side. A person decides the cases between them.
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
# A row gets a label, or another word if a person must decide.
print(zone.predict([-4.0, 0.0, 4.0], unsure="ask"))

# %%
# The fewer errors are allowed, the more rows are left to a person.
allowed = np.linspace(0.02, 0.3, 29)
zones = [find_zone(y_held, scores, errors=(share, share)) for share in allowed]
unsure = np.array([each.is_unsure(scores).mean() for each in zones])

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
bins = np.linspace(scores.min(), scores.max(), 40)
for label, name in ((0, "healthy"), (1, "diabetes")):
    left.hist(scores[y_held == label], bins, alpha=0.6, density=True, label=name)
left.axvspan(zone.low, zone.high, color="gray", alpha=0.3, label="ask a person")
left.set(xlabel="score", ylabel="density", title="At most 10% of each class on the wrong side")
left.legend()
right.plot(allowed, unsure)
right.set(xlabel="errors allowed in each class", ylabel="share of rows left to a person")
title = right.set_title("Fewer errors, more questions")

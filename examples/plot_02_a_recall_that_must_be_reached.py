"""
A recall that must be reached
=============================

"Find at least nine of ten malignant tumours." A floor is a promise: with 95% confidence, the recall
on fresh rows is at least that high. Of all thresholds that keep it, the best for both classes is
taken.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import recall_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from boundshift import BoundShiftClassifier, Floors
from boundshift.datasets import load_breast_cancer

X, y = load_breast_cancer(return_X_y=True)
X = X[:, :2]  # two features only: with all thirty hardly anything is left to decide
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

# %%
# The higher the floor, the more benign cases are called malignant.
floors = np.array([0.6, 0.7, 0.8, 0.9, 0.95])
recall = []
specificity = []
for floor in floors:
    shifted = BoundShiftClassifier(
        make_pipeline(StandardScaler(), LogisticRegression()),
        rule=Floors(recall=floor),
    ).fit(X_train, y_train)
    benign, malignant = recall_score(y_test, shifted.predict(X_test), average=None)
    recall.append(malignant)
    specificity.append(benign)
    status = shifted.boundary_.status.name
    print(f"floor {floor:.2f}: recall {malignant:.0%}, specificity {benign:.0%}, {status}")

# %%
figure, ax = plt.subplots(layout="constrained")
ax.plot(floors, floors, "--", color="0.5", label="what was asked for")
ax.plot(floors, recall, "o-", label="recall on fresh rows")
ax.plot(floors, specificity, "s-", label="specificity on fresh rows")
ax.set(xlabel="recall floor", ylabel="share of the class", title="A floor, and its price")
legend = ax.legend()

"""
How do I guarantee a recall?
============================

Pass a floor. ``Floors(recall=0.9)`` guarantees with 95% confidence that at least 90% of malignant
tumours are found among new patients. Of all thresholds that meet the floor, boundshift returns the
best for both classes. The price of a high floor is that more benign tumours are flagged.
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
# ``fit`` holds out a part of the training rows, and only these rows choose the threshold.
floors = np.array([0.6, 0.7, 0.8, 0.9, 0.95])
recall = []
specificity = []
for floor in floors:
    shifted = BoundShiftClassifier(
        make_pipeline(StandardScaler(), LogisticRegression()),
        rule=Floors(recall=floor),
        random_state=0,
    ).fit(X_train, y_train)
    benign, malignant = recall_score(y_test, shifted.predict(X_test), average=None)
    recall.append(malignant)
    specificity.append(benign)
    status = shifted.boundary_.status.name
    print(f"floor {floor:.2f}: recall {malignant:.0%}, specificity {benign:.0%}, {status}")

# %%
figure, ax = plt.subplots(layout="constrained")
ax.plot(floors, recall, "o-", color="#D55E00", label="recall")
ax.plot(floors, floors, "--", color="0.5", label="recall floor")
ax.plot(floors, specificity, "s-", color="#0072B2", label="specificity")
ax.set(xlabel="recall floor", ylabel="rate on test rows", title="A higher floor costs specificity")
legend = ax.legend()

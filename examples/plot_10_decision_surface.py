"""
The surface before and after
============================

Two features of the Pima data, and a logistic regression on their powers, whose boundary is curved.
The shift moves the boundary along the score: another contour of the same surface.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from boundshift import BoundShiftClassifier
from boundshift.datasets import load_pima

frame = load_pima(as_frame=True).frame
frame = frame[(frame["Glucose"] > 0) & (frame["BMI"] > 0)]
rare = np.r_[np.flatnonzero(frame["target"] == 0), np.flatnonzero(frame["target"] == 1)[:60]]
X = frame.iloc[rare][["Glucose", "BMI"]]
y = frame.iloc[rare]["target"]

model = make_pipeline(StandardScaler(), PolynomialFeatures(3), LogisticRegression())
shifted = BoundShiftClassifier(model).fit(X, y)
print(shifted.boundary_.summary())

# %%
figure, axes = plt.subplots(1, 2, figsize=(9, 4.5), sharey=True, layout="constrained")
for ax, title, decides in zip(axes, ("before", "after"), (model.fit(X, y), shifted), strict=True):
    DecisionBoundaryDisplay.from_estimator(
        decides, X, response_method="predict", cmap="coolwarm", alpha=0.3, ax=ax
    )
    ax.scatter(*X.to_numpy().T, c=y, cmap="coolwarm", s=8)
    missed = int((decides.predict(X)[y == 1] == 0).sum())
    ax.set_title(f"{title}: {missed} of {int(y.sum())} missed")

"""
The surface before and after
============================

Two features of the Pima data, and a logistic regression on their powers, whose boundary is curved.
The shift moves the boundary along the score: another contour of the same surface.
"""

# %%
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from boundshift import BoundShiftClassifier
from boundshift.datasets import load_pima
from boundshift.plots import DecisionDisplay

frame = load_pima(as_frame=True).frame
frame = frame[(frame["Glucose"] > 0) & (frame["BMI"] > 0)]
rare = np.r_[np.flatnonzero(frame["target"] == 0), np.flatnonzero(frame["target"] == 1)[:60]]
X, y = frame.iloc[rare][["Glucose", "BMI"]], frame.iloc[rare]["target"]

model = make_pipeline(StandardScaler(), PolynomialFeatures(3), LogisticRegression())
shifted = BoundShiftClassifier(model).fit(X, y)
print(shifted.boundary_.summary())

# %%
display = DecisionDisplay.from_estimator(shifted, X, y)

"""
How the threshold is chosen, and how sure it is
===============================================

For every threshold each class has an error, and the rule makes one number of the two. Other rows of
the same kind would have given another threshold: the interval says how far away.
"""

# %%
# Scores of rows left out of training, as in cross-validation.
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from boundshift import find_boundary, threshold_interval
from boundshift.datasets import load_pima
from boundshift.plots import ThresholdDisplay

X, y = load_pima(return_X_y=True)
model = make_pipeline(StandardScaler(), LogisticRegression())
scores = cross_val_predict(model, X, y, cv=5, method="decision_function")

boundary = find_boundary(y, scores)
interval = threshold_interval(y, scores, n_resamples=100, random_state=0)
print(f"threshold {boundary.threshold:.2f}, between {interval[0]:.2f} and {interval[1]:.2f}")
print(boundary.status.message)

# %%
# Errors of both classes with a band of their own uncertainty, the rule below, the chosen point.
display = ThresholdDisplay.from_predictions(
    y, scores, boundary=boundary, old_threshold=0.0, interval=interval
)

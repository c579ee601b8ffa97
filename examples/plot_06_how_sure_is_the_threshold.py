"""
How certain is the threshold?
=============================

Another sample of the same size would give another threshold. ``threshold_interval`` estimates how
far away it would be, and ``ThresholdDisplay`` draws it. Here the G-mean is flat around the
threshold: every threshold in the interval is almost as good.
"""

# %%
# Choose the threshold on out-of-fold scores.
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
# The upper panel shows both error rates with 95% bands, and the lower panel the estimated G-mean.
display = ThresholdDisplay.from_predictions(
    y, scores, boundary=boundary, old_threshold=0.0, interval=interval
)

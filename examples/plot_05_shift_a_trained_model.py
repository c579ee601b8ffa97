"""
Shift a trained model
=====================

A model trained on few diabetics has a low recall. Rows that it has not seen move its threshold; the
model itself stays as it is.
"""

# %%
# The Pima data with few diabetics: 250 rows without and 50 with diabetes are ours; the rest judges.
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import recall_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from boundshift import BoundShiftClassifier
from boundshift.datasets import load_pima
from boundshift.plots import ProjectionDisplay

X, y = load_pima(return_X_y=True)
rows = np.r_[np.flatnonzero(y == 0)[:250], np.flatnonzero(y == 1)[:50]]
X_rare = X[rows]
y_rare = y[rows]
rest = np.setdiff1d(np.arange(len(y)), rows)
X_test = X[rest]
y_test = y[rest]

# %%
# Half of the rows train the model, the other half moves its boundary.
X_train, X_held, y_train, y_held = train_test_split(
    X_rare, y_rare, test_size=0.5, stratify=y_rare, random_state=0
)
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
shifted = BoundShiftClassifier(model, cv="prefit").fit(X_held, y_held)

for name, which in (("untouched", model), ("shifted", shifted)):
    healthy, diabetic = recall_score(y_test, which.predict(X_test), average=None)
    print(f"{name:10} recall {diabetic:.0%}, specificity {healthy:.0%}")

# %%
# Every row by its score; rows on the wrong side of the new boundary are hollow.
display = ProjectionDisplay.from_estimator(shifted, X_held, y_held)

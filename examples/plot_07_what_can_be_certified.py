"""
What can be certified
=====================

Few rows can promise little, however good the model looks. A certificate bounds the error rate of
each class with a stated confidence, from rows that the model has not seen.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from boundshift import BoundShiftClassifier, certify
from boundshift.datasets import load_breast_cancer

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.6, stratify=y, random_state=0)
model = make_pipeline(StandardScaler(), LogisticRegression())
shifted = BoundShiftClassifier(model).fit(X_train, y_train)
scores = shifted.predict_proba(X_test)[:, 1]

print(certify(y_test, scores, shifted.boundary_))

# %%
# The same model, certified on more and more malignant rows.
malignant = np.flatnonzero(y_test == 1)
benign = np.flatnonzero(y_test == 0)
counts = np.arange(5, len(malignant) + 1, 4)
seen = []
bounds = []
floors = []
for n in counts:
    rows = np.r_[benign, malignant[:n]]
    certificate = certify(y_test[rows], scores[rows], shifted.boundary_)
    seen.append(certificate.errors[1])
    bounds.append(certificate.error_bounds[1])
    floors.append(certificate.lowest_bounds[1])

# %%
figure, ax = plt.subplots(layout="constrained")
ax.plot(counts, bounds, label="at most, with 95% confidence")
ax.plot(counts, floors, "--", label="the lowest bound for this number of rows")
ax.plot(counts, seen, ":", label="share missed among these rows")
ax.set(xlabel="malignant rows", ylabel="share of malignant rows missed", ylim=(0, None))
ax.set_title("Confidence is bought with rows")
legend = ax.legend()

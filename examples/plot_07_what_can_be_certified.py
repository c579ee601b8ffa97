"""
How many rows do I need for a certificate?
==========================================

More than you may expect. A certificate bounds the error rate of each class with 95% confidence. The
dashed line is the lowest bound that is possible with this number of rows, even if none of them is
wrong. With 59 rows it is 5%. Use rows that the model has not seen.
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
lowest = []
for n in counts:
    rows = np.r_[benign, malignant[:n]]
    certificate = certify(y_test[rows], scores[rows], shifted.boundary_)
    seen.append(certificate.errors[1])
    bounds.append(certificate.error_bounds[1])
    lowest.append(certificate.lowest_bounds[1])

# %%
figure, ax = plt.subplots(layout="constrained")
ax.plot(counts, bounds, color="#D55E00", label="upper bound, with 95% confidence")
ax.plot(counts, lowest, "--", color="0.2", label="lowest possible bound")
ax.plot(counts, seen, ":", color="#0072B2", label="observed miss rate")
ax.axvline(59, color="0.7", lw=1)
ax.annotate("59 rows: 5% at best", (59, 0.05), (64, 0.35), arrowprops={"arrowstyle": "->"})
ax.set(xlabel="malignant tumours used", ylabel="miss rate", ylim=(0, None))
ax.set_title("More rows, lower bounds")
legend = ax.legend()

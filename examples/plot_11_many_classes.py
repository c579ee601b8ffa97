"""
What about more than two classes?
=================================

boundshift adds a bias to the score of each class and predicts the class with the largest sum. The
biases are chosen so that all classes count the same. Rare classes are found more often, at the
price of more errors in the most common class.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from boundshift import BoundShiftClassifier
from boundshift.metrics import geometric_mean_score

X, codes = make_classification(
    600, 8, n_informative=5, n_classes=4, weights=[0.7, 0.18, 0.08, 0.04], random_state=0
)
y = np.array(["common", "less", "rare", "rarest"])[codes]
model = make_pipeline(StandardScaler(), LogisticRegression())
methods = {"model alone": model, "boundshift": BoundShiftClassifier(model)}
predicted = {name: cross_val_predict(method, X, y, cv=5) for name, method in methods.items()}
for name, labels in predicted.items():
    print(f"{name:11} geometric mean of all recalls {geometric_mean_score(y, labels):.3f}")

# %%
# These are the biases of a fit on all rows.
fitted = methods["boundshift"].fit(X, y)
for label, bias in zip(fitted.classes_, fitted.biases_, strict=True):
    print(f"{label:6} {(y == label).sum():4} rows, bias {bias:+.2f}")

# %%
figure, axes = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
for ax, (name, labels) in zip(axes, predicted.items(), strict=True):
    ConfusionMatrixDisplay.from_predictions(
        y, labels, normalize="true", values_format=".2f", colorbar=False, cmap="Blues", ax=ax
    )
    ax.set_title(f"{name}: proportions of each true class")

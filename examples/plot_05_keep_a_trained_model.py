"""
Can I keep my trained model?
============================

Yes. With ``cv="prefit"``, boundshift changes nothing but the threshold. Pass it labelled rows that
the model has not seen. Here a model was trained on 250 healthy women and 50 women with diabetes.
The new threshold is another contour line of the same model, so the region in which it predicts
diabetes grows.
"""

# %%
# The model uses two features of the Pima data and their powers, so its contour lines are curved.
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import recall_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from boundshift import BoundShiftClassifier
from boundshift.datasets import load_pima

frame = load_pima(as_frame=True).frame
frame = frame[(frame["Glucose"] > 0) & (frame["BMI"] > 0)]
X = frame[["Glucose", "BMI"]]
y = frame["target"].to_numpy()
train = np.concatenate([np.flatnonzero(y == 0)[:250], np.flatnonzero(y == 1)[:50]])
rest = np.setdiff1d(np.arange(len(y)), train)
held, test = train_test_split(rest, test_size=0.5, stratify=y[rest], random_state=0)
model = make_pipeline(StandardScaler(), PolynomialFeatures(3), LogisticRegression())
model = model.fit(X.iloc[train], y[train])

# %%
# The held-out rows choose the threshold, and the test rows compare.
shifted = BoundShiftClassifier(model, cv="prefit").fit(X.iloc[held], y[held])
print(shifted.boundary_.summary())

# %%
figure, axes = plt.subplots(1, 2, figsize=(9, 4.5), sharey=True, layout="constrained")
for ax, name, classifier in zip(
    axes, ("trained model", "with the new threshold"), (model, shifted), strict=True
):
    DecisionBoundaryDisplay.from_estimator(
        classifier,
        X.iloc[test],
        response_method="predict",
        grid_resolution=400,
        cmap=ListedColormap(["#0072B2", "#D55E00"]),
        alpha=0.2,
        ax=ax,
    )
    for label, colour in ((0, "#0072B2"), (1, "#D55E00")):
        ax.scatter(*X.iloc[test[y[test] == label]].to_numpy().T, s=9, color=colour)
    specificity, recall = recall_score(y[test], classifier.predict(X.iloc[test]), average=None)
    ax.set_title(f"{name}: recall {recall:.0%}, specificity {specificity:.0%}")
label = axes[1].set_ylabel("")

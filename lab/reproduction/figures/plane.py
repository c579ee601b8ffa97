"""Figures in the plane of the two features: 1, 3 and 6."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from imblearn.over_sampling import SMOTE
from numpy.typing import NDArray

from boundshift.metrics import binary_metrics
from boundshift.typing import FloatArray
from lab.harness.canvas import COLORS, SHADES, draw_points, new_figure
from lab.reproduction.collect import ModelName
from lab.reproduction.figures.scenes import (
    far_apart,
    fitted_on_rows,
    fitted_seed,
    overlapping,
)
from lab.reproduction.methods import METHODS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_classifiers", "draw_moving_bias", "draw_test_set"]


_STEPS = 121
_SHOWN = (
    "untouched",
    "smote",
    "balanced-weights",
    "bayes-minimum-risk",
    "thresholding",
    "paper-exact",
    "boundshift-default",
    "boundshift-default-oof",
)


def draw_moving_bias() -> Figure:
    """Figure 1: the boundary of a trained classifier, and where the bounds move it."""
    scene = far_apart()
    figure = new_figure(5.6, 5.2)
    ax = figure.add_subplot(aspect="equal")
    draw_points(ax, scene.X, scene.y)
    _frame(ax, scene.X, 1.0)
    old, new = -scene.bias, scene.boundary.threshold
    names = (r"$\langle\phi(x),w\rangle+b=0$", r"$\langle\phi(x),w\rangle+b'=0$")
    for threshold, dashes, name in ((old, "solid", names[0]), (new, "dashed", names[1])):
        foot = threshold * scene.direction
        across = np.array([-scene.direction[1], scene.direction[0]])
        ax.axline(tuple(foot), tuple(foot + across), color="black", lw=2, ls=dashes)
        angle = float(np.degrees(np.arctan2(across[1], across[0])))
        place = foot - 4.3 * across + 0.25 * scene.direction
        ax.text(
            float(place[0]),
            float(place[1]),
            name,
            rotation=angle - 180 if abs(angle) > 90 else angle,
            rotation_mode="anchor",
            ha="center",
            va="bottom",
            fontsize=11,
        )
    ax.annotate(
        "",
        xy=tuple(new * scene.direction),
        xytext=tuple(old * scene.direction),
        arrowprops={"arrowstyle": "-|>", "lw": 2, "color": "black", "shrinkA": 0, "shrinkB": 0},
    )
    _name_classes(ax, (1000, 10), (0.62, 0.64))
    ax.set_title("Moving the bias towards the common class")
    return figure


def draw_classifiers() -> Figure:
    """Figure 3: logistic regression on the imbalanced rows, and on rows filled up by SMOTE."""
    split = overlapping()
    figure = new_figure(9.6, 4.6)
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    smote = SMOTE(random_state=0)
    rows: dict[ModelName, tuple[FloatArray, NDArray[np.int64]]] = {
        "untouched": (split.X_train, split.y_train),
        "smote": smote.fit_resample(split.X_train, split.y_train),
    }
    filled: Any = None
    for ax, (model, (X, y)) in zip(axes, rows.items(), strict=True):
        across, up, grid = _grid(split.X_test)
        margin = fitted_on_rows(model, grid).test
        share = (1 / (1 + np.exp(-margin))).reshape(across.shape)
        filled = ax.contourf(across, up, share, levels=np.linspace(0, 1, 21), cmap=_pale_map())
        for color, width in (("black", 4.5), ("white", 2.5)):
            ax.contour(across, up, share, levels=[0.5], colors=color, linewidths=width)
        draw_points(ax, X, y, size=9.0)
        ax.set_title({"untouched": "Baseline", "smote": "SMOTE"}[model])
        ax.set_xlabel("feature 1")
        _name_classes(ax, (int((y == 0).sum()), int((y == 1).sum())))
    axes[0].set_ylabel("feature 2")
    figure.colorbar(filled, ax=axes, label="probability of the rare class", ticks=[0, 0.5, 1])
    return figure


def draw_test_set() -> Figure:
    """Figure 6: the test set with every method's boundary and the Bayes-optimal one."""
    split = overlapping()
    figure = new_figure(12.4, 6.4)
    axes = figure.subplots(2, 4, sharex=True, sharey=True).ravel()
    across, up, grid = _grid(split.X_test)
    surface, scene = fitted_seed(grid), fitted_seed()
    for ax, name in zip(axes, _SHOWN, strict=True):
        method = METHODS[name]
        decision = method.decide(scene)
        scores = surface.scores(method.source).tested(decision.probability)
        values = (scores - decision.threshold).reshape(across.shape)
        ax.contourf(across, up, values, levels=[-np.inf, 0, np.inf], colors=SHADES)
        draw_points(ax, split.X_test, split.y_test, size=6.0)
        ax.contour(across, up, values, levels=[0.0], colors="black", linewidths=2)
        ax.axline((0, 0), slope=-1, color="black", lw=1.5, ls=(0, (4, 2)))
        metrics = binary_metrics(*scene.predict(method.source, decision))
        ax.set_title(f"{method.title}\nG-mean {metrics['g_mean']:.3f}", fontsize=11)
    _explain(figure)
    return figure


def _pale_map() -> Any:
    """Return a colour map from one class to the other, pale enough for points to stand out."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("pale", ["#A9CBE3", "#F2F2F2", "#F3BFA0"])


def _grid(X: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return a grid over the rows, as two planes and as rows."""
    low, high = X.min() - 0.3, X.max() + 0.3
    across, up = np.meshgrid(np.linspace(low, high, _STEPS), np.linspace(low, high, _STEPS))
    return across, up, np.column_stack([across.ravel(), up.ravel()])


def _frame(ax: Axes, X: FloatArray, margin: float) -> None:
    """Show all rows with some room around."""
    ax.set_xlim(X[:, 0].min() - margin, X[:, 0].max() + margin)
    ax.set_ylim(X[:, 1].min() - margin, X[:, 1].max() + margin)
    ax.set_xlabel("feature 1")
    ax.set_ylabel("feature 2")


def _name_classes(
    ax: Axes, sizes: tuple[int, int], place: tuple[float, float] = (0.02, 0.02)
) -> None:
    """Say which colour is which class."""
    from matplotlib.lines import Line2D

    words = ("common", "rare") if sizes[0] != sizes[1] else ("common", "rare, filled up")
    marks = [
        Line2D([], [], marker="o", ls="", color=color, label=f"{word}, {n} rows")
        for color, word, n in zip(COLORS, words, sizes, strict=True)
    ]
    ax.legend(handles=marks, loc=place, fontsize="small", framealpha=0.9)


def _explain(figure: Figure) -> None:
    """Say what the lines are."""
    from matplotlib.lines import Line2D

    marks = [
        Line2D([], [], marker="o", ls="", color=COLORS[0], label="negative, 1000 rows"),
        Line2D([], [], marker="o", ls="", color=COLORS[1], label="positive, 1000 rows"),
        Line2D([], [], color="black", lw=2, label="boundary"),
        Line2D([], [], color="black", lw=1.5, ls=(0, (4, 2)), label="Bayes-optimal"),
    ]
    figure.legend(handles=marks, loc="outside lower center", ncols=4, frameon=False)

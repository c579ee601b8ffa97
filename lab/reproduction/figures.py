"""The paper's figures, drawn anew; they need the extra ``plot``."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from imblearn.over_sampling import SMOTE
from numpy.typing import NDArray
from sklearn.svm import SVC

from boundshift._boundary import find_boundary
from boundshift._result.boundary import Boundary
from boundshift._typing import FloatArray
from boundshift.datasets import make_gaussians
from boundshift.metrics import binary_metrics
from boundshift.plots import ProjectionDisplay
from lab.canvas import COLORS, SHADES, draw_points, new_figure, save
from lab.data.paper import PaperSplit
from lab.reproduction.methods import METHODS
from lab.reproduction.problems import PROBLEMS
from lab.reproduction.train import (
    MODELS,
    ClassifierOptions,
    FittedScores,
    FittedSeed,
    ModelName,
    collect_scores,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STEPS = 121
_DASHES = (0, (2, 1.2))
_SHOWN = (
    "untouched", "smote", "balanced-weights", "bayes-minimum-risk", "thresholding", "paper-exact",
    "boundshift-default", "boundshift-default-oof",
)  # fmt: skip


class FarApart(NamedTuple):
    """Two classes with means ∓(5, 5), a linear machine, and its moved boundary."""

    X: FloatArray
    y: NDArray[np.int64]
    direction: FloatArray
    bias: float
    scores: FloatArray
    boundary: Boundary


@cache
def far_apart() -> FarApart:
    X, y = make_gaussians((1000, 10), mean=(5.0, 5.0), random_state=10)
    machine = SVC(kernel="linear").fit(X, y)
    norm = float(np.linalg.norm(machine.coef_))
    direction = machine.coef_[0] / norm
    scores = X @ direction
    boundary = find_boundary(y, scores, curve="authors")
    return FarApart(X, y, direction, float(machine.intercept_[0]) / norm, scores, boundary)


@cache
def overlapping() -> PaperSplit:
    """Return the paper's synthetic problem on raw features, with an independent test draw."""
    return PROBLEMS["synthetic-raw"].split(0, "honest")


@cache
def fitted_on_scene(model: ModelName) -> FittedScores:
    return _fitted(model, overlapping())


def fitted_on_rows(model: ModelName, rows: FloatArray) -> FittedScores:
    """Return the same models' scores on rows of one's own, in place of the test rows."""
    labels = np.zeros(len(rows), dtype=np.int64)
    return _fitted(model, overlapping()._replace(X_test=rows, y_test=labels))


def fitted_seed(rows: FloatArray | None = None) -> FittedSeed:
    """Return what methods see of the scene, or of rows of one's own in place of its test rows."""
    models = {m: fitted_on_scene(m) if rows is None else fitted_on_rows(m, rows) for m in MODELS}
    return FittedSeed(models, "binary")


def _fitted(model: ModelName, split: PaperSplit) -> FittedScores:
    return collect_scores(split, "logistic-regression", model, 0, ClassifierOptions())


def draw_moving_bias() -> Figure:
    """Figure 1: the boundary of a trained classifier, and where the bounds move it."""
    scene = far_apart()
    figure = new_figure(5.6, 5.2)
    ax = figure.add_subplot(aspect="equal")
    draw_points(ax, scene.X, scene.y)
    ax.set_xlabel("feature 1")
    ax.set_ylabel("feature 2")
    old, new = (t * scene.direction for t in (-scene.bias, scene.boundary.threshold))
    across = np.array([-scene.direction[1], scene.direction[0]])
    names = (r"$\langle\phi(x),w\rangle+b=0$", r"$\langle\phi(x),w\rangle+b'=0$")
    for foot, dashes, name in ((old, "solid", names[0]), (new, "dashed", names[1])):
        ax.axline(tuple(foot), tuple(foot + across), color="black", lw=2, ls=dashes, label=name)
    arrow = {"arrowstyle": "-|>", "lw": 2, "color": "black", "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", xy=tuple(new), xytext=tuple(old), arrowprops=arrow)
    lines, _ = ax.get_legend_handles_labels()
    ax.legend(
        handles=[*_dots("common, 1000 rows", "rare, 10 rows"), *lines],
        loc="lower right",
        fontsize="small",
    )
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
        dots = _dots(f"common, {np.sum(y == 0)} rows", f"rare, {np.sum(y == 1)} rows")
        ax.legend(handles=dots, loc="lower left", fontsize="small", framealpha=0.9)
    axes[0].set_ylabel("feature 2")
    figure.colorbar(filled, ax=axes, label="probability of the rare class", ticks=[0, 0.5, 1])
    return figure


def draw_test_set() -> Figure:
    """Figure 6: the test set with every method's boundary and the Bayes-optimal one."""
    from matplotlib.lines import Line2D

    split = overlapping()
    figure = new_figure(12.4, 6.4)
    axes = figure.subplots(2, 4, sharex=True, sharey=True).ravel()
    across, up, grid = _grid(split.X_test)
    surface = fitted_seed(grid)
    scene = fitted_seed()
    for ax, name in zip(axes, _SHOWN, strict=True):
        method = METHODS[name]
        decision = method.decide(scene)
        scores = surface.scores(method.source).tested(decision.probability)
        values = (scores - decision.threshold).reshape(across.shape)
        ax.contourf(across, up, values, levels=[-np.inf, 0, np.inf], colors=SHADES)
        draw_points(ax, split.X_test, split.y_test, size=6.0)
        ax.contour(across, up, values, levels=[0.0], colors="black", linewidths=2)
        best = ax.axline(
            (0, 0), slope=-1, color="black", lw=1.5, ls="dashed", label="Bayes-optimal"
        )
        metrics = binary_metrics(*scene.predict(method.source, decision))
        ax.set_title(f"{method.title}\nG-mean {metrics['g_mean']:.3f}", fontsize=11)
    boundary = Line2D([], [], color="black", lw=2, label="boundary")
    marks = [*_dots("negative, 1000 rows", "positive, 1000 rows"), boundary, best]
    figure.legend(handles=marks, loc="outside lower center", ncols=4, frameon=False)
    return figure


def _pale_map() -> Any:
    """Return a colour map from one class to the other, pale enough for points to stand out."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("pale", ["#A9CBE3", "#F2F2F2", "#F3BFA0"])


def _grid(X: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return a grid over the rows, as two planes and as rows."""
    places = np.linspace(X.min() - 0.3, X.max() + 0.3, _STEPS)
    across, up = np.meshgrid(places, places)
    return across, up, np.column_stack([across.ravel(), up.ravel()])


def _dots(*words: str) -> list[Any]:
    """Return what a legend says of the colours of both classes."""
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], marker="o", ls="", color=color, label=word)
        for color, word in zip(COLORS, words, strict=True)
    ]


def draw_projected_space() -> Figure:
    """Figure 2: two classes, and their scores with D, radii and confidence radii."""
    scene = far_apart()
    figure = new_figure(11.0, 4.4)
    plane, line = figure.subplots(1, 2, width_ratios=(1, 1.7))
    draw_points(plane, scene.X, scene.y)
    plane.set_aspect("equal")
    plane.set_xlabel("feature 1")
    plane.set_ylabel("feature 2")
    for label, (name, color) in enumerate(zip(("$S_1$", "$S_2$"), COLORS, strict=True)):
        middle = scene.X[scene.y == label].mean(axis=0)
        plane.text(middle[0] + (3.4, -3.4)[label], middle[1], name, fontsize=18, color=color)
    plane.set_title("Training data")
    _draw_space(line, scene.y, scene.scores, confidence=True)
    line.set_title(r"Projected space $\langle\phi(x), w\rangle$")
    return figure


def draw_overlap() -> Figure:
    """Figure 4: radii that overlap, since the classes do."""
    figure = new_figure(8.4, 3.9)
    ax = figure.subplots()
    fitted = fitted_on_scene("untouched")
    _draw_space(ax, fitted.y_train, fitted.train / fitted.unit, confidence=False)
    ax.set_title("Projected space of the training data: the radii overlap")
    return figure


def draw_optimised_space() -> Figure:
    """Figure 5: the same space after the optimisation."""
    figure = new_figure(8.4, 5.0)
    ax = figure.subplots()
    fitted = fitted_on_scene("untouched")
    scores = fitted.train / fitted.unit
    boundary = find_boundary(overlapping().y_train, scores, curve="authors")
    ProjectionDisplay.from_predictions(
        fitted.y_train, scores, boundary=boundary, old_threshold=0.0, ax=ax
    )
    ax.set_title("Projected space after the optimisation: the bounds meet at the new boundary")
    return figure


def _draw_space(ax: Axes, y: NDArray[np.int64], scores: FloatArray, *, confidence: bool) -> None:
    """Draw scores with their means, D, the radii, and maybe what confidence adds."""
    means = [float(scores[y == label].mean()) for label in (0, 1)]
    for label in (0, 1):
        values = scores[y == label]
        height = np.random.default_rng(0).uniform(-0.14, 0.14, len(values))
        draw_points(ax, np.column_stack([values, height]), np.full(len(values), label))
        _draw_radius(ax, label, values, confidence)
        ax.plot(means[label], 0, "X", ms=12, color=COLORS[label], mec="black", mew=1.2, zorder=5)
    _draw_bar(ax, means[0], means[1], -0.45, r"$\hat{D}$", "black")
    ax.set_ylim(-0.62, 1.12 if confidence else 0.82)
    ax.set_yticks([])
    ax.set_xlabel("score")
    ax.spines[["top", "right", "left"]].set_visible(False)


def _draw_radius(ax: Axes, label: int, values: FloatArray, confidence: bool) -> None:
    """Draw a class's radius, and its confidence radius at δ = 0.999…, towards the other class."""
    mean = float(values.mean())
    towards = 1 - 2 * label
    radius = float(np.abs(values - mean).max())
    height = 0.32 + 0.22 * label
    index = label + 1
    color = COLORS[label]
    end = mean + towards * radius
    _draw_bar(ax, mean, end, height, rf"$\hat{{\bar{{R}}}}_{index}$", color)
    if confidence:
        end = mean + towards * radius * (1 + 2 / np.sqrt(len(values)))
        _draw_bar(ax, mean, end, height + 0.44, rf"$\hat{{R}}_{index}$", color, _DASHES)


def _draw_bar(
    ax: Axes, start: float, end: float, height: float, name: str, color: str, ls: Any = "solid"
) -> None:
    """Draw a distance with ticks at its ends and its name at the middle."""
    ax.plot([start, end], [height, height], lw=2, color=color, ls=ls)
    for place in (start, end):
        ax.plot([place, place], [height - 0.03, height + 0.03], lw=2, color=color)
    middle = (start + end) / 2
    ax.text(middle, height + 0.02, name, ha="center", va="bottom", fontsize=14, color=color)


FIGURES: dict[str, Callable[[], Figure]] = {
    "figure-1-moving-bias": draw_moving_bias,
    "figure-2-projected-space": draw_projected_space,
    "figure-3-classifiers": draw_classifiers,
    "figure-4-overlap": draw_overlap,
    "figure-5-optimised": draw_optimised_space,
    "figure-6-test-set": draw_test_set,
}
"""Name of the file → function that draws it."""


def draw_figures(folder: Path) -> list[Path]:
    """Draw all figures of the paper into a folder, as PNG, and return the files."""
    return [save(draw(), folder / f"{name}.png") for name, draw in FIGURES.items()]

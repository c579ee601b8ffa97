"""Draw the documentation's figures and pictures of a report, from bundled data and fixed seeds.

Run with ``python docs/draw_images.py``. The pictures of the report need Chromium and its driver. If
these are not installed, the pictures are not changed.
"""

from __future__ import annotations

import argparse
import base64
import io
import runpy
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from scipy.special import logit
from sklearn.datasets import make_classification
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from boundshift import (
    BoundaryWarning,
    BoundShiftClassifier,
    find_boundary,
    threshold_interval,
)
from boundshift._writing import write_whole
from boundshift.datasets import load_heart
from boundshift.plots import MonitorDisplay, ThresholdDisplay
from boundshift.report import Report, collect_facts

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
COLOURS = "#0072B2", "#D55E00"
NAMES = {
    "positive_name": "sick",
    "negative_name": "healthy",
    "case_name": "patients",
    "title": "Who has severe heart disease?",
}


class Clinic(NamedTuple):
    """Scores of the Cleveland patients: left-out ones, and fresh ones."""

    y: Any
    left_out: Any
    y_test: Any
    test: Any


@cache
def clinic() -> Clinic:
    """Return scores of a logistic regression trained on half of the patients."""
    X, y = load_heart(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.5, stratify=y, random_state=0
    )
    model = make_pipeline(StandardScaler(), LogisticRegression())
    left_out = cross_val_predict(model, X_train, y_train, cv=5, method="decision_function")
    fresh = model.fit(X_train, y_train).decision_function(X_test)
    return Clinic(y_train, left_out, y_test, fresh)


def draw_hero(ax: Any) -> None:
    """Draw test scores of both classes, the model's own threshold and the new one."""
    X, y = make_classification(10_000, weights=[0.95], class_sep=0.7, random_state=1)
    classifier = BoundShiftClassifier(LogisticRegression()).fit(X[:5000], y[:5000])
    probabilities = classifier.positive_scores(X[5000:])
    y_test = y[5000:]
    scores = logit(probabilities)
    bins = np.linspace(-7.5, 4, 47)
    for label, name in ((0, "negatives"), (1, "positives")):
        own = scores[y_test == label]
        weights = np.full(len(own), 100 / len(own))
        caption = f"{len(own):,} {name}"
        ax.hist(own, bins, weights=weights, color=COLOURS[label], alpha=0.55, label=caption)
    top = 1.42 * ax.get_ylim()[1]
    old = 0.0
    new = float(logit(classifier.threshold_))
    for threshold, title, line, colour, side in (
        (old, "model alone", "--", "0.35", "left"),
        (new, "boundshift", "-", "black", "right"),
    ):
        missed = 100 * np.mean(scores[y_test == 1] <= threshold)
        flagged = 100 * np.mean(scores[y_test == 0] > threshold)
        place = threshold + (0.12 if side == "left" else -0.12)
        price = f"misses {missed:.0f} of 100 positives\nflags {flagged:.0f} of 100 negatives"
        text = {"ha": side, "va": "top", "color": colour}
        ax.axvline(threshold, linestyle=line, color=colour, linewidth=1.8)
        ax.text(place, 0.97 * top, title, weight="bold", **text)
        ax.text(place, 0.905 * top, price, **text)
    arrow = {"arrowstyle": "-|>", "color": "black", "linewidth": 1.6}
    ax.annotate("", (new, 0.62 * top), (old, 0.62 * top), arrowprops=arrow)
    ax.set(xlabel="score of the model (log-odds)", ylabel="percent of the class")
    ax.set(xlim=(-7.5, 4), ylim=(0, top))
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="center left", bbox_to_anchor=(0, 0.45), frameon=False)


def draw_boundary(ax: Any) -> None:
    """Draw both error rates and the G-mean of the default against the threshold."""
    rows = clinic()
    interval = threshold_interval(rows.y, rows.left_out, n_resamples=2000, random_state=0)
    names = np.where(rows.y == 1, "sick", "healthy")
    ThresholdDisplay.from_predictions(
        names, rows.left_out, pos_label="sick", old_threshold=0.0, interval=interval, ax=ax
    )


def gaussians(n_negative: int, n_positive: int, seed: int) -> tuple[Any, Any]:
    """Return rows and labels of the paper's synthetic problem."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [n_negative, n_positive])
    return rng.standard_normal((len(y), 2)) + np.where(y == 1, 1.0, -1.0)[:, None], y


def draw_decision(ax: Any) -> None:
    """Draw test rows of the paper's synthetic problem before and after."""
    X, y = gaussians(1000, 10, 0)
    X_test, y_test = gaussians(1000, 100, 1)
    model = BoundShiftClassifier(LogisticRegression(), cv=None, curve="support").fit(X, y)
    places = ax.get_subplotspec().subgridspec(1, 2).subplots(sharex=True, sharey=True)
    ax.set_axis_off()
    for panel, title, decides in zip(
        places, ("model alone", 'curve="support"'), (model.estimator_, model), strict=True
    ):
        DecisionBoundaryDisplay.from_estimator(
            decides,
            X_test,
            response_method="predict",
            grid_resolution=500,
            cmap=ListedColormap(COLOURS),
            alpha=0.2,
            ax=panel,
        )
        for label, size in ((0, 5), (1, 16)):
            panel.scatter(*X_test[y_test == label].T, s=size, color=COLOURS[label])
        flagged = decides.predict(X_test) == 1
        missed = 100 * np.mean(~flagged[y_test == 1])
        alarms = 100 * np.mean(flagged[y_test == 0])
        panel.set_title(
            f"{title}\nmisses {missed:.0f}% of positives, flags {alarms:.0f}% of others"
        )


def draw_rare_rows(ax: Any) -> None:
    """Draw the table of the README: the mean G-mean against the number of rare rows."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = text.partition("| who decides |")[2].partition("\n\n")[0]
    head, _, *rows = [line.strip("| ").split(" | ") for line in table.splitlines()]
    names = [name.partition(" ")[0] for name in head]
    means = {title: [float(value) for value in values] for title, *values in rows}
    methods = {
        "boundshift": ("o-", COLOURS[1], 12),
        "scikit-learn, tuned on": ("s--", COLOURS[0], -20),
        "untouched": ("^:", "0.45", -20),
    }
    for name, (line, colour, offset) in methods.items():
        title = next(title for title in means if title.startswith(name))
        ax.plot(means[title], line, color=colour, label=title.replace("`", ""))
        for place, value in enumerate(means[title]):
            style = {"ha": "center", "color": colour, "textcoords": "offset points"}
            ax.annotate(f"{value:.2f}", (place, value), (0, offset), **style)
    ax.set_xticks(range(len(names)), names)
    ax.set(xlabel="rare rows to train on", ylabel="mean G-mean on test rows", ylim=(0, 0.9))
    ax.set_xlim(-0.2, len(names) - 0.8)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="lower right", frameon=False)


def draw_alarm(ax: Any) -> None:
    """Draw the alarm of an example in the gallery."""
    example = runpy.run_path(str(ROOT / "examples" / "plot_10_does_it_still_work.py"))
    MonitorDisplay.from_monitor(example["monitor"], ax=ax)


def draw_ties(ax: Any) -> None:
    """Draw whole-number scores: each value stays whole, the threshold stands between two."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [300, 40])
    scores = np.round(rng.normal(size=340) + 1.5 * y)
    boundary = find_boundary(y, scores)
    for label, side in ((0, -0.18), (1, 0.18)):
        values, counts = np.unique(scores[y == label], return_counts=True)
        shares = counts / counts.sum()
        ax.bar(values + side, shares, width=0.34, color=COLOURS[label], label=f"class {label}")
    ax.axvspan(*boundary.plateau, color="0.5", alpha=0.18, lw=0, zorder=0, label="equally good")
    ax.axvline(boundary.threshold, color="0.15", label=f"threshold {boundary.threshold:g}")
    ax.set(xlabel="score", ylabel="share of the class")
    ax.legend(loc="upper left", frameon=False)


def draw_direction(ax: Any) -> None:
    """Draw the calibration of scores that point to the positive class, and of reversed ones."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [200, 30])
    noise = rng.normal(size=230)
    panels = ax.get_subplotspec().subgridspec(1, 2).subplots(sharey=True)
    ax.set_axis_off()
    for panel, direction, name in zip(panels, (1, -1), ("higher", "lower"), strict=True):
        scores = noise + 1.5 * direction * y
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BoundaryWarning)
            boundary = find_boundary(y, scores)
        grid = np.linspace(scores.min(), scores.max(), 200)
        shares = LogisticRegression(C=np.inf).fit(scores[:, None], y).predict_proba(grid[:, None])
        # A negative slope is replaced by the share of the positive class.
        curve = shares[:, 1] if direction > 0 else np.full_like(grid, y.mean())
        panel.plot(grid, curve, color="0.15", label="calibration")
        for label in (0, 1):
            place = label + 0.04 * rng.uniform(-1, 1, np.sum(y == label))
            mine = scores[y == label]
            panel.scatter(mine, place, s=9, color=COLOURS[label], label=f"class {label}")
        panel.axvline(boundary.threshold, color="0.4", ls="--", label="threshold")
        title = f"class 1 has the {name} scores: {boundary.status.name}"
        panel.set(xlabel="score", title=title)
    panels[0].set_ylabel("probability of class 1")
    panels[1].legend(loc="center right", frameon=True)


def draw_fallback(ax: Any) -> None:
    """Draw three samples that say little, and the boundary that each gets."""
    rng = np.random.default_rng(0)
    many = rng.normal(size=60)
    samples = {
        "one score": (np.repeat([0, 1], [60, 6]), np.full(66, 1.0)),
        "two scores": (np.repeat([0, 1], [60, 6]), np.r_[many > 1, [1, 1, 1, 1, 0, 0]]),
        "one positive row": (np.repeat([0, 1], [60, 1]), np.r_[many, 3.0]),
    }
    panels = ax.get_subplotspec().subgridspec(1, 3).subplots(sharey=True)
    ax.set_axis_off()
    for panel, (name, (y, scores)) in zip(panels, samples.items(), strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BoundaryWarning)
            boundary = find_boundary(y, scores.astype(float))
        for label in (0, 1):
            mine = scores[y == label].astype(float)
            place = label + 0.3 * rng.uniform(-1, 1, len(mine))
            panel.scatter(mine, place, s=12, color=COLOURS[label])
        panel.axvline(boundary.threshold, color="0.15")
        panel.set(xlabel="score", title=f"{name}: {boundary.status.name}", ylim=(-0.6, 1.6))
        panel.margins(x=0.2)
        panel.set_yticks([0, 1], ["class 0", "class 1"])


def report() -> str:
    """Return the example report: the Cleveland patients, half of them kept for the test."""
    rows = clinic()
    facts = collect_facts(
        rows.y,
        rows.left_out,
        boundary=find_boundary(rows.y, rows.left_out),
        old_threshold=0.0,
        test=(rows.y_test, rows.test),
        scores="out-of-fold",
        model="Logistic regression, Cleveland heart disease",
        **NAMES,
        interval=threshold_interval(rows.y, rows.left_out, n_resamples=2000, random_state=0),
    )
    return Report(facts).html


FIGURES = {
    "hero": (draw_hero, (8.0, 3.6)),
    "boundary": (draw_boundary, (7.2, 5.4)),
    "decision": (draw_decision, (9.0, 4.6)),
    "rare_rows": (draw_rare_rows, (7.2, 3.8)),
    "alarm": (draw_alarm, (7.8, 4.2)),
    "ties": (draw_ties, (7.2, 3.2)),
    "direction": (draw_direction, (9.0, 3.4)),
    "fallback": (draw_fallback, (9.6, 3.0)),
}


def draw_figures(folder: Path) -> Iterator[Path]:
    """Draw the figures of the pages."""
    for name, (draw, size) in FIGURES.items():
        figure = Figure(figsize=size, dpi=130, layout="constrained")
        draw(figure.subplots())
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png")
        yield write_whole(folder / f"{name}.png", buffer.getvalue())


# Parts of the report: where they begin and end, and JavaScript to run before.
_COSTS = """
for (const [id, value] of [["miss-cost", 20], ["alarm-cost", 1]]) {
  const field = document.getElementById(id);
  field.value = value;
  field.dispatchEvent(new Event("input", {bubbles: true}));
}
"""
PICTURES = {
    "report": ("", "figure", ""),
    "report_costs": ("#slider", "#slider", _COSTS),
    "report_findings": ("#good-title", "#compare-title", ""),
}
_BOX = """
function box(name) {
  const element = document.querySelector(name);
  const part = element.matches("figure") ? element : element.closest("section");
  return part.getBoundingClientRect();
}
const [first, last] = arguments;
return [first ? box(first).top - 8 : 0, box(last).bottom + 8];
"""


def photograph(page: Path, width: int) -> Mapping[str, bytes]:
    """Return pictures of parts of a report as Chromium shows them, or none if it is missing."""
    chromium = shutil.which("chromium")
    driver = shutil.which("chromedriver")
    if not chromium or not driver:
        return {}
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    with tempfile.TemporaryDirectory() as profile:
        for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
            options.add_argument(flag)
        options.add_argument(f"--user-data-dir={profile}")
        browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
        try:
            size = {"width": width, "height": 1400, "deviceScaleFactor": 1, "mobile": False}
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            shots = {}
            for name, (first, last, script) in PICTURES.items():
                browser.get(page.resolve().as_uri())
                browser.execute_script(script)
                top, bottom = browser.execute_script(_BOX, first, last)
                clip = {"x": 0, "y": top, "width": width, "height": bottom - top, "scale": 1}
                shot = browser.execute_cdp_cmd(
                    "Page.captureScreenshot",
                    {"format": "png", "clip": clip, "captureBeyondViewport": True},
                )
                shots[name] = base64.b64decode(shot["data"])
        finally:
            browser.quit()
    return shots


def main() -> None:
    """Draw everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=IMAGES, help="folder for the images")
    folder = parser.parse_args().out
    for path in draw_figures(folder):
        print(path)
    with tempfile.TemporaryDirectory() as passing:
        page = write_whole(Path(passing) / "report.html", report())
        shots = photograph(page, 1000)
    for name, shot in shots.items():
        print(write_whole(folder / f"{name}.png", shot))


if __name__ == "__main__":
    main()
